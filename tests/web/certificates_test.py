"""The certificate of `kron web --service`, and those who speak no TLS, or a bad one."""

import os
import shutil
import signal
import socket
import ssl
import unittest

from secure_host import OnSecureHost, make_certificate
from service_host import PATIENCE, until


class Certificates(OnSecureHost):
    def served(self):
        """What a client is shown."""
        return ssl.get_server_certificate(("localhost", self.front.port), timeout=PATIENCE)

    def hang_up(self):
        self.front.process.send_signal(signal.SIGHUP)

    def refusals(self):
        return self.front.log().count("certificate_refused")

    def test_one_that_cannot_be_used_leaves_the_one_before_and_the_next_heals(self):
        first = self.served()
        self.assertEqual(self.front.ask("GET", "/healthz").status, 200)
        make_certificate(self.host.root, "other")
        other = self.host.root / "other.crt"
        # With the key of another; half of it; none.
        for wrong in (other.read_bytes(), self.certificate.read_bytes()[:200], b""):
            before = self.refusals()
            kept = self.certificate.read_bytes()
            self.certificate.write_bytes(wrong)
            self.hang_up()
            until(lambda count=before: self.refusals() > count, "certificate_refused")
            self.assertEqual(self.served(), first)
            self.certificate.write_bytes(kept)
        shutil.copy(other, self.certificate)
        shutil.copy(self.host.root / "other.key", self.key)
        self.hang_up()
        until(self.front.log_has("certificate_loaded"), "certificate_loaded")
        self.assertEqual(self.served().split(), other.read_text(encoding="utf-8").split())
        self.assertEqual(self.front.ask("GET", "/healthz").status, 200)

    def test_what_is_no_tls_or_an_old_one_gets_nothing_and_fills_no_log(self):
        old = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        old.check_hostname, old.verify_mode = False, ssl.CERT_NONE
        old.minimum_version = ssl.TLSVersion.TLSv1
        old.maximum_version = ssl.TLSVersion.TLSv1_1
        old.set_ciphers("ALL:@SECLEVEL=0")
        sent = [b"", b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n", os.urandom(2000), b"\x16\x03\x01" + os.urandom(500)]
        for number in range(200):
            with socket.create_connection(("127.0.0.1", self.front.port), timeout=PATIENCE) as client:
                client.sendall(sent[number % len(sent)])
                client.shutdown(socket.SHUT_WR)
                answer = b""
                try:
                    while piece := client.recv(4096):
                        answer += piece
                except ConnectionError:
                    pass
            self.assertNotIn(b"HTTP", answer)
        for name in ("localhost", "evil.example"):
            with socket.create_connection(("127.0.0.1", self.front.port), timeout=PATIENCE) as client:
                with self.assertRaises((ssl.SSLError, ConnectionError)):
                    old.wrap_socket(client, server_hostname=name)
        self.assertEqual(self.front.ask("GET", "/healthz").status, 200)
        self.assertLess(self.front.log().count("tls_handshake_failed"), 100, "one line a second")

    def test_nobody_is_told_anything_in_the_clear(self):
        answer = self.front.ask("GET", "/healthz")
        self.assertIn("max-age=", answer.headers["strict-transport-security"])
        token, _ = self.new_token("ada")
        session = self.front.ask("POST", "/api/v1/session", body={"token": token})
        self.assertEqual(session.status, 200)
        self.assertIn("; Secure; HttpOnly; SameSite=Strict", session.headers["set-cookie"])
        self.assertNotIn("token", session.json)


if __name__ == "__main__":
    unittest.main()
