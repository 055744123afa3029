"""A fleet of one test: a redis-server of its own, and real kronds that share it. Redis and what the jobs themselves
write are all that a test looks at."""

import contextlib
import hashlib
import json
import os
import shutil
import signal
import sys
import tempfile
import time
import unittest
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "krond"), str(HERE.parent / "redis")]

# pylint: disable=wrong-import-position
from krond_host import KRON_EXEC, KROND, PATIENCE, SCALE, Krond, until  # noqa: F401
from redis_host import RedisServer
from redis_view import Redis

KRON = os.environ["KRON"]
NAMESPACE = "{cronken}"
NEVER = {"cronstring": "@never"}
EVERY_SECOND = {"second": "*"}
# The search for leaks at the end of every process takes longer than most of the jobs here.
NO_LEAK_SEARCH = {"ASAN_OPTIONS": "detect_leaks=0"}


def sha1(text):
    return hashlib.sha1(text.encode()).hexdigest()


def at_second(seconds):
    """cron_args of one second, in UTC."""
    names = ("year", "month", "day", "hour", "minute", "second")
    return {**dict(zip(names, map(str, time.gmtime(seconds)[:6]))), "timezone": "UTC"}


class Fleet:
    def __init__(self, dialect="seed", namespace=NAMESPACE, server=None, environment=None):
        self.dialect = dialect
        self.namespace = namespace
        self.environment = {"CRONKEN_JOB_SHELL": "/bin/bash", **NO_LEAK_SEARCH, **(environment or {})}
        place = "/dev/shm" if os.path.isdir("/dev/shm") else None
        self.root = Path(tempfile.mkdtemp(prefix="kron-fleet-", dir=place))
        self.effects_path = self.root / "effects"
        self.effects_path.touch()
        self.kronds = []
        self.other_servers = ()  # of a Redis Cluster
        self.owns_server = server is None
        try:
            self.server = server or RedisServer().start()
            self.redis = Redis(self.server)
        except BaseException:
            shutil.rmtree(self.root, ignore_errors=True)
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self.hold_no_more()
        for krond in self.kronds:
            with contextlib.suppress(ProcessLookupError, AssertionError, ValueError):
                krond.signal(signal.SIGCONT)
                krond.close()
        self._end_runs()
        self.redis.close()
        if self.owns_server:
            self.server.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def _end_runs(self):
        """No process of a test outlives it: every command of ours names our directory."""
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == os.getpid():
                continue
            with contextlib.suppress(OSError):
                if str(self.root).encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGCONT)
                    os.kill(int(entry.name), signal.SIGKILL)

    # Kronds

    def key(self, rest):
        return f"{self.namespace}:{rest}"

    def url(self, port=None):
        return f"redis://127.0.0.1:{port or self.server.port}"

    def start(self, host="h1", *flags, offset=None, port=None, url=None, state=None, environment=None, prefix=(),
              timezone="UTC"):
        command = [*prefix, KROND, "--redis", url or self.url(port), "--namespace", self.namespace,
                   "--cluster-compat", self.dialect, "--state-dir", str(state or self.root / f"state-{host}"),
                   "--helper", KRON_EXEC, "--log-format", "json", "--host", host, "--default-timezone", timezone,
                   *([f"--clock-offset={offset}s"] if offset is not None else []), *flags]
        krond = Krond(command, {**self.environment, **(environment or {})})
        krond.host = host
        self.kronds.append(krond)
        return krond

    def started(self, host="h1", *flags, **how):
        """A krond that has joined the fleet and read the jobs."""
        krond = self.start(host, *flags, **how)
        self.wait_until_joined(krond)
        return krond

    def wait_until_joined(self, krond):
        krond.wait_for("daemon_started")
        alive = sum(each.process.poll() is None for each in self.kronds)

        def is_there():
            if krond.process.poll() is not None:
                raise AssertionError(f"krond ended:\n{krond.log()}")
            return self.listeners() >= alive and self.redis("HLEN", self.key("kron:hosts")) >= alive

        try:
            until(is_there, "krond to join")
        except AssertionError as error:
            raise AssertionError(f"{error}\n{krond.log()}") from error

    def listeners(self):
        """Who hears events, on any of the servers."""
        return sum(view("PUBSUB", "NUMSUB", self.key("__events__"))[1] for view in (self.redis, *self.other_servers))

    def restarted(self, krond, *flags, kill=False, **how):
        if kill:
            krond.kill()
        else:
            krond.stop()
        return self.started(krond.host, *flags, **how)

    # Jobs

    def note(self):
        """What every job writes first: begin, job, period, instance, run, fencing token, time."""
        return (f'echo "begin ${{KRON_IDENTITY}} ${{KRON_PERIOD_ID:--}} ${{KRON_HOST:--}} $KRON_RUN_ID '
                f'${{KRON_FENCING_TOKEN:--}} $EPOCHREALTIME" >> {self.effects_path}')

    def definition(self, then="true", cron=None, lock=True, ttl=10, kron=None, is_noted=True, **more):
        cmd = f'{self.note()}; {{ {then}\n}}; code=$?; echo "end $KRON_RUN_ID $EPOCHREALTIME" >> ' \
              f"{self.effects_path}; exit $code" if is_noted else then
        definition = {"cron_args": cron or NEVER, "job_args": {"cmd": cmd, "lock": lock, "ttl": ttl}, **more}
        if kron:
            definition["kron"] = kron
        return definition

    def define(self, name, then="true", reload=True, **how):
        self.write(name, json.dumps(self.definition(then, **how)))
        if reload:
            self.reload()

    def write(self, name, text):
        self.redis("HSET", self.key("jobs"), name, text)

    def written(self, name):
        return self.redis("HGET", self.key("jobs"), name)

    def reload(self):
        self.publish("reload", {})

    def publish(self, action, args, **more):
        return self.redis("PUBLISH", self.key("__events__"), json.dumps({"action": action, "args": args, **more}))

    def trigger(self, name, event_id=None):
        return self.publish("trigger", name, **({"id": event_id} if event_id else {}))

    def holding(self):
        """A command that lasts until let_go()."""
        if not (self.root / "hold").exists():
            os.mkfifo(self.root / "gate")
            (self.root / "hold").touch()
            self.gate = os.open(self.root / "gate", os.O_RDWR)
        return f"[ ! -e {self.root}/hold ] || read -r line < {self.root}/gate"

    def hold_no_more(self):
        if (self.root / "hold").exists():
            (self.root / "hold").unlink()
            os.write(self.gate, b"go\n" * 100)
            os.close(self.gate)

    # What is in Redis

    def blob(self, run_id):
        """Strict JSON in strict UTF-8, or the test fails."""
        text = self.redis("HGET", self.key("rundata"), run_id)
        return None if text is None else json.loads(text.decode("utf-8"))

    def blobs(self, job=None):
        found = {run_id: json.loads(text) for run_id, text in self.redis.hash(self.key("rundata")).items()}
        return {run_id: blob for run_id, blob in found.items() if job in (None, blob["job_name"])}

    def wait_for_running(self, job, count=1):
        """Ids of its runs, once as many have a blob that says running."""
        return self._wait_for(job, count, lambda blob: blob["status"] == "running", "running")

    def wait_for_final(self, job, count=1):
        return self._wait_for(job, count, lambda blob: blob["status"] != "running", "final")

    def _wait_for(self, job, count, accept, what):
        found = []

        def are_there():
            found[:] = [run_id for run_id, blob in self.blobs(job).items() if accept(blob)]
            return len(found) >= count

        until(are_there, f"{count} {what} runs of {job}, seen {found}")
        return found

    def run(self, job, event_id=None):
        """The id and blob of one more run of this job, triggered, when it has ended. By an id: without one, a lock is
        held for a second and would refuse the next."""
        before = set(self.blobs(job))
        found = []

        def has_ended():
            found[:] = [(run_id, blob) for run_id, blob in self.blobs(job).items()
                        if run_id not in before and blob["status"] != "running"]
            return bool(found)

        if self.trigger(job, event_id or uuid.uuid4().hex) == 0:
            raise AssertionError("nobody listens to events")
        until(has_ended, f"a run of {job}")
        return found[0]

    def active(self):
        return self.redis.ids(self.key("rundata:active"))

    def wait_until_idle(self):
        until(lambda: not self.active(), f"an empty set of active runs: {self.active()}")
        until(lambda: not self.redis.hash(self.key("kron:claims")), "no claims")

    def lines(self, run_id):
        """The output as it was written, line by line, whatever the dialect."""
        key = self.key(f"rundata:output:{run_id}")
        if self.dialect == "cronken":
            return self.redis("LRANGE", key, 0, -1)
        return [plain(member) for member in self.redis("ZRANGE", key, 0, -1)]

    def outcomes(self, job=None):
        """Every outcome and every end of the stream, as values."""
        entries = [json.loads(fields["o"]) for fields in self.redis.stream(self.key("kron:outcomes"))]
        return [entry for entry in entries if job in (None, entry.get("job"))]

    def effects(self):
        return self.effects_path.read_text(encoding="utf-8")


def plain(member):
    """A line as it was written: what tells equal lines apart is the last NUL and the digits after it."""
    head, nul, tail = member.rpartition(b"\0")
    return head if nul and tail.isdigit() else member


class OnFleet(unittest.TestCase):
    """One fleet for all tests of a class, because starting one is most of the time of a small test."""

    dialect = "seed"
    environment = {}
    hosts = ("h1",)

    @classmethod
    def setUpClass(cls):
        cls.fleet = Fleet(cls.dialect, environment=cls.environment)
        cls.addClassCleanup(cls.fleet.close)
        cls.prepare()
        cls.kronds = [cls.fleet.start(host) for host in cls.hosts]
        for krond in cls.kronds:
            cls.fleet.wait_until_joined(krond)
        cls.redis = cls.fleet.redis

    @classmethod
    def prepare(cls):
        """What is in Redis before the first krond comes."""

    def key(self, rest):
        return self.fleet.key(rest)

    def stays(self, condition, what, seconds=2.0):
        """For what must not happen: looks for a while."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.assertTrue(condition(), what)
            time.sleep(0.05)


def fleet_of(*hosts, **how):
    """For tests that need a fleet of their own."""
    fleet = Fleet(**how)
    try:
        for krond in [fleet.start(host) for host in hosts]:
            fleet.wait_until_joined(krond)
    except BaseException:
        fleet.close()
        raise
    return fleet
