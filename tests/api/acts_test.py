"""Who did what: pauses, triggers and signals with the name of the one who asked and his note, durably and as events."""

import grp
import json
import os
import pwd
import subprocess
import time
import unittest

from api_host import KRON, PATIENCE, OnApiHost, until

NOBODY = 65534


class Acts(OnApiHost):
    def me(self):
        return pwd.getpwuid(os.geteuid()).pw_name

    def test_a_pause_says_who_and_why_over_a_crash(self):
        with self.api.events() as events:
            self.api.post("jobs", "hello", "pause", body={"note": "moving – disks"})
            event = events.wait_for("job_paused", identity="hello")[-1]
        self.assertEqual((event["by"], event["note"]), (self.me(), "moving – disks"))
        self.assertNotIn("until", event)
        before = self.api.get("jobs", "hello")["paused"]
        self.assertEqual((before["by"], before["note"]), (self.me(), "moving – disks"))
        record = json.loads(next(path for path in self.host.state.rglob("*.json")
                                 if '"Identity":"hello"' in path.read_text("utf-8")).read_text("utf-8"))
        self.assertEqual(record["Suspended"],
                         {"Since": before["since"], "By": self.me(), "Note": "moving – disks"}, record)
        self.krond.kill()
        self.krond, self.api = self.host.serve()
        self.assertEqual(self.api.get("jobs", "hello")["paused"], before)
        self.assertIn(f", by {self.me()}: moving – disks\n", self.host.kron("show", "hello").stdout)
        self.assertIn(f"paused by {self.me()}: moving – disks", self.host.kron("jobs").stdout)
        ahead = self.api.get("jobs", "hello", "decisions", count=1)["decisions"][0]["periodId"]
        why = self.api.get("jobs", "hello", "why", period=ahead)
        self.assertIn(f"paused: by {self.me()} since ", why["sentence"])
        self.assertIn("(moving – disks)", why["sentence"])
        self.api.post("jobs", "hello", "resume", body={"note": "done"})
        resumed = self.krond.wait_for("job_resumed", identity="hello")
        self.assertEqual((resumed["by"], resumed["note"]), (self.me(), "done"))
        self.assertIsNone(self.api.get("jobs", "hello")["paused"])

    def test_a_run_says_who_asked_for_it_and_who_ended_it(self):
        run_id = self.running("lasting")
        asked = self.krond.wait_for("run_requested", runId=run_id)
        self.assertEqual((asked["identity"], asked["outcome"], asked["by"]), ("lasting", "started", self.me()))
        self.assertNotIn("note", asked)
        self.api.post("runs", run_id, "terminate", body={"note": "enough"})
        ended = self.krond.wait_for("run_signalled", runId=run_id)
        self.assertEqual((ended["signal"], ended["by"], ended["note"]), ("TERM", self.me(), "enough"))
        key = {"Idempotency-Key": "one"}
        first = self.api.post("jobs", "hello", "trigger", headers=key, body={"note": "again"})
        self.ended(first["runId"])
        again = self.api.post("jobs", "hello", "trigger", headers=key, body={"note": "again"})
        self.assertEqual(again, {"runId": first["runId"], "outcome": "already_known"})
        self.assertEqual(len(self.krond.all("run_requested", runId=first["runId"])), 1)

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_it_is_the_user_who_asked_and_not_krond(self):
        self.krond.stop()
        for path in (self.host.root, self.host.state):
            path.chmod(0o755)
        self.krond, self.api = self.host.serve("--socket-group", "users", "--socket-group-may", "operate")
        group = grp.getgrnam("users").gr_gid
        for user, name in ((NOBODY, pwd.getpwuid(NOBODY).pw_name), (47110, "uid 47110")):
            done = subprocess.run(["setpriv", f"--reuid={user}", f"--regid={user}", f"--groups={group}", KRON, "pause",
                                   "hello", "--note", f"by {user}"], check=False, capture_output=True, text=True,
                                  timeout=PATIENCE, env={**os.environ, "KRON_SOCKET": str(self.host.socket)})
            self.assertEqual(done.returncode, 0, done)
            self.assertEqual(self.krond.wait_for("job_paused", note=f"by {user}")["by"], name)

    def test_many_jobs_are_paused_by_one_request_while_others_run(self):
        names = [f"many/{number:04}" for number in range(1000)]
        self.host.write_jobs(*(self.host.job(name, "0 0 1 1 *", "true") for name in names),
                             self.host.job("hello", "0 0 1 1 *", "true"))
        self.api.post("reload")
        answer = self.api.post("jobs", "pause", body={"jobs": names, "note": "a move"})
        self.assertEqual([job["identity"] for job in answer["jobs"]], names)
        self.assertEqual({job["paused"]["note"] for job in answer["jobs"]}, {"a move"})
        self.assertEqual(len(self.api.get("jobs", state="paused", limit=1000)["jobs"]), 1000)
        self.krond.kill()
        self.krond, self.api = self.host.serve()
        self.assertEqual(len(self.api.get("jobs", state="paused", limit=1000)["jobs"]), 1000, "it was durable")
        again = self.api.post("jobs", "pause", body={"jobs": names, "note": "a move"})
        self.assertEqual(again["jobs"], answer["jobs"], "a repetition changes nothing")
        self.assertEqual(self.krond.all("job_paused"), [])
        self.assertEqual(self.api.ask("POST", "jobs", "resume", body={"jobs": names + ["hello"]}).status, 400)
        listed = self.host.kron("resume", "--prefix", "many/")
        self.assertIn("1000 jobs; --yes resumes them", listed.stdout)
        self.assertEqual(len(self.api.get("jobs", state="paused", limit=1000)["jobs"]), 1000, "listed, not done")
        done = self.host.kron("resume", "--prefix", "many/", "--yes")
        self.assertEqual((done.returncode, done.stdout.count("resumed many/")), (0, 1000), done.stderr)
        self.assertEqual(self.api.get("jobs", state="paused")["jobs"], [])
        mixed = self.host.kron("pause", "many/0001", "nobody", "hello")
        self.assertEqual((mixed.returncode, mixed.stdout), (1, "paused many/0001\npaused hello\n"))
        self.assertIn("there is no job named 'nobody'", mixed.stderr)

    def test_who_waits_for_a_run_and_goes_is_forgotten(self):
        run_id = self.running("lasting")
        begin = time.monotonic()
        with self.assertRaises(TimeoutError):
            self.api.ask("GET", "runs", run_id, wait="60s", timeout=0.3)
        self.assertLess(time.monotonic() - begin, 30)
        self.api.post("runs", run_id, "kill")
        until(lambda: self.api.get("runs", run_id, wait="30s")["state"] == "ended", "its end")


if __name__ == "__main__":
    unittest.main()
