"""What a policy does with failures, with runs that go on, and with what is late: on a real host."""

import unittest

from krond_host import DUE, HOUR, MINUTE, OnHost, instant, period_id


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
        self.assertGreaterEqual(second["periodId"], waits["periodId"])
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


if __name__ == "__main__":
    unittest.main()
