"""What people are offered beside the bare answers: their own clock, short ids, edits that are checked, jobs by what became
of them, and metrics of single jobs. A live krond, and a terminal where it matters."""

import os
import pty
import re
import subprocess
import unittest

from api_host import KRON, NEVER, PATIENCE, ApiHost, OnApiHost, until

NEW_JOB = '{"jobs": [{"name": "only", "schedule": "0 0 1 1 *", "shell": true, "command": "true"}]}'


class People(OnApiHost):
    def on_terminal(self, *arguments, zone="Asia/Kolkata"):
        """What the command writes to a terminal."""
        main, terminal = pty.openpty()
        environment = {**os.environ, "KRON_SOCKET": str(self.host.socket), "TZ": zone}
        with subprocess.Popen([KRON, *map(str, arguments)], stdin=subprocess.DEVNULL, stdout=terminal,
                              stderr=subprocess.PIPE, env=environment) as process:
            os.close(terminal)
            text = b""
            try:
                while piece := os.read(main, 65536):
                    text += piece
            except OSError:
                pass  # so a terminal ends whose last writer is gone
            os.close(main)
            self.assertEqual(process.wait(PATIENCE), 0, process.stderr.read())
        return text.decode().replace("\r\n", "\n")

    def text(self, *arguments, status=0):
        result = self.host.kron(*arguments)
        self.assertEqual(result.returncode, status, result)
        return result.stdout

    def test_a_terminal_shows_the_local_clock_and_how_far_away_it_is(self):
        run_id = self.trigger("hello")
        utc = self.api.get("runs", run_id)["startedAt"]
        local = subprocess.run(["date", "-d", utc, "+%F %T"], capture_output=True, text=True, check=True,
                               env={**os.environ, "TZ": "Asia/Kolkata"}).stdout.strip()
        shown = self.on_terminal("show", run_id)
        self.assertRegex(shown, rf"(?m)^started +{local}, (now|\d+ s ago)$")
        self.assertRegex(self.on_terminal("runs"), rf"(?m)^\d+ +{local}, (now|\d+ s ago) ")
        self.assertRegex(self.on_terminal("jobs"), rf"(?m)^hello .* in \d+ (h|d) +exit 0 {local}, ")
        self.assertRegex(self.on_terminal("status"), r"(?m)^now +[-\d]+ [:\d]+ Asia/Kolkata$")
        self.assertRegex(self.on_terminal("show", run_id, "--utc"), rf"(?m)^started +{utc}, (now|\d+ s ago)$")

    def test_what_is_no_terminal_gets_what_it_always_got(self):
        run_id = self.trigger("hello")
        utc = self.api.get("runs", run_id)["startedAt"]
        self.assertRegex(self.text("show", run_id), rf"(?m)^started +{utc}$")
        self.assertRegex(self.text("show", run_id, "--local"), r"(?m)^started +[-\d]+ [:\d]+, (now|\d+ s ago)$")
        self.assertIn(utc, self.text("show", run_id, "--local", "--format", "json"))

    def test_times_are_given_as_people_say_them(self):
        run_id = self.trigger("hello")
        for recent in ("-1h", "-90s"):
            self.assertIn(run_id, self.text("runs", "--from", recent))
        self.assertIn(run_id, self.text("runs", "--to", "+1m"))
        self.assertEqual(self.text("runs", "--to", "-1h"), "no runs\n")
        self.assertEqual(self.text("runs", "--from", "+1h"), "no runs\n")
        bad = self.host.kron("runs", "--from", "noon")
        self.assertEqual(bad.returncode, 1)
        self.assertIn("kron runs: --from: expected a time such as", bad.stderr)
        self.assertRegex(self.text("pause", "hello", "--until", "+2h"), r"^paused hello until \S+Z\n$")

    def test_the_beginning_of_an_id_is_enough(self):
        run_id = self.trigger("hello")
        self.assertIn(f"run           {run_id}\n", self.text("show", run_id[:8]))
        self.assertEqual(self.text("logs", run_id[:8]), "hello\nworld\n")
        self.assertIn(run_id, self.text("wait", run_id[:8]))
        self.assertEqual([run["runId"] for run in self.api.get("runs", idPrefix=run_id[:8])["runs"]], [run_id])
        ids = {run_id[:4]: run_id}
        for _ in range(3):
            other = self.trigger("hello")
            ids.setdefault(other[:4], other)
        self.assertEqual(len(ids), 4, "four runs with the same four digits at the beginning")
        lost = self.host.kron("kill", "ffff")
        self.assertEqual((lost.returncode, "ffff" in lost.stderr), (1, True))
        self.submit("mail-4711")
        self.assertIn("mail-4711", self.text("task", "show", "mail-4"))

    def test_jobs_by_what_became_of_them(self):
        for name in ("hello", "failing"):
            self.trigger(name)
        self.assertEqual(self.text("jobs", "--state", "failed", "--names"), "failing\n")
        self.assertEqual(self.text("jobs", "--state", "missed"), "no jobs\n")
        self.assertEqual(self.text("jobs", "--sort", "name", "--names").split(), ["failing", "hello", "lasting", "team/a.b"])
        self.assertEqual(set(self.text("jobs", "--sort", "last", "--names", "--limit", "2").split()), {"hello", "failing"})

    def test_a_dry_run_says_what_a_reload_would_do_and_does_nothing(self):
        self.host.write_jobs(text=NEW_JOB)
        shown = self.text("reload", "--dry-run")
        self.assertIn("would add only\n", shown)
        self.assertIn("would remove hello\n", shown)
        self.assertIn("dry run: 1 job: 1 added, 4 removed\n", shown)
        self.assertEqual(self.api.get("status")["jobs"], 4)
        self.assertEqual(self.text("reload"), "1 job: 1 added, 4 removed\n")
        self.assertIn("dry run: 1 job, nothing changed\n", self.text("reload", "--dry-run"))

    def edit(self, name, text):
        editor, source = self.host.root / "editor", self.host.root / "source"
        source.write_text(text, encoding="utf-8")
        editor.write_text(f'#!/bin/sh\nfor last; do :; done\ncat {source} > "$last"\n', encoding="utf-8")
        editor.chmod(0o700)
        environment = {**os.environ, "KRON_SOCKET": str(self.host.socket), "TZ": "UTC", "VISUAL": str(editor)}
        return subprocess.run([KRON, "edit", name], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False,
                              timeout=PATIENCE, env=environment)

    def test_an_edit_is_checked_and_then_in_force(self):
        done = self.edit("hello", NEW_JOB)
        self.assertEqual(done.returncode, 0, done)
        self.assertEqual(self.text("jobs", "--names"), "only\n")
        refused = self.edit("only", '{"jobs": [{"name": "only", "schedule": "61 * * * *", "command": "true"}]}')
        self.assertEqual(refused.returncode, 1, refused)
        self.assertIn("its earlier jobs go on", refused.stderr)
        self.assertEqual(self.text("jobs", "--names"), "only\n")


class JobMetrics(unittest.TestCase):
    def test_they_outlive_a_restart(self):
        with ApiHost() as host:
            host.write_jobs(host.job("good", NEVER, "true"), host.job("bad", NEVER, "exit 3"), host.job("new", NEVER))
            krond, api = host.serve()

            def series():
                text = api.get("/metrics").decode()
                return {name: value for name, value in re.findall(r"^(kron_job\S+) (\d+)$", text, re.M)}

            self.assertEqual(series(), {"kron_jobs": "3", "kron_jobs_without_metrics": "0"})
            for name in ("good", "bad"):
                api.post("jobs", name, "trigger")
            until(lambda: 'kron_job_last_outcome{name="bad",outcome="failed"}' in series(), "the end of bad")
            until(lambda: 'kron_job_last_outcome{name="good",outcome="succeeded"}' in series(), "the end of good")
            before = series()
            self.assertIn('kron_job_last_success_timestamp_seconds{name="good"}', before)
            self.assertNotIn('kron_job_last_success_timestamp_seconds{name="bad"}', before)
            krond.stop()
            _, api = host.serve()
            self.assertEqual(series(), before)

    def test_beyond_the_limit_they_are_counted(self):
        with ApiHost() as host:
            host.write_jobs(host.job("b", NEVER, "true"), host.job("a", NEVER, "true"))
            _, api = host.serve("--metrics-jobs", "1")
            for name in ("a", "b"):
                api.post("jobs", name, "trigger")
            until(lambda: 'outcome{name="a"' in api.get("/metrics").decode(), "the end of a")
            until(lambda: len(api.get("runs", result="succeeded")["runs"]) == 2, "both ends")
            text = api.get("/metrics").decode()
            self.assertNotIn('name="b"', text)
            self.assertIn("\nkron_jobs_without_metrics 1\n", text)

    def test_none_are_wanted(self):
        with ApiHost() as host:
            host.write_jobs(host.job("a", NEVER, "true"))
            _, api = host.serve("--metrics-jobs", "0")
            self.assertNotIn("kron_job_last", api.get("/metrics").decode())


if __name__ == "__main__":
    unittest.main()
