"""Operators who trigger, pause and resume, and a krond that is killed all the while: what they were answered is so, and
one key is one run."""

import collections
import http.client
import json
import os
import random
import select
import sys
import threading
import time
import unittest

from api_client import UnixConnection
from api_host import IS_FULL, NEVER, PATIENCE, ApiHost

OPERATORS = 4
SECONDS = 120 if IS_FULL else 6


class Operator:
    """Asks until he is answered: krond may be dead, about to start, or die over it."""

    def __init__(self, host):
        self.host = host
        self.lost = 0  # requests that were sent and not answered

    def ask(self, method, path, **headers):
        deadline = time.monotonic() + PATIENCE
        while time.monotonic() < deadline:
            connection = UnixConnection(self.host.socket, PATIENCE)
            is_sent = False
            try:
                connection.connect()
                is_sent = True
                connection.request(method, "/api/v1/jobs/" + path, headers=headers)
                answer = connection.getresponse()
                body = answer.read()
                if answer.status == 200:
                    return json.loads(body)
                if answer.status not in (404, 503):  # until it has read its jobs
                    raise AssertionError(f"{method} {path}: {answer.status} {body}")
            except (OSError, http.client.HTTPException):
                self.lost += is_sent
            finally:
                connection.close()
            select.select([], [], [], 0.01)
        raise AssertionError(f"nobody answers {method} {path}")


class KillsUnderOperators(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.is_over = threading.Event()
        self.failures = []
        self.operators = []
        self.started = {}  # run id: how it was answered

    def trigger(self, operator, job):
        for number in range(1_000_000):
            if self.is_over.is_set():
                return
            answer = operator.ask("POST", f"{job}/trigger", **{"Idempotency-Key": f"key-{number}"})
            self.started[answer["runId"]] = (job, answer["outcome"])

    def pause(self, operator, job):
        is_paused = False
        while not self.is_over.is_set():
            is_paused = not is_paused
            operator.ask("POST", f"{job}/pause" if is_paused else f"{job}/resume")
            for _ in range(3):
                seen = operator.ask("GET", job)["paused"]
                self.assertEqual(seen is not None, is_paused, "what was answered is not so")

    def begin(self, work, job):
        operator = Operator(self.host)

        def run():
            try:
                work(operator, job)
            except BaseException as failure:  # pylint: disable=broad-except
                self.failures.append(f"{job}: {failure!r}")

        thread = threading.Thread(target=run)
        thread.start()
        self.operators.append((operator, thread))

    def test_what_was_answered_is_on_record_and_one_key_is_one_run(self):
        seed = int(os.environ.get("KRON_TEST_SEED", time.time_ns() % 1_000_000))
        draw = random.Random(seed)
        names = [f"job-{i}" for i in range(OPERATORS)]
        allow = {"concurrency": "allow"}
        self.host.write_jobs(*[self.host.job(name, NEVER, policy=allow, history=1000) for name in [*names, "paused"]])
        kills = 0
        with self.subTest(seed=seed):
            for name in names:
                self.begin(self.trigger, name)
            self.begin(self.pause, "paused")
            until = time.monotonic() + SECONDS
            while time.monotonic() < until and not self.failures:
                krond, _ = self.host.serve()
                select.select([], [], [], draw.uniform(0, 0.8))
                krond.kill()
                kills += 1
            krond, _ = self.host.serve("--on-stop", "wait")
            self.is_over.set()
            for _, thread in self.operators:
                thread.join(2 * PATIENCE)
            self.assertEqual(self.failures, [])
            self.assertEqual(krond.stop(), 0, krond.log())
            self.judge(names, kills, seed)

    def judge(self, names, kills, seed):
        lines = self.host.effects_path.read_text(encoding="utf-8").splitlines()
        ran = collections.Counter(line.split(" ")[2] for line in lines)
        self.assertEqual([run for run, times in ran.items() if times > 1], [], "a run was run twice")
        for name in names:
            answered = {run for run, (job, _) in self.started.items() if job == name}
            recorded = {entry["RunID"] for entry in self.host.history(name)}
            if len(recorded) < 1000:  # it remembers no more
                self.assertLessEqual(answered, recorded, "what was answered is not on record")
        missing = [run for run, (_, outcome) in self.started.items() if outcome == "started" and run not in ran]
        self.assertEqual(missing, [], "a run was answered as started and never ran")
        lost = sum(operator.lost for operator, _ in self.operators)
        known = sum(outcome == "already_known" for _, outcome in self.started.values())
        print(json.dumps({"seed": seed, "kills": kills, "runs": len(self.started), "answers_lost": lost,
                          "already_known": known}), file=sys.stderr)
        self.assertGreater(len(self.started), OPERATORS)


if __name__ == "__main__":
    unittest.main()
