"""`kron web` before a real krond: who gets in, what goes on to krond, and what others on this machine may try."""

import http.client
import os
import re
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from web_host import PATIENCE, OnWebHost, Page, hang_up, is_root, until, words_of


def status_of(answer):
    return int(answer.split(b" ", 2)[1])


class Front(OnWebHost):
    def test_a_code_is_traded_for_a_session_that_speaks_for_its_user(self):
        page = self.page.log_in()
        self.assertEqual(page.get("status")["pid"], self.krond.pid)
        self.assertEqual({job["identity"] for job in page.get("jobs")["jobs"]},
                         {"hello", "failing", "team/a.b", "lasting"})
        self.assertEqual(page.get("jobs/team%2Fa.b")["identity"], "team/a.b")
        answer = page.ask("POST", "/api/v1/jobs/hello/trigger", {"Idempotency-Key": "one"})
        self.assertIn(answer.status, (200, 201, 202), answer.body)
        run = self.ended(answer.json["runId"])
        self.assertEqual(run["trigger"], "manual")
        again = page.ask("POST", "/api/v1/jobs/hello/trigger", {"Idempotency-Key": "one"})
        self.assertEqual(again.json, {"runId": run["runId"], "outcome": "already_known"}, "a replay starts nothing")
        output = page.ask("GET", f"/api/v1/runs/{run['runId']}/output")
        self.assertEqual(output.body, b"hello\nworld\n")
        self.assertTrue(output.headers["content-disposition"].startswith("attachment"))
        self.assertIn(output.headers["content-type"].partition(";")[0], ("text/plain", "application/octet-stream"))

    def test_a_code_is_good_once(self):
        code = self.page.code
        self.page.log_in()
        second = self.page.trade(code)
        self.assertEqual(second.status, 401)
        self.assertEqual(second.headers["www-authenticate"], "Bearer")
        self.assertNotIn(code.encode(), second.body)

    def test_without_a_session_krond_is_not_asked(self):
        for method, target in (("GET", "/api/v1/jobs"), ("POST", "/api/v1/jobs/hello/trigger"), ("GET", "/metrics"),
                               ("GET", "/api/v1/events"), ("GET", "/readyz")):
            self.assertEqual(self.page.ask(method, target).status, 401, target)
            wrong = self.page.ask(method, target, {"Authorization": "Bearer " + "0" * 64})
            self.assertEqual(wrong.status, 401, target)
            self.assertEqual(self.page.ask(method, target, {"Cookie": "kron=1"}).status, 401, target)
        self.assertEqual(self.krond.all("run_started"), [])

    def test_what_is_not_in_the_list_is_not_forwarded(self):
        page = self.page.log_in()
        for method, target in (("POST", "/api/v1/leases"), ("POST", "/api/v1/tasks"), ("GET", "/metrics"),
                               ("GET", "/api/v1/openapi.json"), ("PUT", "/api/v1/jobs/hello/trigger"),
                               ("POST", "/api/v1/tokens"), ("GET", "/api/v1/jobs/hello%2Ftrigger%2F..")):
            self.assertIn(page.ask(method, target).status, (404, 405), target)
        self.assertEqual(page.ask("GET", "/api/v1/jobs/../state").status, 400)
        self.assertEqual(page.ask("POST", "/api/v1/state/hello/reset").status, 403)
        admin = self.web("--admin").log_in()
        self.assertEqual(admin.ask("GET", "/api/v1/state").status, 200)

    def test_other_sites_and_other_ports_get_nothing(self):
        page = self.page.log_in()
        target = "/api/v1/jobs/hello/trigger"
        for headers, status in (({"Host": "evil.example"}, 421),
                                ({"Host": f"evil.example:{page.port}"}, 421),
                                ({"Origin": "https://evil.example"}, 403),
                                ({"Origin": "null"}, 403),
                                ({"Origin": f"http://127.0.0.1:{page.port + 1}"}, 403),
                                ({"Sec-Fetch-Site": "cross-site"}, 403),
                                ({"Sec-Fetch-Site": "same-site"}, 403)):
            self.assertEqual(page.ask("POST", target, headers).status, status, headers)
        form = page.ask("POST", target, {"Content-Type": "application/x-www-form-urlencoded"}, body={})
        self.assertEqual(form.status, 415)
        self.assertEqual(self.krond.all("run_started"), [])
        own = page.ask("POST", target, {"Origin": f"http://127.0.0.1:{page.port}", "Sec-Fetch-Site": "same-origin"})
        self.assertIn(own.status, (200, 201, 202))
        self.assertNotIn("access-control-allow-origin", own.headers)

    def test_the_page_is_served_with_a_policy_and_no_cookie(self):
        for target in ("/", "/?x=1"):
            answer = self.page.ask("GET", target)
            self.assertEqual(answer.status, 200)
            self.assertIn(b"<!doctype html>", answer.body)
            self.assertIn("default-src 'none'", answer.headers["content-security-policy"])
            self.assertIn("frame-ancestors 'none'", answer.headers["content-security-policy"])
            self.assertEqual(answer.headers["cache-control"], "no-cache")
        self.assertNotIn("set-cookie", self.page.trade(self.page.code).headers)

    def test_both_loopback_addresses_answer_and_no_other(self):
        answers = [http.client.HTTPConnection("127.0.0.1", self.page.port, timeout=PATIENCE)]
        if socket.has_ipv6 and Path("/proc/net/if_inet6").exists() and Path("/proc/net/if_inet6").read_text("utf-8"):
            answers.append(http.client.HTTPConnection("::1", self.page.port, timeout=PATIENCE))
        for connection in answers:
            connection.request("GET", "/", headers={"Host": "localhost"})
            self.assertEqual(connection.getresponse().status, 200)
        with self.assertRaises(OSError):
            socket.create_connection(("127.0.0.2", self.page.port), timeout=PATIENCE).close()

    def test_hostile_heads(self):
        head = b"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        for more, status in ((b"Authorization: Bearer a\r\nAuthorization: Bearer b\r\n\r\n", 400),
                             (b"Authorization: Bearer \x00\r\n\r\n", 400),
                             (b"Authorization: Bearer a\rb\r\n\r\n", 400),
                             (b"Cookie: " + b"a" * (17 << 10) + b"\r\n\r\n", 431),
                             (b" folded\r\n\r\n", 400)):
            self.assertEqual(status_of(self.page.raw(head + more)), status, more[:40])

    def test_events_and_output_flow_and_hanging_up_is_passed_on(self):
        page = self.page.log_in()
        before = self.api.get("status")["eventStreams"]
        stream = page.send("GET", "/api/v1/events")
        self.assertEqual(stream.status, 200)
        until(lambda: self.api.get("status")["eventStreams"] == before + 1, "the stream")
        run_id = self.running("lasting")
        seen = b""
        while run_id.encode() not in seen:
            piece = stream.read1(65536)
            self.assertTrue(piece, seen)
            seen += piece
        hang_up(stream)
        until(lambda: self.api.get("status")["eventStreams"] == before, "the end of the stream")
        answer = page.ask("POST", f"/api/v1/runs/{run_id}/kill")
        self.assertLess(answer.status, 300, answer.body)

    def test_krond_may_end_and_come_back(self):
        page = self.page.log_in()
        stream = page.send("GET", "/api/v1/events")
        self.krond.kill()
        while True:
            try:
                if not stream.read1(65536):
                    break
            except (http.client.IncompleteRead, ConnectionError):
                break
        away = page.ask("GET", "/api/v1/status")
        self.assertEqual((away.status, away.json["type"]), (503, "urn:kron:problem:unreachable"))
        self.krond, self.api = self.host.serve()
        self.assertEqual(page.get("status")["pid"], self.krond.pid, "with the same session")

    def test_a_front_that_is_killed_leaves_krond_alone(self):
        page = self.page.log_in()
        page.send("GET", "/api/v1/events")
        page.end(signal.SIGKILL)
        until(lambda: self.api.get("status")["eventStreams"] == 0, "the end of its stream")
        self.assertTrue(self.api.get("status")["ready"])

    def test_it_ends_in_order(self):
        self.page.log_in()
        self.page.send("GET", "/api/v1/events")
        self.assertEqual(self.page.end(), 0)
        other = self.web(port=self.page.port)
        self.assertEqual(other.ask("GET", "/api/v1/jobs", {"Authorization": f"Bearer {self.page.token}"}).status, 401,
                         "a session ends with its front")

    def test_secrets_are_in_no_command_line_and_no_log(self):
        page = self.page.log_in()
        page.get("jobs")
        page.trade(page.code)
        self.assertNotIn(page.code.encode(), words_of(page.process.pid))
        page.end()
        said = page.process.stderr.read() + page.process.stdout.read() + self.krond.log()
        for secret in (page.code, page.token):
            self.assertNotIn(secret, said)

    def test_a_browser_is_led_by_a_file_of_this_user_alone(self):
        runtime = self.host.root / "runtime"
        tools = self.host.root / "tools"
        runtime.mkdir(mode=0o700)
        tools.mkdir()
        opened = self.host.root / "opened"
        browser = tools / "xdg-open"
        browser.write_text(f'#!/bin/sh\nstat -c "%a %n" "$1" > {opened}.new\ncat "$1" >> {opened}.new\n'
                           f'mv {opened}.new {opened}\n', encoding="utf-8")
        browser.chmod(0o755)
        environment = {**os.environ, "XDG_RUNTIME_DIR": str(runtime), "DISPLAY": ":1", "KRON_SOCKET": str(self.host.socket),
                       "PATH": f"{tools}:{os.environ['PATH']}"}
        with subprocess.Popen([os.environ["KRON"], "web", "--listen", "127.0.0.1:0"], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment) as process:
            self.addCleanup(process.kill)
            page = Page(process)
            until(opened.exists, "the browser")
            mode, _, rest = opened.read_text(encoding="utf-8").partition(" ")
            self.assertEqual(mode, "600")
            self.assertTrue(rest.startswith(str(runtime)), rest)
            self.assertIn(f"http://127.0.0.1:{page.port}/#code={page.code}", rest)
            self.assertEqual(page.end(), 0)
        self.assertEqual(list(runtime.iterdir()), [], "it is removed")

    def test_a_port_that_is_taken_is_an_error_that_names_its_user(self):
        result = self.host.kron("web", "--listen", f"127.0.0.1:{self.page.port}", "--no-open")
        self.assertEqual(result.returncode, 4, result)
        self.assertIn("a program of ", result.stderr)
        for address in ("0.0.0.0:8126", "example.org:80"):
            refused = self.host.kron("web", "--listen", address)
            self.assertEqual((refused.returncode, refused.stdout), (4, ""), refused)
            self.assertIn("ssh -L", refused.stderr)

    def test_without_a_krond_it_says_so(self):
        self.krond.stop()
        result = self.host.kron("web", "--listen", "127.0.0.1:0", "--no-open")
        self.assertEqual((result.returncode, result.stdout), (3, ""), result)

    def test_what_a_browser_takes_for_the_page_is_less_than_60_kilobytes(self):
        names = re.findall(r'"(/a/[0-9a-f]{12}/kron\.(?:js|css))"', self.page.ask("GET", "/").body.decode())
        self.assertEqual(len(names), 2)
        answers = [self.page.ask("GET", name, {"Accept-Encoding": "gzip"}) for name in names]
        self.assertEqual([answer.headers["content-encoding"] for answer in answers], ["gzip", "gzip"])
        self.assertLessEqual(sum(len(answer.body) for answer in answers), 60_000)

    def test_strangers_who_say_nothing_keep_nobody_out(self):
        page = self.page.log_in()
        strangers = []
        self.addCleanup(lambda: [stranger.close() for stranger in strangers])
        for _ in range(600):
            strangers.append(socket.create_connection(("127.0.0.1", page.port), timeout=PATIENCE))
        self.assertTrue(page.get("status")["ready"])
        begin = time.monotonic()
        self.assertTrue(self.api.get("status")["ready"])
        self.assertLess(time.monotonic() - begin, 5, "krond itself notices nothing of them")

    def test_root_is_warned(self):
        self.page.end()
        said = self.page.process.stderr.read()
        self.assertEqual("root" in said, is_root(), said)


if __name__ == "__main__":
    unittest.main()
