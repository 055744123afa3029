"""The verbs of `kron` by --url: a krond behind a TLS server that passes everything on, as another host would see it."""

import json
import os
import socket
import ssl
import subprocess
import threading
import unittest
from pathlib import Path

from api_host import KRON, OnApiHost, until

TOKEN = "kron_remote_0123456789abcdef"


class TlsDoor:
    """Takes connections by TLS, and passes their bytes on to krond's socket. Keeps what it was told, in the clear."""

    def __init__(self, directory, path):
        self.path = str(path)
        self.heard = []
        self.certificate, self.key = directory / "door.pem", directory / "door.key"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes",
                        "-days", "30", "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
                        "-keyout", self.key, "-out", self.certificate], check=True, capture_output=True)
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(self.certificate, self.key)
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def close(self):
        if self.listener.fileno() < 0:
            return
        self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    @property
    def url(self):
        return f"https://localhost:{self.port}"

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=(client,), daemon=True).start()

    def serve(self, client):
        try:
            client = self.context.wrap_socket(client, server_side=True)
            behind = socket.socket(socket.AF_UNIX)
            behind.connect(self.path)
        except OSError:
            client.close()
            return
        back = threading.Thread(target=self.pump, args=(behind, client, None), daemon=True)
        back.start()
        self.pump(client, behind, self.heard)
        back.join()
        client.close()
        behind.close()

    @staticmethod
    def pump(source, sink, heard):
        try:
            while data := source.recv(65536):
                if heard is not None:
                    heard.append(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass


class Remote(OnApiHost):
    def setUp(self):
        super().setUp()
        self.door = TlsDoor(self.host.root, self.host.socket)
        self.addCleanup(self.door.close)
        self.token_file = self.host.root / "token"
        self.token_file.write_text(TOKEN + "\n", encoding="utf-8")
        self.token_file.chmod(0o600)
        self.flags = ("--url", self.door.url, "--ca-file", self.door.certificate, "--token-file", self.token_file)

    def kron(self, *words, status=0):
        result = self.host.kron(*words, *self.flags)
        self.assertEqual(result.returncode, status, result)
        self.assertNotIn(TOKEN, result.stdout + result.stderr)
        return result.stdout

    def test_every_verb_that_asks_krond(self):
        self.assertIn("jobs", self.kron("status"))
        self.assertEqual(sorted(self.kron("jobs", "--names").split()), ["failing", "hello", "lasting", "team/a.b"])
        run = json.loads(self.kron("trigger", "hello", "--wait", "--format", "json"))
        self.assertEqual(run["exitCode"], 0)
        self.assertEqual(self.kron("logs", run["runId"]), "hello\nworld\n")
        self.kron("wait", run["runId"])
        self.kron("trigger", "failing", "--wait", status=1)
        for words in (("runs", "--job", "hello"), ("show", "team/a.b"), ("why", "hello"), ("pause", "team/a.b"),
                      ("resume", "team/a.b"), ("reload",), ("state", "list"), ("state", "show", "hello"),
                      ("next", "hello"), ("explain", "hello"), ("simulate", "--for", "1d"), ("task", "list"),
                      ("events", "--after", "0", "--limit", "1")):
            self.kron(*words)
        self.kron("show", "nobody", status=1)
        told = b"".join(self.door.heard)
        self.assertEqual(told.count(b"HTTP/1.1\r\n"), told.count(b"Authorization: Bearer " + TOKEN.encode()))
        self.assertIn(b"Host: localhost:%d\r\n" % self.door.port, told)

    def test_output_is_followed_and_a_run_killed(self):
        run_id = self.running("lasting")
        following = self.host.start_kron("logs", "-f", run_id, *self.flags)
        self.kron("kill", run_id)
        self.assertEqual(following.wait(timeout=60), 0)

    def test_a_worker_works_from_afar(self):
        self.submit(*(f"t{number}" for number in range(20)))
        worker = self.host.start_kron(*self.host.worker_arguments("cat", "--type", "T", "--drain", "--concurrency", 4),
                                      *self.flags)
        said = worker.communicate(timeout=120)[1]
        self.assertEqual(worker.returncode, 0, said)
        self.assertNotIn(TOKEN, said)
        for number in range(20):
            self.assertEqual(self.api.get("tasks", f"t{number}")["state"], "COMPLETED")

    def test_a_worker_that_waits_is_given_what_comes(self):
        worker = self.host.start_kron(*self.host.worker_arguments("cat", "--type", "T"), *self.flags)
        until(lambda: any(b"/api/v1/leases" in heard for heard in self.door.heard), "a worker that asks")
        self.submit("late")
        until(lambda: self.api.get("tasks", "late")["state"] == "COMPLETED", "the task's end")
        worker.terminate()
        self.assertEqual(worker.wait(timeout=60), 0)

    def test_the_token_is_in_no_list_of_processes_and_no_core(self):
        process = self.host.start_kron("events", *self.flags)
        until(lambda: any(b"/api/v1/events" in heard for heard in self.door.heard), "a reader of events")
        place = Path(f"/proc/{process.pid}")
        self.assertNotIn(TOKEN.encode(), (place / "cmdline").read_bytes())
        self.assertRegex((place / "limits").read_text(encoding="utf-8"), r"Max core file size\s+0\s+0\s")
        process.kill()

    def test_others_are_not_trusted(self):
        flags = ("--url", self.door.url, "--token-file", self.token_file)
        result = self.host.kron("status", *flags)
        self.assertEqual(result.returncode, 4, result)
        self.assertIn("is not accepted", result.stderr)
        elsewhere = ("--url", f"https://127.0.0.2:{self.door.port}", *self.flags[2:])
        self.assertEqual(self.host.kron("status", *elsewhere).returncode, 3, "nobody listens there")
        self.assertEqual(self.door.heard, [])

    def test_doctor(self):
        findings = json.loads(self.kron("doctor", "--format", "json"))
        self.assertEqual(findings["problems"], 0, findings)
        about = {one["about"]: one["what"] for one in findings["findings"]}
        self.assertRegex(about["tls"], "(29|30) days")  # as the second falls
        self.assertIn("the role admin", about["token"])
        self.assertIn("is that of this host", about["clock"])
        self.door.close()
        result = self.host.kron("doctor", *self.flags)
        self.assertEqual(result.returncode, 1)
        self.assertIn("problem  url", result.stdout)

    def test_the_environment_will_do(self):
        environment = {**os.environ, "KRON_URL": self.door.url, "KRON_TOKEN": TOKEN,
                       "KRON_CA_FILE": str(self.door.certificate)}
        result = subprocess.run([KRON, "jobs", "--names"], env=environment, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertIn(b"Bearer " + TOKEN.encode(), b"".join(self.door.heard))


if __name__ == "__main__":
    unittest.main()
