"""What a policy does with failures, with runs that go on, and with what is late: on a real host."""

import json
import os
import subprocess
import time
import unittest

from krond_host import DUE, HOUR, MINUTE, OnHost, instant, period_id, until

KRON = os.environ["KRON"]


class PauseAfter(OnHost):
    def test_the_last_failure_in_a_row_pauses_over_restarts(self):
        self.host.write_jobs({"name": "job", "schedule": "0 * * * *", "command": "exit 3", "shell": True, "history": 0,
                              "policy": {"deadline": "30m", "pauseAfter": 3}})
        self.host.once(at=DUE - MINUTE)
        for failures in (1, 2):
            self.host.once(at=DUE + failures * HOUR)
            self.assertEqual(self.host.record("job")["FailuresInARow"], failures)
        krond = self.host.once(at=DUE + 3 * HOUR)
        paused = krond.all("job_paused", identity="job")
        self.assertEqual([event["by"] for event in paused], ["kron"])
        self.assertEqual(paused[0]["note"], "3 runs in a row failed, the last with exit 3")
        record = self.host.record("job")
        self.assertEqual(record["Suspended"]["By"], "kron")
        self.assertNotIn("FailuresInARow", record)
        self.assertEqual(self.host.once(at=DUE + 4 * HOUR).all("run_started"), [])


class Queue(OnHost):
    def test_what_is_due_waits_for_the_run_before_it(self):
        job = self.host.holding_job("job", "0,5 * * * * *", policy={"deadline": "10m", "concurrency": "queue"})
        self.host.write_jobs(job)
        krond = self.host.started(at=DUE - 1)
        first = krond.wait_for("run_started", identity="job")
        waits = krond.wait_for("period_waits", identity="job")
        self.assertEqual(instant(waits["until"]), instant(waits["chosenTime"]) + 10 * MINUTE)
        self.host.let_go()
        krond.wait_for("run_ended", runId=first["runId"])
        second = krond.wait_for("run_started", identity="job", count=2)
        self.assertGreaterEqual(second["periodId"], waits["periodId"], krond.log())
        self.host.let_go()
        self.assertEqual(krond.stop(), 0)


class CatchUpSpread(OnHost):
    def test_what_is_late_at_the_start_is_spread(self):
        jobs = [{"name": f"late/{i}", "schedule": "0 * * * *", "command": "true", "policy": {"deadline": "50m"}}
                for i in range(20)]
        self.host.write_jobs(*jobs)
        self.host.once(at=DUE - MINUTE)
        krond = self.host.started("--catch-up-spread", "30m", at=DUE + 5 * MINUTE)
        spread = krond.wait_for("start_spread", count=15)
        self.assertEqual(spread["periodId"], period_id(DUE))
        self.assertEqual(krond.stop(), 0)
        starts = {event["until"] for event in krond.all("start_spread")}
        self.assertGreater(len(starts), 10)
        for start in starts:
            self.assertGreater(instant(start), DUE + 5 * MINUTE)
            self.assertLessEqual(instant(start), DUE + HOUR)


class Caps(OnHost):
    """What is due and finds no slot waits for one, as long as its deadline allows."""

    def holding(self, name, **keys):
        return self.host.holding_job(name, "0 * * * *", **{"policy": {"deadline": "40m"}, **keys})

    def started_when_due(self, *flags):
        """What is due waits for krond, however long it takes to start: the jobs are known."""
        self.host.once(at=DUE - MINUTE)
        return self.host.started(*flags, at=DUE + 1)

    def started_before_due(self):
        """In time for deadlines of no time at all, on a machine that is slow, too."""
        begun = time.monotonic()
        self.host.once(at=DUE - HOUR / 2)
        return self.host.started(at=DUE - 1 - 2 * (time.monotonic() - begun))

    def kron(self, *words):
        done = subprocess.run([KRON, *words, "--state-dir", str(self.host.state)], capture_output=True, text=True, timeout=60)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def test_no_more_run_at_once_than_krond_is_told(self):
        self.host.write_jobs(*(self.holding(f"job/{i}") for i in range(5)))
        krond = self.started_when_due("--max-running", "2")
        krond.wait_for("run_started", count=2)
        waits = krond.wait_for("period_waits", count=3)
        self.assertEqual((waits["waitsFor"], instant(waits["until"])), ("max-running", DUE + 40 * MINUTE))
        self.assertEqual(len(self.host.active_runs()), 2)
        status = json.loads(self.kron("status", "--format", "json"))
        slots, = status["slots"]
        self.assertEqual((slots["slots"], slots["used"], slots["waiting"], slots["longest"]), (2, 2, 3, "job/2"))
        self.assertIn("waits for a slot", self.kron("jobs"))
        self.host.let_go()
        krond.wait_for("run_started", count=5)
        until(lambda: len(self.host.effects()) == 5, "all to have run")
        self.assertEqual(sorted(self.host.effects()), [(f"job/{i}", period_id(DUE)) for i in range(5)])
        # By what krond did: two that run at the same time leave their effects in any order.
        started = [event["identity"] for event in krond.all("run_started")]
        self.assertEqual((sorted(started[:2]), started[2:]), (["job/0", "job/1"], ["job/2", "job/3", "job/4"]))
        self.assertEqual(krond.stop(), 0)

    def test_a_pool_limits_its_own_and_what_waits_too_long_is_missed(self):
        jobs = [self.holding("db/a", pool="db"), self.holding("db/b", pool="db", policy={"deadline": "2s"}),
                self.holding("db/c", pool="db", policy={"deadline": "0s"}), self.holding("other")]
        self.host.write_jobs(text=json.dumps({"pools": {"db": 1}, "jobs": jobs}))
        krond = self.started_before_due()
        self.assertEqual(krond.wait_for("period_ended", identity="db/c")["reason"], "no slot")
        self.assertEqual(krond.wait_for("period_waits", identity="db/b")["pool"], "db")
        krond.wait_for("run_started", identity="other")
        ended = krond.wait_for("period_ended", identity="db/b")
        self.assertEqual((ended["outcome"], ended["reason"]), ("missed", "no slot"))
        told = self.kron("why", "db/b")
        self.assertIn("as many runs were active as may be", told)
        self.assertIn("more slots in the pool db", told)
        self.host.let_go()
        self.assertEqual(krond.stop(), 0)

    def test_a_kill_loses_nobody_who_waits_and_adopted_runs_have_their_slots(self):
        self.host.write_jobs(*(self.holding(f"job/{i}", pool="db:1") for i in range(3)))
        krond = self.started_when_due()
        first = krond.wait_for("run_started")
        krond.wait_for("period_waits", count=2)
        krond.kill()
        krond = self.host.started(at=DUE + MINUTE)
        krond.wait_for("run_adopted", runId=first["runId"])
        krond.wait_for("period_waits", count=2)
        self.assertEqual(krond.all("run_started"), [])
        self.host.let_go()
        krond.wait_for("run_started", count=2)
        until(lambda: len(self.host.effects()) == 3, "all to have run")
        self.assertEqual(sorted(self.host.effects()), [(f"job/{i}", period_id(DUE)) for i in range(3)])
        self.assertEqual(krond.stop(), 0)

    def test_a_run_by_hand_waits(self):
        self.host.write_jobs(self.holding("a", pool="db:1"), self.host.job("b", "0 0 1 1 *", pool="db:1",
                                                                         policy={"deadline": "10m"}))
        krond = self.started_when_due()
        krond.wait_for("run_started", identity="a")
        self.kron("trigger", "b")
        krond.wait_for("run_waits", identity="b")
        self.assertIn("a slot of db", self.kron("show", "b"))
        self.host.let_go()
        krond.wait_for("run_started", identity="b")
        self.assertEqual(krond.stop(), 0)

    def test_once_sees_to_all_that_wait(self):
        self.host.write_jobs(*(self.host.job(f"job/{i}", "0 * * * *", "sleep 0.1", pool="db:2",
                                             policy={"deadline": "30m"}) for i in range(7)))
        self.host.once(at=DUE - MINUTE)
        krond = self.host.once(at=DUE + MINUTE)
        self.assertEqual(len(krond.all("run_started")), 7)


if __name__ == "__main__":
    unittest.main()
