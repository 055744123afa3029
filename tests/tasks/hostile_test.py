"""What nobody should send, and files nobody should plant: refused or set aside, and nothing half-written."""

import json
import os
import resource
import shutil
import signal
import unittest

from tasks_host import Tasks

BAD_IDS = ["", "/", "a/b", "../a", "..", ".", ".hidden", "-dash", "a b", "a\nb", "ä", "a" * 129, "a\\b", "a%00b"]
ONE_MEBIBYTE = 1 << 20


class Hostile(unittest.TestCase):
    def setUp(self):
        self.tasks = Tasks()
        self.addCleanup(self.tasks.__exit__, None, None, None)

    def expect_refused(self, result, statuses=(1, 2)):
        self.assertIn(result.returncode, statuses, result)
        self.assertNotIn("internal error", str(result.stderr))
        self.assertLess(len(result.stderr), 2000)
        self.assertFalse((self.tasks.data / "tasks/pending").exists() and self.tasks.files("tasks", "pending"))

    def test_ids_and_types_that_are_no_names(self):
        for bad in BAD_IDS[1:]:
            self.expect_refused(self.tasks.task("submit", "--type", "T", f"--id={bad}"))
            of_no_type = self.tasks.task("submit", f"--type={bad}")
            self.expect_refused(of_no_type)
            self.assertIn("type", of_no_type.stderr)
            self.assertNotIn("taskId", of_no_type.stderr)
            for verb in ("show", "retry", "cancel"):
                self.expect_refused(self.tasks.task(verb, "--", bad))
        lines = "".join(json.dumps({"taskId": bad, "payload": {"type": "T"}}) + "\n" for bad in [*BAD_IDS, "a\0b"])
        result = self.tasks.task("submit-batch", text=lines)
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"0 accepted, 0 already known, 0 duplicate, 0 in conflict, {len(BAD_IDS) + 1} refused", result.stdout)
        self.assertEqual(self.tasks.list(), [])

    def test_payloads_that_are_too_large_too_deep_or_no_json(self):
        payloads = ['"' + "x" * (10 * ONE_MEBIBYTE) + '"', "[" * 100_000, "[" * 65 + "]" * 65, "{", "", "nan", "1 2",
                    '{"a":1,"a":2}', '"\ud800"'.encode("utf-8", "surrogatepass"), b'"\xff"', b"\0"]
        for payload in payloads:
            result = self.tasks.task("submit", "--type", "T", "-", text=payload)
            self.assertEqual(result.returncode, 1, payload[:40])
        largest = '"' + "x" * (ONE_MEBIBYTE - 2) + '"'
        self.assertEqual(self.tasks.task("submit", "--type", "T", "--id", "large", "-", text=largest).returncode, 0)
        deepest = "[" * 64 + "]" * 64
        self.assertEqual(self.tasks.task("submit", "--type", "T", "--id", "deep", "-", text=deepest).returncode, 0)
        self.assertEqual(len(self.tasks.list()), 2)

    def test_lines_that_are_too_long_are_refused_in_their_place(self):
        good = '{"taskId":"%s","payload":{"type":"T"}}\n'
        huge = '{"payload":{"type":"T","data":"' + "x" * (10 * ONE_MEBIBYTE) + '"}}\n'
        result = self.tasks.task("submit-batch", "--format", "json", text=good % "a" + huge + huge + good % "b")
        answers = [json.loads(line) for line in result.stdout.splitlines()]
        self.assertEqual(["error" in answer for answer in answers], [False, True, True, False])
        self.assertEqual([task["taskId"] for task in self.tasks.list()], ["a", "b"])

    def test_numbers_durations_and_times_out_of_range(self):
        for arguments in (("--priority", 101), ("--priority", -101), ("--priority", "x"), ("--max-attempts", 0),
                          ("--max-attempts", 1001), ("--backoff", "2w5"), ("--backoff", "400d"), ("--timeout", "0s"),
                          ("--run-at", "tomorrow"), ("--run-at", "2500-01-01T00:00:00Z"), ("--unique-key", "a\nb"),
                          ("--unique-key", "x" * 257), ("--delay", "-1s")):
            self.expect_refused(self.tasks.task("submit", "--type", "T", *arguments))

    def test_links_and_torn_files_in_the_directories_are_set_aside(self):
        for task_id in ("a", "torn", "link", "fifo", "good"):
            self.tasks.submit(task_id)
        pending = self.tasks.data / "tasks/pending"
        target = self.tasks.root / "target.json"
        shutil.move(pending / "link.json", target)
        (pending / "link.json").symlink_to(target)
        (pending / "torn.json").write_text((pending / "torn.json").read_text(encoding="utf-8")[:40], encoding="utf-8")
        (pending / "fifo.json").unlink()
        os.mkfifo(pending / "fifo.json")
        (pending / ".tmp-half.json").write_text("{", encoding="utf-8")
        result = self.tasks.task("list", "--format", "json")
        self.assertEqual(result.returncode, 0)
        self.assertEqual([json.loads(line)["taskId"] for line in result.stdout.splitlines()], ["a", "good"])
        self.assertEqual(result.stderr.count("task.set_aside"), 3)
        self.assertTrue(target.exists())
        self.assertEqual(self.tasks.work("true").returncode, 0)
        self.assertEqual(self.tasks.state("good"), "SUCCEEDED")

    def test_a_link_in_place_of_a_directory_is_not_followed(self):
        self.tasks.submit("a")
        elsewhere = self.tasks.root / "elsewhere"
        shutil.move(self.tasks.data / "tasks/pending", elsewhere)
        (self.tasks.data / "tasks/pending").symlink_to(elsewhere)
        result = self.tasks.task("submit", "--type", "T", "--id", "b")
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual([path.name for path in elsewhere.iterdir()], ["a.json"])

    def test_a_disk_that_takes_no_more_leaves_nothing_half_written(self):
        self.tasks.submit("a")
        before = self.tasks.files("tasks", "pending")
        # No file may grow beyond so many bytes: what a full disk does to a write, without filling one.
        def limit():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (64, 64))
        data = '"' + "x" * 1000 + '"'
        result = self.tasks.task("submit", "--type", "T", "--id", "b", data, preexec_fn=limit, restore_signals=False)
        self.assertNotEqual(result.returncode, 0)
        self.assertEqual(self.tasks.files("tasks", "pending"), before)
        self.assertEqual([task["taskId"] for task in self.tasks.list()], ["a"])
        self.tasks.submit("b")
        self.tasks.expect_tidy(self)


if __name__ == "__main__":
    unittest.main()
