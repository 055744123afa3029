"""Fifty jobs every second, and a krond that is killed every second."""

import json
import os
import random
import select
import sys
import time
import unittest

from krond_host import EVERY_SECOND, IS_FULL, Host, instant, period_id

JOBS = 50
SECONDS = 120 if IS_FULL else 8


def pause(krond, seconds):
    """Until then, unless krond ends by itself: it must not."""
    pidfd = os.pidfd_open(krond.pid)
    try:
        ended, _, _ = select.select([pidfd], [], [], seconds)
    finally:
        os.close(pidfd)
    if ended:
        raise AssertionError(f"krond ended by itself with {krond.ended()}:\n{krond.log()}")


class RandomKills(unittest.TestCase):
    def test_no_period_runs_twice_and_none_is_lost_in_silence(self):
        seed = int(os.environ.get("KRON_TEST_SEED", time.time_ns() % 1_000_000))
        draw = random.Random(seed)
        names = [f"job-{i}" for i in range(JOBS)]
        with Host() as host, self.subTest(seed=seed):
            host.write_jobs(*[host.job(name, EVERY_SECOND, policy={"deadline": "5s"}, history=1000) for name in names])
            kills = 0
            until = time.monotonic() + SECONDS
            while time.monotonic() < until:
                krond = host.start()
                # At any moment of its life, its start and recovery among them; about one kill a second.
                pause(krond, draw.choice([draw.uniform(0, 0.2), draw.uniform(0.2, 1.8)]))
                krond.kill()
                kills += 1
            krond = host.started("--on-stop", "wait")
            krond.wait_for("run_started", count=JOBS)
            self.assertEqual(krond.stop(), 0, krond.log())
            self.judge(host, names, kills, seed)

    def judge(self, host, names, kills, seed):
        effects = host.effects()
        ran = set(effects)
        self.assertEqual(len(effects), len(ran), "a period ran twice")
        reported = 0
        for name in names:
            reported += self.judge_job(host, name, {period for job, period in ran if job == name})
        print(json.dumps({"seed": seed, "kills": kills, "runs": len(effects), "recorded_but_not_run": reported}),
              file=sys.stderr)
        self.assertGreater(len(effects), JOBS)

    def judge_job(self, host, name, ran):
        """How many periods are recorded as executed and did not run."""
        record = host.record(name)
        self.assertNotIn("ActiveExecution", record)
        told = {}
        for entry in record["History"]:
            if entry["Outcome"] == "passed over":
                seconds = range(instant(entry["First"]), instant(entry["Last"]) + 1)
                periods = [period_id(second) for second in seconds]
            else:
                periods = [entry["PeriodID"]]
            for period in periods:
                self.assertNotIn(period, told, f"two entries of {name}")
                told[period] = entry
        executed = {period for period, entry in told.items() if entry["Outcome"] == "executed"}
        self.assertLessEqual(ran, executed, f"{name} ran, and its record does not say so")
        for period in executed:
            self.assertEqual(period in ran, told[period]["ExitCode"] is not None, f"{name} {told[period]}")
        first, last = instant(record["FirstSeen"]), instant(record["LastHandledPeriodID"])
        forgotten = [period_id(second) for second in range(first, last + 1) if period_id(second) not in told]
        self.assertEqual(forgotten, [], name)
        return len(executed - ran)


if __name__ == "__main__":
    unittest.main()
