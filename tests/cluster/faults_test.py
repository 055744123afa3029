"""For every command in the life of one run: the request is lost, the reply is lost, the connection is cut. There is one
run, nothing is left active, and the output is complete."""

import re
import threading
import unittest

import witness
from cluster_host import PATIENCE, SCALE, Fleet, at_second, sha1, until
from proxy import CUT, LOSE_REPLY, LOSE_REQUEST, PASS, STALL, Proxy
from redis_host import RedisServer

RUN_ID = re.compile(rb"^[0-9a-f]{32}$")
PATIENT = {"policy": {"deadline": "2m"}}
LINES = 40
# Long enough for a renewal of its lock, and for output before its end.
COMMAND = f"seq 1 {LINES // 2}; sleep 1.2; seq {LINES // 2 + 1} {LINES}"


class Spoiler:
    """Spoils the number-th command that speaks of one job or of its run."""

    def __init__(self, job, number, fate):
        self._job = job.encode()
        self._number = number
        self._fate = fate
        self._runs = set()
        self.seen = []

    def __call__(self, words):
        if not self._is_of_its_life(words):
            return PASS
        self.seen.append(words[0])
        return self._fate if len(self.seen) == self._number else PASS

    def _is_of_its_life(self, words):
        if words[0].upper() not in (b"EVALSHA", b"EVAL"):
            return False
        ids = {word for word in words if RUN_ID.match(word)}
        if any(self._job in word for word in words[2:]):
            self._runs |= ids
            return True
        return bool(ids & self._runs) or any(run in word for run in self._runs for word in words[3:])

    @property
    def has_spoiled(self):
        return len(self.seen) >= self._number


class Sweep:
    """One fleet in a namespace of its own, so that several can go on at once."""

    def __init__(self, server, fate):
        self.fate = fate
        self.problems = []
        self.points = 0
        name = re.sub("[^a-z]", "-", fate)
        self.fleet = Fleet(namespace="{" + name + "}", server=server)
        self.proxy = Proxy(server.port)
        self.host = f"h-{name}"

    def start(self):
        self.fleet.started(self.host, port=self.proxy.port)

    def run(self):
        try:
            number = 1
            while self.point(number):
                self.points = number
                number += 1
        except Exception as error:  # pylint: disable=broad-exception-caught
            self.problems.append(f"{self.fate}, command {self.points + 1}: {error}")

    def point(self, number):
        """Whether there was a command of that number."""
        fleet, job = self.fleet, f"job-{number}"
        spoiler = Spoiler(job, number, self.fate)
        fleet.define(job, COMMAND, cron=at_second(fleet.redis.now() + 3), kron=PATIENT, ttl=3)
        # Being read and first seen is not of a run's life; the claim comes later.
        until(lambda: fleet.redis("HEXISTS", fleet.key("kron:state"), job), f"{job} to be known")
        self.proxy.spoil(spoiler)
        run_id, = fleet.wait_for_final(job)
        until(lambda: not fleet.active(), f"{job} to leave active")
        self.proxy.spoil(None)
        self.judge(job, run_id, number)
        return spoiler.has_spoiled

    def judge(self, job, run_id, number):
        fleet = self.fleet
        runs = [run for run in witness.runs_in(fleet.effects()) if run.job == job]
        blob = fleet.blob(run_id)
        text = b"\n".join(fleet.lines(run_id)).decode()
        expected = "\n".join(str(line) for line in range(1, LINES + 1))
        facts = {
            "one run": len(runs) == 1,
            "it is the one that is told of": [run.run_id for run in runs] == [run_id],
            "one blob": len(fleet.blobs(job)) == 1,
            "success": (blob["status"], blob["retcode"]) == ("success", 0),
            "one result": fleet.redis.ids(fleet.key(f"results:{job}:success")) == [run_id],
            "no failure": not fleet.redis("EXISTS", fleet.key(f"results:{job}:fail")),
            "complete output": text == expected,
            "no claim": run_id not in fleet.redis.hash(fleet.key("kron:claims")),
            "one outcome": len([outcome for outcome in witness.outcomes_in(fleet.outcomes(job))]) == 1,
        }
        until(lambda: not fleet.redis("EXISTS", fleet.key("locks:" + sha1(job))), "the release of the lock")
        wrong = [name for name, is_true in facts.items() if not is_true]
        if wrong:
            self.problems.append(f"{self.fate}, command {number}: not {wrong}; runs {runs}, blob {blob}, "
                                 f"{len(text.splitlines())} lines, outcomes {fleet.outcomes(job)}\n"
                                 + "\n".join(fleet.kronds[0].log().splitlines()[-12:]))

    def close(self):
        self.fleet.close()
        self.proxy.close()


class OneRunsLife(unittest.TestCase):
    def test_every_command_may_be_spoiled(self):
        server = RedisServer().start()
        self.addCleanup(server.close)
        sweeps = [Sweep(server, fate) for fate in (LOSE_REQUEST, LOSE_REPLY, CUT)]
        for sweep in sweeps:
            self.addCleanup(sweep.close)
        for sweep in sweeps:
            sweep.start()
        threads = [threading.Thread(target=sweep.run) for sweep in sweeps]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join(PATIENCE * 3)
        self.assertFalse(any(thread.is_alive() for thread in threads))
        self.assertEqual([problem for sweep in sweeps for problem in sweep.problems], [])
        # A claim, a renewal, output, an end.
        self.assertTrue(all(sweep.points >= 3 for sweep in sweeps), [sweep.points for sweep in sweeps])

    @unittest.skipUnless(SCALE > 1, "each point waits until krond gives the connection up")
    def test_every_command_may_be_stalled(self):
        server = RedisServer().start()
        self.addCleanup(server.close)
        sweep = Sweep(server, STALL)
        self.addCleanup(sweep.close)
        sweep.start()
        sweep.run()
        self.assertEqual(sweep.problems, [])


if __name__ == "__main__":
    unittest.main()
