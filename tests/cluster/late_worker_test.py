#!/usr/bin/env python3
"""FM_001 on three hosts, with real processes: a worker at the first host stands still past its lease, and the krond it
worked with is killed meanwhile; a worker at the second host does its task; the first goes on, and whatever it tries then
is refused. The third host tells what has become of it."""

import os
import signal
import unittest
from pathlib import Path

from cluster_host import fleet_of, until
from task_fleet import FleetTasks, Worker

HOSTS = ("h1", "h2", "h3")
LEASES = {"first": "3s", "second": "60s"}


def is_over(pid):
    """Gone, or nobody has asked yet how it ended."""
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except FileNotFoundError:
        return True
    return text.rpartition(")")[2].split()[0] == "Z"


class Round:
    """One task, two workers. Every run of the command leaves a line, which is what an effect without the boundary would
    be. A command waits for its file."""

    def __init__(self, fleet, name):
        self.fleet = fleet
        self.name = name
        self.root = fleet.root / name
        self.root.mkdir()

    def work(self, host, who):
        script = (f"echo {who} $PPID >> {self.root}/ran; while [ ! -e {self.root}/{who} ]; do sleep 0.02; done; "
                  f'echo {who} > "$KRON_STAGE_DIR/by"; printf %s {who}')
        worker = Worker(FleetTasks(self.fleet, host), f"{self.name}-{who}", script, "--type", self.name,
                        "--lease", LEASES[who], "--grace", "1s")
        until(lambda: who in self.ran(), f"the command of the {who} worker of {self.name}")
        return worker

    def ran(self):
        """By worker its helper: the parent of its command."""
        path = self.root / "ran"
        lines = path.read_text(encoding="utf-8").splitlines() if path.exists() else []
        return {line.split()[0]: int(line.split()[1]) for line in lines if len(line.split()) == 2}

    def let_go(self, who):
        (self.root / who).touch()

    def let_end(self, who):
        """The command has ended, and its helper has told so, before this returns."""
        self.let_go(who)
        until(lambda: is_over(self.ran()[who]), f"the end of the {who} command of {self.name}")


class LateWorker(unittest.TestCase):
    def test_what_a_late_worker_commits_at_another_krond_is_refused_and_the_effect_happens_once(self):
        with fleet_of(*HOSTS) as fleet:
            tasks = FleetTasks(fleet, "h3")
            # Its commit is ready when it wakes and the other still runs; or the other has committed; or its own command
            # still runs.
            rounds = {name: Round(fleet, name) for name in ("beside", "behind", "unfinished")}
            for name in rounds:
                tasks.submit(name, "--backoff", "0s", task_type=name)
            firsts = {name: each.work("h1", "first") for name, each in rounds.items()}
            for first in firsts.values():
                os.kill(first.process.pid, signal.SIGSTOP)
            fleet.kronds[0].kill()
            fleet.started("h1")
            seconds = {name: each.work("h2", "second") for name, each in rounds.items()}
            for name in ("beside", "behind"):
                rounds[name].let_end("first")
            for name in ("behind", "unfinished"):
                rounds[name].let_go("second")
                until(lambda: seconds[name].events("task_committed"), f"the commit of the second of {name}")
            for first in firsts.values():
                os.kill(first.process.pid, signal.SIGCONT)
            told = {}
            for name, first in firsts.items():
                until(lambda: first.events("task_dropped"), f"the first of {name} to be told")
                told[name] = [(event["event"], event["reason"]) for event in first.events("lease_lost", "task_dropped")]
            rounds["beside"].let_go("second")
            until(lambda: seconds["beside"].events("task_committed"), "the commit of the second")
            for worker in [*firsts.values(), *seconds.values()]:
                self.assertEqual(worker.stop(), 0)

            self.assertEqual(told["beside"], [("task_dropped", "lease_lost")])
            self.assertEqual(told["behind"], [("task_dropped", "duplicate")])
            self.assertEqual([event for event, _ in told["unfinished"]], ["lease_lost", "task_dropped"])
            effects = FleetTasks(fleet).effects(list(rounds))
            for name, each in rounds.items():
                with self.subTest(name):
                    self.assertEqual(list(each.ran()), ["first", "second"], "both have run")
                    self.assertEqual(effects[name], {"by": "second\n"})
                    task = tasks.show(name)
                    self.assertEqual([one["status"] for one in task["executions"]], ["ABORTED", "DONE"])
                    self.assertEqual(task["result"], "second")
                    self.assertEqual(firsts[name].events("task_committed"), [])


if __name__ == "__main__":
    unittest.main(verbosity=2)
