"""Secrets of jobs on a real host: they reach the run, and nothing else; nothing of them stays, whoever dies."""

import hashlib
import http.client
import json
import os
import signal
import socket
import subprocess
import time
import unittest
from pathlib import Path

from krond_host import DUE, MINUTE, PATIENT, OnHost, until

KRON = os.environ["KRON"]
VARIABLE = "hunter2-variable-value"
CREDENTIAL = "hunter2-credential-value"
SECRET = "hunter2-"
ROLES = ("ics", "read", "operate", "admin")


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


def ask(path, target, method="GET", body=None, token=None):
    connection = UnixConnection(path)
    headers = {"Content-Type": "application/json"} if body is not None else {}
    if token:
        headers["Authorization"] = "Bearer " + token
    try:
        connection.request(method, target, None if body is None else json.dumps(body), headers)
        answer = connection.getresponse()
        return answer.status, answer.read().decode("utf-8", "replace")
    finally:
        connection.close()


def files_with(directory, text):
    """Every file below a directory that holds this text, or is named by it."""
    found = []
    for place, _, names in os.walk(directory):
        for name in names:
            path = Path(place) / name
            if path.is_socket() or path.is_fifo() or path.is_symlink():
                continue
            if text.encode() in path.read_bytes() or text in str(path):
                found.append(path)
    return found


class Secrets(OnHost):
    def setUp(self):
        super().setUp()
        self.files = self.host.root / "secrets"
        self.files.mkdir(mode=0o700)
        self.env_file = self.secret("env", f"# for the database\nDB_PASSWORD='{VARIABLE}'\n")
        self.credential = self.secret("db", CREDENTIAL + "\n")
        self.state = str(self.host.state)

    def secret(self, name, content):
        path = self.files / name
        path.write_text(content, encoding="utf-8")
        path.chmod(0o600)
        return path

    @property
    def place(self):
        """Where copies of credentials go, as krond finds it by itself."""
        name = "krond-credentials-" + hashlib.sha256(self.state.encode()).hexdigest()[:16]
        if os.geteuid() == 0:
            return Path("/run") / name
        runtime = os.environ.get("XDG_RUNTIME_DIR", "")
        return Path(runtime) / name if runtime.startswith("/") else self.host.state / "credentials"

    def keys(self, **more):
        return {"env_file": str(self.env_file), "credential": {"db": str(self.credential)}, **more}

    def hold(self, *flags, **more):
        """A krond and a run with its secrets that lasts until it is let go."""
        krond, run_id = self.hold_run(*flags, **self.keys(**more))
        until(lambda: (self.place / run_id / "db").exists(), "the credential")
        return krond, run_id

    def helper(self):
        return self.only_active_run()["PID"]

    def kron(self, *words):
        done = subprocess.run([KRON, *words, "--socket", str(self.host.state / "krond.sock")], capture_output=True,
                              text=True, timeout=120, check=False)
        return done.stdout + done.stderr


class WhoSeesThem(Secrets):
    def test_values_reach_the_run_and_nothing_else(self):
        effects = self.host.root / "seen"
        command = f'printf "%s|%s" "$DB_PASSWORD" "$(cat "$CREDENTIALS_DIRECTORY/db")" > {effects}'
        job = self.host.holding_job("job", "0 * * * *", policy=PATIENT, **self.keys())
        job["command"] = command + "; " + job["command"]
        self.host.write_jobs(job)
        self.host.once(at=DUE - MINUTE)
        web = self.host.root / "web.sock"
        krond = self.host.started("--web-socket", str(web), at=DUE + 5)
        run = krond.wait_for("run_started")
        self.host.wait_for_effects(1)
        self.assertEqual(effects.read_text(encoding="utf-8"), f"{VARIABLE}|{CREDENTIAL}")
        effects.unlink()

        # While it runs: in no process's words, and in no file but the one that is the run's.
        for words in Path("/proc").glob("[0-9]*/cmdline"):
            try:
                self.assertNotIn(SECRET.encode(), words.read_bytes())
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                continue
        self.assertEqual(files_with(self.host.state, SECRET), [])
        copies = files_with(self.place, SECRET)
        self.assertEqual(copies, [self.place / run["runId"] / "db"])
        self.assertEqual((copies[0].stat().st_mode & 0o777, copies[0].parent.stat().st_mode & 0o777), (0o400, 0o500))
        self.see_nothing(web, run["runId"])

        self.host.let_go()
        krond.wait_for("run_ended")
        self.see_nothing(web, run["runId"])
        self.assertFalse(self.place.exists())
        self.assertEqual(krond.stop(), 0)
        self.assertNotIn(SECRET, krond.log())
        self.assertEqual(files_with(self.host.state, SECRET), [])

    def see_nothing(self, web, run_id):
        own = self.host.state / "krond.sock"
        targets = ["/api/v1/jobs", "/api/v1/jobs/job", "/api/v1/jobs/job/history", f"/api/v1/runs/{run_id}",
                   f"/api/v1/runs/{run_id}/output", "/api/v1/status", "/api/v1/jobs/job/why", "/api/v1/upcoming.ics"]
        tokens = []
        for role in ROLES:
            status, body = ask(own, "/api/v1/tokens", "POST", {"name": f"{role}-{time.monotonic_ns()}", "role": role})
            self.assertLess(status, 300, body)
            tokens.append(json.loads(body)["token"])
        seen = 0
        for target in targets:
            answers = [ask(own, target)] + [ask(web, target, token=token) for token in tokens]
            for status, body in answers:
                self.assertNotIn(SECRET, body, target)
                seen += status == 200
        self.assertGreater(seen, len(targets))
        # Names of files may be seen, by whoever may read.
        self.assertIn(str(self.credential), ask(web, "/api/v1/jobs/job", token=tokens[1])[1])
        for words in (["show", "job"], ["why", "job"], ["jobs"], ["logs", "job"], ["show", "job", "--format", "json"]):
            self.assertNotIn(SECRET, self.kron(*words), words)
        self.assertIn(str(self.env_file), self.kron("show", "job"))


class WhatStays(Secrets):
    def test_a_timeout_leaves_nothing(self):
        krond, _ = self.hold(timeout="1s", grace="0s")
        self.assertIn("timed out", krond.wait_for("run_ended")["reason"])
        self.assertFalse(self.place.exists())
        self.assertEqual(krond.stop(), 0)

    def test_a_killed_helper_leaves_nothing(self):
        krond, _ = self.hold()
        os.kill(self.helper(), signal.SIGKILL)
        krond.wait_for("run_ended")
        self.assertFalse(self.place.exists())
        self.assertEqual(krond.stop(), 0)

    def test_a_killed_krond_takes_nothing_from_its_runs_and_they_leave_nothing(self):
        krond, run_id = self.hold()
        krond.kill()
        self.assertTrue((self.place / run_id / "db").exists())
        again = self.host.started(at=DUE + 10)
        self.assertTrue((self.place / run_id / "db").exists())
        self.host.let_go()
        again.wait_for("run_ended", runId=run_id)
        self.assertFalse(self.place.exists())
        self.assertEqual(again.stop(), 0)

    def test_when_both_are_killed_the_next_krond_leaves_nothing(self):
        krond, run_id = self.hold()
        helper = self.helper()
        krond.kill()
        os.kill(helper, signal.SIGKILL)
        self.host.wait_for_runs()
        self.assertTrue((self.place / run_id / "db").exists())
        again = self.host.started(at=DUE + 10)
        self.assertFalse(self.place.exists())
        again.wait_for("run_ended", runId=run_id)
        self.assertEqual(again.stop(), 0)

    def test_nor_does_one_whose_records_are_gone(self):
        krond, run_id = self.hold()
        helper = self.helper()
        krond.kill()
        os.kill(helper, signal.SIGKILL)
        self.host.wait_for_runs()
        self.host.state_path("job").unlink()
        self.host.write_jobs()
        again = self.host.started(at=DUE + 10)
        self.assertFalse((self.place / run_id).exists())
        self.assertEqual(again.stop(), 0)


class WhatGoesWrong(Secrets):
    def run_once(self, **keys):
        self.host.write_jobs(self.host.job("job", "0 * * * *", policy=PATIENT, history=5, **keys))
        self.host.once(at=DUE - MINUTE)
        krond = self.host.once(at=DUE + 5)
        return krond.wait_for("run_ended")

    def test_a_file_that_is_missing_fails_the_run_and_says_so(self):
        self.env_file.unlink()
        ended = self.run_once(**self.keys(retry=2, backoff="0s"))
        self.assertEqual(ended["exitCode"], 126)
        self.assertEqual(ended["reason"], f"cannot read the env_file {self.env_file}: No such file or directory")
        self.assertEqual(self.host.output(ended["runId"]), f"[kron: {ended['reason']}]\n")
        self.assertEqual(self.host.effects(), [])
        # The record came first, so the period is handled.
        self.assertEqual(len(self.host.history("job")), 1)

    def test_a_file_that_others_can_read_is_refused(self):
        self.credential.chmod(0o644)
        ended = self.run_once(**self.keys())
        self.assertIn("others can read or write it", ended["reason"])
        self.assertFalse(self.place.exists())

    def test_a_limit_that_cannot_be_had_fails_the_run(self):
        controllers = Path("/sys/fs/cgroup/cgroup.controllers")
        if controllers.exists() and "memory" in controllers.read_text(encoding="utf-8"):
            self.skipTest("this machine may well have it")
        ended = self.run_once(memory_max="64M")
        self.assertEqual(ended["exitCode"], 126)
        self.assertIn("cannot set memory_max (memory) of the run", ended["reason"])
        self.assertEqual(self.host.effects(), [])

    def test_output_is_masked_on_request(self):
        script = 'echo "$DB_PASSWORD"; cat "$CREDENTIALS_DIRECTORY/db"; printf hunter2-vari; sleep 0.3; echo able-value'
        for masked, lines in ((False, [VARIABLE, CREDENTIAL, VARIABLE]), (True, ["[masked]"] * 3)):
            with self.subTest(masked=masked):
                host = self.host
                host.write_jobs({"name": f"masked-{masked}".lower(), "schedule": "0 * * * *", "shell": True,
                                 "command": script, "policy": PATIENT, **self.keys(mask_output=masked)})
                host.once(at=DUE - MINUTE)
                ended = host.once(at=DUE + 5).wait_for("run_ended")
                self.assertEqual(host.output(ended["runId"]).splitlines(), lines)


if __name__ == "__main__":
    unittest.main()
