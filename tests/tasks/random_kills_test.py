"""Many tasks through a worker whose process, the owner of the queue, is killed again and again: all are done in the
end, and there are as many effects as commits. With KRON_TEST_SCALE=20 it is 100,000 tasks and a kill every second."""

import random
import subprocess
import sys
import time
import unittest

from tasks_host import IS_FULL, PATIENCE, Tasks, commits_in, until

COUNT = 100_000 if IS_FULL else 400
# So many wait at a time: a start reads all that wait, which must not take as long as the worker is let live.
AT_ONCE = 5_000 if IS_FULL else 400
LIFE = 1.0 if IS_FULL else 0.15  # seconds
MOST_RUNS = AT_ONCE // 10  # of one life: however fast the machine is, one worker does not come to the end


def runs_of(ran):
    return len(ran.read_bytes().splitlines()) if ran.exists() else 0


class RandomKills(unittest.TestCase):
    def lives_on(self, worker, ran):
        """Waits for the worker's end, its time to be over, or runs enough; whether it is still there."""
        time_is_over = time.monotonic() + LIFE * random.uniform(0.5, 1.5)
        enough = runs_of(ran) + MOST_RUNS
        while worker.poll() is None:
            if time.monotonic() > time_is_over or runs_of(ran) >= enough:
                return True
            time.sleep(0.05 if IS_FULL else 0.002)
        return False

    def run_and_kill(self, tasks, script, ran, kills):
        """Workers one after the other, each killed after its time, until one finds nothing left."""
        while True:
            log = tasks.root / "log"
            with log.open("w", encoding="utf-8") as errors:
                worker = subprocess.Popen(tasks.worker_command(script, "--drain", "--concurrency", 8, "--type", "T"),
                                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=errors)
            # However slow the machine is, most of them come to work; some die while they start.
            if random.random() < 0.8:
                until(lambda: worker.poll() is not None or "queue.recovered" in log.read_text(encoding="utf-8"),
                      "a worker that works")
            if not self.lives_on(worker, ran):
                self.assertEqual(worker.returncode, 0, log.read_text(encoding="utf-8")[-2000:])
                return kills
            worker.kill()
            worker.wait()
            kills += 1
            self.assertLess(kills, COUNT)

    def test_all_tasks_are_done_with_one_effect_each(self):
        # Every effect is published by a commit; every run leaves a line beside it.
        started = time.monotonic()
        kills = 0
        with Tasks() as tasks:
            ran = tasks.root / "ran"
            script = f'echo "$KRON_TASK_ID" >> {ran}; echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"'
            for first in range(0, COUNT, AT_ONCE):
                tasks.submit_many({"taskId": f"t{i}", "payload": {"type": "T"}, "maxAttempts": 1000}
                                  for i in range(first, first + AT_ONCE))
                kills = self.run_and_kill(tasks, script, ran, kills)
            done = tasks.task("list", "--state", "succeeded", "--limit", COUNT + 1, "--format", "json",
                              timeout=PATIENCE * 10).stdout.splitlines()
            self.assertEqual(len(done), COUNT)
            commits = commits_in(self, done)
            effects = {path.name: (path / "out").read_text(encoding="utf-8").strip()
                       for path in (tasks.data / "effects").iterdir()}
            self.assertEqual(effects, commits)
            tasks.expect_tidy(self)
            runs = runs_of(ran)
        self.assertGreater(kills, 2)
        self.assertGreaterEqual(runs, COUNT)
        print(f"{COUNT} tasks, {kills} kills, {runs} runs, {time.monotonic() - started:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
