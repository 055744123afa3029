"""The certificate of `kron web --service`, and those who speak no TLS, or a bad one."""

import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import time
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


def make_client(directory, authority, name):
    """A certificate of a client, NAME.crt and NAME.key, by AUTHORITY.crt and .key."""
    request = ["openssl", "req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", f"/CN={name}", "-keyout",
               directory / f"{name}.key", "-out", directory / f"{name}.csr"]
    sign = ["openssl", "x509", "-req", "-in", directory / f"{name}.csr", "-CA", directory / f"{authority}.crt", "-CAkey",
            directory / f"{authority}.key", "-CAcreateserial", "-days", "2", "-out", directory / f"{name}.crt"]
    for command in (request, sign):
        subprocess.run(command, check=True, capture_output=True)


class ClientCertificates(OnSecureHost):
    def service(self, *flags):
        make_certificate(self.host.root, "clients")
        self.tls_flags = ("--tls-client-ca", str(self.host.root / "clients.crt"))
        return super().service(*flags)

    def status_with(self, name):
        """Of an answer to who has this certificate; an error where he is not let in."""
        context = ssl.create_default_context(cafile=self.certificate)
        if name is not None:
            context.load_cert_chain(self.host.root / f"{name}.crt", self.host.root / f"{name}.key")
        connection = http.client.HTTPSConnection("localhost", self.front.port, timeout=PATIENCE, context=context)
        try:
            connection.request("GET", "/healthz")
            return connection.getresponse().status
        finally:
            connection.close()

    def test_only_who_has_one_of_the_authorities_comes_in(self):
        make_certificate(self.host.root, "strangers")
        make_client(self.host.root, "clients", "ada")
        make_client(self.host.root, "strangers", "eve")
        self.assertEqual(self.status_with("ada"), 200)
        for name in (None, "eve", "strangers"):
            with self.assertRaises((ssl.SSLError, ConnectionError, http.client.RemoteDisconnected), msg=name):
                self.status_with(name)
        self.assertEqual(self.status_with("ada"), 200)


class Remotely(OnSecureHost):
    """kron on another host: by the port, over TLS, with a token in a file."""

    def remote(self, token_file, *words):
        return self.host.kron(*words, "--url", f"https://localhost:{self.front.port}", "--token-file", token_file, "--ca-file",
                              self.certificate)

    def token_file(self, role):
        path = self.host.root / f"{role}.token"
        made = self.host.kron("token", "create", role, "--role", role, "--out", path)
        self.assertEqual(made.returncode, 0, made.stderr)
        return path

    def test_verbs_do_there_what_they_do_here(self):
        operate = self.token_file("operate")
        status = self.remote(operate, "status", "--format", "json")
        self.assertEqual((status.returncode, json.loads(status.stdout)["ready"]), (0, True), status.stderr)
        self.assertIn("hello", self.remote(operate, "jobs").stdout)
        ran = self.remote(operate, "trigger", "hello", "--wait")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("hello\n", self.remote(operate, "logs", "hello").stdout)
        self.assertIn("hello", self.remote(operate, "runs", "--job", "hello").stdout)
        self.assertEqual(self.remote(operate, "pause", "hello").returncode, 0)
        self.krond.wait_for("job_paused", by="token operate")
        self.assertEqual(self.remote(operate, "resume", "hello").returncode, 0)
        self.assertEqual(self.remote(operate, "show", "hello").returncode, 0)
        self.assertEqual(self.remote(operate, "why", "hello").returncode, 0)
        self.assertEqual(self.remote(operate, "reload").returncode, 0)
        doctor = self.remote(operate, "doctor")
        self.assertIn("ok", doctor.stdout)
        token = operate.read_text(encoding="utf-8").strip()
        metrics = self.front.ask("GET", "/metrics", {"Authorization": f"Bearer {token}"}).body.decode()
        expires = int(re.search(r"^kron_tls_certificate_expiry_timestamp_seconds (\d+)$", metrics, re.MULTILINE)[1])
        self.assertAlmostEqual(expires, time.time() + 2 * 86400, delta=3600)
        self.assertIn("kron_jobs", metrics)

    def test_who_may_not_is_told_so(self):
        read = self.token_file("read")
        self.assertEqual(self.remote(read, "jobs").returncode, 0)
        refused = self.remote(read, "trigger", "hello")
        self.assertEqual(refused.returncode, 4, refused.stderr)
        self.assertIn("operate", refused.stderr)
        wrong = self.host.root / "wrong.token"
        text = read.read_text(encoding="utf-8").strip()
        wrong.write_text(text[:-1] + ("a" if text[-1] != "a" else "b"), encoding="utf-8")
        wrong.chmod(0o600)
        self.assertEqual(self.remote(wrong, "jobs").returncode, 4)
        made = self.remote(read, "token", "list")
        self.assertNotEqual(made.returncode, 0)
        self.check_that_nothing_happened()


if __name__ == "__main__":
    unittest.main()
