"""Four kronds whose machines do not agree about the time, and jobs of every kind each second: every period has one
outcome and at most one run. The witnesses are what the jobs themselves write and the stream of outcomes."""

import os
import unittest

import witness
from cluster_host import SCALE, Fleet, until
from witness import Terms

# Two minutes when there is time for it. What a run of a moment takes is a matter of the machine and of sanitizers.
SECONDS = 20 if SCALE == 1 else 120
DEADLINE = os.environ.get("KRON_TEST_DEADLINE", "5s")
POLICY = {"policy": {"deadline": DEADLINE}}
HOSTS = {"h1": -2, "h2": 0, "h3": 2, "h4": 60}

EACH_SECOND = {"second": "*"}
EVERY_OTHER = {"second": "*/2"}
# name: command, definition, what the witness must know
JOBS = {
    "moment": ("true", {}, Terms(1, "moment", runs_always=True)),
    "tenth": ("sleep 0.1", {}, Terms(1, "tenth", runs_always=True)),
    "half": ("sleep 0.5", {}, Terms(1, "half", runs_always=True)),
    "longer": ("sleep 2", {}, Terms(1, "longer")),
    "window": ("true", {"cron": EVERY_OTHER, "kron": {"window": "7s", "distribution": "uniform", **POLICY}},
               Terms(2, "window", window=7)),
    "shared-1": ("sleep 0.2", {"lock": "shared"}, Terms(1, "shared")),
    "shared-2": ("sleep 0.2", {"lock": "shared"}, Terms(1, "shared")),
    "free": ("true", {"lock": False}, Terms(1)),
    "free-longer": ("sleep 1.5", {"lock": False, "cron": EVERY_OTHER}, Terms(2)),
}
TERMS = {name: terms for name, (_, _, terms) in JOBS.items()}


class FleetRun:
    """A fleet, its jobs, and what came of it."""

    def __init__(self, test, hosts=HOSTS, jobs=None, **how):
        self.test = test
        self.fleet = Fleet(**how)
        test.addCleanup(self.fleet.close)
        self.jobs = jobs or JOBS
        for name, (command, definition, _) in self.jobs.items():
            self.fleet.define(name, command, reload=False, **{"cron": EACH_SECOND, "kron": POLICY, **definition})
        self.kronds = [self.fleet.start(host, offset=offset) for host, offset in hosts.items()]
        for krond in self.kronds:
            self.fleet.wait_until_joined(krond)

    def wait(self, seconds):
        """By Redis's clock, so that as many periods are due."""
        redis = self.fleet.redis
        begin = redis.now()
        until(lambda: redis.now() >= begin + seconds, f"{seconds} s")

    def end(self):
        """Nothing new begins; what goes on ends."""
        self.fleet.publish("pause", "all")
        paused = self.fleet.key("jobs:paused")
        until(lambda: self.fleet.redis("SCARD", paused) == len(self.jobs), "all jobs to be paused")
        self.fleet.wait_until_idle()
        until(lambda: {run.run_id for run in self.runs() if run.end is None} <= set(self.fleet.blobs()), "last words")

    def runs(self):
        return witness.runs_in(self.fleet.effects())

    def outcomes(self):
        return witness.outcomes_in(self.fleet.outcomes())

    def passed_over(self):
        return witness.passed_over_in(self.fleet.outcomes())

    def describe(self):
        lines = [f"{krond.host}: {line}" for krond in self.kronds for line in krond.log().splitlines()
                 if '"level":"error"' in line.replace(" ", "") or '"level":"warning"' in line.replace(" ", "")]
        return "\n".join(lines[-40:])

    def assert_nothing(self, complaints, what):
        if complaints:
            shown = "\n".join(complaints[:20])
            self.test.fail(f"{what}: {len(complaints)}\n{shown}\n{self.describe()}")


class Fleets(unittest.TestCase):
    def test_every_period_has_one_outcome_and_at_most_one_run(self):
        run = FleetRun(self)
        run.wait(SECONDS)
        run.end()
        runs, outcomes = run.runs(), run.outcomes()
        run.assert_nothing(witness.all_complaints(runs, outcomes, TERMS, run.passed_over()), "complaints")
        # The witness has seen something: every field has had its periods.
        fields = {witness.field_of(outcome, TERMS) for outcome in outcomes}
        self.assertEqual(len(fields), 7 + 2 * len(HOSTS))
        for field in fields:
            count = sum(witness.field_of(outcome, TERMS) == field for outcome in outcomes)
            self.assertGreaterEqual(count, (SECONDS - 4) // TERMS[field[0]].interval - 4, field)
        # By claim and record too, as Redis has them.
        for run_id, blob in run.fleet.blobs().items():
            self.assertIn(blob["status"], ("success",), run_id)
        self.assertGreaterEqual(len({seen.host for seen in runs}), 4, "lock false runs on each host")


if __name__ == "__main__":
    unittest.main()
