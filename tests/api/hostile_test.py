"""Requests that nobody should send: the right status for each, and a krond that goes on answering."""

import grp
import json
import os
import socket
import subprocess
import sys
import time
import unittest

from api_host import KRON, PATIENCE, OnApiHost, until

HOST = b"Host: localhost\r\n"
NOBODY = 65534

# What is sent as it stands, and the statuses that are right. The connection is closed after a 400.
RAW = {
    "length with chunks (smuggling)": (b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST +
                                       b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400),
    "two lengths": (b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nab", 400),
    "a length that is none": (b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST + b"Content-Length: -1\r\n\r\n", 400),
    "a length with a sign": (b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST + b"Content-Length: +1\r\n\r\nx", 400),
    "a chunk that is none": (b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST +
                             b"Transfer-Encoding: chunked\r\n\r\nzz\r\n\r\n", 400),
    "an encoding of another kind": (b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST +
                                    b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", (400, 501)),
    "a folded header": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\r\n b\r\n\r\n", 400),
    "a blank before the colon": (b"GET /healthz HTTP/1.1\r\nHost : localhost\r\n\r\n", 400),
    "a bare CR": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\rb\r\n\r\n", 400),
    "a NUL": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\0b\r\n\r\n", 400),
    "no host": (b"GET /healthz HTTP/1.1\r\n\r\n", 400),
    "two hosts": (b"GET /healthz HTTP/1.1\r\n" + HOST + HOST + b"\r\n", 400),
    "an absolute target": (b"GET http://localhost/healthz HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "an asterisk": (b"OPTIONS * HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "HTTP/0.9": (b"GET /healthz\r\n\r\n", 400),
    "HTTP/2": (b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", (400, 505)),
    "noise": (bytes(range(256)) * 4, 400),
    "a NUL in a path": (b"GET /api/v1/jobs/%00 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "half an escape": (b"GET /api/v1/jobs/%2 HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "bytes that are no text": (b"GET /api/v1/jobs/%ff HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a way up": (b"GET /api/v1/../../etc/passwd HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a way up in disguise": (b"GET /api/v1/runs/%2e%2e/output HTTP/1.1\r\n" + HOST + b"\r\n", 400),
    "a line break in a path": (b"GET /api/v1/jobs/a%0d%0aX-Evil:%20yes HTTP/1.1\r\n" + HOST + b"\r\n", (400, 404)),
    "a long target": (b"GET /" + b"a" * 10_000 + b" HTTP/1.1\r\n" + HOST + b"\r\n", 414),
    "a large header": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: " + b"a" * 100_000 + b"\r\n\r\n", 431),
    "many headers": (b"GET /healthz HTTP/1.1\r\n" + HOST + b"X: a\r\n" * 100_000 + b"\r\n", 431),
    "a large body": (b"POST /api/v1/leases HTTP/1.1\r\n" + HOST + b"Content-Length: 1000000000000\r\n\r\n", 413),
    "a body beyond all numbers": (b"POST /api/v1/leases HTTP/1.1\r\n" + HOST + b"Content-Length: " + b"9" * 40 +
                                  b"\r\n\r\n", (400, 413)),
    "an endless chunked body": (b"POST /api/v1/leases HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" +
                                (b"10000\r\n" + b" " * 0x10000 + b"\r\n") * 100, 413),
}


class Hostile(OnApiHost):
    def connect(self):
        connection = socket.socket(socket.AF_UNIX)
        self.addCleanup(connection.close)
        connection.settimeout(PATIENCE)
        connection.connect(str(self.host.socket))
        return connection

    def status_of(self, request):
        """The status that these bytes get, and the whole answer; None when the door was shut without a word."""
        connection = self.connect()
        try:
            connection.sendall(request)
        except OSError:
            pass  # an answer may come before everything was sent
        received = b""
        try:
            while b"\r\n\r\n" not in received:
                piece = connection.recv(1 << 16)
                if not piece:
                    break
                received += piece
        except ConnectionResetError:
            pass
        return (int(received[9:12]) if received else None), received

    def alive(self):
        self.assertEqual(self.api.get("/healthz"), b"ok\n")

    def test_every_such_request_gets_its_status(self):
        for name, (request, expected) in RAW.items():
            with self.subTest(name):
                status, received = self.status_of(request)
                self.assertIn(status, expected if isinstance(expected, tuple) else (expected,), received[:300])
                self.assertNotIn(b"X-Evil", received.partition(b"\r\n\r\n")[0])
                self.alive()

    def test_a_request_that_never_ends_is_cut_off(self):
        connection = self.connect()
        began = time.monotonic()
        connection.sendall(b"GET /healthz HTTP/1.1\r\nHost: loc")
        received = connection.recv(1 << 16)
        self.assertTrue(received.startswith(b"HTTP/1.1 408"), received)
        self.assertLess(time.monotonic() - began, 60)
        self.alive()

    def test_methods_a_path_does_not_know(self):
        for method, target, allowed in (("DELETE", "jobs", "GET"), ("PUT", "status", "GET"), ("GET", "reload", "POST"),
                                        ("PATCH", "tasks", "GET, HEAD, POST"), ("BREW", "status", "GET")):
            answer = self.api.ask(method, target)
            self.assertEqual(answer.status, 405, method)
            self.assertTrue(set(allowed.split(", ")) <= set(answer.headers["allow"].split(", ")), answer.headers)
        self.assertEqual(self.api.ask("HEAD", "status").body, b"")
        self.assertEqual(self.api.ask("GET", "nowhere").status, 404)
        self.assertEqual(self.api.ask("GET", "/").status, 404)

    def test_ids_that_lead_elsewhere(self):
        secret = self.host.root / "secret"
        secret.mkdir()
        (secret / "output").write_text("secret", encoding="utf-8")
        for name in ("../../secret", "..%2f..%2fsecret", "/etc/passwd", "a/../../secret", ".hidden", "x" * 5000, "a\0b"):
            for path in (("runs", name), ("runs", name, "output"), ("tasks", name)):
                answer = self.api.ask("GET", *path)
                self.assertIn(answer.status, (400, 404), (path, answer.body))
                self.assertNotIn(b"secret\n", answer.body)
            for verb in ("cancel", "retry"):
                self.assertIn(self.api.ask("POST", "tasks", name, verb).status, (400, 404))
            answer = self.api.ask("POST", "tasks", body={"taskId": name, "payload": {"type": "T"}})
            self.assertEqual(answer.status, 400, answer.body)
        self.alive()

    def test_ranges_of_every_size(self):
        run_id = self.trigger("hello")
        for text in ("bytes=0-18446744073709551616", "bytes=99999999999999999999999-", "bytes=5-2", "bytes=-0",
                     "bytes=0-1,3-4," + ",".join(["0-"] * 2000), "bytes=a-b", "lines=1-2", "bytes=-99999999999999999999",
                     "bytes=", "bytes=-", "bytes=9223372036854775807-9223372036854775807"):
            answer = self.api.ask("GET", "runs", run_id, "output", headers={"Range": text})
            self.assertIn(answer.status, (200, 206, 400, 416), text)
            self.assertLessEqual(len(answer.body) if answer.status < 300 else 0, 12)
        self.alive()

    def test_bodies_that_are_no_requests(self):
        for body in (b"", b"{", b"[]", b"null", b"\xff\xfe", b"[" * 100_000, b'{"tasks":' + b"[" * 1000,
                     b'{"payload":{"type":"T"},"payload":{"type":"U"}}', b'{"payload":{"type":"T"},"extra":1}',
                     json.dumps({"payload": {"type": "T", "data": "x" * (1 << 21)}}).encode(),
                     json.dumps({"tasks": [{"payload": {"type": "T"}}] * 1001}).encode()):
            answer = self.api.ask("POST", "tasks", body=body, headers={"Content-Type": "application/json"})
            self.assertEqual(answer.status, 400, body[:60])
        for target in ("leases", "leases/a.1/commit", "leases/a.1/fail"):
            self.assertEqual(self.api.ask("POST", "/api/v1/" + target, body=b"[" * 100).status, 400)
        self.assertEqual(self.api.ask("POST", "leases", body={"worker": "w", "wait": "61s"}).status, 400)
        self.assertEqual(self.api.ask("POST", "leases", body={"worker": "a\nb"}).status, 400)
        self.alive()

    def test_connections_beyond_all_measure_are_told_and_the_others_served(self):
        held = [self.connect() for _ in range(520)]
        status, _ = self.status_of(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")
        self.assertIn(status, (200, 503, None))
        for connection in held:
            connection.close()
        for _ in range(100):
            if self.status_of(b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n")[0] == 200:
                return
            time.sleep(0.05)
        self.fail("nobody is served any more")

    def test_clients_that_hang_up_in_the_middle(self):
        asks = b'{"worker":"w","wait":"30s","term":"1s"}'
        for request in (b"GET /api/v1/events HTTP/1.1\r\n" + HOST + b"\r\n",
                        b"POST /api/v1/leases HTTP/1.1\r\n" + HOST + b"Content-Length: %d\r\n\r\n" % len(asks) + asks,
                        b"POST /api/v1/tasks HTTP/1.1\r\n" + HOST + b"Content-Length: 100\r\n\r\n{"):
            for _ in range(20):
                connection = self.connect()
                connection.sendall(request)
                connection.close()
        self.submit("a")
        # A krond that has not yet noticed that they are gone may give it to one of them, for a second.
        until(lambda: [lease["taskId"] for lease in self.lease()] == ["a"], "the task")
        self.alive()


@unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
class Foreigners(OnApiHost):
    def setUp(self):
        super().setUp()
        # What lies before the socket is opened, so that the socket's own guard is what is met.
        for path in (self.host.root, self.host.state):
            path.chmod(0o755)

    def as_nobody(self, *command, groups=()):
        flags = ["--groups", ",".join(map(str, groups))] if groups else ["--clear-groups"]
        return subprocess.run(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", *flags, *command], check=False,
                              capture_output=True, text=True, timeout=PATIENCE,
                              env={**os.environ, "KRON_SOCKET": str(self.host.socket)})

    def test_a_foreign_user_cannot_even_connect(self):
        probe = f"import socket; socket.socket(socket.AF_UNIX).connect({str(self.host.socket)!r})"
        self.assertIn("PermissionError", self.as_nobody(sys.executable, "-c", probe).stderr)

    def test_one_who_gets_in_is_refused(self):
        self.host.socket.chmod(0o666)
        for verb in ("status", "jobs", "reload"):
            result = self.as_nobody(KRON, verb)
            self.assertEqual(result.returncode, 4, result)
        self.assertEqual(self.api.get("/healthz"), b"ok\n")

    def test_a_group_may_look_or_operate_as_configured(self):
        for flags, reload_status in ((("--socket-group", "users"), 4),
                                     (("--socket-group", "users", "--socket-group-may", "operate"), 0)):
            self.krond.stop()
            self.krond, self.api = self.host.serve(*flags)
            member = {"groups": (grp.getgrnam("users").gr_gid,)}
            self.assertEqual(self.as_nobody(KRON, "status", **member).returncode, 0)
            self.assertEqual(self.as_nobody(KRON, "reload", **member).returncode, reload_status)
            self.assertEqual(self.as_nobody(KRON, "trigger", "hello", **member).returncode, reload_status)
            self.assertEqual(self.as_nobody(KRON, "status").returncode, 4)


if __name__ == "__main__":
    unittest.main()
