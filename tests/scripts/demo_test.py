"""scripts/demo, which `make run` shows: it comes to its end, shows what it promises, and leaves nothing behind.

    demo_test.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""

import http.client
import json
import os
import pty
import re
import signal
import socket
import sys
import termios
import unittest

from demo_case import BUILD, SOURCE, DemoCase

ADDRESS = re.compile(r"http://127\.0\.0\.1:(\d+)/#code=([0-9a-f]{32})")
LIMIT = 240  # seconds


class Terminal:
    """The demo as somebody sees it who sits before it."""

    def __init__(self, environment):
        self.shown = ""
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.execve(SOURCE / "scripts/demo", ["demo", str(BUILD)], environment)

    def read_until(self, pattern):
        while not (found := pattern.search(self.shown)):
            piece = os.read(self.screen, 65536)
            assert piece, self.shown
            self.shown += piece.decode(errors="replace")
        return found

    def press_control_c(self):
        os.write(self.screen, termios.tcgetattr(self.screen)[6][termios.VINTR])

    def end(self):
        """Its exit status."""
        try:
            while piece := os.read(self.screen, 65536):
                self.shown += piece.decode(errors="replace")
        except OSError:  # The other side is closed.
            pass
        os.close(self.screen)
        return os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])


def ask(port, method, path, body=None, token=None):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    headers = {"Content-Type": "application/json", **({"Authorization": f"Bearer {token}"} if token else {})}
    connection.request(method, path, body=None if body is None else json.dumps(body), headers=headers)
    try:
        response = connection.getresponse()
        answer = response.read()
        assert response.status == 200, (response.status, answer)
        return answer
    finally:
        connection.close()


class Demo(DemoCase):
    script = "demo"
    half_way = "$ kill -9"

    def test_without_a_terminal_it_shows_what_it_promises_and_leaves_nothing(self):
        with self.start() as demo:
            shown = demo.communicate(timeout=LIMIT)[0]
        self.assertEqual(demo.returncode, 0, shown)
        for words in ("peak           200        11", "accepted invoice-42", "already_known invoice-42",
                      "attempt 1\nattempt 2\nreceipt\n", "state       SUCCEEDED", ", ready", "See it: kron web"):
            self.assertIn(words, shown)
        billing = shown[shown.index("$ kron runs --job billing"):shown.index("# 5.")]
        self.assertEqual(billing.count("exit 0"), 1, billing)
        self.assertIn("$ wc -l < charged\n1\n", billing)
        heartbeat = shown[shown.index("$ kron runs --job heartbeat"):shown.index("# 6.")]
        self.assertRegex(heartbeat, "missed|passed over")
        self.assertRegex(shown, ADDRESS)
        self.assert_nothing_is_left()

    def test_at_a_terminal_it_stays_with_the_page_until_control_c_whatever_port_is_taken(self):
        signal.alarm(LIMIT)
        self.addCleanup(signal.alarm, 0)
        taken = self.enterContext(socket.socket())
        taken.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            taken.bind(("127.0.0.1", 8126))
            taken.listen()
        except OSError:
            pass  # By somebody else, which is as good.
        names = ("DISPLAY", "WAYLAND_DISPLAY", "SSH_CONNECTION")
        environment = {name: value for name, value in os.environ.items() if name not in names}
        demo = Terminal({**environment, "TMPDIR": self.temporary, "KRON_DEMO_PAUSE": "0"})
        port, code = demo.read_until(ADDRESS).groups()
        self.assertNotEqual(port, "8126")
        token = json.loads(ask(int(port), "POST", "/api/v1/session", {"code": code}))["token"]
        self.assertIn(b"<title>Kron", ask(int(port), "GET", "/"))
        jobs = json.loads(ask(int(port), "GET", "/api/v1/jobs?limit=1000", token=token))["jobs"]
        names = {job["identity"]: job for job in jobs}
        self.assertEqual(len(names), 210)
        self.assertEqual(sum(name.endswith("/backup") for name in names), 200)
        self.assertEqual(names["ml/train-ranker"]["paused"]["note"], "the new GPUs come on Friday")
        demo.press_control_c()
        self.assertEqual(demo.end(), 0, demo.shown)
        self.assert_nothing_is_left()

    def test_an_interrupt_leaves_nothing(self):
        self.assert_an_interrupt_leaves_nothing()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
