"""Where krond may find itself: under a service manager, as PID 1, on a full disk, with nobody to listen."""

import contextlib
import os
import signal
import socket
import subprocess
import unittest

from krond_host import DUE, EVERY_SECOND, MINUTE, PATIENCE, PATIENT, OnHost, period_id, task_id, until


class Streams(OnHost):
    def test_closed_standard_descriptors_are_not_taken_for_anything_else(self):
        self.host.write_jobs(self.host.job("job", EVERY_SECOND))
        krond = subprocess.Popen(["sh", "-c", 'exec "$@" <&- >&- 2>&-', "sh", *self.host.command("--on-stop", "wait")])
        self.addCleanup(krond.kill)
        self.host.wait_for_effects(2)
        krond.terminate()
        self.assertEqual(krond.wait(PATIENCE), 0)
        self.assertEqual({entry["ExitCode"] for entry in self.host.history("job", "executed")}, {0})

    def test_a_reader_of_the_log_who_goes_away_does_not_end_it(self):
        self.host.write_jobs(self.host.job("job", EVERY_SECOND))
        krond = subprocess.Popen(self.host.command(), stderr=subprocess.PIPE)
        self.addCleanup(krond.kill)
        krond.stderr.close()
        self.host.wait_for_effects(2)
        krond.terminate()
        self.assertEqual(krond.wait(PATIENCE), 0)

    def test_a_helper_that_is_killed_ends_its_run_with_an_unknown_code(self):
        krond, run_id = self.hold_run()
        os.kill(self.only_active_run()["PID"], signal.SIGKILL)
        ended = krond.wait_for("run_ended", runId=run_id)
        self.assertEqual(ended["exitCode"], "unknown")
        self.assertIn("signal 9", ended["reason"])
        self.assertEqual(krond.stop(), 0)
        self.assertEqual([entry["ExitCode"] for entry in self.host.history("job")], [None])
        self.host.once(at=DUE + MINUTE)
        self.assertEqual(self.host.periods("job"), [period_id(DUE)])


class Manager:
    """What systemd is to krond: a datagram socket, and a mind for its messages."""

    def __init__(self, path):
        self.path = str(path)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.socket.bind(self.path)
        self.socket.settimeout(PATIENCE)

    def wait_for(self, line):
        """The message that has this line, or one that begins so."""
        while True:
            message = self.socket.recv(4096).decode().split("\n")
            if any(part.startswith(line) for part in message):
                return message


class ServiceManager(OnHost):
    def test_is_told_of_every_step(self):
        manager = Manager(self.host.root / "notify")
        self.addCleanup(manager.socket.close)
        self.host.write_jobs(self.host.job("job", "0 * * * *"))
        krond = self.host.start(environment={"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "400000"})
        ready = manager.wait_for("READY=1")
        self.assertTrue(any(line.startswith("STATUS=1 job") for line in ready), ready)
        for _ in range(3):
            manager.wait_for("WATCHDOG=1")
        krond.signal(signal.SIGHUP)
        reloading = manager.wait_for("RELOADING=1")
        stamp = next(line for line in reloading if line.startswith("MONOTONIC_USEC="))
        self.assertGreater(int(stamp.partition("=")[2]), 0)
        manager.wait_for("READY=1")
        krond.signal(signal.SIGTERM)
        manager.wait_for("STOPPING=1")
        self.assertEqual(krond.ended(), 0)

    def test_of_another_process_is_not_told_that_we_are_alive(self):
        manager = Manager(self.host.root / "notify")
        self.addCleanup(manager.socket.close)
        self.host.write_jobs(self.host.job("job", "0 * * * *"))
        environment = {"NOTIFY_SOCKET": manager.path, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"}
        krond = self.host.start(environment=environment)
        manager.wait_for("READY=1")
        krond.signal(signal.SIGTERM)
        messages = []
        while "STOPPING=1" not in messages:
            messages += manager.socket.recv(4096).decode().split("\n")
        self.assertNotIn("WATCHDOG=1", messages)
        self.assertEqual(krond.ended(), 0)


def can(*command):
    with contextlib.suppress(FileNotFoundError):
        return subprocess.run(command, capture_output=True, check=False).returncode == 0
    return False


def children(pid):
    """(pid, state) of the processes whose parent it is."""
    found = []
    for name in filter(str.isdigit, os.listdir("/proc")):
        with contextlib.suppress(FileNotFoundError, ProcessLookupError):
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as stat:
                state, parent = stat.read().rpartition(")")[2].split()[:2]
            if int(parent) == pid:
                found.append((int(name), state))
    return found


class AsInit(OnHost):
    NAMESPACE = ("unshare", "--pid", "--fork", "--kill-child", "--mount-proc")

    def setUp(self):
        super().setUp()
        if not can(*self.NAMESPACE, "true"):
            self.skipTest("the kernel lets us make no namespace of processes")

    def test_no_zombie_is_left_and_stop_ends_all(self):
        # What the command leaves behind loses its parents one after the other, and ends as a child of krond's.
        leave = "(sleep 0.7 & sleep 0.9 &) >/dev/null 2>&1"
        self.host.write_jobs(self.host.job("job", EVERY_SECOND, leave), self.host.holding_job("long", EVERY_SECOND))
        unshare = self.host.start(prefix=self.NAMESPACE)
        unshare.wait_for("daemon_started", pid=1)
        (krond, _), = children(unshare.pid)
        unshare.wait_for("run_ended", identity="job", count=4)
        self.assertTrue(any(event["exitCode"] == 0 for event in unshare.all("run_ended")))
        # A zombie that stays is seen again and again; one that is just being reaped is gone at the next look.
        seen = {}
        for _ in range(3):
            unshare.wait_for("run_ended", identity="job", count=len(unshare.all("run_ended", identity="job")) + 1)
            for pid in {pid for pid, state in children(krond) if state == "Z"}:
                seen[pid] = seen.get(pid, 0) + 1
        self.assertLess(max(seen.values(), default=0), 3)
        os.kill(krond, signal.SIGTERM)
        self.assertEqual(unshare.ended(), 0)
        self.assertEqual([entry["ExitCode"] for entry in self.host.history("long", "executed")], [143])


class SmallDisk(OnHost):
    """The state directory on a file system of its own, which only those see who enter the namespace."""

    def setUp(self):
        super().setUp()
        if os.geteuid() != 0 or not can("unshare", "--mount", "true"):
            self.skipTest("only root may mount")
        self.place = self.host.state
        self.place.mkdir(mode=0o700)
        holder = subprocess.Popen(
            ["unshare", "--mount", "sh", "-c",
             f"mount -t tmpfs -o size=128k,mode=700 tmpfs {self.place} && echo mounted && exec sleep 100000"],
            stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.wait)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.kill)
        self.assertEqual(holder.stdout.readline(), "mounted\n")
        self.inside = ("nsenter", "--mount", f"--target={holder.pid}")
        # We look in from outside; krond, inside, knows the path by its own name.
        self.host.state = self.host.root / "inside"
        self.host.state.symlink_to(f"/proc/{holder.pid}/root{self.place}")
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT))

    def start(self, **how):
        return self.host.start(prefix=self.inside, state=self.place, **how)

    def fill(self):
        with contextlib.suppress(OSError), open(self.host.state / "filler", "wb", buffering=0) as file:
            while file.write(b"x" * 4096):
                pass

    def test_a_full_disk_runs_nothing_and_what_was_due_runs_once_when_there_is_room(self):
        self.assertEqual(self.start(at=DUE - 30, once=True).ended(), 0)
        self.fill()
        krond = self.start(at=DUE + 5)
        failed = krond.wait_for("record_failed")
        self.assertIn("No space left", failed["reason"])
        self.assertEqual(self.host.effects(), [])
        (self.host.state / "filler").unlink()
        # The history keeps away from what little there is.
        self.assertIn("left to the records of jobs", krond.wait_for("history_failed")["reason"])
        krond.wait_for("run_ended")
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(self.host.periods("job"), [period_id(DUE)])

    def leave(self, blocks):
        """Fills the disk but for so many blocks."""
        self.fill()
        with open(self.host.state / "filler", "r+b") as file:
            file.truncate(file.seek(0, os.SEEK_END) - blocks * 4096)

    def expect_others_to_run_while_the_task_waits(self, stdin, make_scarce):
        mail = {"name": "mail", "schedule": "* * * * *", "policy": PATIENT, "task": "MAIL", "stdin": '"small"'}
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT), mail)
        before = DUE - MINUTE
        self.assertEqual(self.start(at=before - 30, once=True).ended(), 0)
        # A period for which there is room: from now on a record takes the place of an earlier one.
        self.assertEqual(self.start(at=before + 5, once=True).ended(), 0)
        self.assertEqual(list(self.host.pending_tasks()), [task_id("mail", period_id(before))])
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT), {**mail, "stdin": stdin})
        make_scarce()
        krond = self.start(at=DUE + 5)
        krond.wait_for("task_waits")
        krond.wait_for("run_ended", identity="job")
        self.assertEqual(self.host.periods("job"), [period_id(before), period_id(DUE)])
        self.assertEqual(krond.stop(), 0)
        # The next one finds the run in the record, waits again, and goes on.
        krond = self.start(at=DUE + 20)
        reason = krond.wait_for("task_waits")["reason"]
        self.assertEqual(len(self.host.pending_tasks()), 1)
        (self.host.state / "filler").unlink()
        krond.wait_for("task_submitted")
        tasks = {task_id("mail", period_id(period)) for period in (before, DUE)}
        self.assertEqual(set(self.host.pending_tasks()), tasks)
        until(lambda: len(self.host.history("mail", "executed")) == 2, "the end of the run in the record")
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(self.host.periods("job"), [period_id(before), period_id(DUE)])
        return reason

    def test_the_last_blocks_are_left_to_the_records_of_jobs_and_a_task_waits(self):
        reason = self.expect_others_to_run_while_the_task_waits("{}", lambda: self.leave(3))
        self.assertIn("left to the records of jobs", reason)

    def test_a_task_that_does_not_fit_waits_and_the_other_jobs_run(self):
        payload = '"' + "x" * 60_000 + '"'
        reason = self.expect_others_to_run_while_the_task_waits(payload, lambda: self.leave(10))
        self.assertIn("No space left", reason)

    def test_a_start_on_a_full_disk_is_refused_with_the_reason(self):
        self.fill()
        krond = self.start(at=DUE + 5)
        self.assertNotEqual(krond.ended(), 0)
        self.assertIn("No space left", krond.log())
        self.assertEqual(self.host.effects(), [])

    def test_a_read_only_state_directory_is_refused_with_the_reason(self):
        self.assertEqual(self.start(at=DUE - 30, once=True).ended(), 0)
        subprocess.run([*self.inside, "mount", "-o", "remount,ro", str(self.place)], check=True)
        krond = self.start(at=DUE + 5)
        self.assertNotEqual(krond.ended(), 0)
        self.assertIn("Read-only", krond.log())
        subprocess.run([*self.inside, "mount", "-o", "remount,rw", str(self.place)], check=True)
        self.assertEqual(self.start(at=DUE + 10, once=True).ended(), 0)
        self.assertEqual(self.host.periods("job"), [period_id(DUE)])


if __name__ == "__main__":
    unittest.main()
