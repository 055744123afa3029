"""A krond with a web socket and a `kron web --service` before it, for the tests beside this file."""

import re
import threading

from web_host import Answer, Page, PATIENCE, hang_up, until  # noqa: F401  pylint: disable=unused-import
from api_host import NEVER, ApiHost, OnApiHost  # noqa: F401  pylint: disable=unused-import

LISTENS = re.compile(r"front_listens address=(?:127\.0\.0\.1|\[::1\]):(\d+)")
PUBLIC = "kron.example.org"


class Service(Page):
    """What clients of one `kron web --service` send. `host`: the name they call it by."""

    def __init__(self, process, host=None):  # pylint: disable=super-init-not-called
        self.process = process
        self.token = None
        self.host = host
        self.lines = []
        self._read = threading.Thread(target=self._read_log, daemon=True)
        self._read.start()
        until(self.log_has("front_listens"), "the front to listen")
        self.port = int(LISTENS.search(self.log())[1])

    def _read_log(self):
        for line in self.process.stderr:
            self.lines.append(line)

    def log(self):
        return "".join(self.lines)

    def log_has(self, word):
        def look():
            if self.process.poll() is not None and word not in self.log():
                raise AssertionError(f"the front ended: {self.log()}")
            return word in self.log()
        return look

    def send(self, method, target, headers=None, body=None):
        named = {"Host": self.host} if self.host else {}
        return super().send(method, target, {**named, **(headers or {})}, body)

    def as_(self, token):
        """The same front, asked with this token."""
        other = object.__new__(Service)
        other.__dict__.update(self.__dict__, token=token)
        return other


class OnServiceHost(OnApiHost):
    flags = ("--listen", "127.0.0.1:0")
    krond_flags = ()
    host_name = None

    def setUp(self):
        super().setUp()
        self.krond.stop()
        self.web_socket = self.host.state / "web.sock"
        self.krond, self.api = self.host.serve("--web-socket", str(self.web_socket), *self.krond_flags)
        self.front = self.service(*self.flags)

    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("hello", NEVER, "echo hello", env={"DB_PASSWORD": "hunter2"}),
            self.host.job("other", NEVER, "true"))

    def service(self, *flags):
        process = self.host.start_kron("web", "--service", "--web-socket", str(self.web_socket), *flags)
        return Service(process, self.host_name)

    def new_token(self, name, role="read", **members):
        made = self.api.expect(201, "POST", "tokens", body={"name": name, "role": role, **members})
        return made["token"], made["id"]

    def check_that_nothing_happened(self):
        for event in ("run_started", "run_requested", "job_paused", "reload_requested"):
            self.assertEqual(self.krond.all(event), [], event)
