#!/usr/bin/env python3
"""A cluster with many jobs, of which few are due: krond reads such a list beside its loop, so it answers whoever asks and
runs what is due while it starts, while it reads the list again, and afterwards. 5,000 definitions, or 100,000 with
KRON_TEST_SCALE=20."""

import json
import os
import sys
import threading
import time
import unittest
from collections import Counter
from pathlib import Path

from cluster_host import EVERY_SECOND, SCALE, Fleet, until

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "api"))

from api_client import UnixConnection  # pylint: disable=wrong-import-position

COUNT = min(5_000 * SCALE, 100_000)
# In which every request is answered: ten times what the slowest took with 100,000 jobs, sanitizers and a busy machine.
# The list took 21 s there, so who reads it on the loop is noticed.
LIMIT = 2.0
DEADLINE = os.environ.get("KRON_TEST_DEADLINE", "5s")
BUSY = ("busy-0", "busy-1", "busy-2")
PER_COMMAND = 500
# Half a year from now: never during the test.
FAR_MONTH = (time.gmtime().tm_mon + 5) % 12 + 1


def idle(number):
    cron = f"{number % 60} {number // 60 % 24} {number % 28 + 1} {FAR_MONTH} *"
    return json.dumps({"cron_args": {"cronstring": cron}, "job_args": {"cmd": "true", "lock": True, "ttl": 10}})


class Asker(threading.Thread):
    """Asks krond from the moment its socket is there, and notes how long each answer took."""

    TARGETS = ("/api/v1/status", "/api/v1/jobs?limit=100", "/api/v1/jobs/busy-1", "/api/v1/runs?limit=10")

    def __init__(self, socket_path):
        super().__init__(daemon=True)
        self.socket_path = socket_path
        self.is_over = threading.Event()
        self.answers = []  # seconds, target, status
        self.failure = None

    def get(self, target):
        connection = UnixConnection(self.socket_path, timeout=60)
        try:
            connection.request("GET", target)
            response = connection.getresponse()
            return response.status, response.read()
        finally:
            connection.close()

    def run(self):
        try:
            until(lambda: self.socket_path.exists() or self.is_over.is_set(), "krond's socket")
            while not self.is_over.wait(0.05):
                for target in self.TARGETS:
                    begun = time.monotonic()
                    status, _ = self.get(target)
                    self.answers.append((time.monotonic() - begun, target, status))
        except Exception as failure:  # pylint: disable=broad-exception-caught
            self.failure = failure

    def end(self):
        self.is_over.set()
        self.join()


class ManyJobs(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet()
        self.addCleanup(self.fleet.close)
        self.asker = Asker(self.fleet.root / "state-h1" / "krond.sock")
        self.addCleanup(self.asker.is_over.set)

    def write_jobs(self):
        for first in range(0, COUNT, PER_COMMAND):
            pairs = [(f"idle-{number}", idle(number)) for number in range(first, min(first + PER_COMMAND, COUNT))]
            self.fleet.redis("HSET", self.fleet.key("jobs"), *[text for pair in pairs for text in pair])
        for name in BUSY:
            self.fleet.define(name, reload=False, cron={"second": "*/2"}, kron={"policy": {"deadline": DEADLINE}})

    def job(self, name):
        status, body = self.asker.get("/api/v1/jobs/" + name)
        return json.loads(body) if status == 200 else status

    def jobs(self):
        return json.loads(self.asker.get("/api/v1/status")[1])["jobs"]

    def wait_for_runs_of_busy_jobs(self, names, more=2):
        before = {name: len(self.fleet.blobs(name)) for name in names}
        for name in names:
            self.fleet.wait_for_final(name, before[name] + more)

    def test_krond_answers_and_runs_what_is_due_while_it_has_many_jobs(self):
        self.write_jobs()
        krond = self.fleet.start("h1")
        begun = time.monotonic()
        self.asker.start()
        self.fleet.wait_until_joined(krond)
        loaded = time.monotonic() - begun
        self.assertEqual(self.jobs(), COUNT + len(BUSY))
        self.wait_for_runs_of_busy_jobs(BUSY)

        edited = f"idle-{COUNT // 2}"
        before = self.job(edited)
        begun = time.monotonic()
        self.fleet.define(edited, cron=EVERY_SECOND, kron={"policy": {"deadline": DEADLINE}})
        self.fleet.wait_for_final(edited)
        reread = time.monotonic() - begun
        self.assertNotEqual(self.job(edited)["schedule"], before["schedule"])
        self.assertEqual(self.jobs(), COUNT + len(BUSY))
        self.wait_for_runs_of_busy_jobs(BUSY)

        self.fleet.redis("HDEL", self.fleet.key("jobs"), BUSY[0])
        self.fleet.reload()
        until(lambda: self.job(BUSY[0]) == 404, "the removal")
        self.assertEqual(self.jobs(), COUNT + len(BUSY) - 1)
        removed = set(self.fleet.blobs(BUSY[0]))
        self.wait_for_runs_of_busy_jobs(BUSY[1:])
        self.assertEqual(set(self.fleet.blobs(BUSY[0])), removed, "a job that was removed is not started")

        self.asker.end()
        self.check_answers(loaded, reread)
        self.check_periods()
        self.assertEqual(krond.stop(), 0, krond.log())

    def check_answers(self, loaded, reread):
        self.assertIsNone(self.asker.failure)
        slowest = max(self.asker.answers)
        print(json.dumps({"jobs": COUNT, "loaded": round(loaded, 1), "edited": round(reread, 1),
                          "requests": len(self.asker.answers), "slowest": round(slowest[0], 3)}), file=sys.stderr)
        self.assertGreater(len(self.asker.answers), 100)
        self.assertLess(slowest[0], LIMIT, slowest)
        statuses = Counter(status for _, _, status in self.asker.answers)
        self.assertLessEqual(set(statuses), {200, 404}, statuses)  # 404: the list is not read yet
        self.assertGreater(statuses[200], statuses[404])

    def check_periods(self):
        for name in BUSY:
            told = self.fleet.outcomes(name)
            self.assertNotIn("missed", [entry.get("outcome") for entry in told], name)
        started = [tuple(line.split(" ")[1:3]) for line in self.fleet.effects().splitlines() if line.startswith("begin")]
        self.assertEqual([twice for twice, times in Counter(started).items() if times > 1], [])


if __name__ == "__main__":
    unittest.main()
