#!/usr/bin/env python3
"""What one krond of a fleet answers about all of it: kron runs, show, logs, status, doctor, pause and kill by its socket,
readiness, and what it says while Redis is away."""

import json
import subprocess
import time
import unittest

from cluster_host import KRON, Fleet, OnFleet, RedisServer, until


def kron(krond_state, *arguments):
    return subprocess.run([KRON, *arguments, "--state-dir", str(krond_state)], capture_output=True, text=True,
                          timeout=60, check=False)


class OneAnswersForAll(OnFleet):
    hosts = ("h1", "h2")

    def ask(self, host, *arguments):
        answer = kron(self.fleet.root / f"state-{host}", *arguments)
        self.assertEqual(answer.returncode, 0, answer.stdout + answer.stderr)
        return answer.stdout

    def runs(self, host, job):
        return [json.loads(line) for line in self.ask(host, "runs", "--job", job, "--format", "json").splitlines()]

    def wait_for_ended(self, host, job):
        until(lambda: [run for run in self.runs(host, job) if run["state"] == "ended"], f"a run of {job} at {host}")
        return self.runs(host, job)[0]

    def test_a_run_is_in_the_history_of_every_host_with_its_host_and_its_output(self):
        self.fleet.define("told", "echo one; echo one; echo two")
        until(lambda: "told" in self.ask("h1", "jobs"), "the job")
        until(lambda: "told" in self.ask("h2", "jobs"), "the job")
        run_id, blob = self.fleet.run("told", "once")
        for host in self.hosts:
            run = self.wait_for_ended(host, "told")
            self.assertEqual(run["runId"], run_id)
            self.assertEqual(run["host"], blob["host"])
            self.assertEqual(run["exitCode"], 0)
            self.assertIn("HOST", self.ask(host, "runs", "--job", "told"))
            self.assertEqual(self.ask(host, "logs", run_id), "one\none\ntwo\n")
            self.assertIn(blob["host"], self.ask(host, "show", run_id))

    def test_the_output_of_a_run_is_followed_to_its_end_through_any_host(self):
        self.fleet.define("followed", f"echo first; {self.fleet.holding()}; echo last", ttl=30)
        until(lambda: all("followed" in self.ask(host, "jobs") for host in self.hosts), "the job")
        self.fleet.trigger("followed", "follow-me")
        run_id, = self.fleet.wait_for_running("followed")
        for host in self.hosts:
            until(lambda host=host: self.runs(host, "followed"), f"the run in the history of {host}")
        followers = [subprocess.Popen([KRON, "logs", "-f", run_id, "--state-dir", str(self.fleet.root / f"state-{host}")],
                                      stdout=subprocess.PIPE, text=True) for host in self.hosts]
        try:
            for follower in followers:
                self.assertEqual(follower.stdout.readline(), "first\n")
                self.assertIsNone(follower.poll(), "the run goes on")
            self.fleet.hold_no_more()
            for follower in followers:
                self.assertEqual(follower.communicate(timeout=60)[0], "last\n")
                self.assertEqual(follower.returncode, 0)
        finally:
            for follower in followers:
                follower.kill()
                follower.wait()

    def test_what_happens_on_any_host_is_heard_at_each_with_the_host(self):
        self.fleet.define("heard")
        until(lambda: all("heard" in self.ask(host, "jobs") for host in self.hosts), "the job")
        # What is told before is no news: it has been read when this run is there.
        before, _ = self.fleet.run("heard")
        for host in self.hosts:
            until(lambda host=host: self.runs(host, "heard"), f"the first run at {host}")
        readers = [subprocess.Popen([KRON, "events", "--format", "json", "--state-dir",
                                     str(self.fleet.root / f"state-{host}")], stdout=subprocess.PIPE, text=True)
                   for host in self.hosts]
        try:
            time.sleep(1)  # until they listen
            run_id, blob = self.fleet.run("heard")
            for reader in readers:
                told = {}
                while "run_ended" not in told:
                    event = json.loads(reader.stdout.readline())
                    if event.get("runId") == run_id:
                        told[event["event"]] = event
                told.pop("run_requested", None)  # who asked for it is an event of its own
                self.assertEqual(set(told), {"run_started", "run_ended"})
                self.assertEqual({event["host"] for event in told.values()}, {blob["host"]})
                self.assertEqual(told["run_ended"]["exitCode"], 0)
            self.assertNotEqual(before, run_id)
        finally:
            for reader in readers:
                reader.kill()
                reader.communicate()

    def test_a_pause_at_one_host_is_one_at_all(self):
        self.fleet.define("paused")
        until(lambda: all("paused" in self.ask(host, "jobs", "--names") for host in self.hosts), "the job")
        self.assertIn("paused", self.ask("h1", "pause", "paused"))
        for host in self.hosts:
            until(lambda host=host: "paused" in self.ask(host, "jobs", "--state", "paused"), f"the pause at {host}")
        until(lambda: self.redis("SISMEMBER", self.key("jobs:paused"), "paused") == 1, "the set")
        self.assertIn("resumed", self.ask("h2", "resume", "paused"))
        until(lambda: self.redis("SISMEMBER", self.key("jobs:paused"), "paused") == 0, "the set without it")
        refused = kron(self.fleet.root / "state-h1", "pause", "paused", "--for", "1h")
        self.assertEqual(refused.returncode, 4, refused.stdout + refused.stderr)

    def shown_pause(self, host, job):
        return json.loads(self.ask(host, "show", job, "--format", "json"))["paused"]

    def test_who_paused_a_job_and_why_is_kept_for_every_host(self):
        self.fleet.define("kept")
        until(lambda: all("kept" in self.ask(host, "jobs", "--names") for host in self.hosts), "the job")
        self.ask("h1", "pause", "kept", "--note", "disk is full")
        for host in self.hosts:
            until(lambda host=host: (self.shown_pause(host, "kept") or {}).get("note") == "disk is full",
                  f"the note at {host}")
            self.assertIn("disk is full", self.ask(host, "jobs", "--match", "kept"))
        pause = self.shown_pause("h1", "kept")
        self.assertTrue(pause["by"] and pause["since"], pause)
        self.assertEqual(self.shown_pause("h2", "kept"), pause)
        told = json.loads(self.redis("HGET", self.key("jobs"), "kept"))["job_state"]
        self.assertEqual(told, {"paused": True, "kron_pause": pause})
        # A host that comes later knows it too; and why it did not run, those that were there know when it is over.
        type(self).kronds[1] = self.fleet.restarted(self.kronds[1])
        until(lambda: self.shown_pause("h2", "kept") == pause, "the pause at a host that was started again")
        self.ask("h2", "resume", "kept")
        for host in self.hosts:
            until(lambda host=host: self.shown_pause(host, "kept") is None, f"the end of the pause at {host}")
        self.assertEqual(json.loads(self.redis("HGET", self.key("jobs"), "kept"))["job_state"], {"paused": False})
        for host in self.hosts:
            kept = self.fleet.root / f"state-{host}" / "history" / "pauses.json"
            until(lambda kept=kept: kept.exists() and '"until"' in kept.read_text(encoding="utf-8"),
                  f"the pause that is over, at {host}")
            self.assertIn("disk is full", kept.read_text(encoding="utf-8"))

    def test_who_asked_for_a_run_is_told_by_the_host_that_has_it(self):
        self.fleet.define("asked")
        until(lambda: all("asked" in self.ask(host, "jobs", "--names") for host in self.hosts), "the job")

        def requested():
            return [event for krond in self.kronds for event in krond.all("run_requested", identity="asked")]

        # By its own API a host runs it itself; an event is for all, and one of them has the run.
        self.ask("h2", "trigger", "asked", "--note", "by the API")
        asked = self.kronds[1].wait_for("run_requested", identity="asked")
        self.assertEqual(asked["note"], "by the API")
        self.fleet.wait_for_final("asked")
        self.fleet.publish("trigger", "asked", id="one", by="anna", note="by an event")
        until(lambda: len(requested()) > 1, "who sent the event")
        self.fleet.wait_for_final("asked", 2)
        self.stays(lambda: len(requested()) == 2, "one host tells it")
        told, = [event for event in requested() if event["note"] == "by an event"]
        self.assertEqual(told["by"], "anna")

    def test_a_run_of_another_host_is_killed_through_any(self):
        self.fleet.define("long", "sleep 60", ttl=30)
        until(lambda: all("long" in self.ask(host, "jobs") for host in self.hosts), "the job")
        self.fleet.trigger("long", "kill-me")
        run_id, = self.fleet.wait_for_running("long")
        where = self.fleet.blob(run_id)["host"]
        other = next(host for host in self.hosts if host != where)
        until(lambda: self.runs(other, "long"), "the run in the other history")
        self.ask(other, "kill", run_id)
        self.fleet.wait_for_final("long")
        self.assertEqual(self.fleet.blob(run_id)["retcode"], -9)
        self.assertEqual(self.wait_for_ended(other, "long")["exitCode"], 137)

    def test_the_status_tells_of_the_cluster(self):
        until(lambda: len(json.loads(self.ask("h1", "status", "--format", "json"))["cluster"]["hosts"]) == 2, "hosts")
        cluster = json.loads(self.ask("h1", "status", "--format", "json"))["cluster"]
        self.assertEqual(cluster["instance"], "h1")
        self.assertEqual(cluster["namespace"], self.fleet.namespace)
        self.assertTrue(cluster["linkUp"])
        self.assertLess(abs(cluster["clockOffsetSeconds"]), 5)
        self.assertIn("h2", self.ask("h1", "status"))


class RedisIsAway(unittest.TestCase):
    def test_krond_is_up_says_why_it_is_not_ready_and_goes_on_by_itself(self):
        with Fleet() as fleet:
            fleet.define("soon", reload=False)
            fleet.server.stop()
            krond = fleet.start("h1")
            state = fleet.root / "state-h1"
            until(lambda: kron(state, "status").returncode == 0, "an answer without Redis")
            status = json.loads(kron(state, "status", "--format", "json").stdout)
            self.assertFalse(status["ready"])
            self.assertIn("Redis", status["cluster"]["notReady"])
            fleet.server.start()
            krond.wait_for("daemon_started")
            until(lambda: json.loads(kron(state, "status", "--format", "json").stdout)["ready"], "to be ready")


class APassword(unittest.TestCase):
    def test_is_shown_nowhere(self):
        with RedisServer(password="verysecret") as server, Fleet(server=server) as fleet:
            krond = fleet.started("h1", url=server.url(password="verysecret"))
            state = fleet.root / "state-h1"
            for answer in (kron(state, "status"), kron(state, "status", "--format", "json"), kron(state, "doctor")):
                self.assertNotIn("verysecret", answer.stdout + answer.stderr)
            server.stop()
            until(lambda: "not ready" in kron(state, "status").stdout, "to notice")
            self.assertNotIn("verysecret", kron(state, "status").stdout)
            self.assertNotIn("verysecret", krond.log())


if __name__ == "__main__":
    unittest.main(verbosity=2)
