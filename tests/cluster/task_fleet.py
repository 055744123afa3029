"""Tasks of a fleet, and real workers of them, for the tests beside this file."""

import contextlib
import json
import os
import subprocess
import sys

from cluster_host import HERE, NO_LEAK_SEARCH, PATIENCE

sys.path.append(str(HERE.parent / "tasks"))

# pylint: disable=wrong-import-position
from tasks_host import IS_FULL, Tasks, commits_in  # noqa: E402,F401


class FleetTasks(Tasks):
    """`kron task` and `kron worker` at one host of a fleet; without a host, at its Redis."""

    environment = {**os.environ, **NO_LEAK_SEARCH}

    def __init__(self, fleet, host=None):  # pylint: disable=super-init-not-called
        self.fleet = fleet
        self.root = fleet.root  # which is the fleet's to remove
        self.host = host

    @property
    def place(self):
        if self.host:
            return "--state-dir", str(self.root / f"state-{self.host}")
        return "--redis", self.fleet.url(), "--namespace", self.fleet.namespace

    def __exit__(self, *_):
        pass

    def effects(self, task_ids):
        """What the commits of these tasks have published: of each its files."""
        keys = [self.fleet.key(f"kron:q:effects:{task_id}") for task_id in task_ids]
        found = {}
        for first in range(0, len(keys), 1000):
            answers = self.fleet.redis.pipeline([("HGETALL", key) for key in keys[first:first + 1000]])
            for task_id, flat in zip(task_ids[first:first + 1000], answers):
                found[task_id] = {flat[i].decode(): flat[i + 1].decode() for i in range(0, len(flat), 2)}
        return found


class Worker:
    """A `kron worker` with a log of its own; the next one of the same name works in the same directory."""

    def __init__(self, tasks, name, script, *flags):
        self.name = name
        self.log_path = tasks.root / f"log-{name}-{len(list(tasks.root.glob(f'log-{name}-*')))}"
        command = tasks.worker_command(script, "--name", name, "--work-dir", tasks.root / f"work-{name}",
                                       "--log-format", "json", *flags)
        with self.log_path.open("wb") as log:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log,
                                            env=tasks.environment)

    def kill(self):
        self.process.kill()
        self.process.wait(PATIENCE)

    def stop(self):
        """TERM, and the exit status."""
        self.process.terminate()
        return self.process.wait(PATIENCE)

    def events(self, *names):
        """Of the log so far; of one that was killed the last line may be cut off."""
        found = []
        for line in self.log_path.read_text(encoding="utf-8", errors="replace").splitlines():
            with contextlib.suppress(json.JSONDecodeError):
                event = json.loads(line)
                if event["event"] in names:
                    found.append(event)
        return found
