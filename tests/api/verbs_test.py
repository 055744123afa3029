"""Every verb of kron that asks a running krond, as text and as JSON, with its exit status."""

import json
import os
import select
import unittest

from api_client import DOCUMENT
from api_host import KRON_EXEC, NEVER, PATIENCE, OnApiHost, until
import jsonschema


def check(name, value):
    """Held against a schema of the API's document."""
    schema = {"$ref": f"#/components/schemas/{name}", "components": DOCUMENT["components"]}
    jsonschema.Draft202012Validator(schema).validate(value)


class Verbs(OnApiHost):
    def text(self, *arguments, status=0):
        result = self.host.kron(*arguments)
        self.assertEqual(result.returncode, status, result)
        return result.stdout

    def lines(self, *arguments, schema, status=0):
        """The JSON lines that a verb prints, each as the document has it."""
        values = [json.loads(line) for line in self.text(*arguments, "--format", "json", status=status).splitlines()]
        for value in values:
            check(schema, value)
        return values

    def refused(self, status, *arguments):
        result = self.host.kron(*arguments)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result)
        self.assertTrue(result.stderr.startswith(f"kron {arguments[0]}: "), result.stderr)
        error = json.loads(self.host.kron(*arguments, "--format", "json").stdout.splitlines()[-1])
        self.assertEqual(list(error["error"]), ["field", "column", "message"])
        return result.stderr

    def test_status(self):
        self.assertRegex(self.text("status"), rf"(?m)^krond +\S+, PID {self.krond.pid}, ready$")
        status = json.loads(self.text("status", "--format", "json"))
        check("Attention", status.pop("attention"))
        check("Status", status)
        self.assertEqual(status["jobs"], 4)

    def test_what_lies_ahead_is_asked_of_krond_when_no_file_is_named(self):
        path = self.host.config / "jobs.json"
        at = "2026-03-01T00:00:00Z"
        for name in ("hello", "team/a.b"):
            for how in ("text", "json"):
                for verb in (("next", name, "--from", at), ("explain", name, "--at", at, "--now", at)):
                    told = self.text(*verb, "--format", how)
                    self.assertEqual(told, self.text(*verb, "--format", how, "--file", path))
                    self.assertIn(name, told)
        simulate = ("simulate", "--from", at, "--for", "30d", "--step", "1h", "--format")
        for how in ("text", "json", "html"):
            self.assertEqual(self.text(*simulate, how), self.text(*simulate, how, path))
        self.assertIn("no job named", self.refused(1, "next", "nobody"))
        self.krond.stop()
        for verb in (("next", "hello"), ("explain", "hello")):
            self.assertIn("is krond running?", self.refused(3, *verb))
        self.assertIn("is krond running?", self.host.kron("simulate").stderr)

    def test_jobs(self):
        shown = self.text("jobs").splitlines()
        self.assertEqual(shown[0].split(), ["NAME", "SCHEDULE", "STATE", "NEXT", "LAST"])
        self.assertEqual(len(shown), 5)
        self.assertEqual([job["identity"] for job in self.lines("jobs", "--prefix", "team", schema="JobSummary")],
                         ["team/a.b"])
        self.assertEqual([job["identity"] for job in self.lines("jobs", "--match", "ell", schema="JobSummary")], ["hello"])
        self.assertEqual(self.lines("jobs", "--state", "running", schema="JobSummary"), [])
        limited = self.host.kron("jobs", "--limit", 2)
        self.assertEqual(len(limited.stdout.splitlines()), 3)
        self.assertIn("there are more", limited.stderr)

    def test_all_jobs_come_page_by_page(self):
        self.host.write_jobs(*(self.host.job(f"job-{number:04}", NEVER) for number in range(2100)))
        self.assertEqual(self.text("reload"), "2100 jobs: 2100 added, 4 removed\n")
        names = [job["identity"] for job in self.lines("jobs", "--all", schema="JobSummary")]
        self.assertEqual(sorted(names), [f"job-{number:04}" for number in range(2100)])

    def test_runs(self):
        good, bad = self.trigger("hello"), self.trigger("failing")
        self.assertRegex(self.text("runs"), rf"(?s)failing +exit 3 +{bad}\n.*hello +exit 0 +{good}\n")
        self.assertEqual([run["runId"] for run in self.lines("runs", "--job", "hello", schema="Run")], [good])
        self.assertEqual([run["runId"] for run in self.lines("runs", "--result", "failed", schema="Run")], [bad])
        self.assertEqual(self.lines("runs", "--to", "2001-01-01T00:00:00Z", schema="Run"), [])
        self.assertEqual(len(self.lines("runs", "--from", "2001-01-01T00:00:00+01:00", schema="Run")), 2)
        newest = self.host.kron("runs", "--limit", 1)
        number = newest.stderr.rpartition("--before ")[2].strip()
        self.assertEqual([run["runId"] for run in self.lines("runs", "--before", number, schema="Run")], [good])
        self.refused(1, "runs", "--from", "tomorrow")

    def test_show_says_what_it_is(self):
        run_id = self.trigger("hello")
        self.assertRegex(self.text("show", "hello"), rf"(?s)^job +hello\ndescription +says hello\n.*last +exit 0, .*{run_id}")
        self.assertRegex(self.text("show", run_id), rf"(?s)^run +{run_id}\njob +hello\nresult +exit 0\n")
        self.lines("show", "hello", schema="Job")
        self.lines("show", run_id, schema="Run")
        self.lines("show", "team/a.b", schema="Job")
        self.assertIn("neither a job nor a run", self.refused(1, "show", "nobody"))

    def test_a_schedule_is_shown_as_it_was_written(self):
        self.host.write_jobs(text="*/2 * * * * * @policy(suspend=true) name=often command=true\n", name="often.kron")
        self.text("reload")
        self.assertRegex(self.text("show", "often"), r"(?m)^schedule +\*/2 \* \* \* \* \* in UTC$")

    def test_logs(self):
        run_id = self.trigger("hello")
        for name in (run_id, "hello"):
            self.assertEqual(self.text("logs", name), "hello\nworld\n")
        self.assertEqual(self.text("logs", "hello", "--tail", 1), "world\n")
        self.assertEqual(self.text("logs", "hello", "--tail", 9), "hello\nworld\n")
        self.assertEqual(self.text("logs", "-f", "hello"), "hello\nworld\n")
        self.assertEqual(self.text("logs", "-f", "--tail", 1, "hello"), "world\n")
        line, = self.text("logs", "hello", "--format", "json").splitlines()
        self.assertEqual(json.loads(line), {"runId": run_id, "text": "hello\nworld\n"})
        self.refused(1, "logs", "failing")
        self.refused(1, "logs", "nobody")

    def test_logs_follow_a_run_to_its_end(self):
        command = f"echo one; read -r line < {self.host.root}/gate; echo two"
        self.host.write_jobs({"name": "talking", "schedule": NEVER, "shell": True, "command": command})
        self.api.post("reload")
        run_id = self.api.post("jobs", "talking", "trigger")["runId"]
        until(lambda: self.api.ask("GET", "runs", run_id).status == 200, "the run")
        follower = self.host.start_kron("logs", "-f", run_id)
        self.assertEqual(follower.stdout.readline(), "one\n")
        self.host.let_go()
        self.assertEqual(follower.communicate(timeout=60), ("two\n", ""))
        self.assertEqual(follower.returncode, 0)

    def test_logs_follow_a_run_that_has_written_nothing_yet(self):
        os.mkfifo(self.host.root / "second")
        second = os.open(self.host.root / "second", os.O_RDWR)
        self.addCleanup(os.close, second)
        command = (f"read -r line < {self.host.root}/gate; echo one; read -r line < {self.host.root}/second; echo two")
        self.host.write_jobs({"name": "quiet", "schedule": NEVER, "shell": True, "command": command})
        self.api.post("reload")
        run_id = self.api.post("jobs", "quiet", "trigger")["runId"]
        until(lambda: self.api.ask("GET", "runs", run_id).status == 200, "the run")
        follower = self.host.start_kron("logs", "-f", run_id)
        until(lambda: b'/api/v1/runs/{id}/output"' in self.api.get("/metrics"), "the follower")
        self.host.let_go()
        ready, _, _ = select.select([follower.stdout], [], [], 60)
        self.assertTrue(ready, "nothing is shown before the run ends")
        self.assertEqual(follower.stdout.readline(), "one\n")
        os.write(second, b"go\n")
        self.assertEqual(follower.communicate(timeout=60), ("two\n", ""))

    def test_trigger(self):
        outcome, run_id = self.text("trigger", "hello", "--idempotency-key", "k").split()
        self.assertEqual(outcome, "started")
        self.assertEqual(self.text("trigger", "hello", "--idempotency-key", "k"), f"already_known {run_id}\n")
        self.lines("trigger", "hello", schema="Triggered")
        for wrong in (("--idempotency-key", ""), ("--timeout", "1s")):
            self.assertEqual(self.host.kron("trigger", "hello", *wrong).returncode, 2, wrong)
        self.refused(1, "trigger", "nobody")

    def test_trigger_and_wait(self):
        self.assertIn("result        exit 0\n", self.text("trigger", "hello", "--wait"))
        self.assertIn("result        exit 3\n", self.text("trigger", "failing", "--wait", status=1))
        run, = self.lines("trigger", "failing", "--wait", schema="Run", status=1)
        self.assertEqual(run["exitCode"], 3)

    def test_trigger_waits_no_longer_than_it_is_told(self):
        self.assertIn("has not ended within 200ms", self.refused(4, "trigger", "lasting", "--wait", "--timeout", "200ms"))
        self.assertIn("--timeout", self.refused(1, "trigger", "lasting", "--wait", "--timeout", "soon"))

    def test_trigger_does_not_wait_for_a_run_that_krond_has_forgotten(self):
        stubborn = f"trap '' TERM; read -r line < {self.host.root}/gate"
        self.host.write_jobs(self.host.job("replaced", NEVER, stubborn, policy={"concurrency": "replace"}, grace="1h"))
        self.api.post("reload")
        self.running("replaced")
        waiting = self.host.start_kron("trigger", "replaced", "--wait")
        until(lambda: b'/trigger",status="200"} 2' in self.api.get("/metrics"), "the second trigger")
        self.krond.kill()
        self.krond, self.api = self.host.serve()
        waiting.communicate(timeout=PATIENCE)
        self.assertEqual(waiting.returncode, 1)
        self.host.let_go()

    def test_waiting_reads_no_output(self):
        run_id = self.running("lasting")
        waiting = self.host.start_kron("wait", run_id)
        until(lambda: b'/api/v1/runs/{id}"' in self.api.get("/metrics"), "the one who waits")
        self.host.let_go()
        waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0)
        self.assertNotIn(b"/api/v1/runs/{id}/output", self.api.get("/metrics"))

    def test_wait(self):
        run_id = self.running("lasting")
        self.assertIn("has not ended within 200ms", self.refused(4, "wait", run_id, "--timeout", "200ms"))
        waiting = self.host.start_kron("wait", run_id)
        self.host.let_go()
        shown, errors = waiting.communicate(timeout=60)
        self.assertEqual((waiting.returncode, errors), (0, ""))
        self.assertIn("exit 0", shown)
        self.assertEqual(self.lines("wait", run_id, schema="Run")[0]["runId"], run_id)
        self.refused(1, "wait", "nobody")

    def test_a_wait_outlives_a_restart_of_krond(self):
        run_id = self.running("lasting")
        waiting = self.host.start_kron("wait", run_id)
        until(lambda: b' /api/v1/runs/{id}"' in self.api.get("/metrics"), "the one who waits")
        self.krond.kill()
        self.krond, self.api = self.host.serve()
        self.host.let_go()
        waiting.communicate(timeout=60)
        self.assertEqual(waiting.returncode, 0)

    def test_pause_and_resume(self):
        self.assertEqual(self.text("pause", "hello", "failing"), "paused hello\npaused failing\n")
        self.assertEqual(self.text("pause", "hello", "--until", "2099-01-01T01:00:00+01:00"),
                         "paused hello until 2099-01-01T00:00:00Z\n")
        paused, = self.lines("pause", "hello", "--for", "1h", schema="Paused")
        self.assertRegex(paused["paused"]["until"], "Z$")
        self.assertIn("paused until", self.text("jobs", "--state", "paused"))
        self.assertEqual(self.text("resume", "hello"), "resumed hello\n")
        self.lines("resume", "failing", schema="Paused")
        result = self.host.kron("pause", "nobody", "hello")
        self.assertEqual((result.returncode, result.stdout), (1, "paused hello\n"))
        self.refused(1, "pause", "hello", "--for", "long")

    def test_kill(self):
        for flags, signal, code in (((), "KILL", 137), (("--term",), "TERM", 143)):
            run_id = self.running("lasting")
            self.assertEqual(self.text("kill", run_id, *flags), f"sent {signal} to {run_id}\n")
            self.assertEqual(self.ended(run_id)["exitCode"], code)
            self.refused(1, "kill", run_id)
        self.refused(1, "kill", "nobody")

    def test_reload(self):
        self.assertEqual(self.text("reload"), "4 jobs, nothing changed\n")
        path = self.host.write_jobs(text="0 * * * * name=", name="bad.kron")
        result = self.host.kron("reload")
        self.assertEqual((result.returncode, result.stdout), (1, "4 jobs, nothing changed\n"))
        self.assertRegex(result.stderr, rf"(?m)^{path}:1:\d+: error: ")
        self.lines("reload", schema="Reloaded", status=1)

    def test_events(self):
        with self.host.start_kron("events", "--limit", "3", "--format", "json") as listening:
            until(lambda: self.api.get("status")["eventStreams"] == 1, "a listener")
            run_id = self.trigger("hello")
            events = [json.loads(line) for line in listening.stdout]
            self.assertEqual(listening.wait(60), 0)
        self.assertEqual([(event["event"], event["runId"]) for event in events],
                         [("run_requested", run_id), ("run_started", run_id), ("run_ended", run_id)])
        shown = self.text("events", "--after", 0, "--limit", 1)
        self.assertRegex(shown, r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (info|warning) \w+")

    def test_tasks_go_through_krond(self):
        self.assertEqual(self.text("task", "submit", "--type", "T", "--id", "a", '{"n": 1.50}'), "accepted a\n")
        lines = "".join(json.dumps({"taskId": f"b{n}", "payload": {"type": "T"}}) + "\n" for n in range(600))
        self.assertTrue(self.host.kron("task", "submit-batch", text=lines).stdout.startswith("600 accepted"))
        self.assertEqual(len(self.text("task", "list", "--limit", 10_000, "--format", "json").splitlines()), 601)
        self.assertIn("data        '{\"n\":1.50}'", self.text("task", "show", "a"))
        self.assertEqual(self.text("task", "cancel", "a"), "cancelled a\n")
        self.text("task", "cancel", "a", status=1)
        self.assertEqual(self.text("task", "retry", "a"), "retried a\n")
        self.text("task", "retry", "a", status=1)
        self.text("task", "show", "nobody", status=1)
        conflict = self.host.kron("task", "submit", "--type", "T", "--id", "a", "2")
        self.assertEqual(conflict.returncode, 4)
        work = self.host.kron("worker", "--drain", "--type", "T", "--exec", "cat", "--helper", KRON_EXEC,
                              "--work-dir", self.host.root / "w", "--concurrency", 4)
        self.assertEqual(work.returncode, 0, work.stderr)
        self.assertEqual(json.loads(self.text("task", "show", "a", "--format", "json"))["result"], '{"n":1.50}')
        self.assertEqual(self.text("task", "prune", "--older-than", "0s", "--format", "json")[:10], '{"removed"')

    def test_without_a_krond_each_says_so_with_status_3(self):
        self.krond.stop()
        for arguments in (("status",), ("jobs",), ("runs",), ("show", "hello"), ("logs", "hello"), ("trigger", "hello"),
                          ("pause", "hello"), ("resume", "hello"), ("kill", "x"), ("reload",), ("wait", "x"),
                          ("events",), ("task", "list")):
            result = self.host.kron(*arguments)
            self.assertEqual(result.returncode, 3, result)
            self.assertIn("kron doctor", result.stderr)

    def test_a_verb_that_is_misspelt_names_the_nearest(self):
        self.assertIn("did you mean status?", self.host.kron("staus").stderr)
        self.assertIn("did you mean pause?", self.host.kron("puase").stderr)


if __name__ == "__main__":
    unittest.main()
