"""The scripts of the cluster on a real Redis, called by many processes that are killed at random, over connections that
lose and repeat: no run twice, no two holders of a lock, nothing left behind. With KRON_TEST_SCALE=20 for minutes.

Unlike the fleets of krond this has many claims a second, and hosts that die at any instant."""

import json
import os
import random
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from collections import Counter, defaultdict
from pathlib import Path

from claimer import JOBS, STALE, key
from redis_host import RedisServer, wait_until
from redis_view import Redis

SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
HOSTS = 4
SECONDS = 4 * SCALE
CLAIMER = Path(__file__).resolve().parent / "claimer.py"
# Requests lost, replies lost, requests repeated later.
FAULTS = (0.03, 0.08, 0.05)
# A claim in Redis's log.
CLAIM = re.compile(rb"HSET\r\n\$\d+\r\n\{cronken\}:kron:claims\r\n\$32\r\n([0-9a-f]{32})\r\n")
TRANSACTION = b"*1\r\n$5\r\nMULTI\r\n"
# Measured at different moments of two processes.
MARGIN = 0.0005


class Stress:
    """Some claimers, and what happens to them meanwhile."""

    def __init__(self, server, directory, faults=FAULTS, script_changes=(), seed=None):
        self.server, self.directory = server, Path(directory)
        self.redis = Redis(server)
        self.faults, self.script_changes = faults, script_changes
        self.seed = random.SystemRandom().randrange(2 ** 32) if seed is None else seed
        self.dice = random.Random(self.seed)
        self.kills = 0
        self.triggers = 0
        self.lost = set()  # run ids whose claims Redis has lost
        (self.directory / "witness").touch()
        (self.directory / "triggers").touch()
        self.claimers = {}
        for number in range(HOSTS):
            self.start(number)

    def start(self, number):
        told = {"port": self.server.port, "number": number, "directory": str(self.directory),
                "seed": self.dice.random(), "faults": self.faults, "script_changes": self.script_changes}
        # They die with the thread that started them.
        self.claimers[number] = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", sys.executable, str(CLAIMER),
                                                  json.dumps(told)])

    def close(self):
        for claimer in self.claimers.values():
            claimer.kill()
            claimer.wait()
        self.redis.close()

    def kill_one(self):
        number = self.dice.choice(list(self.claimers))
        self.claimers[number].kill()
        self.claimers[number].wait()
        self.kills += 1
        time.sleep(self.dice.random() * 0.3)
        self.start(number)

    def trigger(self):
        self.triggers += 1
        with open(self.directory / "triggers", "a", encoding="utf-8") as file:
            file.write(f"{time.time():.3f} {self.dice.choice(JOBS).name} {self.triggers}\n")

    def lose_writes(self):
        """Redis dies, and the end of its log with it: the last claims, and all that came after them."""
        wait_until(lambda: len(self.starts()) > 5, "some runs")
        self.server.kill()
        log, = sorted((self.server.directory / "appendonlydir").glob("*.incr.aof"))[-1:]
        text = log.read_bytes()
        claims = list(CLAIM.finditer(text))
        first = claims[-min(len(claims), self.dice.randrange(2, 6))]
        # What a script has written is one transaction.
        kept = text.rfind(TRANSACTION, 0, first.start())
        self.lost |= {claim.group(1).decode() for claim in CLAIM.finditer(text[kept:])}
        log.write_bytes(text[:kept])
        self.server.start()

    def live(self, seconds, *happenings):
        ends = time.monotonic() + seconds
        while time.monotonic() < ends:
            time.sleep(0.1)
            self.trigger()
            if self.dice.random() < 0.3:
                self.dice.choice(happenings)()
        self.kill_one()

    def finish(self):
        """Nothing is started any more; what was left by the dead is reaped."""
        (self.directory / "quiet").touch()
        wait_until(lambda: self.redis("ZCARD", key("rundata:active")) == 0 and self.redis("HLEN", key("kron:claims")) == 0,
                   "nothing to be active any more")
        (self.directory / "stop").touch()
        for claimer in self.claimers.values():
            if claimer.wait(60) != 0:
                raise AssertionError("a claimer has failed")

    def lines(self, kind):
        for line in (self.directory / "witness").read_text(encoding="utf-8").splitlines():
            if line.startswith(kind + " "):
                yield line[2:]

    def starts(self):
        """Run id, owner, when it began, fencing token, lock, job and instance."""
        return [line.split() for line in self.lines("S")]

    def doubles(self):
        counts = Counter(run_id for run_id, *_ in self.starts())
        return sorted(run_id for run_id, count in counts.items() if count > 1 and run_id not in self.lost)

    def overlaps(self):
        ends = {tuple(line.split()[:2]): float(line.split()[2]) for line in self.lines("E")}
        holders = defaultdict(list)
        for run_id, owner, begun, _, lock, _ in self.starts():
            if lock != "-" and run_id not in self.lost:
                # Who was killed: nobody knows until when it ran.
                holders[lock].append((float(begun), ends.get((run_id, owner), float(begun)), run_id))
        found = []
        for lock, runs in holders.items():
            runs.sort()
            found += [(lock, one, two) for one, two in zip(runs, runs[1:]) if two[0] < one[1] - MARGIN]
        return found

    def shared_names(self):
        """Instances that were given to another while their owner's heartbeat was young."""
        found, last = [], {}
        for instance, owner, beat in sorted((line.split() for line in self.lines("J")), key=lambda one: float(one[2])):
            before = last.get(instance)
            if before and before[0] != owner and float(beat) - before[1] < STALE - 1:
                found.append((instance, before, owner, beat))
            last[instance] = (owner, float(beat))
        return found

    def counts(self):
        """Of all claimers, as they told last."""
        last = dict(line.split(" ", 1) for line in self.lines("X"))
        total = Counter()
        for told in last.values():
            total.update(json.loads(told))
        return total


class StressTest(unittest.TestCase):
    def stress(self, server, **how):
        directory = tempfile.TemporaryDirectory(prefix="kron-stress-")
        self.addCleanup(directory.cleanup)
        self.addCleanup(server.close)
        stress = Stress(server.start(), directory.name, **how)
        self.addCleanup(stress.close)
        return stress

    def assert_kept(self, stress, least):
        with self.subTest(seed=stress.seed, counts=dict(stress.counts())):
            self.assertEqual(stress.doubles(), [])
            self.assertGreater(len(stress.starts()), least)
            self.assertEqual(stress.redis("ZCARD", key("rundata:active")), 0)
            self.assertEqual(stress.redis("HLEN", key("kron:claims")), 0)

    def test_nothing_runs_twice_though_hosts_are_killed_and_records_deleted(self):
        stress = self.stress(RedisServer())
        stress.live(SECONDS, stress.kill_one, stress.kill_one,
                    lambda: stress.redis("HDEL", key("kron:state"), stress.dice.choice(JOBS).name),
                    lambda: stress.redis("SCRIPT", "FLUSH"),
                    lambda: stress.redis("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes"))
        stress.finish()
        self.assert_kept(stress, 3 * SECONDS)
        self.assertEqual(stress.overlaps(), [])
        self.assertEqual(stress.shared_names(), [])
        fences = [fence for _, _, _, fence, _, _ in stress.starts()]
        self.assertEqual(len(set(fences)), len(fences))
        counts = stress.counts()
        for word in ("step ok", "step newer", "step held", "requests lost", "replies lost", "repeated"):
            self.assertGreater(counts[word], 0, counts)

    def test_only_what_redis_has_lost_may_run_twice(self):
        stress = self.stress(RedisServer(appendonly=True))
        for _ in range(1 + SCALE):
            stress.live(1, stress.kill_one)
            stress.lose_writes()
        stress.live(2, stress.kill_one)
        stress.finish()
        self.assert_kept(stress, 10)
        self.assertGreater(stress.counts()["losses"], 0)

    def test_a_step_that_compares_nothing_is_noticed(self):
        changes = [("step", "if revision ~= ARGV[3] then", "if false then"),
                   ("step", "if redis.call('HEXISTS', KEYS[2], id) == 1 then", "if false then")]
        stress = self.stress(RedisServer(), faults=(0, 0, 0), script_changes=changes)

        def doubles():
            # Whoever stood still judges by what it knew.
            claimer = stress.dice.choice(list(stress.claimers.values()))
            claimer.send_signal(signal.SIGSTOP)
            time.sleep(0.5)
            claimer.send_signal(signal.SIGCONT)
            return stress.doubles()

        wait_until(doubles, "a run that is executed twice")


if __name__ == "__main__":
    unittest.main()
