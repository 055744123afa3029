"""`kron task submit` and `kron worker` are killed at each of their changing system calls in turn: no accepted task is
lost, no effect and no follow-up happens twice, and the next process finishes what is left."""

import sys
import unittest

from tasks_host import IS_FULL, KRON, Tasks, killed_at

QUICK_POINTS = 25  # as many points of each scenario in a quick run; a full one takes them all
SCRIPT = ('echo "$KRON_ATTEMPT" >> "$RAN"; echo "$KRON_TASK_ID" > "$KRON_STAGE_DIR/out"; mkdir "$KRON_STAGE_DIR/sub"; '
          'echo more > "$KRON_STAGE_DIR/sub/out"; echo result; '
          'echo "{\\"taskId\\":\\"next-$KRON_TASK_ID\\",\\"payload\\":{\\"type\\":\\"N\\"}}" > "$KRON_FOLLOW_UPS"')


def points(calls):
    """Numbers of calls, spread over all of them."""
    if IS_FULL or calls <= QUICK_POINTS:
        return range(1, calls + 1)
    return sorted({1 + i * (calls - 1) // (QUICK_POINTS - 1) for i in range(QUICK_POINTS)})


class KilledAtEveryCall(unittest.TestCase):
    def expect_whole(self, tasks):
        tasks.expect_tidy(self)
        self.assertEqual(tasks.files("tasks", "running"), [])

    def sweep(self, prepare, command, check):
        """command(tasks) is killed at each call on a copy of what prepare() made; check(tasks, what it printed)."""
        with Tasks() as origin:
            prepare(origin)
            with origin.copy() as whole:
                report, printed = killed_at(0, command(whole))
                self.assertEqual(report["status"], 0, printed)
                check(whole, printed)
            kinds = set()
            for call in points(report["calls"]):
                with self.subTest(call=call), origin.copy() as tasks:
                    report_here, printed = killed_at(call, command(tasks))
                    # Threads do not always make the same calls: it may come to its end before the last of them.
                    was_killed = report_here["killed_at"] is not None
                    self.assertEqual(report_here["status"], 137 if was_killed else 0, printed)
                    if was_killed:
                        kinds.add(report_here["killed_at"])
                    check(tasks, printed)
        print(f"{self.id()}: {report['calls']} calls, killed at {sorted(kinds)}", file=sys.stderr)
        if IS_FULL:
            self.assertGreater(len(kinds), 4)

    def test_submit(self):
        def prepare(tasks):
            tasks.submit("before")

        def command(tasks):
            return [KRON, "task", "submit", "--data-dir", str(tasks.data), "--type", "T", "--id", "a", "1"]

        def check(tasks, printed):
            again = tasks.task("submit", "--type", "T", "--id", "a", "1").stdout
            self.assertIn(again, ("already_known a\n",) if "accepted a" in printed
                          else ("accepted a\n", "already_known a\n"))
            self.assertEqual([task["taskId"] for task in tasks.list()], ["a", "before"])
            self.expect_whole(tasks)

        self.sweep(prepare, command, check)

    def test_submit_to_a_directory_that_is_not_there(self):
        def prepare(tasks):
            tasks.data.mkdir()

        def command(tasks):
            return [KRON, "task", "submit", "--data-dir", str(tasks.data / "new"), "--type", "T", "--id", "a", "1"]

        def check(tasks, printed):
            tasks.data = tasks.data / "new"
            again = tasks.task("submit", "--type", "T", "--id", "a", "1").stdout
            self.assertIn(again, ("already_known a\n",) if "accepted a" in printed
                          else ("accepted a\n", "already_known a\n"))
            self.expect_whole(tasks)

        self.sweep(prepare, command, check)

    def test_submit_batch(self):
        ids = [f"t{i}" for i in range(10)]

        def prepare(tasks):
            tasks.submit("before")
            (tasks.data / "batch").write_text(
                "".join(f'{{"taskId":"{i}","payload":{{"type":"T"}}}}\n' for i in ids), encoding="utf-8")

        def command(tasks):
            return [KRON, "task", "submit-batch", str(tasks.data / "batch"), "--format", "json", "--data-dir",
                    str(tasks.data)]

        def check(tasks, printed):
            known = {task["taskId"] for task in tasks.list()}
            self.assertLessEqual({i for i in ids if f'"{i}","outcome":"accepted"' in printed}, known)
            again = tasks.task("submit-batch", tasks.data / "batch")
            self.assertIn(f"{11 - len(known)} accepted, {len(known) - 1} already known", again.stdout)
            self.expect_whole(tasks)

        self.sweep(prepare, command, check)

    def test_worker(self):
        def prepare(tasks):
            tasks.submit("a", "--backoff", "0s")

        def command(tasks):
            tasks.ran = tasks.root / "ran"
            return ["env", f"RAN={tasks.ran}", *tasks.worker_command(SCRIPT, "--type", "T", "--drain")]

        def check(tasks, printed):
            was_told = "task_committed task=a" in printed
            before = tasks.ran.read_text(encoding="utf-8") if tasks.ran.exists() else ""
            end = tasks.work(SCRIPT, "--type", "T", "--drain", env={"RAN": str(tasks.ran), "PATH": "/usr/bin:/bin"})
            self.assertEqual(end.returncode, 0, end.stderr)
            statuses = tasks.statuses("a")
            self.assertEqual((statuses.count("DONE"), statuses[-1]), (1, "DONE"))
            self.assertLessEqual(len(statuses), 2)
            if was_told:
                self.assertEqual(tasks.ran.read_text(encoding="utf-8"), before, "what was committed ran again")
            self.assertEqual((tasks.effect("a"), tasks.effect("a", "sub/out")), ("a\n", "more\n"))
            self.assertEqual(tasks.files("effects"), ["a"])
            self.assertEqual([task["taskId"] for task in tasks.list()], ["a", "next-a"])
            self.assertEqual(tasks.state("next-a"), "PENDING")
            self.assertEqual(tasks.show("a")["result"], "result")
            self.assertEqual(tasks.files("worker", "tasks"), [])
            self.expect_whole(tasks)

        self.sweep(prepare, command, check)


if __name__ == "__main__":
    unittest.main()
