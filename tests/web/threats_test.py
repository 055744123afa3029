"""What others on this machine and pages of other sites may try: each has an answer, and krond does nothing."""

import socket
import subprocess
import sys
import threading
import unittest
from pathlib import Path

from web_host import PATIENCE, OnWebHost, is_root, until

NOBODY = 65534
HOSTILE = """</script><script>alert(1)</script><img src=x onerror=alert(2)>"'&\u202e\u2066 {{7*7}}"""
LISTEN = """
import socket, sys
door = socket.create_server(("127.0.0.1", 0))
print(door.getsockname()[1], flush=True)
sys.stdin.read()
"""


class Threats(OnWebHost):
    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("hello", "0 0 1 1 *", "echo hello", env={"DB_PASSWORD": "hunter2"}, stdin="hunter2"),
            self.host.job("hostile", "0 0 1 1 *",
                          r"""printf '</script><script>alert(1)</script>\033]8;;http://evil\033\\x\033[2J\n'""",
                          description=HOSTILE))

    def check_that_nothing_happened(self):
        for event in ("run_started", "run_requested", "job_paused", "reload_requested"):
            self.assertEqual(self.krond.all(event), [], event)

    def test_a_form_a_fetch_and_an_image_of_another_site(self):
        page = self.page.log_in()
        other = {"Origin": "https://evil.example", "Sec-Fetch-Site": "cross-site"}
        tries = (
            ("a form", "POST", "/api/v1/jobs/hello/trigger",
             {**other, "Content-Type": "application/x-www-form-urlencoded", "Sec-Fetch-Mode": "navigate"}),
            ("a form as text", "POST", "/api/v1/jobs/hello/pause", {**other, "Content-Type": "text/plain"}),
            ("fetch, no-cors", "POST", "/api/v1/reload",
             {**other, "Content-Type": "text/plain", "Sec-Fetch-Mode": "no-cors"}),
            ("fetch, cors", "OPTIONS", "/api/v1/jobs/hello/trigger",
             {**other, "Access-Control-Request-Method": "POST"}),
            ("an image", "GET", "/api/v1/jobs", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Dest": "image"}),
            ("a link", "GET", "/api/v1/runs", {"Sec-Fetch-Site": "cross-site", "Sec-Fetch-Mode": "navigate"}),
            ("a code", "POST", "/api/v1/session", {**other, "Content-Type": "application/json"}))
        token = page.token
        for has_token in (True, False):
            page.token = token if has_token else None
            for what, method, target, headers in tries:
                answer = page.ask(method, target, headers)
                self.assertEqual(answer.status, 403, f"{what}: {answer.body}")
                self.assertFalse([name for name in answer.headers if name.startswith("access-control")], what)
        self.check_that_nothing_happened()

    def test_krond_itself_refuses_other_sites_on_its_socket(self):
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Origin": "http://localhost:1"},
                        {"Sec-Fetch-Site": "cross-site"}, {"Sec-Fetch-Site": "same-site"}):
            for method, path in (("POST", ("jobs", "hello", "trigger")), ("POST", ("reload",)), ("GET", ("jobs",))):
                answer = self.api.ask(method, *path, headers=headers)
                self.assertEqual(answer.status, 403, f"{headers} {path}")
        self.check_that_nothing_happened()
        own = self.api.ask("POST", "jobs", "hello", "trigger", headers={"Sec-Fetch-Site": "same-origin"})
        self.assertEqual(own.status, 200)

    def test_of_two_with_one_code_one_gets_a_session(self):
        answers = []
        ready = threading.Barrier(8)

        def trade():
            ready.wait(PATIENCE)
            answers.append(self.page.trade(self.page.code).status)

        threads = [threading.Thread(target=trade) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE)
        self.assertEqual(sorted(answers)[0], 200, answers)
        self.assertEqual([status for status in answers if status not in (401, 429)], [200])

    def test_tokens_that_are_no_text(self):
        head = b"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        for value, status in ((b"a\nb", 400), (b"a\r\n b", 400), (b"a\x00", 400), (b"\xff\xfe", 400), (b"\x7f", 400),
                              (b"a" * (17 << 10), 431)):
            answer = self.page.raw(head + b"Authorization: Bearer " + value + b"\r\n\r\n")
            self.assertEqual(int(answer.split(b" ", 2)[1]), status, value[:20])

    def test_hostile_names_and_output_are_data(self):
        page = self.page.log_in()
        for target in ("/api/v1/jobs", "/api/v1/jobs/hostile", "/api/v1/jobs/%3Cimg%20src=x%20onerror=alert(1)%3E",
                       "/api/v1/runs?job=%3C/script%3E"):
            answer = page.ask("GET", target)
            self.assertIn(answer.headers["content-type"].partition(";")[0],
                          ("application/json", "application/problem+json"), target)
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff", target)
            self.assertIn("default-src 'none'", answer.headers["content-security-policy"], target)
            answer.json  # pylint: disable=pointless-statement
        self.assertEqual(page.get("jobs/hostile")["description"], HOSTILE)
        run_id = page.ask("POST", "/api/v1/jobs/hostile/trigger").json["runId"]
        self.ended(run_id)
        for query in ("", "?follow=true"):
            output = page.ask("GET", f"/api/v1/runs/{run_id}/output{query}", {"Sec-Fetch-Mode": "navigate"})
            self.assertEqual(output.headers["content-disposition"], "attachment")
            self.assertIn(output.headers["content-type"].partition(";")[0], ("text/plain", "application/octet-stream"))
            self.assertEqual(output.headers["x-content-type-options"], "nosniff")
            self.assertIn(b"\x1b]8;;http://evil", output.body)

    def test_values_of_the_environment_need_the_flag(self):
        page = self.page.log_in()
        shown = page.get("jobs/hello")["definition"]
        self.assertEqual((shown["env"], shown["stdin"]), ({"DB_PASSWORD": None}, None))
        for target in ("jobs", "jobs/hello", "jobs/hello/decisions", "status"):
            self.assertNotIn("hunter2", str(page.get(target)), target)
        raised = page.ask("GET", "/api/v1/jobs/hello", {"Kron-At-Most": "admin"}).json["definition"]
        self.assertEqual(raised["env"], {"DB_PASSWORD": None}, "no header of a page makes it more")
        admin = self.web("--admin").log_in()
        self.assertEqual(admin.get("jobs/hello")["definition"]["env"], {"DB_PASSWORD": "hunter2"})

    def test_a_code_in_an_address_is_no_session(self):
        code = self.page.code
        for target in (f"/api/v1/jobs?code={code}", f"/api/v1/jobs?token={code}", f"/api/v1/session?code={code}"):
            self.assertEqual(self.page.ask("GET", target).status, 401, target)
        answer = self.page.ask("GET", "/")
        self.assertEqual(answer.headers["referrer-policy"], "no-referrer")
        self.assertNotIn(code.encode(), answer.body)
        self.page.log_in()

    def test_no_core_holds_a_secret(self):
        limits = Path(f"/proc/{self.page.process.pid}/limits").read_text(encoding="utf-8")
        self.assertRegex(limits, r"Max core file size\s+0\s+0\s")

    @unittest.skipUnless(is_root(), "only root can become somebody else")
    def test_a_port_of_another_user_is_named(self):
        with subprocess.Popen(["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups", sys.executable,
                               "-c", LISTEN], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
            try:
                port = int(other.stdout.readline())
                taken = self.host.kron("web", "--listen", f"127.0.0.1:{port}", "--no-open")
                self.assertEqual((taken.returncode, taken.stdout), (4, ""), taken)
                self.assertRegex(taken.stderr, r"a program of (nobody|user 65534|uid 65534)")
            finally:
                other.stdin.close()

    def test_strangers_by_the_thousands_cost_krond_nothing(self):
        page = self.page.log_in()
        strangers = []
        self.addCleanup(lambda: [stranger.close() for stranger in strangers])
        for _ in range(2000):
            strangers.append(socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE))
            if len(strangers) > 700:  # as many as one process may have open, with room for the rest
                strangers.pop(0).close()
        until(lambda: page.get("status")["ready"], "an answer to a page that is logged in")
        self.assertTrue(self.api.get("status")["ready"])


if __name__ == "__main__":
    unittest.main()
