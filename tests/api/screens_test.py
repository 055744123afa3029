"""What an operator reads on the screens of kron: lists, results, pauses and outputs, at their edges."""

import json
import os
import shutil
import time
import unittest

from api_host import NEVER, ApiHost, OnApiHost, until
from krond_host import DAY, DUE, HOUR, PATIENT, period_id

HOURLY = "0 * * * *"


class Screens(OnApiHost):
    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("hello", NEVER, "echo hello"),
            {"name": "slow", "schedule": NEVER, "command": "sleep 600", "timeout": "1s"},
            {"name": "lost", "schedule": NEVER, "command": "/nonexistent/x"},
            {"name": "far", "schedule": NEVER, "command": f"/nonexistent/{'x' * 100}"},
            {"name": "elsewhere", "schedule": NEVER, "shell": True, "command": "echo x",
             "stdout": str(self.host.root / "out"), "stderr": "discard"},
            {"name": "full", "schedule": "0 3 * * *", "shell": True, "command": "true", "description": "all of it",
             "window": {"mode": "after", "duration": "3h"}, "timeout": "2h", "cwd": "/tmp",
             "policy": {"deadline": "30m"}, "env": {"TOKEN": "secret", "MODE": "fast"}, "avoid": {"dow": "SUN"}})

    def text(self, *arguments, status=0):
        result = self.host.kron(*arguments)
        self.assertEqual(result.returncode, status, result)
        return result.stdout

    def test_a_result_says_why_a_run_failed(self):
        slow, lost = self.trigger("slow"), self.trigger("lost")
        self.assertRegex(self.text("runs"), rf"(?m) slow +timed out after 1s +{slow}$")
        self.assertRegex(self.text("runs"), rf"(?m) lost +no such file: /nonexistent/x +{lost}$")
        self.assertRegex(self.text("jobs"), r"(?m)^slow .* timed out after 1s \d{4}-")
        far = self.trigger("far")
        self.assertRegex(self.text("runs"), rf"(?m) far +no such file: /nonexistent/x{{30}}\.\.\. +{far}$")
        self.assertRegex(self.text("show", far), r"(?m)^result +no such file: /nonexistent/x{100}$")
        shown = self.text("show", lost)
        self.assertRegex(shown, r"(?m)^result +no such file: /nonexistent/x\nexit code +127$")

    @unittest.skipUnless(os.geteuid() == 0, "only root's krond changes users")
    def test_a_user_that_there_is_not_is_named(self):
        self.host.write_jobs({"name": "stray", "schedule": NEVER, "command": "true", "user": "nosuch"})
        self.api.post("reload")
        self.trigger("stray")
        self.assertRegex(self.text("runs"), r"(?m) stray +there is no user 'nosuch'")

    def test_runs_show_how_long_they_took_and_for_which_period(self):
        self.trigger("slow")
        heads, line = self.text("runs", "--job", "slow").splitlines()
        self.assertEqual(heads.split(), ["NUMBER", "TIME", "DURATION", "PERIOD", "JOB", "RESULT", "RUN"])
        self.assertRegex(line, r"^\d+ +\S+Z +\d+s +- +slow ")

    def test_a_job_that_there_is_not_has_no_runs_with_status_1(self):
        result = self.host.kron("runs", "--job", "nosuch")
        self.assertEqual((result.returncode, result.stdout), (1, ""), result)
        self.assertIn("there is no job 'nosuch'", result.stderr)
        self.assertEqual(self.host.kron("runs", "--job", "hello").returncode, 0)

    def test_an_empty_list_says_so(self):
        self.assertEqual(self.text("runs"), "no runs\n")
        self.assertEqual(self.text("runs", "--job", "hello"), "no runs\n")
        self.assertEqual(self.text("jobs", "--prefix", "nosuch"), "no jobs\n")
        self.assertEqual(self.text("runs", "--format", "json"), "")
        self.assertEqual(self.text("jobs", "--prefix", "nosuch", "--format", "json"), "")

    def test_names_alone_are_for_scripts(self):
        self.assertEqual(self.text("jobs", "--names", "--match", "l").split(), ["hello", "slow", "lost", "elsewhere", "full"])
        self.assertEqual(self.text("jobs", "--names", "--prefix", "nosuch"), "")

    def test_show_tells_the_whole_definition_but_no_secrets(self):
        shown = self.text("show", "full")
        for line in (r"window +after 3h", r"deadline +30m", r"concurrency +forbid", r"timeout +2h", r"user +krond's own",
                     r"shell +/bin/sh", r"directory +/tmp", r"env +TOKEN MODE", r"avoid +dow=SUN"):
            self.assertRegex(shown, rf"(?m)^{line}$")
        self.assertNotIn("secret", shown)
        self.assertRegex(self.text("show", "hello"), r"(?m)^window +none$")

    def test_logs_of_a_job_that_writes_elsewhere_say_where(self):
        run_id = self.trigger("elsewhere")
        for name in ("elsewhere", run_id):
            result = self.host.kron("logs", name)
            self.assertEqual((result.returncode, result.stdout), (0, ""), result)
            self.assertIn(f"standard output goes to {self.host.root}/out, standard error is discarded", result.stderr)

    def test_logs_of_a_run_whose_output_was_removed_say_so(self):
        run_id = self.trigger("hello")
        shutil.rmtree(self.host.state / "runs" / run_id)
        result = self.host.kron("logs", "hello")
        self.assertEqual(result.returncode, 1, result)
        self.assertIn("was removed", result.stderr)
        self.assertIn("after 30d (--keep-runs)", result.stderr)

    def test_a_message_of_the_command_has_no_path_of_the_api(self):
        for arguments in (("trigger", "nobody"), ("wait", "0" * 32), ("logs", "nobody"), ("kill", "0" * 32)):
            self.assertNotIn("/api/", self.host.kron(*arguments).stderr)

    def test_a_flag_beats_the_environment(self):
        other = ApiHost()
        self.addCleanup(other.close)
        other.write_jobs(other.job("of-the-other", NEVER))
        other.serve()
        # $KRON_SOCKET is that of this host.
        self.assertEqual(self.text("jobs", "--names", "--state-dir", other.state), "of-the-other\n")
        self.assertEqual(self.text("jobs", "--names", "--socket", other.socket), "of-the-other\n")
        listed = self.text("task", "list", "--state-dir", other.state, "--format", "json")
        self.assertEqual(listed, "")


class Pauses(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.host.write_jobs(self.host.job("patient", HOURLY, policy=PATIENT), self.host.job("strict", HOURLY),
                             self.host.job("other", NEVER))
        _, self.api = self.host.serve(at=DUE - 20)

    def wait_until(self, seconds):
        until(lambda: self.api.get("status")["now"] >= period_id(seconds), period_id(seconds))

    def test_next_of_a_paused_job_is_the_next_that_will_run(self):
        self.api.post("jobs", "strict", "pause", body={"until": period_id(DUE + HOUR + 60)})
        self.assertEqual(self.api.get("jobs", "strict")["next"],
                         {"periodId": period_id(DUE + 2 * HOUR), "chosenTime": period_id(DUE + 2 * HOUR),
                          "startsAt": period_id(DUE + 2 * HOUR)})
        self.api.post("jobs", "patient", "pause", body={"until": period_id(DUE + HOUR + 60)})
        self.assertEqual(self.api.get("jobs", "patient")["next"],
                         {"periodId": period_id(DUE + HOUR), "chosenTime": period_id(DUE + HOUR),
                          "startsAt": period_id(DUE + HOUR + 60)})
        until_and_next = rf"{period_id(DUE + HOUR + 60)} by \S+  {period_id(DUE + HOUR + 60)}"
        self.assertRegex(self.host.kron("jobs").stdout, until_and_next)
        self.api.post("jobs", "strict", "pause")
        self.assertIsNone(self.api.get("jobs", "strict")["next"])

    def test_resume_says_which_period_starts_at_once(self):
        self.assertNotIn("startsNow", self.api.post("jobs", "patient", "pause"))
        self.api.post("jobs", "strict", "pause")
        self.wait_until(DUE + 1)
        resumed = self.host.kron("resume", "patient", "strict").stdout.splitlines()
        self.assertRegex(resumed[0], rf"^resumed patient; its period {period_id(DUE)}, due at {period_id(DUE)}, "
                                     r"starts now, at \S+Z$")
        self.assertEqual(resumed[1], "resumed strict")
        self.host.wait_for_effects(1, "patient")

    def test_runs_are_listed_by_time_whenever_they_were_recorded(self):
        self.api.post("jobs", "strict", "pause")
        self.wait_until(DUE + 2)
        run_id = self.api.post("jobs", "other", "trigger")["runId"]
        until(lambda: self.api.ask("GET", "runs", run_id).status == 200, "the run")
        self.api.post("jobs", "strict", "resume")
        until(lambda: self.api.get("runs", outcome="missed")["runs"], "the missed period")
        listed = [(run["job"], run["number"]) for run in self.api.get("runs")["runs"] if run["job"] != "patient"]
        self.assertEqual([job for job, _ in listed], ["other", "strict"])
        self.assertLess(listed[0][1], listed[1][1])
        first = self.api.get("runs", limit=1, job="other")
        rest = self.api.get("runs", before=first["next"])["runs"]
        self.assertIn("strict", [run["job"] for run in rest])
        self.assertNotIn("other", [run["job"] for run in rest])


class Forgotten(unittest.TestCase):
    def test_a_job_whose_last_run_the_history_has_forgotten_still_tells_of_it(self):
        with ApiHost() as host:
            in_2199 = "0 0 0 1 1 ? 2199"
            host.write_jobs(host.job("yearly", in_2199, "echo once; exit 3"), host.job("never", in_2199))
            krond, api = host.serve()
            run_id = api.post("jobs", "yearly", "trigger")["runId"]
            until(lambda: api.ask("GET", "runs", run_id).json.get("state") == "ended", "its end")
            krond.stop()
            _, api = host.serve(at=time.time() + 59 * DAY)
            self.assertEqual(api.get("runs")["runs"], [])
            last = api.get("jobs", "yearly")["last"]
            self.assertEqual((last["runId"], last["exitCode"], last["number"]), (run_id, 3, 0))
            self.assertIsNone(api.get("jobs", "never")["last"])
            self.assertRegex(host.kron("jobs").stdout, r"(?m)^yearly .* exit 3 \d{4}-")
            logs = host.kron("logs", "yearly")
            self.assertEqual(logs.returncode, 1, logs)
            self.assertIn("job yearly last ran long ago (exit 3, ", logs.stderr)
            self.assertIn("krond removes runs and their output after 30d (--keep-runs)", logs.stderr)
            self.assertIn("has not run yet", host.kron("logs", "never").stderr)
            error = json.loads(host.kron("logs", "yearly", "--format", "json").stdout)
            self.assertIn("--keep-runs", error["error"]["message"])


if __name__ == "__main__":
    unittest.main()
