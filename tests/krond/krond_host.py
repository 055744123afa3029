"""A host of one test: a configuration and a state directory of its own, and real kronds that run on them."""

import contextlib
import datetime
import hashlib
import json
import os
import re
import select
import shutil
import signal
import subprocess
import tempfile
import threading
import time
import unittest
from pathlib import Path

KROND = os.environ["KROND"]
KRON_EXEC = os.environ["KRON_EXEC"]
KILL_AT_CALL = os.environ.get("KRON_KILL_AT_CALL", "")
# `make soak` raises it; 20 and more are the full counts.
SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
IS_FULL = SCALE >= 20

# The search for leaks at the end takes a process of its own, which a test of limits leaves no room for.
SANITIZERS_NEED_NOTHING = {"ASAN_OPTIONS": "detect_leaks=0"}

# For tests of memory. Not krond's: what AddressSanitizer keeps of freed memory, to find who uses it afterwards; the four
# bytes that ThreadSanitizer remembers of every byte that was touched, until it is told to forget them, and what it
# remembers each thread to have done last.
SANITIZERS_KEEP_LITTLE = {"ASAN_OPTIONS": "quarantine_size_mb=1", "TSAN_OPTIONS": "flush_memory_ms=500:history_size=0"}
# How many seconds to wait for what must happen: never reached unless it does not.
PATIENCE = float(os.environ.get("KRON_TEST_PATIENCE", 120))

MINUTE = 60
HOUR = 3600
DAY = 86400


def instant(text):
    """Seconds since the epoch of 2026-11-01T05:30:00Z."""
    return int(datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=datetime.timezone.utc).timestamp())


def period_id(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


# A midnight that is still to come, so that nothing a test writes is newer than the clock it gives to krond.
MIDNIGHT = (int(time.time()) // DAY + 1) * DAY
DUE = MIDNIGHT + HOUR  # when the hourly jobs of most tests are

PATIENT = {"deadline": "30m"}
EVERY_SECOND = "* * * * * *"


class Krond:
    """One process; its log is read by a thread of its own, so that krond never waits for us."""

    def __init__(self, command, environment=None):
        self.events = []
        self.noise = []  # lines that are no events: what a sanitizer or the loader has to say
        self._changed = threading.Condition()
        self._is_silent = False
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                        stderr=subprocess.PIPE, text=True, env={**os.environ, **(environment or {})})
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()

    def _read(self):
        for line in self.process.stderr:
            try:
                event = json.loads(line)
            except json.JSONDecodeError:
                event = None
            with self._changed:
                if isinstance(event, dict) and "event" in event:
                    self.events.append(event)
                else:
                    self.noise.append(line)
                self._changed.notify_all()
        with self._changed:
            self._is_silent = True
            self._changed.notify_all()

    @property
    def pid(self):
        return self.process.pid

    def log(self):
        return "\n".join([json.dumps(event) for event in self.events] + self.noise)

    def all(self, name, **fields):
        with self._changed:
            return [event for event in self.events if matches(event, name, fields)]

    def wait_for(self, name, count=1, **fields):
        """The count-th such event; fails when krond ends without it."""
        event = self.wait_for_or_end(name, count, **fields)
        if event is None:
            raise AssertionError(f"krond ended without {name} {fields}:\n{self.log()}")
        return event

    def wait_for_or_end(self, name, count=1, **fields):
        deadline = time.monotonic() + PATIENCE
        with self._changed:
            while True:
                found = [event for event in self.events if matches(event, name, fields)]
                if len(found) >= count:
                    return found[count - 1]
                if self._is_silent:
                    return None
                if not self._changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"no {name} {fields} (seen {len(found)} of {count}) in:\n{self.log()}")

    def wait_for_any(self, *names):
        """The first event of any of these names."""
        deadline = time.monotonic() + PATIENCE
        with self._changed:
            while True:
                found = [event for event in self.events if event["event"] in names]
                if found:
                    return found[0]
                if self._is_silent or not self._changed.wait(deadline - time.monotonic()):
                    raise AssertionError(f"none of {names} in:\n{self.log()}")

    def signal(self, number):
        self.process.send_signal(number)

    def kill(self):
        self.process.kill()
        return self.ended()

    def stop(self):
        """TERM, and the exit status."""
        self.process.terminate()
        return self.ended()

    def ended(self):
        """The exit status. The log has ended too, so no run is held at a gate any more: they share its descriptor."""
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired as expired:
            raise AssertionError(f"krond does not end:\n{self.log()}") from expired
        self._reader.join(PATIENCE)
        if self._reader.is_alive():
            raise AssertionError(f"krond ended, and somebody still has its log:\n{self.log()}")
        self.answer = self.process.stdout.read()
        self.process.stdout.close()
        self.process.stderr.close()
        return status

    def close(self):
        if not self.process.stderr.closed:
            self.kill()


def task_id(identity, period):
    """The id of the task that a period of a job submits, as the contract has it."""
    name = re.sub(r"[^A-Za-z0-9.-]", "-", identity)[:60]
    digest = hashlib.sha256(f"{identity}\n{period}".encode()).hexdigest()
    return f"{name}-{digest[:20]}"


def matches(event, name, fields):
    return event["event"] == name and all(str(event.get(key)) == str(value) for key, value in fields.items())


class Host:
    def __init__(self, copy_of=None, root=None):
        # What a process that dies has written is in the page cache; no disk is needed to find it there.
        place = root or ("/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.root = Path(tempfile.mkdtemp(prefix="krond-", dir=place))
        self.config = self.root / "config"
        self.config.mkdir(mode=0o700)
        self.state = self.root / "state"
        self.effects_path = self.root / "effects"
        self.kronds = []
        self.gate = None
        self.torn = set()  # identities whose record the test has torn
        if copy_of and copy_of.state.exists():
            # A socket is of the krond that made it, and cannot be copied.
            shutil.copytree(copy_of.state, self.state, symlinks=True, ignore=shutil.ignore_patterns("*.sock"))
            if copy_of.effects_path.exists():
                shutil.copy(copy_of.effects_path, self.effects_path)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        with contextlib.suppress(AssertionError, ValueError):
            for krond in self.kronds:
                krond.close()
            self.end_runs()
        if self.gate is not None:
            os.close(self.gate)
        shutil.rmtree(self.root, ignore_errors=True)

    def end_runs(self):
        """No process of a test outlives it."""
        for _, run in self.active_runs():
            with contextlib.suppress(ProcessLookupError):
                if is_process_of(run):
                    os.kill(run["PID"], signal.SIGUSR1)
        self.wait_for_runs()

    # Jobs

    def job(self, name, schedule, then="", **keys):
        """A job whose every run appends a line to the host's file of effects, and then does what `then` says."""
        note = f'printf "%s %s %s\\n" "$KRON_IDENTITY" "$KRON_PERIOD_ID" "$KRON_RUN_ID" >> {self.effects_path}'
        return {"name": name, "schedule": schedule, "shell": True, "command": f"{note}; {then or 'true'}", **keys}

    def holding_job(self, name, schedule, **keys):
        """Its runs last until let_go(), or until they are ended."""
        if self.gate is None:
            os.mkfifo(self.root / "gate")
            (self.root / "hold").touch()
            self.gate = os.open(self.root / "gate", os.O_RDWR)
        return self.job(name, schedule, f"[ ! -e {self.root}/hold ] || read -r line < {self.root}/gate", **keys)

    def hold_no_more(self):
        """Runs that start from now on end by themselves."""
        (self.root / "hold").unlink(missing_ok=True)

    def let_go(self):
        self.hold_no_more()
        os.write(self.gate, b"go\n" * 100)

    def write_jobs(self, *jobs, name="jobs.json", text=None):
        path = self.config / name
        if text is None:
            text = json.dumps({"jobs": jobs})
        # Replaced as a whole, as an editor does.
        path.with_suffix(".new").write_text(text, encoding="utf-8")
        path.with_suffix(".new").chmod(0o600)
        path.with_suffix(".new").rename(path)
        return path

    # Kronds

    def command(self, *flags, at=None, once=False, kill_at=None, state=None, programs=(KROND, KRON_EXEC)):
        krond, helper = map(str, programs)
        arguments = [krond, "--config", str(self.config), "--state-dir", str(state or self.state), "--helper", helper,
                     "--log-format", "json", *flags]
        if once:
            arguments.append("--once")
        if at is not None:
            arguments.append(f"--clock-offset={at - time.time():.3f}s")
        if kill_at is not None:
            arguments = [KILL_AT_CALL, str(kill_at), "--", *arguments]
        return arguments

    def start(self, *flags, environment=None, prefix=(), **how):
        krond = Krond([*prefix, *self.command(*flags, **how)], environment)
        self.kronds.append(krond)
        return krond

    def started(self, *flags, **how):
        """A krond that is ready."""
        krond = self.start(*flags, **how)
        krond.wait_for("daemon_started")
        return krond

    def once(self, at=None, status=0, **how):
        """One turn at that time, to its end."""
        krond = self.start(at=at, once=True, **how)
        ended = krond.ended()
        if ended != status:
            raise AssertionError(f"krond ended with {ended}, not {status}:\n{krond.log()}")
        return krond

    # What they left

    def effects(self, identity=None):
        """(identity, period) of every run that was really there, in order."""
        try:
            lines = self.effects_path.read_text(encoding="utf-8").splitlines()
        except FileNotFoundError:
            return []
        runs = [tuple(line.split(" ")[:2]) for line in lines]
        return [run for run in runs if identity in (None, run[0])]

    def periods(self, identity):
        return [period for _, period in self.effects(identity)]

    def state_path(self, identity):
        return self.state / (hashlib.sha256(identity.encode()).hexdigest() + ".json")

    def record(self, identity):
        try:
            return json.loads(self.state_path(identity).read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}

    def edit_record(self, identity, **changes):
        """As an operator or another program would; a value of None removes the key."""
        record = {**self.record(identity), **changes}
        text = json.dumps({key: value for key, value in record.items() if value is not None})
        self.state_path(identity).write_text(text, encoding="utf-8")
        self.state_path(identity).chmod(0o600)

    def records(self):
        """Every job's record; one that cannot be parsed fails the test, unless the test itself has torn it."""
        records = {}
        torn = {self.state_path(identity) for identity in self.torn}
        for path in self.state.glob("*.json"):
            if len(path.stem) == 64 and path not in torn:
                record = json.loads(path.read_text(encoding="utf-8"))
                records[record["Identity"]] = record
        return records

    def last_handled(self):
        return {identity: record.get("LastHandledPeriodID", "") for identity, record in self.records().items()}

    def history(self, identity, outcome=None):
        return [entry for entry in self.record(identity).get("History", []) if outcome in (None, entry["Outcome"])]

    def pending_tasks(self):
        """Those that wait in krond's queue, by id."""
        directory = self.state / "data/tasks/pending"
        return {path.stem: json.loads(path.read_text(encoding="utf-8")) for path in directory.glob("*.json")
                if not path.name.startswith(".")}

    def run_directory(self, run_id):
        return self.state / "runs" / run_id

    def output(self, run_id):
        return (self.run_directory(run_id) / "output").read_text(encoding="utf-8", errors="replace")

    def active_runs(self):
        return [(identity, run) for identity, record in self.records().items()
                for run in record.get("ActiveExecutions", [])]

    def wait_for_runs(self):
        """Until every run that a record calls active has ended, whoever started it."""
        for identity, run in self.active_runs():
            if not wait_for_end(run):
                raise AssertionError(f"a run of {identity} does not end: {run}")

    def wait_for_effects(self, count, identity=None):
        until(lambda: len(self.effects(identity)) >= count, f"{count} effects of {identity or 'all'}: {self.effects()}")


def process_start(pid):
    try:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
    except (FileNotFoundError, ProcessLookupError):
        return None
    return int(text.rpartition(")")[2].split()[19])


def is_process_of(run):
    return process_start(run["PID"]) == run["ProcessStart"]


def wait_for_end(run):
    """Whether the helper of that run ended while we waited."""
    try:
        pidfd = os.pidfd_open(run["PID"])
    except ProcessLookupError:
        return True
    try:
        if not is_process_of(run):
            return True
        poll = select.poll()
        poll.register(pidfd, select.POLLIN)
        return bool(poll.poll(PATIENCE * 1000))
    finally:
        os.close(pidfd)


def until(condition, what, patience=PATIENCE):
    """For what only a file or /proc tells: looks again and again."""
    deadline = time.monotonic() + patience
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError("in vain waited for " + what)
        select.select([], [], [], 0.02)


class OnHost(unittest.TestCase):
    def setUp(self):
        self.host = Host()
        self.addCleanup(self.host.close)

    def hold_run(self, *flags, **keys):
        """A krond, and a run of "job" that lasts until it is let go."""
        self.host.write_jobs(self.host.holding_job("job", "0 * * * *", policy=PATIENT, **keys))
        self.host.once(at=DUE - MINUTE)
        krond = self.host.start(*flags, at=DUE + 5)
        run = krond.wait_for("run_started")
        self.host.wait_for_effects(1)
        return krond, run["runId"]

    def only_active_run(self):
        (_, run), = self.host.active_runs()
        return run
