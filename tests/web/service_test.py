"""`kron web --service` with tokens: every threat of the plan has its answer, and krond does nothing it should not."""

import json
import os
import resource
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "cli"))

# pylint: disable=wrong-import-position
from ical import events_of
from service_host import NEVER, PATIENCE, PUBLIC, ApiHost, OnServiceHost, hang_up, until

TEXT_OF_401 = "this needs a token, or a session, that is valid"


def wrong_checksum(token):
    return token[:-1] + ("a" if token[-1] != "a" else "b")


class Tokens(OnServiceHost):
    def test_whoever_is_not_let_in_gets_one_answer(self):
        good, _ = self.new_token("ada", "admin")
        revoked, revoked_id = self.new_token("gone", "admin")
        self.api.expect(200, "DELETE", "tokens", revoked_id)
        expired, _ = self.new_token("old", "admin", expiresIn="1s")
        time.sleep(1.1)
        unknown = self.another_krond_token()
        bodies = set()
        for what, headers in (("none", {}), ("unknown", unknown), ("expired", expired), ("revoked", revoked),
                              ("checksum", wrong_checksum(good)), ("nonsense", "x"), ("basic", {"Authorization": "Basic eA=="})):
            sent = headers if isinstance(headers, dict) else {"Authorization": f"Bearer {headers}"}
            for method, target in (("GET", "/api/v1/jobs"), ("POST", "/api/v1/jobs/hello/trigger"), ("GET", "/metrics")):
                answer = self.front.ask(method, target, sent)
                self.assertEqual((answer.status, answer.headers["www-authenticate"]), (401, "Bearer"), what)
                bodies.add(answer.body)
        self.assertEqual(len(bodies), 1, bodies)
        self.assertIn(TEXT_OF_401, bodies.pop().decode())
        self.check_that_nothing_happened()
        self.assertEqual(self.front.as_(good).ask("GET", "/api/v1/jobs").status, 200)

    def test_a_token_for_calendars_stands_in_a_path_and_nowhere_else(self):
        token, token_id = self.new_token("phone", "ics")
        answer = self.front.ask("GET", f"/ics/{token}/upcoming.ics?for=366d")
        self.assertEqual((answer.status, answer.headers["content-type"]), (200, "text/calendar; charset=utf-8"))
        self.assertEqual((answer.headers["referrer-policy"], answer.headers["cache-control"]),
                         ("no-referrer", "private, no-store"))
        self.assertEqual({event.summary for event in events_of(answer.body.decode())}, {"hello", "other"})
        only = self.front.ask("GET", f"/ics/{token}/upcoming.ics?for=366d&prefix=he").body.decode()
        self.assertEqual({event.summary for event in events_of(only)}, {"hello"})
        self.assertEqual(self.front.as_(token).ask("GET", "/api/v1/upcoming.ics").status, 200)
        for method, target in (("GET", "/api/v1/jobs"), ("GET", "/api/v1/status"), ("GET", "/metrics"),
                               ("POST", "/api/v1/jobs/hello/trigger"), ("GET", "/api/v1/events")):
            self.assertEqual(self.front.as_(token).ask(method, target).status, 403, target)
        self.assertEqual(self.front.ask("POST", "/api/v1/session", body={"token": token}).status, 401)
        # No other token is taken where proxies would write it down; and what is wrong is told to nobody.
        others = [self.new_token(role, role)[0] for role in ("read", "operate", "admin")]
        for wrong in (*others, wrong_checksum(token), token + "%zz", token + "%00", token[:-1], "x"):
            answer = self.front.ask("GET", f"/ics/{wrong}/upcoming.ics")
            self.assertIn(answer.status, (400, 401), wrong)
            self.assertNotIn(token[14:40].encode(), answer.body + str(answer.headers).encode())
        self.assertEqual(self.front.ask("GET", f"/ics/{token}/upcoming.ics?for=x").status, 400)
        self.assertEqual(self.front.ask("GET", f"/ics/{token}/upcoming.ics?token=x").status, 400)
        self.api.expect(200, "DELETE", "tokens", token_id)
        self.assertEqual(self.front.ask("GET", f"/ics/{token}/upcoming.ics").status, 401)
        self.check_that_nothing_happened()
        for secret in (token[14:], *(other[14:] for other in others)):
            self.assertNotIn(secret, self.krond.log())
            self.assertNotIn(secret, self.front.log())

    def another_krond_token(self):
        """One that has the form of a token, and nobody knows."""
        made, token_id = self.new_token("short-lived")
        self.api.expect(200, "DELETE", "tokens", token_id)
        return made

    def test_a_role_is_all_a_token_has(self):
        read, _ = self.new_token("looker", "read")
        operate, _ = self.new_token("doer", "operate")
        admin, _ = self.new_token("boss", "admin")
        before = self.api.get("tokens")
        self.assertEqual(self.front.as_(read).ask("POST", "/api/v1/jobs/hello/trigger").status, 403)
        self.assertEqual(self.front.as_(operate).ask("GET", "/api/v1/tokens").status, 403)
        made = self.front.as_(admin).ask("POST", "/api/v1/tokens", body={"name": "x", "role": "admin"})
        self.assertEqual(made.status, 403, made.body)
        self.assertEqual(self.front.as_(admin).ask("DELETE", "/api/v1/sessions").status, 403)
        self.check_that_nothing_happened()
        names = [token["name"] for token in self.api.get("tokens")["tokens"]]
        self.assertEqual(names, [token["name"] for token in before["tokens"]])
        self.krond.wait_for("access_refused", by="token looker")
        until(self.front.log_has("token_path_refused"), "an event of the front")
        # krond's own web socket says the same to whoever reaches it.
        direct = self.web_socket_answer("POST", "/api/v1/tokens", admin, b'{"name":"x","role":"read"}')
        self.assertIn(b" 403 ", direct.split(b"\r\n", 1)[0])
        self.assertEqual(self.front.as_(operate).ask("POST", "/api/v1/jobs/hello/trigger").status, 200)
        self.krond.wait_for("run_requested", by="token doer")

    def web_socket_answer(self, method, target, token, body=b""):
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.web_socket))
            client.sendall(f"{method} {target} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
                           f"Authorization: Bearer {token}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            answer = b""
            while piece := client.recv(65536):
                answer += piece
            return answer

    def test_secrets_are_for_administrators(self):
        for role, seen in (("read", None), ("operate", None), ("admin", "hunter2")):
            token, _ = self.new_token(role, role)
            front = self.front.as_(token)
            self.assertEqual(front.get("jobs/hello")["definition"]["env"], {"DB_PASSWORD": seen}, role)
            if seen is None:
                for path in ("jobs", "jobs/hello/decisions", "status", "attention"):
                    self.assertNotIn("hunter2", str(front.get(path)), path)
        token, _ = self.new_token("trier")
        tried = self.front.as_(token).ask("POST", "/api/v1/try", body={"file": "/etc/passwd"})
        self.assertEqual(tried.status, 400, "it takes text, no path")

    def test_revoking_ends_streams_and_sessions_at_once(self):
        token, token_id = self.new_token("ada")
        opened = self.front.ask("POST", "/api/v1/session", body={"token": token})
        session = opened.json["token"]
        streams = [self.front.as_(shown).send("GET", "/api/v1/events") for shown in (token, session)]
        self.assertEqual([stream.status for stream in streams], [200, 200])
        self.api.expect(200, "DELETE", "tokens", token_id)
        for stream in streams:
            try:
                while stream.read1(65536):
                    pass
            except (ConnectionError, http_incomplete()):
                pass
            hang_up(stream)
        for shown in (token, session):
            self.assertEqual(self.front.as_(shown).ask("GET", "/api/v1/jobs").status, 401)

    def test_a_trigger_that_is_sent_twice_is_one_run(self):
        token, _ = self.new_token("doer", "operate")
        headers = {"Idempotency-Key": "k" * 32}
        runs = {self.front.as_(token).ask("POST", "/api/v1/jobs/hello/trigger", headers).json["runId"] for _ in range(2)}
        self.assertEqual(len(runs), 1)

    def test_output_is_saved_and_never_shown(self):
        token, _ = self.new_token("doer", "operate")
        front = self.front.as_(token)
        run_id = front.ask("POST", "/api/v1/jobs/hello/trigger").json["runId"]
        self.ended(run_id)
        answer = front.ask("GET", f"/api/v1/runs/{run_id}/output", {"Sec-Fetch-Mode": "navigate"})
        self.assertEqual(answer.headers["content-disposition"], "attachment")
        self.assertEqual(answer.headers["x-content-type-options"], "nosniff")

    def test_other_names_sites_and_ports(self):
        token, _ = self.new_token("doer", "operate")
        front = self.front.as_(token)
        self.assertEqual(front.ask("GET", "/", {"Host": "evil.example"}).status, 421)
        self.assertEqual(front.ask("GET", "/api/v1/jobs", {"Host": f"evil.example:{front.port}"}).status, 421)
        for headers in ({"Origin": "https://evil.example"}, {"Origin": "null"}, {"Sec-Fetch-Site": "cross-site"},
                        {"Origin": f"http://127.0.0.1:{front.port + 1}"}, {"Sec-Fetch-Site": "same-site"}):
            answer = front.ask("POST", "/api/v1/jobs/hello/trigger", headers)
            self.assertEqual(answer.status, 403, headers)
            self.assertFalse([name for name in answer.headers if name.startswith("access-control")])
        self.check_that_nothing_happened()

    def test_what_can_be_read_in_two_ways(self):
        token, _ = self.new_token("ada")
        head = b"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n"
        good = b"Authorization: Bearer " + token.encode() + b"\r\n"
        for headers, status in ((good, 200), (good + good, 400), (good + b"Authorization: Bearer x\r\n", 400),
                                (b"Authorization: Bearer a\nb\r\n", 400), (b"Authorization: Bearer a\x00\r\n", 400),
                                (b"Authorization: Bearer \xff\r\n", 400), (b"Cookie: a=\xff\r\n", 400),
                                (b"Cookie: a=\x00\r\n", 400), (b"Cookie: " + b"c" * (17 << 10) + b"\r\n", 431),
                                (b"Authorization: Bearer " + b"c" * (17 << 10) + b"\r\n", 431)):
            answer = self.front.raw(head + headers + b"\r\n")
            self.assertEqual(int(answer.split(b" ", 2)[1]), status, headers[:40])

    def test_probes_need_no_token_and_metrics_do(self):
        self.assertEqual(self.front.ask("GET", "/healthz").body, b"ok\n")
        self.assertEqual(self.front.ask("GET", "/readyz").status, 200)
        self.assertEqual(self.front.ask("GET", "/metrics").status, 401)
        token, _ = self.new_token("prometheus")
        self.assertIn(b"kron_", self.front.as_(token).ask("GET", "/metrics").body)

    def test_wrong_logins_are_slowed_down_and_a_right_one_is_not(self):
        token, _ = self.new_token("ada")
        wrong = self.another_krond_token()
        answers = [self.front.ask("POST", "/api/v1/session", body={"token": wrong}) for _ in range(7)]
        self.assertEqual([answer.status for answer in answers[:6]], [401] * 6)
        if answers[6].status != 401:  # a slow machine may have waited long enough
            self.assertEqual(answers[6].status, 429)
            self.assertGreaterEqual(int(answers[6].headers["retry-after"]), 1)
        self.assertEqual(self.front.ask("POST", "/api/v1/session", body={"token": token}).status, 200)
        lines = [line for line in self.front.lines if "login_failed" in line]
        self.assertGreaterEqual(len(lines), 1)
        self.assertLessEqual(len(lines), 7)

    def test_a_session_over_plain_http_is_no_cookie(self):
        token, _ = self.new_token("ada", "operate")
        answer = self.front.ask("POST", "/api/v1/session", body={"token": token})
        self.assertEqual(answer.status, 200)
        self.assertNotIn("set-cookie", answer.headers)
        session = self.front.as_(answer.json["token"])
        self.assertEqual(session.ask("POST", "/api/v1/jobs/hello/pause").status, 200)
        self.krond.wait_for("job_paused", by="token ada")
        self.krond.stop()
        self.krond, self.api = self.host.serve("--web-socket", str(self.web_socket))
        self.assertEqual(session.ask("GET", "/api/v1/jobs").status, 200, "a session survives a restart")
        self.assertEqual(session.ask("DELETE", "/api/v1/session").status, 204)
        self.assertEqual(session.ask("GET", "/api/v1/jobs").status, 401)

    def test_no_token_is_anywhere_but_with_its_owner(self):
        out = self.host.root / "token"
        made = self.host.kron("token", "create", "ada", "--role", "operate", "--out", str(out))
        self.assertEqual(made.returncode, 0, made.stderr)
        token = out.read_text(encoding="utf-8").strip()
        self.assertEqual(out.stat().st_mode & 0o777, 0o600)
        session = self.front.ask("POST", "/api/v1/session", body={"token": token}).json["token"]
        for shown in (token, session, wrong_checksum(token)):
            self.front.as_(shown).ask("GET", "/api/v1/jobs")
            self.front.as_(shown).ask("GET", "/api/v1/events?after=nonsense")
            self.front.ask("POST", "/api/v1/session", body={"token": shown})
        self.assertEqual(self.front.ask("GET", f"/api/v1/jobs?token={token}").status, 401)
        with subprocess.Popen([os.environ["KRON"], "events", "--socket", str(self.host.socket)],
                              stdout=subprocess.DEVNULL) as reader:
            secrets = [token[14:], session.split(".")[-1]]
            processes = [path.read_bytes() for path in Path("/proc").glob("[0-9]*/cmdline") if path.exists()]
            reader.kill()
        for secret in secrets:
            self.assertNotIn(secret, self.krond.log())
            self.assertNotIn(secret, self.front.log())
            self.assertFalse([words for words in processes if secret.encode() in words])
            for path in self.host.state.rglob("*"):
                if path.is_file():
                    self.assertNotIn(secret.encode(), path.read_bytes(), path)
        limits = Path(f"/proc/{self.front.process.pid}/limits").read_text(encoding="utf-8")
        self.assertRegex(limits, r"Max core file size\s+0\s+0\s")
        status = Path(f"/proc/{self.front.process.pid}/status").read_text(encoding="utf-8")
        self.assertIn("Seccomp:\t2", status)

    def test_a_front_that_is_killed_is_nothing_to_krond(self):
        token, _ = self.new_token("ada")
        stream = self.front.as_(token).send("GET", "/api/v1/events")
        self.front.process.send_signal(signal.SIGKILL)
        self.front.process.wait(PATIENCE)
        hang_up(stream)
        self.assertTrue(self.api.get("status")["ready"])
        self.assertEqual(self.service(*self.flags).as_(token).ask("GET", "/api/v1/jobs").status, 200)

    def test_idle_strangers_and_slow_ones_keep_nobody_out(self):
        token, _ = self.new_token("ada")
        front = self.front.as_(token)
        self.assertEqual(front.ask("GET", "/api/v1/jobs").status, 200)
        strangers = []
        self.addCleanup(lambda: [stranger.close() for stranger in strangers])
        for number in range(3000):
            stranger = socket.create_connection(("127.0.0.1", front.port), timeout=PATIENCE)
            if number % 3 == 0:
                try:
                    stranger.sendall(b"GET /api/v1/jobs HTTP/1.1\r\nHost: loc")
                except ConnectionError:
                    pass
            strangers.append(stranger)
            if len(strangers) > 700:  # as many as one process may have open, with room for the rest
                strangers.pop(0).close()
        begun = time.monotonic()
        self.assertEqual(front.ask("GET", "/api/v1/status").status, 200)
        self.assertLess(time.monotonic() - begun, 10, "a second, on a machine that does nothing else")
        times = []
        for _ in range(20):
            begun = time.monotonic()
            self.assertTrue(self.api.get("status")["ready"])
            times.append(time.monotonic() - begun)
        self.assertLess(sorted(times)[10], 1, "krond's own socket")


def http_incomplete():
    import http.client  # pylint: disable=import-outside-toplevel
    return http.client.IncompleteRead


class BehindAProxy(OnServiceHost):
    """The proxy ends TLS: browsers speak https by the public name."""

    flags = ("--listen", "127.0.0.1:0", "--plain-http-behind-proxy", "--public-url", f"https://{PUBLIC}")
    host_name = PUBLIC

    def log_in(self, name="ada", role="operate"):
        token, token_id = self.new_token(name, role)
        answer = self.front.ask("POST", "/api/v1/session", {"Origin": f"https://{PUBLIC}"}, {"token": token})
        self.assertEqual(answer.status, 200, answer.body)
        cookie, *attributes = answer.headers["set-cookie"].split("; ")
        self.assertEqual(set(attributes) - {f"Max-Age={answer.json['idleSeconds']}"},
                         {"Path=/", "Secure", "HttpOnly", "SameSite=Strict"})
        self.assertRegex(cookie, r"^__Host-kron-[0-9a-f]{8}=v1\.[0-9a-f]{32}\.[a-z2-7]{8}\.\d+\.\d+\.[0-9a-f]{64}$")
        self.assertNotIn(cookie.partition("=")[2].encode(), answer.body, "no script sees it")
        return cookie, answer.json["csrf"], token_id

    def test_a_cookie_looks_and_with_the_word_of_the_page_it_acts(self):
        cookie, csrf, _ = self.log_in()
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs", {"Cookie": cookie}).status, 200)
        pause = ("POST", "/api/v1/jobs/hello/pause")
        self.assertEqual(self.front.ask(*pause, {"Cookie": cookie}, {}).status, 403)
        self.assertEqual(self.front.ask(*pause, {"Cookie": cookie, "X-Kron-CSRF": "0" * 64}, {}).status, 403)
        self.check_that_nothing_happened()
        both = {"Cookie": f"other=1; {cookie}", "X-Kron-CSRF": csrf}
        text = self.front.ask(*pause, {**both, "Content-Type": "text/plain"}, {})
        self.assertEqual(text.status, 415)
        self.assertEqual(self.front.ask(*pause, both, {}).status, 200)
        self.krond.wait_for("job_paused", by="token ada")

    def test_cookies_that_are_not_as_they_were_made(self):
        cookie, _, token_id = self.log_in()
        name, _, value = cookie.partition("=")
        parts = value.split(".")
        later = ".".join([*parts[:4], str(int(parts[4]) + 1000), parts[5]])
        other = ".".join([parts[0], "0" * 32, *parts[2:]])
        for wrong in (value[:-1], value + "0", later, other, value.upper(), "", "v1", value.replace("v1", "v2", 1)):
            self.assertEqual(self.front.ask("GET", "/api/v1/jobs", {"Cookie": f"{name}={wrong}"}).status, 401, wrong)
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs", {"Cookie": f"__Host-kron-00000000={value}"}).status, 401)
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs", {"Cookie": cookie}).status, 200)
        self.api.expect(200, "DELETE", "tokens", token_id)
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs", {"Cookie": cookie}).status, 401)

    def test_the_token_counts_and_not_the_cookie(self):
        cookie, csrf, _ = self.log_in("boss", "admin")
        read, _ = self.new_token("looker", "read")
        both = {"Cookie": cookie, "X-Kron-CSRF": csrf, "Authorization": f"Bearer {read}"}
        self.assertEqual(self.front.ask("POST", "/api/v1/jobs/hello/pause", both, {}).status, 403)
        both["Authorization"] = "Bearer nonsense"
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs", both).status, 401)

    def test_another_port_or_scheme_of_the_name_is_another_site(self):
        cookie, csrf, _ = self.log_in()
        for origin in (f"http://{PUBLIC}", f"https://{PUBLIC}:8443", "https://evil.example", "null"):
            answer = self.front.ask("POST", "/api/v1/jobs/hello/pause",
                                    {"Cookie": cookie, "X-Kron-CSRF": csrf, "Origin": origin}, {})
            self.assertEqual(answer.status, 403, origin)
        self.check_that_nothing_happened()

    def test_logging_out_takes_the_cookie_away(self):
        cookie, csrf, _ = self.log_in()
        renewed = self.front.ask("GET", "/api/v1/session", {"Cookie": cookie})
        self.assertEqual((renewed.status, renewed.json["csrf"]), (200, csrf))
        self.assertEqual(self.front.ask("DELETE", "/api/v1/session", {"Cookie": cookie}).status, 403)
        answer = self.front.ask("DELETE", "/api/v1/session", {"Cookie": cookie, "X-Kron-CSRF": csrf})
        self.assertEqual(answer.status, 204)
        self.assertIn("Max-Age=0", answer.headers["set-cookie"])
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs", {"Cookie": cookie}).status, 401)


class Starting(OnServiceHost):
    krond_flags = ("--open-metrics",)

    def test_tokens_are_not_sent_in_the_clear(self):
        for flags, cure in ((("--listen", "0.0.0.0:0"), "--tls-cert"),
                            (("--listen", "0.0.0.0:0", "--plain-http-behind-proxy"), "--public-url"),
                            (("--listen", "[::]:0", "--public-url", "https://a"), "--tls-cert")):
            ran = self.host.kron("web", "--service", "--web-socket", self.web_socket, *flags)
            self.assertIn(ran.returncode, (1, 4), ran)
            self.assertIn(cure, ran.stderr)

    def test_metrics_can_be_open_and_nothing_else_is(self):
        self.assertEqual(self.front.ask("GET", "/metrics").status, 200)
        self.assertEqual(self.front.ask("GET", "/api/v1/jobs").status, 401)

    def test_a_socket_that_is_handed_over(self):
        with socket.create_server(("127.0.0.1", 0)) as door:
            port = door.getsockname()[1]
            script = ("import os,sys; os.dup2(int(sys.argv[1]), 3); os.set_inheritable(3, True); "
                      "os.environ.update(LISTEN_FDS='1', LISTEN_PID=str(os.getpid())); os.execv(sys.argv[2], sys.argv[2:])")
            with subprocess.Popen(["python3", "-c", script, str(door.fileno()), os.environ["KRON"], "web", "--service",
                                   "--web-socket", str(self.web_socket)], pass_fds=(door.fileno(),),
                                  stderr=subprocess.PIPE, text=True) as front:
                self.front.port = port
                self.assertEqual(self.front.ask("GET", "/healthz").body, b"ok\n")
                front.terminate()
                self.assertEqual(front.wait(PATIENCE), 0, front.stderr.read())

    def test_krond_starts_a_front_of_its_own_and_again(self):
        self.krond.stop()
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        place = self.host.root / "open"
        place.mkdir(mode=0o755)
        place.chmod(0o755)
        # The front's user must come to the socket and to the program.
        self.host.root.chmod(0o711)
        for path in (place, *place.parents, *Path(os.environ["KRON"]).resolve().parents):
            if not path.stat().st_mode & 0o001:
                self.fail(f"{path} is closed to the front's user: chmod o+x it, or have TMPDIR and the tree elsewhere")
        krond, _ = self.host.serve("--web", f"127.0.0.1:{port}", "--web-socket", str(place / "web.sock"))
        begun = time.monotonic()
        first = krond.wait_for("web_front_started")
        self.assertLess(time.monotonic() - begun, PATIENCE / 2, "krond says so at once, and not when it wakes for something else")
        self.front.port = port

        def lives():
            try:
                return self.front.ask("GET", "/healthz").status == 200
            except OSError:
                return False

        until(lives, "the front of krond's own")
        status = Path(f"/proc/{first['pid']}/status").read_text(encoding="utf-8")
        self.assertIn("NoNewPrivs:\t1", status)
        self.assertIn("Seccomp:\t2", status)
        if os.geteuid() == 0:
            self.assertIn("Uid:\t65534", status)
        # It is asked with a token, by a krond that it reaches as this user.
        made = self.host.kron("token", "create", "ada", "--role", "operate")
        self.assertEqual(self.front.as_(made.stdout.strip()).ask("GET", "/api/v1/jobs").status, 200)
        self.assertEqual(self.host.kron("reload").returncode, 0)
        self.assertTrue(lives(), "a reload ends no front")
        os.kill(first["pid"], signal.SIGKILL)
        krond.wait_for("web_front_started", count=2)
        until(lives, "the next one")
        krond.stop()
        until(lambda: not lives(), "its end with krond")


class Cores(unittest.TestCase):
    """A krond that dies of a fault leaves no core, in which there would be tokens; its commands may leave one."""

    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.host.write_jobs(self.host.job("limits", NEVER, "grep -h 'core file' /proc/self/limits"))

    def test_none_is_written_of_krond(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_CORE)
        if hard == 0:
            self.skipTest("no process may leave a core here")
        self.addCleanup(resource.setrlimit, resource.RLIMIT_CORE, (soft, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (hard, hard))
        here = self.host.root / "cores"
        here.mkdir()
        before = os.getcwd()
        os.chdir(here)  # where a core goes unless somebody wants them elsewhere
        try:
            # AddressSanitizer sees to it that there is none, too.
            krond, api = self.host.serve(environment={"ASAN_OPTIONS": "disable_coredump=0:detect_leaks=0"})
        finally:
            os.chdir(before)
        token = api.expect(201, "POST", "tokens", body={"name": "ada", "role": "admin"})["token"]
        limits = Path(f"/proc/{krond.pid}/limits").read_text(encoding="utf-8")
        self.assertRegex(limits, r"Max core file size\s+1\s")
        run_id = api.post("jobs", "limits", "trigger")["runId"]
        until(lambda: api.ask("GET", "runs", run_id).json.get("state") == "ended", "the end of a run")
        told = api.ask("GET", "runs", run_id, "output").body.decode()
        self.assertEqual(told.split()[4], "unlimited" if hard == resource.RLIM_INFINITY else str(hard), told)
        os.kill(krond.pid, signal.SIGABRT)
        until(lambda: os.waitid(os.P_PID, krond.pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None, "the end of krond")
        ended = os.waitid(os.P_PID, krond.pid, os.WEXITED | os.WNOWAIT)
        self.assertEqual((ended.si_code, ended.si_status), (os.CLD_KILLED, signal.SIGABRT), "os.CLD_DUMPED: there is a core")
        krond.ended()
        self.assertEqual(list(here.iterdir()), [])
        for path in self.host.root.rglob("*"):
            if path.is_file():
                self.assertNotIn(token[14:].encode(), path.read_bytes(), path)


class Verbs(OnServiceHost):
    def test_a_token_is_made_listed_and_revoked(self):
        made = self.host.kron("token", "create", "ci", "--role", "operate", "--expires", "90d")
        self.assertEqual(made.returncode, 0, made.stderr)
        token = made.stdout.strip()
        self.assertRegex(token, r"^kron_[a-z2-7]{8}_[0-9A-Za-z]{49}$")
        self.assertEqual(self.front.as_(token).ask("GET", "/api/v1/jobs").status, 200)
        listed = self.host.kron("token", "list")
        self.assertIn("ci", listed.stdout)
        self.assertNotIn(token[14:], listed.stdout)
        entry = json.loads(self.host.kron("token", "list", "--format", "json").stdout)["tokens"][0]
        self.assertIsNotNone(entry["lastUsedAt"])
        again = self.host.kron("token", "create", "ci", "--role", "read")
        self.assertEqual(again.returncode, 4)
        self.assertEqual(self.host.kron("token", "revoke", entry["id"]).returncode, 0)
        self.assertEqual(self.front.as_(token).ask("GET", "/api/v1/jobs").status, 401)
        self.assertEqual(self.host.kron("token", "revoke", "--sessions").returncode, 0)

    def test_a_token_that_expires_soon_needs_somebody(self):
        self.new_token("soon", expiresIn="13d")
        self.new_token("later", expiresIn="15d")
        items = self.api.get("attention")["items"]
        self.assertEqual([(item["matter"], item["name"]) for item in items], [("token expires", "soon")])
        self.assertIn("soon", self.host.kron("status").stdout)


if __name__ == "__main__":
    unittest.main()
