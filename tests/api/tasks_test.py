"""`kron worker` through krond: a late worker changes nothing (FM_001), and workers outlive a krond that is killed again
and again. With KRON_TEST_SCALE=20 it is 10,000 tasks through 8 workers and a kill every few seconds."""

import json
import os
import random
import signal
import subprocess
import sys
import time
import unittest

from api_host import IS_FULL, NEVER, PATIENCE, ApiHost, until

COUNT = 10_000 if IS_FULL else 300
WORKERS = 8 if IS_FULL else 3
CONCURRENCY = 4
LIFE = 3.0 if IS_FULL else 0.7  # seconds


class Tasks(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.host.write_jobs(self.host.job("hello", NEVER))
        self.krond, self.api = self.host.serve()
        self.marks = self.host.root / "marks"
        self.marks.mkdir()
        self.workers = []
        self.addCleanup(self.end_workers)

    def end_workers(self):
        for worker in self.workers:
            if worker.poll() is None:
                worker.kill()
            worker.wait()

    def start_worker(self, script, *flags, **how):
        worker = self.host.start_kron(*self.host.worker_arguments(script, *flags), **how)
        self.workers.append(worker)
        return worker

    def restart(self):
        self.krond.kill()
        self.krond, self.api = self.host.serve()

    def submit(self, *task_ids, **members):
        tasks = [{"taskId": task_id, "payload": {"type": "T"}, "backoff": "0s", **members} for task_id in task_ids]
        self.api.post("tasks", body={"tasks": tasks})

    def state(self, task_id):
        task = self.api.get("tasks", task_id)
        return task.get("outcome", task["state"])

    def marked(self, name):
        until((self.marks / name).exists, name)

    def expect_one_effect_each(self, task_ids):
        listed = self.host.kron("task", "list", "--limit", 10_000_000, "--format", "json", timeout=PATIENCE * 5)
        tasks = [json.loads(line) for line in listed.stdout.splitlines()]
        self.assertEqual(sorted(task["taskId"] for task in tasks), sorted(task_ids))
        commits = {}
        for task in tasks:
            self.assertEqual(task.get("outcome"), "SUCCEEDED", task)
            commits[task["taskId"]], = [one["exec_id"] for one in task["executions"] if one["status"] == "DONE"]
        effects = {path.name: (path / "out").read_text(encoding="utf-8").strip()
                   for path in (self.host.data / "effects").iterdir()}
        self.assertEqual(effects, commits)
        self.assertEqual(list((self.host.data / "staging").glob("*")), [])

    def test_fm_001_a_worker_that_was_stopped_commits_nothing_late(self):
        script = (f'echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"; touch {self.marks}/$KRON_ATTEMPT; '
                  f'[ $KRON_ATTEMPT = 2 ] || while [ ! -e {self.marks}/go ]; do sleep 0.02; done')
        self.submit("a")
        late = self.start_worker(script, "--lease", "1s")
        self.marked("1")
        late.send_signal(signal.SIGSTOP)
        other = self.start_worker(script, "--lease", "5s", "--drain")
        self.assertEqual(other.wait(PATIENCE), 0)
        self.assertEqual(self.state("a"), "SUCCEEDED")
        before = self.api.get("tasks", "a")
        (self.marks / "go").touch()
        late.send_signal(signal.SIGCONT)
        until(lambda: not list((self.host.root / "workers/1/tasks").glob("*")), "the late worker to give up")
        late.terminate()
        _, log = late.communicate(timeout=PATIENCE)
        self.assertRegex(log, "warning (lease_lost|task_dropped) task=a")
        self.assertNotIn("task_committed", log)
        self.assertEqual(self.api.get("tasks", "a"), before)
        self.expect_one_effect_each(["a"])

    def test_a_worker_that_waits_is_woken_by_a_task_and_ended_by_a_signal(self):
        worker = self.start_worker("cat")
        until(lambda: self.workers_waiting() == 1, "the worker")
        began = time.monotonic()
        self.submit("a")
        until(lambda: self.state("a") == "SUCCEEDED", "the task")
        worker.terminate()
        self.assertEqual(worker.wait(PATIENCE), 0)
        # A wait at krond is 30 s long: nobody sat it out.
        self.assertLess(time.monotonic() - began, 20)
        self.submit("b")
        self.assertEqual(self.state("b"), "PENDING")

    def workers_waiting(self):
        return len(list((self.host.root / "workers").glob("*/lock")))

    def test_renewals_and_the_commit_outlive_a_restart(self):
        self.submit("a")
        worker = self.start_worker(f'touch {self.marks}/on; while [ ! -e {self.marks}/go ]; do sleep 0.02; done; '
                                   'echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"', "--lease", "4s", "--drain")
        self.marked("on")
        for _ in range(2):
            self.restart()
        self.krond.kill()
        (self.marks / "go").touch()
        until(lambda: list((self.host.root / "workers").glob("*/runs/*/exit")), "the command's end")
        self.krond, self.api = self.host.serve()
        self.assertEqual(worker.wait(PATIENCE), 0)
        self.assertEqual([one["status"] for one in self.api.get("tasks", "a")["executions"]], ["DONE"])
        self.expect_one_effect_each(["a"])

    def test_what_a_killed_worker_left_is_done_by_another(self):
        self.submit("a")
        script = (f'touch {self.marks}/$KRON_ATTEMPT; echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"; '
                  '[ $KRON_ATTEMPT = 2 ] || exec sleep 1000 2>&-')
        first = self.start_worker(script, "--lease", "1s")
        self.marked("1")
        first.kill()
        first.wait()
        self.assertEqual(self.start_worker(script, "--lease", "5s", "--drain").wait(PATIENCE), 0)
        self.expect_one_effect_each(["a"])

    def submit_in_spite_of_all(self, task_ids):
        """As a client does that does not know whether it was heard: again."""
        lines = "".join(json.dumps({"taskId": task_id, "payload": {"type": "T"}, "maxAttempts": 1000,
                                     "backoff": "0s"}) + "\n"
                        for task_id in task_ids)
        for _ in range(1000):
            if self.host.kron("task", "submit-batch", text=lines, timeout=PATIENCE * 5).returncode == 0:
                return
        self.fail("the tasks could not be submitted")

    def test_nothing_is_lost_or_doubled_though_krond_is_killed_again_and_again(self):
        began = time.monotonic()
        ids = [f"t{number}" for number in range(COUNT)]
        self.submit_in_spite_of_all(ids[:COUNT // 2])
        logs = []
        for number in range(WORKERS):
            logs.append(open(self.host.root / f"log{number}", "w+", encoding="utf-8"))
            self.addCleanup(logs[-1].close)
            command = self.host.worker_arguments('echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"', "--concurrency",
                                                 CONCURRENCY, "--lease", "10s")
            environment = {**os.environ, "KRON_SOCKET": str(self.host.socket)}
            self.workers.append(subprocess.Popen([os.environ["KRON"], *command], stdin=subprocess.DEVNULL,
                                                 stdout=subprocess.DEVNULL, stderr=logs[-1], env=environment))
        kills = 0
        is_submitted = False
        while True:
            time.sleep(LIFE * random.uniform(0.5, 1.5))
            counts = self.api.get("status")["tasks"]
            if is_submitted and counts["pending"] + counts["running"] == 0 and kills >= 3:
                break
            self.krond.kill()
            kills += 1
            self.krond, self.api = self.host.serve()
            if not is_submitted:
                self.submit_in_spite_of_all(ids[COUNT // 2:])
                is_submitted = True
        for worker in self.workers:
            worker.terminate()
            self.assertEqual(worker.wait(PATIENCE), 0)
        self.expect_one_effect_each(ids)
        print(f"{COUNT} tasks, {WORKERS} workers, {kills} kills, {time.monotonic() - began:.0f} s", file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
