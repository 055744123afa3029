"""Every verb of `kron task`, as text and as JSON, with its exit status."""

import contextlib
import json
import os
import pty
import subprocess
import sys
import unittest

from tasks_host import KRON, Tasks, stop_at_once, until

HOLD_AND_DIE = """
import fcntl, os, sys, time
lock = os.open(sys.argv[1], os.O_RDWR)
fcntl.flock(lock, fcntl.LOCK_EX)
os.ftruncate(lock, 0)
os.write(lock, str(os.getpid()).encode())
if os.fork() == 0:
    time.sleep(0.3)
"""


class Verbs(unittest.TestCase):
    def setUp(self):
        self.tasks = Tasks()
        self.addCleanup(self.tasks.__exit__, None, None, None)

    def expect(self, result, status, stdout, stderr=""):
        self.assertEqual((result.returncode, result.stdout), (status, stdout), result.stderr)
        self.assertIn(stderr, result.stderr)

    def run_verb(self, *arguments, **how):
        return self.tasks.task(*arguments, **how)

    def test_submit_is_one_task_however_often(self):
        first = self.run_verb("submit", "--type", "mail", "--id", "a", '{"to": 1}')
        self.expect(first, 0, "accepted a\n")
        self.expect(self.run_verb("submit", "--type", "mail", "--id", "a", '{"to":1}'), 0, "already_known a\n")
        self.expect(self.run_verb("submit", "--type", "mail", "--id", "a", "2"), 4, "conflict a\n", "another payload")
        json_conflict = self.run_verb("submit", "--type", "mail", "--id", "a", "2", "--format", "json")
        self.expect(json_conflict, 4, '{"taskId":"a","outcome":"conflict"}\n')
        self.assertEqual(self.tasks.show("a")["payload"], {"type": "mail", "data": {"to": 1}})

    def test_submit_takes_its_data_from_everywhere_and_makes_an_id(self):
        path = self.tasks.root / "data.json"
        path.write_text('{"from":"file"}', encoding="utf-8")
        for arguments, text, data in [((), None, None), (("-",), '[1, 2]', [1, 2]),
                                      (("--data-file", path), None, {"from": "file"})]:
            result = self.run_verb("submit", "--type", "mail", "--format", "json", *arguments, text=text)
            self.assertEqual(result.returncode, 0, result.stdout)
            answer = json.loads(result.stdout)
            self.assertRegex(answer["taskId"], "^mail-[0-9a-f]{20}$")
            self.assertEqual(self.tasks.show(answer["taskId"])["payload"]["data"], data)

    def test_submit_takes_a_policy(self):
        self.tasks.submit("a", "--priority", -7, "--run-at", "2036-03-01T00:00:00Z", "--max-attempts", 3, "--backoff",
                          "1m", "--max-backoff", "2m", "--timeout", "30s", "--unique-key", "k")
        task = self.tasks.show("a")
        names = "priority runAt maxAttempts backoff maxBackoff timeout uniqueKey".split()
        self.assertEqual([task[name] for name in names], [-7, "2036-03-01T00:00:00Z", 3, "1m", "2m", "30s", "k"])
        held = self.run_verb("submit", "--type", "T", "--id", "b", "--unique-key", "k")
        self.expect(held, 0, "duplicate a\n")
        self.tasks.submit("later", "--delay", "1h")
        self.assertIn("runAt", self.tasks.show("later"))

    def test_submit_batch_answers_each_line(self):
        lines = ('{"taskId":"a","payload":{"type":"T"}}\n\n{"taskId":"b","payload":{"type":"T"}}\nnonsense\n'
                 '{"taskId":"a","payload":{"type":"T","data":1}}\n{"payload":{"type":"T"}}')
        result = self.run_verb("submit-batch", text=lines)
        self.expect(result, 4, "3 accepted, 0 already known, 0 duplicate, 1 in conflict, 1 refused\n",
                    "kron task submit-batch: line 4: ")
        self.assertIn("line 5: task a is there with another payload", result.stderr)
        path = self.tasks.root / "tasks.jsonl"
        path.write_text(lines, encoding="utf-8")
        again = [json.loads(line) for line in
                 self.run_verb("submit-batch", path, "--format", "json").stdout.splitlines()]
        self.assertEqual(again[0], {"line": 1, "taskId": "a", "outcome": "already_known"})
        self.assertEqual([answer["line"] for answer in again], [1, 3, 4, 5, 6])
        self.assertEqual(list(again[2]), ["line", "error"])
        self.assertEqual(again[3]["outcome"], "conflict")

    def test_submit_batch_shows_progress_when_asked_to(self):
        lines = '{"payload":{"type":"T"}}\n' * 3000
        result = self.run_verb("submit-batch", "--progress", text=lines)
        self.expect(result, 0, "3000 accepted, 0 already known, 0 duplicate, 0 in conflict, 0 refused\n")
        self.assertEqual(len(self.tasks.list()), 3000)

    def test_list_filters_and_pages(self):
        for task_id, task_type in (("a", "mail"), ("b", "mail"), ("c", "other")):
            self.tasks.submit(task_id, task_type=task_type)
        self.run_verb("cancel", "b")
        self.assertEqual([task["taskId"] for task in self.tasks.list()], ["a", "b", "c"])
        self.assertEqual([task["taskId"] for task in self.tasks.list("--state", "pending")], ["a", "c"])
        self.assertEqual([task["taskId"] for task in self.tasks.list("--state", "FAILED")], ["b"])
        self.assertEqual([task["taskId"] for task in self.tasks.list("--type", "other")], ["c"])
        page = self.run_verb("list", "--limit", 1, "--after", "a")
        self.assertEqual(page.returncode, 0)
        self.assertRegex(page.stdout, r"^b +mail +FAILED +1/5 +20\S+Z  'cancelled'\n$")
        self.assertIn("--after b", page.stderr)

    def test_list_on_a_terminal_has_heads_and_shows_what_was_cancelled(self):
        for task_id in ("a", "b"):
            self.tasks.submit(task_id, "--max-attempts", 1, task_type="mail")
        self.run_verb("cancel", "b")
        main, terminal = pty.openpty()
        listed = subprocess.run([KRON, "task", "list", "--data-dir", str(self.tasks.data)], stdout=terminal, check=False,
                                env={**os.environ, "TZ": "Asia/Kolkata"})
        os.close(terminal)
        with open(main, encoding="utf-8", closefd=True) as reader:
            shown = []
            with contextlib.suppress(OSError):  # what a terminal says at its end
                for line in reader:
                    shown.append(line.rstrip())
        self.assertEqual(listed.returncode, 0)
        self.assertRegex(shown[0], r"^TASK  TYPE  STATE      TRIED  UPDATED {16,}REASON$")
        self.assertRegex(shown[1], r"^a     mail  PENDING      0/1  20\S+ [:\d]+, (now|\d+ s ago)$")
        self.assertRegex(shown[2], r"^b     mail  CANCELLED    0/1  20\S+ [:\d]+, (now|\d+ s ago) +'cancelled'$")

    def test_show_tells_that_it_was_cancelled_and_how_often_it_ran(self):
        self.tasks.submit("a")
        self.run_verb("cancel", "a")
        shown = self.run_verb("show", "a").stdout
        self.assertIn("state       CANCELLED\nattempts    0 of 5\n", shown)
        self.assertEqual(self.tasks.show("a")["outcome"], "FAILED")

    def test_a_text_that_would_turn_the_line_around_is_escaped(self):
        self.tasks.submit("a", "--unique-key", "k\u202ecod")
        shown = self.run_verb("show", "a").stdout
        self.assertNotIn("\u202e", shown)
        self.assertIn("unique key  'k\\xe2\\x80\\xaecod'", shown)

    def test_show_tells_the_attempts(self):
        self.tasks.submit("a", "--max-attempts", 1, data='{"n":1}')
        self.tasks.work("echo \x1b[31m; exit 3")
        result = self.run_verb("show", "a")
        self.assertEqual(result.returncode, 0)
        for part in ("state       FAILED", "attempts    1 of 1", "data        '{\"n\":1}'", "ABORTED", "'exit status 3'"):
            self.assertIn(part, result.stdout)
        self.expect(self.run_verb("show", "b"), 1, "", "there is no task 'b'")
        self.assertIn("error", json.loads(self.run_verb("show", "b", "--format", "json").stdout))

    def test_what_a_command_printed_cannot_command_the_terminal(self):
        self.tasks.submit("a")
        self.tasks.work("printf '\\033]0;owned\\007'")
        self.assertEqual(self.tasks.state("a"), "SUCCEEDED")
        self.assertNotIn("\x1b", self.run_verb("show", "a").stdout)

    def test_retry_gives_failed_tasks_more_attempts(self):
        for task_id in ("a", "b", "c"):
            self.tasks.submit(task_id, "--max-attempts", 1)
        self.tasks.work("[ $KRON_TASK_ID = c ]")
        self.expect(self.run_verb("retry", "a", "--attempts", 2), 0, "retried a\n")
        self.assertEqual(self.tasks.show("a")["maxAttempts"], 3)
        self.expect(self.run_verb("retry", "c"), 1, "", "task c is not FAILED")
        self.expect(self.run_verb("retry", "--all-failed", "--format", "json"), 0,
                    '{"taskId":"b","outcome":"retried"}\n')
        both = self.run_verb("retry", "c", "d", "--format", "json")
        answers = [json.loads(line) for line in both.stdout.splitlines()]
        self.assertEqual((both.returncode, answers[0]), (1, {"taskId": "c", "outcome": "not_failed"}))
        self.assertEqual(list(answers[1]), ["taskId", "error"])
        self.assertEqual(self.run_verb("retry").returncode, 2)

    def test_cancel_ends_tasks(self):
        self.tasks.submit("a")
        self.expect(self.run_verb("cancel", "a"), 0, "cancelled a\n")
        self.expect(self.run_verb("cancel", "a"), 1, "", "is over already")
        self.expect(self.run_verb("cancel", "a", "--format", "json"), 1, '{"taskId":"a","outcome":"already_over"}\n')
        self.assertEqual(self.tasks.state("a"), "FAILED")
        self.tasks.work("echo never >&2")
        self.assertEqual(self.tasks.statuses("a"), ["ABORTED"])

    def test_prune_removes_what_has_been_over_for_long(self):
        self.tasks.submit("a")
        self.tasks.submit("b")
        self.tasks.work("echo x > $KRON_STAGE_DIR/out", "--drain")
        self.tasks.submit("c")
        self.expect(self.run_verb("prune"), 0, "0 removed\n")
        path = self.tasks.data / "tasks/completed/a.json"
        path.write_text(path.read_text(encoding="utf-8").replace('"updatedAt":"20', '"updatedAt":"19'), encoding="utf-8")
        self.expect(self.run_verb("prune", "--older-than", "7d", "--format", "json"), 0, '{"removed":1}\n')
        self.assertEqual([task["taskId"] for task in self.tasks.list()], ["b", "c"])
        self.assertEqual(self.tasks.effect("a"), "x\n")
        self.expect(self.run_verb("prune", "--older-than", "soon"), 1, "", "--older-than")

    def test_prune_takes_only_the_state_that_is_asked_for(self):
        self.tasks.submit("good")
        self.tasks.work("true", "--drain")
        self.tasks.submit("bad")
        self.expect(self.run_verb("cancel", "bad"), 0, "cancelled bad\n")
        for task in ("good", "bad"):
            path = self.tasks.data / f"tasks/completed/{task}.json"
            text = path.read_text(encoding="utf-8")
            path.write_text(text.replace('"updatedAt":"20', '"updatedAt":"19'), encoding="utf-8")
        self.expect(self.run_verb("prune", "--state", "FAILED"), 0, "1 removed\n")
        self.assertEqual([task["taskId"] for task in self.tasks.list()], ["good"])
        self.expect(self.run_verb("prune", "--state", "succeeded"), 0, "1 removed\n")
        self.expect(self.run_verb("prune", "--state", "running"), 2, "", "--state")

    def test_a_misspelt_verb_is_told_the_nearest_one(self):
        self.expect(self.run_verb("sho", "a"), 2, "", "kron task: unknown command 'sho'; did you mean show?")
        self.expect(self.run_verb("frobnicate"), 2, "", "kron task: unknown command 'frobnicate'; see kron task --help")

    def test_the_directory_has_one_owner_and_others_are_told_who(self):
        self.tasks.submit("a")
        worker = self.tasks.start_worker("echo > " + str(self.tasks.root / "runs") + "; sleep 100", "--grace", "1s")
        until((self.tasks.root / "runs").exists, "the worker's command")
        for verb in (("submit", "--type", "T"), ("list",), ("show", "a"), ("retry", "a"), ("cancel", "a"), ("prune",),
                     ("submit-batch",)):
            self.expect(self.run_verb(*verb, text=""), 4, "", f"process {worker.pid} has it")
        second = self.tasks.work("true")
        self.assertEqual(second.returncode, 4)
        self.assertIn(f"process {worker.pid} has it", second.stderr)
        stop_at_once(worker)

    def test_a_lock_that_a_dying_process_left_to_its_child_is_waited_for(self):
        self.tasks.submit("a")
        # As when a worker is killed while it starts a command: for a moment the new process still has the lock.
        owner = subprocess.Popen([sys.executable, "-c", HOLD_AND_DIE, str(self.tasks.data / "lock")])
        owner.wait()
        self.assertEqual(self.run_verb("list").returncode, 0)

    def test_a_directory_that_is_not_there_is_made_only_to_submit(self):
        for verb in (("list",), ("show", "a"), ("retry", "a"), ("cancel", "a"), ("prune",)):
            self.assertEqual(self.run_verb(*verb).returncode, 1)
        self.assertFalse(self.tasks.data.exists())


if __name__ == "__main__":
    unittest.main()
