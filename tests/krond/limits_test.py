"""What krond may run out of: processes and threads, open files, file sizes, readers of its log, and its helper."""

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

from krond_host import (DUE, EVERY_SECOND, KRON_EXEC, KROND, MINUTE, PATIENCE, PATIENT, SANITIZERS_NEED_NOTHING, OnHost,
                        period_id, until)

KRON = os.environ["KRON"]
NO_THREAD = "cannot start a thread for"


def chown_all(root, user):
    for path in [root, *root.rglob("*")]:
        os.chown(path, user, user)


def twice(periods):
    return {period for period in periods if periods.count(period) > 1}


@unittest.skipUnless(os.geteuid() == 0, "only root can become a user with no other processes, and root has no such limit")
class Processes(OnHost):
    """The limit counts all processes and threads of a user, so each test has a user of its own."""

    def setUp(self):
        super().setUp()
        self.user = 40000 + os.getpid() % 20000
        # Programs that this user may execute, wherever they were built: below /root he may not even look.
        # pylint: disable-next=consider-using-with
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        os.chmod(place.name, 0o755)
        self.programs = [shutil.copy(program, place.name) for program in (KROND, KRON_EXEC)]

    def start_with(self, most, *flags):
        self.host.state.mkdir(mode=0o700, exist_ok=True)
        chown_all(self.host.root, self.user)
        user = f"--reuid={self.user}", f"--regid={self.user}", "--clear-groups"
        return self.host.start(*flags, prefix=("setpriv", *user, "prlimit", f"--nproc={most}"),
                               environment=SANITIZERS_NEED_NOTHING, programs=self.programs)

    def test_a_start_without_threads_says_what_to_do(self):
        self.host.write_jobs(self.host.job("job", "0 * * * *"))
        refused = 0
        for most in range(1, 12):
            krond = self.start_with(most)
            if krond.wait_for_or_end("daemon_started"):
                self.assertEqual(krond.stop(), 0)
                break
            self.assertEqual(krond.ended(), 2, krond.log())
            self.assertIn("ulimit -u", krond.log())
            refused += NO_THREAD in krond.log()
        self.assertGreaterEqual(refused, 3)
        self.assertLess(most, 11)

    def test_a_limit_that_is_reached_ends_runs_and_not_krond(self):
        jobs = [self.host.job(f"job{i}", EVERY_SECOND, "sleep 2", policy={"concurrency": "allow"}) for i in range(8)]
        self.host.write_jobs(*jobs)
        krond = self.start_with(14)
        krond.wait_for("daemon_started")
        krond.wait_for("start_failed", count=20)
        krond.wait_for("run_ended", count=10)
        self.assertIsNone(krond.process.poll())
        for i in range(8):
            self.assertEqual(twice(self.host.periods(f"job{i}")), set())
        self.assertEqual(krond.stop(), 0, krond.log())


class OpenFiles(OnHost):
    def test_too_few_to_start_with_is_a_refusal_with_a_cure(self):
        self.host.write_jobs(self.host.job("job", "0 * * * *"))
        krond = self.host.start(prefix=("prlimit", "--nofile=12"), environment=SANITIZERS_NEED_NOTHING)
        self.assertEqual(krond.ended(), 2)
        self.assertIn("ulimit -n", krond.log())

    def test_too_few_for_a_run_skips_that_run(self):
        self.host.write_jobs(*[self.host.holding_job(f"job{i}", EVERY_SECOND) for i in range(30)])
        krond = self.host.start(prefix=("prlimit", "--nofile=40"), environment=SANITIZERS_NEED_NOTHING)
        self.assertIn("Too many open files", krond.wait_for("start_failed")["reason"])
        self.host.let_go()
        krond.wait_for("run_ended")
        self.assertEqual(krond.stop(), 0)


class FileSizes(OnHost):
    def limit(self, krond, size):
        subprocess.run(["prlimit", f"--pid={krond.pid}", f"--fsize={size}:unlimited"], check=True)

    def test_a_limit_that_is_reached_is_a_write_that_fails(self):
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT))
        self.host.once(at=DUE - 50)
        # Long enough for a busy machine: the limit must be there before the job is due.
        krond = self.host.started(at=DUE - 20)
        self.limit(krond, 10)
        # Neither an instruction nor a record can be written, and nothing runs.
        until(lambda: krond.all("start_failed") or krond.all("record_failed"), "a write that fails: " + krond.log())
        self.assertIn("ulimit -f", krond.log())
        self.assertEqual(self.host.effects(), [])
        self.limit(krond, "unlimited")
        krond.wait_for("run_ended")
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(twice(self.host.periods("job")), set())

    def test_a_start_under_a_limit_is_no_death_by_signal(self):
        self.host.write_jobs(self.host.job("job", "* * * * *"))
        krond = self.host.start(prefix=("prlimit", "--fsize=10"))
        if krond.wait_for_or_end("daemon_started") is None:
            self.assertEqual(krond.ended(), 2)
            self.assertIn("ulimit -f", krond.log())
        else:
            self.assertEqual(krond.stop(), 0)

    def test_commands_get_the_signal_as_it_is(self):
        self.host.write_jobs(self.host.job("job", "* * * * *", "grep SigIgn /proc/self/status", policy=PATIENT))
        self.host.once(at=DUE - 30)
        started = self.host.once(at=DUE + 5).wait_for("run_started")
        ignored = int(self.host.output(started["runId"]).split()[1], 16)
        self.assertFalse(ignored & (1 << (signal.SIGXFSZ - 1)), hex(ignored))
        self.assertFalse(ignored & (1 << (signal.SIGPIPE - 1)), hex(ignored))


class StuckLog(OnHost):
    """Standard error is a pipe that somebody holds open and does not read."""

    def setUp(self):
        super().setUp()
        os.mkfifo(self.host.root / "log")
        self.reader = os.open(self.host.root / "log", os.O_RDWR | os.O_NONBLOCK)
        self.addCleanup(os.close, self.reader)
        fcntl.fcntl(self.reader, 1031, 4096)  # F_SETPIPE_SZ: as little as there can be
        self.socket = self.host.root / "krond.sock"

    def start(self, *flags):
        log = os.open(self.host.root / "log", os.O_WRONLY)
        self.assertFalse(fcntl.fcntl(log, fcntl.F_GETFL) & os.O_NONBLOCK)
        krond = subprocess.Popen([*self.host.command("--socket", str(self.socket), *flags)], stdin=subprocess.DEVNULL,
                                 stdout=subprocess.DEVNULL, stderr=log)
        os.close(log)
        self.addCleanup(krond.wait)
        self.addCleanup(krond.kill)
        until(self.socket.exists, "the socket")
        return krond

    def read(self, done=lambda text: False, patience=PATIENCE):
        """All that is there, or until it is enough."""
        text = b""
        deadline = time.monotonic() + patience
        while not done(text) and time.monotonic() < deadline:
            with contextlib.suppress(BlockingIOError):
                text += os.read(self.reader, 1 << 16)
        return text.decode()

    def test_holds_up_neither_runs_nor_answers(self):
        self.host.write_jobs(*[self.host.job(f"job{i}", EVERY_SECOND) for i in range(20)])
        krond = self.start()
        self.host.wait_for_effects(200)
        status = subprocess.run([KRON, "status", "--socket", str(self.socket)], capture_output=True, text=True,
                                timeout=PATIENCE, check=False)
        self.assertEqual(status.returncode, 0, status.stderr)
        before = len(self.host.effects())
        self.host.wait_for_effects(before + 40)
        krond.terminate()
        self.assertEqual(krond.wait(PATIENCE), 0)
        for i in range(20):
            self.assertEqual(twice(self.host.periods(f"job{i}")), set())

    def test_says_what_is_missing_when_it_is_read_again(self):
        # Each reload has much to say of such a file.
        self.host.write_jobs(name="jobs.kron", text="0 0 1 1 * name=good command=/bin/true\n")
        self.host.write_jobs(name="bad.kron", text="this is no job\n" * 5000)
        krond = self.start()
        for _ in range(4):
            krond.send_signal(signal.SIGHUP)
            status = subprocess.run([KRON, "status", "--socket", str(self.socket)], capture_output=True, text=True,
                                    timeout=PATIENCE, check=False)
            self.assertIn(status.returncode, (0, 1), status.stderr)
        text = self.read(lambda text: b"log_lines_dropped" in text and text.endswith(b"\n"))
        events = [json.loads(line) for line in text.splitlines()]
        self.assertEqual(events[0]["event"], "job_file_problem")
        dropped = [event for event in events if event["event"] == "log_lines_dropped"]
        self.assertGreater(dropped[0]["count"], 0)
        self.assertEqual(dropped[0]["level"], "warning")
        krond.terminate()
        self.assertEqual(krond.wait(PATIENCE), 0)


class LogFile(OnHost):
    def test_can_be_copied_and_truncated(self):
        self.host.write_jobs(self.host.job("job", EVERY_SECOND))
        path = self.host.root / "krond.log"
        with open(path, "ab") as log:
            krond = subprocess.Popen(self.host.command(), stderr=log)
        self.addCleanup(krond.wait)
        self.addCleanup(krond.kill)
        self.host.wait_for_effects(2)
        os.truncate(path, 0)
        self.host.wait_for_effects(len(self.host.effects()) + 3)
        krond.terminate()
        self.assertEqual(krond.wait(PATIENCE), 0)
        lines = path.read_bytes().splitlines()
        self.assertGreaterEqual(len(lines), 2)
        self.assertNotIn(b"\0", b"".join(lines))
        self.assertEqual(json.loads(lines[-1])["event"], "daemon_ended")


class KilledHelper(OnHost):
    def processes(self, mark):
        """The PIDs of those whose command line has it."""
        found = set()
        for path in Path("/proc").glob("[0-9]*/cmdline"):
            with contextlib.suppress(OSError):
                words = path.read_bytes().split(b"\0")
                if words[0].endswith(b"sleep") and mark.encode() in words:
                    found.add(int(path.parent.name))
        return found

    def test_takes_its_run_along_before_the_next_one_of_a_job_that_forbids_two(self):
        mark = f"{100000 + os.getpid()}.{time.monotonic_ns() % 1000000}"
        self.host.write_jobs(self.host.job("job", EVERY_SECOND, f"sleep {mark}; true", policy={"concurrency": "forbid"}))
        krond = self.host.started()
        for count in range(1, 6):
            run = krond.wait_for("run_started", count=count)
            until(lambda: self.processes(mark), "its command")
            self.assertEqual(len(self.processes(mark)), 1, "two at a time")
            os.kill(run["pid"], signal.SIGKILL)
            ended = krond.wait_for("run_ended", runId=run["runId"])
            self.assertEqual(ended["exitCode"], "unknown")
            self.assertIn("what it left running was ended", ended["reason"])
        krond.signal(signal.SIGTERM)
        self.assertEqual(krond.ended(), 0)
        self.host.end_runs()

    def test_takes_along_what_only_its_cgroup_tells_of(self):
        mark = f"{100000 + os.getpid()}.{time.monotonic_ns() % 1000000}"
        hidden = f"setsid --fork env -i sleep {mark}; sleep 1000"
        self.host.write_jobs(self.host.job("job", EVERY_SECOND, hidden, policy={"concurrency": "forbid"}))
        krond = self.host.started()
        run = krond.wait_for("run_started")
        until(lambda: self.processes(mark), "its command")
        started = (self.host.state / "runs" / run["runId"] / "started").read_text(encoding="utf-8")
        if "\ncgroup=" not in started:
            self.skipTest("this krond may not make cgroups")
        os.kill(run["pid"], signal.SIGKILL)
        krond.wait_for("run_ended", runId=run["runId"])
        krond.signal(signal.SIGTERM)
        self.assertEqual(krond.ended(), 0)
        self.host.end_runs()
        self.assertEqual(self.processes(mark), set())

    def test_while_there_is_no_krond_leaves_it_to_the_next_one(self):
        mark = f"{100000 + os.getpid()}.{time.monotonic_ns() % 1000000}"
        self.host.write_jobs(self.host.job("job", "0 * * * *", f"sleep {mark}; true", policy=PATIENT))
        self.host.once(at=DUE - MINUTE)
        krond = self.host.start(at=DUE + 5)
        run = krond.wait_for("run_started")
        until(lambda: self.processes(mark), "its command")
        self.assertEqual(krond.kill(), -signal.SIGKILL)
        os.kill(run["pid"], signal.SIGKILL)
        until(lambda: not Path(f"/proc/{run['pid']}").exists(), "the end of the helper")
        self.assertEqual(len(self.processes(mark)), 1)
        krond = self.host.once(at=DUE + 20)
        krond.wait_for("run_ended", runId=run["runId"])
        self.assertEqual(self.processes(mark), set())
        self.assertEqual(self.host.periods("job"), [period_id(DUE)])


if __name__ == "__main__":
    unittest.main()
