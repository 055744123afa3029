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


LOST_TERM = 60 if IS_FULL else 3  # seconds


class BeforeKrond(unittest.TestCase):
    """What `kron task` and `kron worker` do while krond is away, and nobody has named a socket."""

    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.host.state.mkdir(mode=0o700)
        self.environment = {name: value for name, value in os.environ.items() if name != "KRON_SOCKET"}
        mail = {"name": "mail", "schedule": NEVER, "task": "T", "stdin": "{}"}
        self.host.write_jobs(mail, self.host.job("hello", NEVER))

    def start_worker(self, *flags):
        command = [os.environ["KRON"], *self.host.worker_arguments("cat", *flags)]
        worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, env=self.environment)
        self.addCleanup(worker.stderr.close)
        self.addCleanup(worker.wait)
        self.addCleanup(worker.kill)
        return worker

    def succeeded(self, api):
        return [task["taskId"] for task in api.get("tasks")["tasks"] if task.get("outcome") == "SUCCEEDED"]

    def test_a_task_is_submitted_nowhere(self):
        result = subprocess.run([os.environ["KRON"], "task", "submit", "--type", "T", "--state-dir", self.host.state],
                                capture_output=True, text=True, check=False, env=self.environment)
        self.assertEqual((result.returncode, result.stdout), (3, ""))
        self.assertFalse(self.host.data.exists())

    def test_a_worker_waits_for_krond_and_does_not_keep_it_out(self):
        worker = self.start_worker("--state-dir", self.host.state)
        self.assertIn("tasks_unreachable", worker.stderr.readline())
        self.assertFalse(self.host.data.exists())
        krond, api = self.host.serve()
        self.assertIn("tasks_reachable", worker.stderr.readline())
        api.post("jobs", "mail", "trigger")
        until(lambda: self.succeeded(api), "the task")
        worker.terminate()
        self.assertEqual(worker.wait(PATIENCE), 0)
        self.assertEqual(krond.stop(), 0)

    def test_a_worker_that_is_to_end_by_itself_ends(self):
        for flag in ("--drain", "--once"):
            self.assertEqual(self.start_worker("--state-dir", self.host.state, flag).wait(PATIENCE), 3)

    def test_krond_runs_its_other_jobs_while_another_process_has_the_queue(self):
        worker = self.start_worker("--data-dir", self.host.data)
        until((self.host.data / "lock").exists, "the worker")
        krond, api = self.host.serve()
        not_opened = krond.wait_for("queue.not_opened")
        self.assertIn(f"process {worker.pid} has it", not_opened["problem"])
        api.post("jobs", "mail", "trigger")
        krond.wait_for("task_waits")
        api.post("jobs", "hello", "trigger")
        krond.wait_for("run_ended", identity="hello")
        status = api.get("status")
        self.assertEqual((status["ready"], status["tasks"]), (True, None))
        self.assertIn(f"process {worker.pid} has it", status["tasksProblem"])
        self.assertIn(f"task queue    waits: cannot lock", self.host.kron("status").stdout)
        worker.terminate()
        self.assertEqual(worker.wait(PATIENCE), 0)
        krond.wait_for("task_submitted")
        self.assertNotIn("tasksProblem", api.get("status"))
        self.assertEqual(len(api.get("tasks", state="PENDING")["tasks"]), 1)
        self.assertEqual(krond.stop(), 0)


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
                                   'echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"', "--lease", "20s", "--drain")
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

    def test_a_lost_lease_runs_out_though_krond_restarts_all_the_time(self):
        self.submit("lost", "held")
        answer = self.api.post("leases", body={"worker": "gone", "term": f"{LOST_TERM}s", "start": True})
        self.assertEqual([lease["taskId"] for lease in answer["leases"]], ["lost"])
        began = time.monotonic()
        held = self.start_worker(f'touch {self.marks}/$KRON_TASK_ID-$KRON_ATTEMPT; echo "$KRON_EXECUTION_ID" > '
                                 f'"$KRON_STAGE_DIR/out"; while [ ! -e {self.marks}/go ]; do sleep 0.05; done',
                                 "--lease", "1m", "--concurrency", 2)
        self.marked("held-1")
        restarts = 0
        while not (self.marks / "lost-2").exists():
            self.assertLess(time.monotonic() - began, LOST_TERM + PATIENCE, "the lease does not run out")
            self.restart()
            restarts += 1
            time.sleep(0.5)
        self.assertGreaterEqual(time.monotonic() - began, LOST_TERM)
        self.assertGreater(restarts, 1)
        (self.marks / "go").touch()
        until(lambda: self.state("lost") == self.state("held") == "SUCCEEDED", "both tasks")
        held.terminate()
        self.assertEqual(held.wait(PATIENCE), 0)
        self.assertEqual([one["status"] for one in self.api.get("tasks", "lost")["executions"]], ["ABORTED", "DONE"])
        self.assertEqual([one["status"] for one in self.api.get("tasks", "held")["executions"]], ["DONE"])
        self.expect_one_effect_each(["lost", "held"])

    def test_finished_tasks_go_when_they_are_old_and_what_they_published_stays(self):
        self.submit("a", "b")
        script = 'echo "$KRON_EXECUTION_ID" > "$KRON_STAGE_DIR/out"'
        self.assertEqual(self.start_worker(script, "--drain").wait(PATIENCE), 0)
        self.submit("waits")
        self.krond.kill()
        self.krond, self.api = self.host.serve("--keep-tasks", "1s")
        until(lambda: [task["taskId"] for task in self.api.get("tasks")["tasks"]] == ["waits"], "the old tasks to go")
        self.assertEqual(self.krond.wait_for("tasks.old_removed")["count"], 2)
        self.assertTrue((self.host.data / "effects/a/out").exists())

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
