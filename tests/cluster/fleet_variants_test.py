"""A fleet whose Redis does not keep time, whose hosts do not agree what a job is, and whose records vanish."""

import signal
import time
import unittest

import witness
from cluster_host import SCALE
from fleet_test import EVERY_OTHER, HOSTS, JOBS, POLICY, TERMS, FleetRun
from proxy import Proxy
from shifted_time import ShiftedServer
from witness import Terms

SECONDS = 15 if SCALE == 1 else 60
FEWER = {name: JOBS[name] for name in ("moment", "half", "window", "shared-1", "shared-2", "free")}


class RedisHasAClockOfItsOwn(unittest.TestCase):
    def run_with(self, disturb):
        server = ShiftedServer().start()
        self.addCleanup(server.close)
        run = FleetRun(self, hosts=HOSTS, jobs=FEWER, server=server)
        run.wait(3)
        disturb(server, run)
        run.end()
        return run

    def assert_kept(self, run):
        runs, outcomes = run.runs(), run.outcomes()
        for question, complaints in (("doubled runs", witness.doubled_runs(runs, TERMS)),
                                     ("doubled outcomes", witness.doubled_outcomes(outcomes, TERMS)),
                                     ("periods without outcome", witness.periods_without_outcome(outcomes, TERMS,
                                                                                         run.passed_over())),
                                     ("disagreements", witness.disagreements(runs, outcomes)),
                                     ("overlaps", witness.overlaps(runs, TERMS)),
                                     ("missed", witness.missed(outcomes))):
            run.assert_nothing(complaints, question)
        self.assertGreater(len(runs), SECONDS)

    def early_by(self, run):
        """How long before its chosen time, by Redis's own stamps, the earliest claim was granted."""
        chosen = {outcome.run_id: outcome.chosen or outcome.period for outcome in run.outcomes() if outcome.run_id}
        blobs = run.fleet.blobs()
        return max(witness.seconds_of(chosen[run_id]) - float(blobs[run_id]["start_time"])
                   for run_id in chosen if run_id in blobs)

    def test_it_is_stepped_by_three_seconds(self):
        def disturb(server, run):
            for step in (3, -3, -3, 3) if SCALE == 1 else (3, -3) * 6:
                server.step(step)
                time.sleep(4)

        run = self.run_with(disturb)
        self.assert_kept(run)
        # What was judged before the step was known may come as much too early, and no more.
        self.assertLess(self.early_by(run), 3.5)

    def test_it_runs_one_percent_fast(self):
        def disturb(server, run):
            server.run_fast(10_000)
            run.wait(SECONDS)

        run = self.run_with(disturb)
        self.assert_kept(run)
        self.assertLess(self.early_by(run), 0.2)


class TwoTextsOfOneJob(unittest.TestCase):
    def test_the_older_one_writes_nothing(self):
        """One host hears no events for ten seconds, while the definition changes under it."""
        run = FleetRun(self, hosts={"h1": 0}, jobs={"changing": ("true", {}, Terms(1, "changing"))})
        proxy = Proxy(run.fleet.server.port)
        self.addCleanup(proxy.close)
        deaf = run.fleet.started("h2", port=proxy.port)
        run.kronds.append(deaf)
        run.wait(3)
        proxy.mute_messages(True)
        changed = run.fleet.redis.now()
        run.fleet.define("changing", "echo other", cron=EVERY_OTHER, kron=POLICY)
        run.wait(10)
        proxy.mute_messages(False)
        run.fleet.reload()
        run.wait(3)
        run.end()
        runs, outcomes = run.runs(), run.outcomes()
        terms = {"changing": Terms(1, "changing")}
        run.assert_nothing(witness.doubled_runs(runs, terms), "doubled runs")
        run.assert_nothing(witness.doubled_outcomes(outcomes, terms), "doubled outcomes")
        run.assert_nothing(witness.overlaps(runs, terms), "overlaps")
        run.assert_nothing(witness.missed(outcomes), "missed")
        # Once the new text is known to one of them, only its periods are judged.
        odd = [outcome for outcome in outcomes if int(witness.seconds_of(outcome.period)) % 2 == 1
               and witness.seconds_of(outcome.period) > changed + 3]
        run.assert_nothing([str(outcome) for outcome in odd], "periods of the older text")
        even = {outcome.period for outcome in outcomes if witness.seconds_of(outcome.period) > changed + 3}
        self.assertGreaterEqual(len(even), 4)


class RecordsVanish(unittest.TestCase):
    def test_nothing_runs_twice_though_all_is_forgotten_while_one_host_sleeps(self):
        run = FleetRun(self, hosts={"h1": 0, "h2": -2, "h3": 2}, jobs=FEWER)
        redis, key = run.fleet.redis, run.fleet.key
        texts = redis.hash(key("jobs"))
        run.wait(3)
        sleeper = run.kronds[2]

        def vanish(what):
            sleeper.signal(signal.SIGSTOP)
            run.wait(1.5)
            if what == "all":
                redis("FLUSHALL")
            else:
                redis("HDEL", key("kron:state"), *redis("HKEYS", key("kron:state")))
            run.wait(1.5)
            sleeper.signal(signal.SIGCONT)
            run.wait(2)

        for _ in range(max(1, SCALE // 4)):
            vanish("records")
            vanish("all")
            for name, text in texts.items():  # as an operator would, from a copy
                run.fleet.write(name, text)
            run.fleet.reload()
        run.wait(2)
        run.end()
        runs = run.runs()
        run.assert_nothing(witness.doubled_runs(runs, TERMS), "doubled runs")
        # They go on: the last runs are young.
        last = max(seen.begin for seen in runs if seen.job == "moment")
        self.assertGreater(last, time.time() - 30)


if __name__ == "__main__":
    unittest.main()
