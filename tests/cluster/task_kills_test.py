#!/usr/bin/env python3
"""Many tasks in Redis, through eight workers at three krond and one at Redis itself, while every second a krond or a
worker is killed and started again: all are done in the end, each with one commit and the effects of that one. With
KRON_TEST_SCALE=20 it is 100,000 tasks."""

import json
import random
import sys
import threading
import time
import unittest

from cluster_host import PATIENCE, Fleet, until
from task_fleet import IS_FULL, FleetTasks, Worker, commits_in

HOSTS = ("h1", "h2", "h3")
WORKERS = 8  # at the hosts, by turns; one more has no krond
COUNT = 100_000 if IS_FULL else 400
AT_ONCE = 2_000 if IS_FULL else 50  # submitted at a time; as many may be left when the next come
LASTS = 0 if IS_FULL else 0.3  # seconds: few tasks are enough to have some under way at every kill
KILLS = 4  # at least: the last tasks come only after them
BETWEEN_KILLS = 1.0  # seconds
# Of every tenth task comes another, which the commit submits.
FOLLOWED = "t*0"
LIMITS = {"maxAttempts": 1000, "backoff": "0s"}


def task(task_id):
    return {"taskId": task_id, "payload": {"type": "T"}, **LIMITS}


class Killer:
    """Kills by turns a krond and a worker, and starts another in its place."""

    def __init__(self, fleet, script):
        self.fleet = fleet
        self.script = script
        self.kronds = [fleet.start(host) for host in HOSTS]
        for krond in self.kronds:
            fleet.wait_until_joined(krond)
        self.workers = [self.start_worker(number) for number in range(WORKERS + 1)]
        self.all_workers = list(self.workers)
        self.kills = {"krond": 0, "worker": 0}
        self.problem = None
        self._is_over = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def start_worker(self, number):
        tasks = FleetTasks(self.fleet, HOSTS[number % len(HOSTS)] if number < WORKERS else None)
        return Worker(tasks, f"w{number}", self.script, "--type", "T", "--concurrency", 4, "--lease", "3s")

    def total(self):
        return sum(self.kills.values())

    def start(self):
        self._thread.start()

    def stop(self):
        self._is_over.set()
        self._thread.join(PATIENCE)
        if self.problem:
            raise self.problem

    def _run(self):
        try:
            while not self._is_over.wait(BETWEEN_KILLS):
                # However slow the machine is, most of them come to work; some die while they start.
                up = [i for i, krond in enumerate(self.kronds)
                      if krond.all("daemon_started") or random.random() < 0.2]
                if self.total() % 2 == 0 and up:
                    self._kill_krond(random.choice(up))
                else:
                    self._kill_worker(random.randrange(len(self.workers)))
        except BaseException as problem:  # pylint: disable=broad-except
            self.problem = problem

    def _kill_krond(self, number):
        self.kronds[number].kill()
        self.kills["krond"] += 1
        self.kronds[number] = self.fleet.start(HOSTS[number])

    def _kill_worker(self, number):
        self.workers[number].kill()
        self.kills["worker"] += 1
        self.workers[number] = self.start_worker(number)
        self.all_workers.append(self.workers[number])


class TaskKills(unittest.TestCase):
    def count(self, fleet, index):
        return fleet.redis("ZCARD", fleet.key(f"kron:q:{index}"))

    def submit(self, fleet, tasks):
        """Through any krond. Where it dies meanwhile another is asked, for the same ids."""
        lines = "".join(json.dumps(task) + "\n" for task in tasks)
        until(lambda: FleetTasks(fleet, random.choice(HOSTS)).task("submit-batch", text=lines).returncode == 0,
              "a krond that takes tasks")

    def wait_for_progress(self, fleet, killer, is_enough, what):
        """However long it takes, as long as something is done."""
        last, since = -1, time.monotonic()
        while not is_enough():
            if killer.problem:
                raise killer.problem
            done = self.count(fleet, "succeeded")
            if done > last:
                last, since = done, time.monotonic()
            self.assertLess(time.monotonic() - since, PATIENCE, f"in vain waited for {what}, {done} done")
            time.sleep(0.05)

    def do_all(self, fleet, killer):
        first = 0
        while first < COUNT:
            last = min(first + AT_ONCE, COUNT)
            self.submit(fleet, (task(f"t{i}") for i in range(first, last)))
            first = last
            self.wait_for_progress(fleet, killer, lambda: self.count(fleet, "live") <= AT_ONCE, "room for more")
            if last + AT_ONCE >= COUNT:
                until(lambda: killer.problem or killer.total() >= KILLS, "kills")
        total = COUNT + COUNT // 10
        self.wait_for_progress(fleet, killer, lambda: self.count(fleet, "succeeded") >= total, "all to be done")
        killer.stop()
        # Whoever was killed last has left nothing that would come yet.
        self.wait_for_progress(fleet, killer, lambda: self.count(fleet, "live") == 0, "nothing to be left")
        for worker in killer.workers:
            self.assertEqual(worker.stop(), 0)
        return total

    def expect_one_effect_each(self, fleet, killer, total):
        done = FleetTasks(fleet).task("list", "--state", "succeeded", "--limit", total + 1, "--format", "json",
                                      timeout=PATIENCE * 10).stdout.splitlines()
        commits = commits_in(self, done)
        followed = {f"t{i}" for i in range(0, COUNT, 10)}
        self.assertEqual(set(commits), {f"t{i}" for i in range(COUNT)} | {f"after-{one}" for one in followed})
        self.assertEqual(len(commits), total)
        self.assertEqual(FleetTasks(fleet).effects(list(commits)),
                         {task_id: {"out": execution} for task_id, execution in commits.items()})
        results = {one["taskId"]: one["result"] for one in map(json.loads, done)}
        self.assertEqual(results, commits)
        # What the workers were told: no commit but those that are on record.
        told = {}
        for worker in killer.all_workers:
            for event in worker.events("task_committed"):
                self.assertNotIn(event["task"], told, "committed twice")
                told[event["task"]] = event["execution"]
        self.assertEqual(told, {task_id: commits[task_id] for task_id in told})
        self.assertGreater(len(told), total // 2)

    def expect_tidy(self, fleet, total):
        """Nothing waits, runs or is counted, and there are as many effects as tasks."""
        for key in ("live", "leased", "delayed", "ready:T", "running", "pending", "keys"):
            self.assertEqual(fleet.redis("EXISTS", fleet.key(f"kron:q:{key}")), 0, key)
        for index in ("succeeded", "over"):
            self.assertEqual(self.count(fleet, index), total, index)
        cursor, effects = b"0", 0
        while True:
            cursor, keys = fleet.redis("SCAN", cursor, "MATCH", fleet.key("kron:q:effects:*"), "COUNT", 10_000)
            effects += len(keys)
            if cursor == b"0":
                break
        self.assertEqual(effects, total)

    def test_all_tasks_are_done_with_one_commit_and_its_effects(self):
        started = time.monotonic()
        with Fleet() as fleet:
            ran = fleet.root / "ran"
            follow_up = json.dumps(task("after-ID")).replace("ID", "'$KRON_TASK_ID'")
            script = (f'echo "$KRON_TASK_ID" >> {ran}; [ {LASTS} = 0 ] || sleep {LASTS}; printf %s "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"; '
                      f"case $KRON_TASK_ID in {FOLLOWED}) echo '{follow_up}' > \"$KRON_FOLLOW_UPS\";; esac; "
                      'printf %s "$KRON_EXECUTION_ID"')
            killer = Killer(fleet, script)
            killer.start()
            try:
                total = self.do_all(fleet, killer)
            finally:
                killer.stop()
            self.expect_one_effect_each(fleet, killer, total)
            self.expect_tidy(fleet, total)
            runs = len(ran.read_text(encoding="utf-8").splitlines())
        self.assertGreaterEqual(runs, total)
        self.assertGreaterEqual(min(killer.kills.values()), KILLS // 2)
        print(f"{total} tasks, kills {killer.kills}, {runs} runs, {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=2)
