"""Those who are told: an HTTP receiver, a mail server, and a stand-in for sendmail that speaks SMTP to it."""

import http.server
import json
import socketserver
import ssl
import subprocess
import sys
import threading
import time


LONGEST_HOLD = 600  # seconds


class Receiver:
    """Takes messages by POST; how it answers can be changed while it runs."""

    def __init__(self, certificate=None, protocol="HTTP/1.0", port=0):
        self.messages = []  # of those that it has accepted: (path, headers, body)
        self.attempts = 0
        self.status = 200
        self.pause = 0.0
        self.drips = False  # it answers line by line, and comes to no end
        self.may_answer = threading.Event()
        self.may_answer.set()
        receiver = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = protocol  # with 1.1 connections are kept

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                receiver.attempts += 1
                if receiver.drips:
                    self.drip()
                    return
                time.sleep(receiver.pause)
                receiver.may_answer.wait(LONGEST_HOLD)
                status = receiver.status
                if status == 200:
                    receiver.messages.append((self.path, dict(self.headers), body))
                self.send_response(status)
                self.send_header("Content-Length", "0")
                self.end_headers()

            def drip(self):
                self.send_response(200)
                self.flush_headers()
                for _ in range(LONGEST_HOLD):
                    self.wfile.write(b"Drip: drop\r\n")
                    time.sleep(1)

            def log_message(self, *_):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, *_):  # those who do not like our certificate hang up
                pass

        self.server = Server(("127.0.0.1", port), Handler)
        scheme = "http"
        if certificate:
            scheme = "https"
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(*certificate)
            self.server.socket = context.wrap_socket(self.server.socket, server_side=True, do_handshake_on_connect=False)
        self.port = self.server.server_address[1]
        self.place = f"{scheme}://127.0.0.1:{self.port}"
        self.url = self.place + "/hook?key=hunter2"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.let_go()
        self.server.shutdown()
        self.server.server_close()

    def hold(self):
        """Those who come from now on get no answer until let_go()."""
        self.may_answer.clear()

    def let_go(self):
        self.may_answer.set()

    def bodies(self):
        """One for each message, however often it came."""
        return {headers["Kron-Message"]: json.loads(body) for _, headers, body in list(self.messages)}


class MailServer:
    """Takes every mail."""

    def __init__(self):
        self.mails = []  # (recipients, text)
        sink = self

        class Handler(socketserver.StreamRequestHandler):
            def handle(self):
                recipients = []
                self.wfile.write(b"220 sink\r\n")
                for line in self.rfile:
                    word = line[:4].upper()
                    if word == b"DATA":
                        self.wfile.write(b"354 go on\r\n")
                        text = b""
                        for part in self.rfile:
                            if part == b".\r\n":
                                break
                            text += part
                        sink.mails.append((recipients, text.decode()))
                        self.wfile.write(b"250 taken\r\n")
                    elif word == b"QUIT":
                        self.wfile.write(b"221 bye\r\n")
                        return
                    else:
                        if word == b"RCPT":
                            recipients.append(line.decode().partition(":")[2].strip(" <>\r\n"))
                        self.wfile.write(b"250 ok\r\n")

        class Server(socketserver.ThreadingTCPServer):
            daemon_threads = True
            allow_reuse_address = True

        self.server = Server(("127.0.0.1", 0), Handler)
        self.port = self.server.server_address[1]
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def sendmail(self, path):
        """A program that is called as sendmail is, and brings the mail here."""
        path.write_text(f"""#!{sys.executable}
import email, smtplib, sys
assert sys.argv[1:] == ["-t", "-i"], sys.argv
mail = email.message_from_bytes(sys.stdin.buffer.read())
with smtplib.SMTP("127.0.0.1", {self.port}) as server:
    server.send_message(mail)
""", encoding="utf-8")
        path.chmod(0o700)
        return path


def self_signed(directory):
    """A certificate for 127.0.0.1 that nobody knows, and its key."""
    certificate, key = directory / "cert.pem", directory / "key.pem"
    subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-keyout", key, "-out", certificate,
                    "-days", "2", "-subj", "/CN=127.0.0.1", "-addext", "subjectAltName=IP:127.0.0.1"],
                   check=True, capture_output=True)
    return str(certificate), str(key)
