"""What `kron worker` does with its commands, their ends, and its own."""

import json
import os
import signal
import subprocess
import unittest

from tasks_host import KRON, KRON_EXEC, PATIENCE, Tasks, end, stop_at_once, until


class Worker(unittest.TestCase):
    def setUp(self):
        self.tasks = Tasks()
        self.addCleanup(self.tasks.__exit__, None, None, None)
        self.marks = self.tasks.root / "marks"
        self.marks.mkdir()

    def marked(self, name):
        until((self.marks / name).exists, name)

    def drained(self, script, *flags):
        result = self.tasks.work(script, "--drain", *flags)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stderr

    def reasons(self, task_id):
        return [execution.get("reason", "") for execution in self.tasks.show(task_id)["executions"]]

    def test_the_command_gets_the_task_and_what_it_leaves_is_committed(self):
        self.tasks.submit("a", data='{"n":1}')
        log = self.drained('cat; printf "\\n%s %s %s" $KRON_TASK_ID $KRON_TASK_TYPE $KRON_ATTEMPT; '
                           'mkdir $KRON_STAGE_DIR/sub; echo deep > $KRON_STAGE_DIR/sub/file; '
                           '[ $KRON_EXECUTION_ID = $KRON_TASK_ID.$KRON_LEASE_TOKEN ]')
        task = self.tasks.show("a")
        self.assertEqual(task["result"], '{"n":1}\na T 1')
        self.assertEqual(self.tasks.effect("a", "sub/file"), "deep\n")
        self.assertRegex(log, r"info task_committed task=a type=T execution=a\.\d+ attempt=1\n")
        self.assertEqual(self.tasks.files("worker", "tasks") + self.tasks.files("worker", "runs"), [])
        self.tasks.expect_tidy(self)

    def test_without_a_shell_nothing_is_expanded(self):
        self.tasks.submit("a")
        command = self.tasks.worker_command("echo '$HOME;' \"a b\"", "--drain")
        command.remove("--shell")
        self.assertEqual(os.spawnv(os.P_WAIT, command[0], command), 0)
        self.assertEqual(self.tasks.show("a")["result"], "$HOME; a b")

    def test_the_log_can_be_json(self):
        self.tasks.submit("a")
        log = self.drained("true", "--log-format", "json")
        last = json.loads(log.splitlines()[-1])
        self.assertEqual((last["event"], last["task"], last["attempt"]), ("task_committed", "a", 1))

    def test_follow_ups_come_with_the_commit_and_only_with_it(self):
        self.tasks.submit("a")
        self.tasks.submit("b", "--max-attempts", 1)
        self.drained('echo "{\\"taskId\\":\\"next-$KRON_TASK_ID\\",\\"payload\\":{\\"type\\":\\"N\\"}}" > $KRON_FOLLOW_UPS; '
                     '[ $KRON_TASK_ID = a ]', "--type", "T")
        self.assertEqual([task["taskId"] for task in self.tasks.list()], ["a", "b", "next-a"])
        self.assertEqual(self.tasks.state("next-a"), "PENDING")

    def test_a_failed_attempt_is_repeated_until_there_are_no_more(self):
        self.tasks.submit("a", "--max-attempts", 3, "--backoff", "0s")
        log = self.drained("exit 3")
        self.assertEqual(self.reasons("a"), ["exit status 3"] * 3)
        self.assertEqual(self.tasks.state("a"), "FAILED")
        self.assertEqual((log.count("warning task_failed"), log.count("error task_dead")), (2, 1))

    def test_status_75_uses_up_no_attempt(self):
        self.tasks.submit("a", "--max-attempts", 1, "--backoff", "0s")
        self.drained("[ $KRON_ATTEMPT = 3 ] || exit 75")
        self.assertEqual(self.tasks.statuses("a"), ["ABORTED", "ABORTED", "DONE"])

    def test_what_cannot_be_committed_is_a_failed_attempt_with_the_reason(self):
        for task_id, script in (("long", "head -c 1100000 /dev/zero | tr '\\0' x"), ("bytes", "printf '\\377'"),
                                ("link", "ln -s /etc/passwd $KRON_STAGE_DIR/x"),
                                ("fifo", "mkfifo $KRON_STAGE_DIR/x"),
                                ("lines", "echo nonsense > $KRON_FOLLOW_UPS"),
                                ("nameless", "echo '{\"payload\":{\"type\":\"T\"}}' > $KRON_FOLLOW_UPS"),
                                ("gone", "rmdir $KRON_STAGE_DIR")):
            self.tasks.submit(task_id, "--max-attempts", 1)
            self.drained(script)
            self.assertEqual(self.tasks.state(task_id), "FAILED", task_id)
            self.assertNotEqual(self.reasons(task_id), [""], task_id)
        self.assertEqual(self.tasks.files("effects"), [])
        self.tasks.expect_tidy(self)

    def test_a_program_that_is_not_there_is_a_failed_attempt(self):
        self.tasks.submit("a", "--max-attempts", 1)
        self.drained("exec /nowhere/program")
        self.assertEqual(self.reasons("a"), ["exit status 127"])

    def test_a_command_that_cannot_be_executed_ends_the_worker_and_uses_up_no_attempt(self):
        for task_id in ("a", "b"):
            self.tasks.submit(task_id, "--max-attempts", 1)
        command = [KRON, "worker", "--data-dir", str(self.tasks.data), "--helper", KRON_EXEC, "--drain", "--exec"]
        for program in ("pyhton3 work.py", str(self.marks)):
            result = subprocess.run([*command, program], capture_output=True, text=True, check=False, timeout=PATIENCE)
            self.assertEqual(result.returncode, 2, result.stderr)
            self.assertIn("kron worker: --exec: ", result.stderr)
            self.assertIn(program.split()[0], result.stderr)
            self.assertNotIn("task_dead", result.stderr)
            self.assertEqual([self.tasks.state(task_id) for task_id in "ab"], ["PENDING", "PENDING"])
        self.drained("true")
        self.assertEqual([self.tasks.state(task_id) for task_id in "ab"], ["SUCCEEDED", "SUCCEEDED"])

    def test_the_last_attempt_that_times_out_is_a_dead_task(self):
        self.tasks.submit("a", "--max-attempts", 1, "--timeout", "1s")
        result = self.tasks.work("sleep 1000", "--drain", "--grace", "1s")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("task_dead", result.stderr)
        self.assertNotIn("task_failed", result.stderr)
        self.assertEqual(self.tasks.state("a"), "FAILED")

    def test_a_timeout_ends_the_whole_group(self):
        self.tasks.submit("a", "--max-attempts", 1, "--timeout", "1s")
        self.tasks.submit("b", "--max-attempts", 1)
        self.drained(f"trap '' TERM; sleep 1000 & echo $! > {self.marks}/$KRON_TASK_ID; wait", "--timeout", "1s",
                     "--grace", "1s", "--concurrency", 2)
        self.assertEqual(self.reasons("a"), ["timeout"])
        self.assertRegex(self.reasons("b")[0], "^timed out after 1s")
        for task_id in ("a", "b"):
            pid = int((self.marks / task_id).read_text(encoding="utf-8"))
            self.assertFalse(os.path.exists(f"/proc/{pid}"))

    def test_so_many_run_at_a_time_and_no_more(self):
        self.tasks.submit_many({"taskId": f"t{i}", "payload": {"type": "T"}} for i in range(12))
        self.drained(f"touch {self.marks}/$KRON_TASK_ID; ls {self.marks} | wc -l > $KRON_STAGE_DIR/out; sleep 0.1; "
                     f"rm {self.marks}/$KRON_TASK_ID", "--concurrency", 4)
        together = [int(self.tasks.effect(f"t{i}")) for i in range(12)]
        self.assertLessEqual(max(together), 4)
        self.assertGreater(max(together), 1)

    def test_only_its_types(self):
        self.tasks.submit("a", task_type="A")
        self.tasks.submit("b", task_type="B")
        self.tasks.submit("c", task_type="C")
        self.drained("true", "--type", "A", "--type", "B")
        self.assertEqual([self.tasks.state(task_id) for task_id in "abc"], ["SUCCEEDED", "SUCCEEDED", "PENDING"])

    def test_once_does_not_wait_for_what_is_delayed_and_drain_does(self):
        self.tasks.submit("a", "--delay", "2s")
        self.assertEqual(self.tasks.work("true", "--once").returncode, 0)
        self.assertEqual(self.tasks.state("a"), "PENDING")
        self.drained("true")
        self.assertEqual(self.tasks.state("a"), "SUCCEEDED")

    def test_a_lease_is_renewed_while_the_command_runs(self):
        self.tasks.submit("a")
        self.drained("sleep 2.5", "--lease", "1s")
        self.assertEqual(self.tasks.statuses("a"), ["DONE"])

    def test_a_signal_lets_the_running_command_end_and_starts_no_other(self):
        self.tasks.submit("a")
        self.tasks.submit("b")
        worker = self.tasks.start_worker(
            f"touch {self.marks}/$KRON_TASK_ID; while [ ! -e {self.marks}/go ]; do sleep 0.02; done")
        self.marked("a")
        worker.send_signal(signal.SIGTERM)
        self.assertIn("worker_stopping signal=TERM running=1", next(line for line in worker.stderr if "stopping" in line))
        (self.marks / "go").touch()
        self.assertEqual(end(worker)[0], 0)
        self.assertEqual([self.tasks.state(task_id) for task_id in "ab"], ["SUCCEEDED", "PENDING"])

    def test_a_second_signal_ends_the_command_and_gives_the_lease_back(self):
        self.tasks.submit("a", "--max-attempts", 1)
        worker = self.tasks.start_worker(f"touch {self.marks}/$KRON_TASK_ID; sleep 1000", "--grace", "1s")
        self.marked("a")
        status, log = stop_at_once(worker)
        self.assertEqual(status, 0, log)
        self.assertEqual(self.reasons("a"), ["the worker was stopped"])
        self.assertEqual(self.tasks.state("a"), "PENDING")

    def test_what_a_killed_worker_left_running_is_ended_before_its_task_runs_again(self):
        self.tasks.submit("a")
        script = (f"echo $$ > {self.marks}/pid; touch {self.marks}/$KRON_ATTEMPT; "
                  "[ $KRON_ATTEMPT = 2 ] || exec sleep 1000 2>&-")
        worker = self.tasks.start_worker(script)
        self.marked("1")
        left = int((self.marks / "pid").read_text(encoding="utf-8"))
        worker.kill()
        worker.wait()
        self.assertTrue(os.path.exists(f"/proc/{left}"))
        self.drained(f"[ -e /proc/{left}/exe ] && exit 9; " + script)
        self.assertEqual(self.tasks.statuses("a"), ["ABORTED", "DONE"])
        self.assertEqual(self.reasons("a")[0], "its process ended")
        worker.stderr.close()

    def test_usage_that_is_wrong(self):
        for flags in (("--concurrency", 0), ("--concurrency", 1001), ("--once", "--drain"), ("--lease", "0s"),
                      ("--lease", "2d"), ("--timeout", "x"), ("--type", "a/b"), ("--name", "a\nb"),
                      ("--helper", "/nowhere")):
            result = self.tasks.work("true", *flags)
            self.assertIn(result.returncode, (1, 2), flags)
            self.assertNotEqual(result.stderr, "")


if __name__ == "__main__":
    unittest.main()
