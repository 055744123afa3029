"""A krond with a `kron web` before it, for the tests beside this file."""

import http.client
import json
import os
import re
import signal
import socket
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

# pylint: disable=wrong-import-position
from api_host import NEVER, PATIENCE, OnApiHost, until  # noqa: F401

ADDRESS = re.compile(r"^http://127\.0\.0\.1:(\d+)/#code=([0-9a-f]{32})$")


class Answer:
    def __init__(self, response):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = response.read()

    @property
    def json(self):
        return json.loads(self.body)


def hang_up(response):
    response.close()
    response.kept.close()


class Page:
    """What a page in a browser does: requests to one `kron web`, with its session once there is one."""

    def __init__(self, process):
        self.process = process
        self.port, self.code = self.next_address()
        self.token = None

    def next_address(self):
        """The next line of that kind."""
        for line in self.process.stdout:
            if found := ADDRESS.match(line.strip()):
                return int(found[1]), found[2]
        raise AssertionError(f"no address; {self.process.stderr.read()}")

    def connection(self, host="127.0.0.1"):
        return http.client.HTTPConnection(host, self.port, timeout=PATIENCE)

    def send(self, method, target, headers=None, body=None):
        """The answer, unread; hang_up() ends it."""
        sent = {**({"Authorization": f"Bearer {self.token}"} if self.token else {}), **(headers or {})}
        if body is not None:
            sent.setdefault("Content-Type", "application/json")
        connection = self.connection()
        connection.request(method, target, body=None if body is None else json.dumps(body), headers=sent)
        response = connection.getresponse()
        response.kept = connection
        return response

    def ask(self, method, target, headers=None, body=None):
        response = self.send(method, target, headers, body)
        answer = Answer(response)
        hang_up(response)
        return answer

    def get(self, path):
        answer = self.ask("GET", f"/api/v1/{path}")
        assert answer.status == 200, (answer.status, answer.body)
        return answer.json

    def trade(self, code):
        return self.ask("POST", "/api/v1/session", body={"code": code})

    def log_in(self):
        answer = self.trade(self.code)
        assert answer.status == 200, answer.body
        self.token = answer.json["token"]
        return self

    def raw(self, message):
        """All that comes for these bytes."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE) as client:
            client.sendall(message)
            answer = b""
            while piece := client.recv(65536):
                answer += piece
            return answer

    def end(self, number=signal.SIGTERM):
        self.process.send_signal(number)
        return self.process.wait(PATIENCE)


class OnWebHost(OnApiHost):
    def web(self, *flags, port=0, **how):
        """A `kron web` on a port of its own."""
        return Page(self.host.start_kron("web", "--listen", f"127.0.0.1:{port}", "--no-open", *flags, **how))

    def setUp(self):
        super().setUp()
        self.page = self.web()



def words_of(pid):
    return Path(f"/proc/{pid}/cmdline").read_bytes()


def is_root():
    return os.geteuid() == 0
