"""A data directory, and the real `kron task` and `kron worker` on it, for the tests beside this file."""

import contextlib
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

KRON = os.environ["KRON"]
KRON_EXEC = os.environ["KRON_EXEC"]
KRON_KILL_AT_CALL = os.environ["KRON_KILL_AT_CALL"]
SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
IS_FULL = SCALE >= 20
PATIENCE = 120  # seconds
# What a process that dies has written is in the page cache; no disk is needed to find it there.
MEMORY_DISK = "/dev/shm" if os.path.isdir("/dev/shm") else None


def until(condition, what):
    """For what only a file tells: looks again and again."""
    deadline = time.monotonic() + PATIENCE
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("in vain waited for " + what)
        time.sleep(0.01)


class Tasks(contextlib.AbstractContextManager):
    """One queue below a directory of its own, which goes in the end."""

    environment = None  # of its processes; None: ours

    def __init__(self):
        self.root = Path(tempfile.mkdtemp(prefix="kron-tasks-", dir=MEMORY_DISK))
        self.data = self.root / "data"

    @property
    def place(self):
        """The flags that say where the queue is."""
        return "--data-dir", str(self.data)

    def __exit__(self, *_):
        shutil.rmtree(self.root, ignore_errors=True)

    def copy(self):
        other = Tasks()
        shutil.copytree(self.data, other.data)
        return other

    def task(self, verb, *arguments, text=None, **how):
        return subprocess.run([KRON, "task", verb, *self.place, *map(str, arguments)],
                              input=text, capture_output=True, text=not isinstance(text, bytes), check=False,
                              **{"env": self.environment, **how})

    def submit(self, task_id, *arguments, task_type="T", data="null"):
        result = self.task("submit", "--type", task_type, "--id", task_id, data, *arguments)
        if result.returncode != 0:
            raise AssertionError(result.stderr)

    def submit_many(self, tasks):
        lines = "".join(json.dumps(task) + "\n" for task in tasks)
        result = self.task("submit-batch", text=lines)
        if result.returncode != 0:
            raise AssertionError(result.stderr)

    def show(self, task_id):
        result = self.task("show", task_id, "--format", "json")
        if result.returncode != 0:
            raise AssertionError(result.stdout)
        return json.loads(result.stdout)

    def list(self, *arguments):
        result = self.task("list", "--format", "json", "--limit", 10_000_000, *arguments)
        return [json.loads(line) for line in result.stdout.splitlines()]

    def state(self, task_id):
        task = self.show(task_id)
        return task.get("outcome", task["state"])

    def statuses(self, task_id):
        return [execution["status"] for execution in self.show(task_id)["executions"]]

    def worker_command(self, script, *flags):
        """A worker whose command is a script for the shell."""
        return [KRON, "worker", *self.place, "--helper", KRON_EXEC, "--shell", "--exec", script, *map(str, flags)]

    def work(self, script, *flags, **how):
        """A worker to its end."""
        return subprocess.run(self.worker_command(script, *(flags or ("--drain",))), capture_output=True, text=True,
                              check=False, timeout=PATIENCE, **how)

    def start_worker(self, script, *flags, **how):
        # pylint: disable-next=consider-using-with
        return subprocess.Popen(self.worker_command(script, *flags), stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, **how)

    def files(self, *parts):
        return sorted(path.name for path in self.data.joinpath(*parts).glob("*"))

    def effect(self, task_id, name="out"):
        return (self.data / "effects" / task_id / name).read_text(encoding="utf-8")

    def expect_tidy(self, test):
        """Nothing half-done is left, nor anything in two places."""
        test.assertEqual(self.files("staging"), [])
        test.assertEqual(list(self.data.rglob(".tmp-*")), [])
        test.assertEqual(list(self.data.rglob("*.corrupt.*")), [])
        names = [name for place in ("pending", "running", "completed") for name in self.files("tasks", place)]
        test.assertEqual(len(names), len(set(names)), names)


def commits_in(test, lines):
    """Of tasks that succeeded, a line of JSON each: by task the execution that committed, of which there is one."""
    commits = {}
    for line in lines:
        task = json.loads(line)
        finished = [one["exec_id"] for one in task["executions"] if one["status"] == "DONE"]
        test.assertEqual(len(finished), 1, task)
        test.assertNotIn(task["taskId"], commits)
        commits[task["taskId"]] = finished[0]
    return commits


def killed_at(call, command, **how):
    """Runs a command that is killed at its call of that number; what kron-kill-at-call says, and what it printed."""
    result = subprocess.run([KRON_KILL_AT_CALL, str(call), "--", *command], capture_output=True, text=True, check=False,
                            timeout=PATIENCE, **how)
    return json.loads(result.stdout), result.stderr


def end(process):
    """Status and log of a worker that was told to end, or ends by itself."""
    _, log = process.communicate(timeout=PATIENCE)
    return process.returncode, log


def stop_at_once(worker):
    """Two signals, of two kinds because two of one kind may become one."""
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGINT)
    return end(worker)
