"""A krond with its socket, for the tests beside this file."""

import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "krond"))

# pylint: disable=wrong-import-position
from api_client import Api
from krond_host import IS_FULL, KRON_EXEC, PATIENCE, SCALE, Host, until  # noqa: F401

KRON = os.environ["KRON"]
NEVER = "0 0 1 1 *"  # but by hand
EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


def memory_of(pid):
    """Resident bytes."""
    with open(f"/proc/{pid}/statm", encoding="utf-8") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class ApiHost(Host):
    def __init__(self):
        super().__init__()
        self.processes = []

    def close(self):
        for process in self.processes:
            if process.poll() is None:
                process.kill()
            process.wait()
            process.stdout.close()
            process.stderr.close()
        super().close()

    @property
    def socket(self):
        return self.state / "krond.sock"

    @property
    def data(self):
        return self.state / "data"

    def serve(self, *flags, **how):
        """A krond that is ready, and a client of its API."""
        krond = self.started("--socket", str(self.socket), *flags, **how)
        return krond, Api(self.socket)

    def kron(self, *arguments, text=None, timeout=PATIENCE, **how):
        """The kron command, on this host."""
        environment = {**os.environ, "KRON_SOCKET": str(self.socket), "TZ": "UTC"}
        return subprocess.run([KRON, *map(str, arguments)], input=text, capture_output=True, text=True, check=False,
                              timeout=timeout, env=environment, **how)

    def start_kron(self, *arguments, **how):
        environment = {**os.environ, "KRON_SOCKET": str(self.socket), "TZ": "UTC"}
        # pylint: disable-next=consider-using-with
        self.processes.append(subprocess.Popen([KRON, *map(str, arguments)], stdin=subprocess.DEVNULL,
                                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                               env=environment, **how))
        return self.processes[-1]

    def worker_arguments(self, script, *flags):
        return ["worker", "--work-dir", str(self.root / "workers"), "--helper", KRON_EXEC, "--shell", "--exec", script,
                *map(str, flags)]


class OnApiHost(unittest.TestCase):
    """One krond for each test, with a job that says something and one that lasts."""

    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.write_jobs()
        self.krond, self.api = self.host.serve()

    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("hello", NEVER, "echo hello; echo world", description="says hello"),
            self.host.job("failing", NEVER, "exit 3"),
            self.host.job("team/a.b", NEVER, "true"),
            self.host.holding_job("lasting", NEVER, policy={"concurrency": "allow"}))

    def trigger(self, name):
        """The id of a run that has ended."""
        run_id = self.api.post("jobs", name, "trigger")["runId"]
        return self.ended(run_id)["runId"]

    def ended(self, run_id):
        """The run, when the history knows its end."""
        found = {}

        def has_ended():
            answer = self.api.ask("GET", "runs", run_id)
            found.update(answer.json)
            return answer.status == 200 and found["state"] == "ended"

        until(has_ended, f"the end of {run_id}")
        return found

    def running(self, name):
        """The id of a run that has begun, and lasts until it is let go."""
        before = len(self.host.effects(name))
        run_id = self.api.post("jobs", name, "trigger")["runId"]
        self.host.wait_for_effects(before + 1, name)
        return run_id

    def submit(self, *task_ids, **members):
        tasks = [{"taskId": task_id, "payload": {"type": "T", "data": {"n": 1}}, **members} for task_id in task_ids]
        return self.api.post("tasks", body={"tasks": tasks})["answers"]

    def lease(self, **request):
        """Leases that have started."""
        return self.api.post("leases", body={"worker": "w", "start": True, **request})["leases"]
