"""What an earlier krond has left on its disk is taken up by this one: nothing lost, nothing run twice.

tests/data/state has state directories as earlier versions wrote them, one archive for each. This file makes one, with the
programs of such a version: KROND=… KRON=… KRON_EXEC=… earlier_version_test.py make ARCHIVE. The clock that those
programs see then is near that of the machine, so that files are as old as their contents say."""

import json
import os
import signal
import subprocess
import sys
import tarfile
import unittest
from pathlib import Path

from krond_host import HOUR, MINUTE, PATIENT, Host, OnHost, instant, period_id, task_id, until

KRON = os.environ["KRON"]
ARCHIVES = Path(__file__).parents[1] / "data/state"
BEGIN = instant("2026-11-19T00:00:00Z")
HELD = BEGIN + 2 * HOUR + 30 * MINUTE  # when the runs start that the earlier krond does not see end
LEFT = HELD + 10 * MINUTE              # when this krond comes
DAILY = "0 30 2 * * *"
NAMES = {"wide", "hourly", "failing", "late", "paused", "work", "held", "ended", "refused", "yearly"}


def write_jobs(host):
    host.write_jobs(
        host.job("hourly", "0 * * * *", "echo well", policy=PATIENT),
        host.job("failing", "0 * * * *", "exit 3", policy=PATIENT),
        host.job("late", "* * * * *"),
        host.job("paused", "0 * * * *", policy=PATIENT),
        host.job("wide", "0 * * * *", window="3h", policy={"deadline": "15m"}),
        host.job("yearly", "0 0 1 1 *"),
        {"name": "work", "schedule": "0 2 * * *", "task": "WORK", "stdin": '{"n": 1}', "policy": {"deadline": "1h"}},
        host.holding_job("held", DAILY, policy={"deadline": "1h"}),
        host.holding_job("ended", DAILY, policy={"deadline": "1h"}),
        host.holding_job("refused", "0,5 30 2 * * *", policy={"deadline": "0s"}))


def kron(host, *words, text=None):
    done = subprocess.run([KRON, *words, "--state-dir", str(host.state)], input=text, capture_output=True, text=True,
                          timeout=60, check=False)
    if done.returncode != 0:
        raise AssertionError(f"kron {words}: {done.stderr}{done.stdout}")
    return done.stdout


def make(archive):
    with Host() as host:
        write_jobs(host)
        host.once(at=BEGIN - MINUTE)
        host.once(at=BEGIN + 5)
        host.once(at=BEGIN + HOUR + 5)
        host.once(at=BEGIN + 2 * HOUR + 5)
        krond = host.started(at=HELD - 2)
        runs = {name: krond.wait_for("run_started", identity=name) for name in ("held", "ended", "refused")}
        krond.wait_for("period_ended", identity="refused")
        kron(host, "pause", "paused")
        for name in ("done", "waiting", "leased"):
            kron(host, "task", "submit", "--type", name.upper(), "--id", name, '{"for": "%s"}' % name)
        work = ("--shell", "--helper", os.environ["KRON_EXEC"])
        kron(host, "worker", "--type", "DONE", *work, "--exec", 'echo done > "$KRON_STAGE_DIR/out"', "--drain")
        worker = subprocess.Popen([KRON, "worker", "--type", "LEASED", *work, "--exec", "sleep 600", "--state-dir",
                                   str(host.state)], stdin=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        until(lambda: (host.state / "data/tasks/running/leased.json").exists(), "a task that is worked on")
        krond.kill()
        worker.kill()
        worker.wait()
        for name in ("held", "refused"):
            os.kill(int(runs[name]["pid"]), signal.SIGKILL)
        host.let_go()
        until(lambda: (host.run_directory(runs["ended"]["runId"]) / "exit").exists(), "the end of a run")
        with tarfile.open(archive, "w:xz", preset=9) as tar:
            for path in sorted([host.state, *host.state.rglob("*")]):
                if not path.is_socket():
                    tar.add(path, path.relative_to(host.root), recursive=False)
            tar.add(host.effects_path, "effects")


class EarlierVersion(OnHost):
    def unpack(self, archive):
        with tarfile.open(archive) as tar:
            # Whoever unpacks it owns it.
            for member in tar.getmembers():
                member.uid, member.gid, member.uname, member.gname = os.geteuid(), os.getegid(), "", ""
                tar.extract(member, self.host.root)
        write_jobs(self.host)
        self.host.hold_no_more()

    def take_up(self):
        known = {name: record["LastHandledPeriodID"] for name, record in self.host.records().items()}
        self.assertEqual(set(known), NAMES - {"yearly"})
        self.assertTrue(self.host.record("wide")["OpenPeriods"])
        before = {name: self.host.history(name) for name in NAMES}
        krond = self.host.started(at=LEFT)
        for event in ("state_quarantined", "state_refused", "error"):
            self.assertEqual(krond.all(event), [])
        for name in ("held", "ended", "refused"):
            krond.wait_for("run_ended", identity=name)
        # What was running then has ended, and is not run again.
        self.assertEqual([self.host.history(name)[-1]["ExitCode"] for name in ("held", "ended", "refused")],
                         [None, 0, None])
        for name in ("held", "ended", "refused"):
            self.assertEqual(self.host.record(name).get("ActiveExecutions", []), [])
            self.assertEqual(len(self.host.periods(name)), 1)
        for name, entries in before.items():
            self.assertEqual(self.host.history(name)[:len(entries)], entries, name)
        self.assertEqual({name: self.host.record(name)["LastHandledPeriodID"] for name in known if name != "late"},
                         {name: period for name, period in known.items() if name != "late"})
        self.assertIn("Suspended", self.host.record("paused"))
        self.look_at_history()
        self.look_at_tasks()
        self.assertEqual(krond.stop(), 0)

    def look_at_history(self):
        told = [json.loads(line) for line in
                kron(self.host, "runs", "--job", "failing", "--limit", "10", "--format", "json").splitlines()]
        self.assertEqual(sorted(run["periodId"] for run in told if run["exitCode"] == 3),
                         [period_id(BEGIN + i * HOUR) for i in range(3)])
        last = next(entry["RunID"] for entry in reversed(self.host.history("hourly")) if entry.get("RunID"))
        self.assertEqual(kron(self.host, "logs", last), "well\n")

    def look_at_tasks(self):
        states = {task: json.loads(kron(self.host, "task", "show", task, "--format", "json"))
                  for task in ("done", "waiting", "leased", task_id("work", period_id(BEGIN + 2 * HOUR)))}
        self.assertEqual([task["state"] for task in states.values()][:2], ["COMPLETED", "PENDING"])
        self.assertEqual(states["waiting"]["payload"]["data"], {"for": "waiting"})
        self.assertEqual((self.host.state / "data/effects/done/out").read_text(encoding="utf-8"), "done\n")
        kron(self.host, "worker", "--type", "WAITING", "--type", "WORK", "--shell", "--helper", os.environ["KRON_EXEC"], "--exec",
             'echo once > "$KRON_STAGE_DIR/out"', "--drain")
        for task in ("waiting", task_id("work", period_id(BEGIN + 2 * HOUR))):
            self.assertEqual((self.host.state / "data/effects" / task / "out").read_text(encoding="utf-8"), "once\n")

    def go_on(self):
        """Through what was still to come when the earlier krond was killed, and an hour of what is new."""
        told = subprocess.run([KRON, "next", "wide", "--file", str(self.host.config / "jobs.json"), "--from",
                               period_id(HELD + 10), "--for", "5h", "--format", "json"],
                              capture_output=True, text=True, check=True).stdout
        chosen = {period["periodId"]: instant(period["chosenTime"]) for period in map(json.loads, told.splitlines())}
        until_now = [period_id(BEGIN + i * HOUR) for i in range(4)]
        to_come = [period for period in until_now if period in chosen]
        # One had its time while no krond was there, and is within its deadline; the others come later.
        self.assertEqual([chosen[period] < LEFT for period in to_come], [True, False, False])
        for at in sorted([chosen[period] for period in to_come if chosen[period] > LEFT] + [BEGIN + 3 * HOUR]):
            self.host.once(at=at + 1)
        self.assertEqual(sorted(self.host.periods("wide")), to_come)
        self.assertEqual(self.host.periods("hourly")[:4], until_now)
        self.assertEqual(self.host.periods("paused"), until_now[:3])
        effects = self.host.effects()
        self.assertEqual(len(effects), len(set(effects)), "nothing runs twice")

    def test_is_taken_up(self):
        archives = sorted(ARCHIVES.glob("*.tar.xz"))
        self.assertTrue(archives)
        for archive in archives:
            with self.subTest(archive.name):
                self.host = Host()
                self.addCleanup(self.host.close)
                self.unpack(archive)
                self.take_up()
                self.go_on()


if __name__ == "__main__":
    if sys.argv[1:2] == ["make"]:
        make(sys.argv[2])
    else:
        unittest.main()
