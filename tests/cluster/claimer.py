"""A host of the stress test: a process that judges, claims, keeps and ends runs by the scripts of the cluster, over a
connection that loses and repeats what is sent. Its runs are lines in a file, one when a run begins and one when it is
over; so whoever is killed leaves what it has done.

    claimer.py '{"port": …, "number": …, "directory": …, "seed": …, "faults": […], "script_changes": […]}'
"""

import hashlib
import json
import os
import random
import re
import sys
import time
from collections import Counter, namedtuple
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/redis"))

from resp_client import RespClient, RespError  # noqa: E402

SCRIPTS = ("step", "end", "keep", "stale_runs", "raise", "join", "assert", "make", "restore", "sweep")
JUMP = 1_000_000   # of the counter of fencing tokens at least, when writes were lost
FAR = JUMP // 2
STALE = 4          # s without a heartbeat
BEAT = 1
SETTLING = 1.5     # s after lost writes in which nothing is started
REPEATED_WITHIN = 2
TRIGGER_COUNTS_FOR = 20

Job = namedtuple("Job", "name every lock ttl lasts deadline")
JOBS = [Job(f"plain{i}", 1, f"plain{i}", 2, lasts, deadline)
        for i, (lasts, deadline) in enumerate([(0.001, 0), (0.05, 1), (0.3, 3), (2.5, 1)])]
JOBS += [Job(f"shared{i}", 1, "one", 2, 0.2, 1) for i in range(2)]
JOBS += [Job("each", 1, None, 2, 0.1, 1), Job("edited", 1, "edited", 2, 0.05, 3)]


def key(name):
    return "{cronken}:" + name


def jobs_of(number):
    """Half of the hosts hold another definition of one job."""
    return [job._replace(every=2) if job.name == "edited" and number % 2 else job for job in JOBS]


def lease_of(job, sent):
    """When a run is killed whose lock was last confirmed by what was sent then."""
    return sent + job.ttl - min(1, job.ttl / 10)


def is_loss(before, fence):
    return fence < before or (before > 0 and fence >= before + FAR)


class Lost(Exception):
    """It was sent, and nobody knows what has become of it."""


class Link:
    """One connection; over a new one first the scripts are loaded and the counter of fencing tokens is raised."""

    def __init__(self, port, dice, faults, changes):
        self._port, self._dice = port, dice
        self._request_lost, self._reply_lost, self._repeated = faults
        self._client = None
        self._late = []
        self._texts = {}
        for name in SCRIPTS:
            directory = ROOT / "src/kron/cluster/scripts"
            text = re.sub(r"--include (\S+)", lambda part: (directory / part.group(1)).read_text(encoding="utf-8"),
                          (directory / f"{name}.lua").read_text(encoding="utf-8"))
            for script, old, new in changes:
                if script == name:
                    assert old in text, f"{name}.lua is another one by now"
                    text = text.replace(old, new)
            self._texts[name] = text
        self.seen = 0
        self.has_lost_writes = False
        self.counts = Counter()

    def _connect(self):
        if self._client is not None:
            return
        try:
            client = RespClient(self._port, timeout=2)
        except OSError as error:
            raise Lost(str(error)) from error
        self._client = client
        try:
            loaded = client.pipeline([("SCRIPT", "LOAD", text) for text in self._texts.values()])
            if any(isinstance(answer, RespError) for answer in loaded):
                raise OSError(str(loaded))
            self._shas = dict(zip(self._texts, loaded))
            raised = client.call(*self._command("raise", [key("kron:fence"), key("kron:outcomes")],
                                                [self.seen, JUMP, 100000, '{"lost":true}']))
        except (OSError, RespError) as error:
            self._close()
            raise Lost(str(error)) from error
        self._note(raised)

    def _close(self):
        if self._client is not None:
            self._client.close()
        self._client = None

    def _command(self, script, keys, arguments):
        return ("EVALSHA", self._shas[script], len(keys), *keys, *arguments)

    def _note(self, answer):
        if answer[3] == "":
            return
        fence = int(answer[3])
        if is_loss(self.seen, fence):
            self.has_lost_writes = True
            self.counts["losses"] += 1
        self.seen = max(self.seen, fence)
        if fence < self.seen:
            self._close()  # over the next one it is raised

    def _repeat_what_is_late(self):
        now = time.monotonic()
        for command in [late for at, late in self._late if at <= now]:
            try:
                with RespClient(self._port, timeout=2) as other:
                    other.call(*command)
            except (OSError, RespError):
                pass
        self._late = [late for late in self._late if late[0] > now]

    def _send(self, script, keys, arguments):
        self._repeat_what_is_late()
        self._connect()
        command = self._command(script, keys, arguments)
        if self._dice.random() < self._repeated:
            self.counts["repeated"] += 1
            self._late.append((time.monotonic() + self._dice.random() * REPEATED_WITHIN, command))
        if self._dice.random() < self._request_lost:
            self.counts["requests lost"] += 1
            self._close()
            raise Lost("request")
        try:
            if self._dice.random() < self._reply_lost:
                self.counts["replies lost"] += 1
                self._client.send(*command)
                time.sleep(self._dice.choice((0, 0.002)))
                raise OSError("reply")
            return self._client.call(*command)
        except OSError as error:
            self._close()
            raise Lost(str(error)) from error

    def ask(self, script, keys, arguments, tries=20):
        """None: nobody knows."""
        for attempt in range(tries):
            try:
                answer = self._send(script, keys, arguments)
                self._note(answer)
                self.counts[f"{script} {answer[0]}"] += 1
                return answer
            except Lost:
                time.sleep(min(0.05, 0.002 * 2 ** attempt))
            except RespError as error:
                if not str(error).startswith(("NOSCRIPT", "LOADING")):
                    raise
                self._close()
        return None


class Host:
    def __init__(self, port, number, directory, seed, faults, script_changes):
        self.dice = random.Random(seed)
        self.owner = f"{number}-{os.urandom(4).hex()}"
        self.directory = Path(directory)
        self.witness = os.open(self.directory / "witness", os.O_WRONLY | os.O_APPEND | os.O_CREAT)
        self.triggers = open(self.directory / "triggers", encoding="utf-8")
        self.link = Link(port, self.dice, faults, script_changes)
        self.jobs = jobs_of(number)
        self.instance = ""
        self.memory = {}     # of each job: revision, last handled period, first sight
        self.runs = {}       # by run id
        self.ends = []       # to be told
        self.settled_at = 0
        self.next = Counter()

    def tell(self, *words):
        os.write(self.witness, (" ".join(map(str, words)) + "\n").encode())

    def is_due(self, what, every):
        now = time.monotonic()
        if now < self.next[what]:
            return False
        self.next[what] = now + every
        return True

    def live(self):
        while not (self.directory / "stop").exists() or self.runs or self.ends:
            self.join()
            self.finish_runs()
            self.tell_ends()
            if self.link.has_lost_writes:
                self.assert_what_is_known()
            self.keep()
            self.reap()
            is_quiet = (self.directory / "quiet").exists() or time.monotonic() < self.settled_at
            if self.instance and not is_quiet:
                for job in self.jobs:
                    self.look_at(job)
                self.take_triggers()
            if self.is_due("count", 0.5):
                self.tell_counts()
            time.sleep(0.003)
        self.tell_counts()

    def tell_counts(self):
        self.tell("X", self.owner, json.dumps(self.link.counts))

    def join(self):
        if not self.is_due("join", BEAT):
            return
        answer = self.link.ask("join", [key("kron:hosts"), key("instances")],
                               ["h", self.owner, self.instance, STALE, f'{{"owner":"{self.owner}","beat":', "}", ""], 3)
        if answer is None:
            return
        if answer[4] != self.instance:
            self.instance = answer[4]
            self.memory = {name: one for name, one in self.memory.items() if name != "each"}
        self.tell("J", self.instance, self.owner, f"{answer[1]}.{int(answer[2]):06d}")

    # Records

    def field(self, job):
        return job.name if job.lock else f"{job.name}\n{self.instance}"

    @staticmethod
    def text(memory):
        return f',"L":{memory["last"]},"First":{memory["first"]}}}'

    @staticmethod
    def parsed(text):
        record = json.loads(text)
        return {"revision": record["Revision"], "last": record["L"], "first": record["First"]}

    def known(self, job):
        """What is known of the job; the first to ask makes its record."""
        first = int(time.time()) + 1
        for _ in range(3):
            if job.name in self.memory:
                return self.memory[job.name]
            memory = {"last": 0, "first": first}
            answer = self.link.ask("make", [key("kron:state"), key("kron:fence")],
                                   [self.field(job), self.text(memory), first])
            if answer is None:
                return None
            if answer[0] == "made":
                self.memory[job.name] = {**memory, "revision": int(answer[4])}
            elif answer[0] == "there":
                self.memory[job.name] = self.parsed(answer[4])
            else:
                first = int(answer[1]) + 2
        return self.memory.get(job.name)

    def put_back(self, job, found=None):
        """What was lost of a record: `found` is what is there, as text."""
        both = dict(self.memory[job.name])
        if found is not None:
            theirs = self.parsed(found)
            both = {name: max(both[name], theirs[name]) for name in both}
        answer = self.link.ask("restore", [key("kron:state"), key("kron:fence")],
                               [self.field(job), self.text(both), both["revision"],
                                "absent" if found is None else "text", found or "", ""])
        if answer is None or answer[0] == "gone":
            return
        self.memory[job.name] = {**both, "revision": int(answer[4])} if answer[0] == "done" else self.parsed(answer[4])

    def take_newer(self, job, text):
        theirs, ours = self.parsed(text), self.memory[job.name]
        if theirs["revision"] < ours["revision"] or theirs["last"] < ours["last"]:
            return self.put_back(job, text)
        self.memory[job.name] = theirs
        return None

    # Steps

    def look_at(self, job):
        for _ in range(4):
            if self.ends:
                return  # first what may have been claimed, and never ran
            memory = self.known(job)
            now = int(time.time())
            period = now - now % job.every
            if memory is None or period <= memory["last"] or period < memory["first"]:
                return
            if now > period + job.deadline:
                outcome = "missed"
            elif any(run["job"] == job for run in self.runs.values()):
                outcome = "skipped"
            else:
                outcome = "executed"
            word = self.step(job, period, outcome)
            if word == "held":
                word = self.step(job, period, "skipped")
            elif word == "known":
                word = self.step(job, period, "")
            if word in ("early", "late", None):
                return

    def step(self, job, period, outcome):
        memory = self.memory[job.name]
        after = {**memory, "last": period}
        run_id = hashlib.sha256(f"{self.field(job)}\n{period}".encode()).hexdigest()[:32]
        is_start = outcome == "executed"
        limits = ["", "", ""]
        if is_start:
            limits = [period, period + job.deadline + 2, ""]
        elif outcome == "missed":
            limits = ["", "", period + job.deadline]
        outcomes = [f"{job.name} {period} {outcome}"] if outcome else []
        answer = self.claim(job, run_id if is_start else "", memory["revision"], self.text(after), limits, outcomes)
        if answer is None:
            return None
        if answer[0] == "ok":
            self.memory[job.name] = {**after, "revision": int(answer[4])}
        elif answer[0] == "again" and answer[4]:
            self.take_newer(job, answer[4])
        elif answer[0] == "newer":
            self.take_newer(job, answer[4])
        elif answer[0] == "gone":
            self.put_back(job)
        return answer[0]

    def claim(self, job, run_id, revision, record, limits, outcomes):
        lock = key("locks:" + job.lock) if job.lock and run_id else None
        keys = [key(name) for name in ("kron:state", "rundata", "rundata:active", "kron:claims", "kron:fence",
                                       "kron:outcomes", "jobs:paused")]
        sent = time.monotonic()
        start = [run_id, f'{{"job_name":"{job.name}","start_time":"', '"}'] if run_id else []
        answer = self.link.ask("step", keys + ([lock] if lock else []),
                               [self.field(job), self.owner, revision, record, *limits, "", 1 if lock else 0,
                                job.ttl * 1000, 0, "", 100000, 0, 0, 100, 100, key("kron:q:"), 60,
                                1 if run_id else 0, *start, *outcomes])
        run = {"job": job, "lock": lock, "start": f"{time.time():.6f}", "beat": sent}
        if answer is None and run_id:
            self.ends.append((run_id, run))  # before anything else is asked: it never ran
        if answer is not None and answer[0] in ("ok", "again") and run_id and run_id not in self.runs:
            # Before it begins: what is killed here has run nothing.
            now = time.monotonic()
            self.tell("S", run_id, self.owner, f"{now:.6f}", answer[5], job.lock or "-", f"{job.name}@{self.instance}")
            lease = lease_of(job, sent) if lock else now + 3600
            self.runs[run_id] = {**run, "start": answer[6], "ends": now + job.lasts, "lease": lease}
        return answer

    def take_triggers(self):
        for line in self.triggers.readlines():
            at, name, number = line.split()
            if float(at) < time.time() - TRIGGER_COUNTS_FOR:
                continue
            job = next(job for job in self.jobs if job.name == name)
            run_id = hashlib.sha256(f"{self.field(job)}\n#{number}".encode()).hexdigest()[:32]
            self.claim(job, run_id, "", "", ["", "", ""], [])

    # Runs

    def finish_runs(self):
        now = time.monotonic()
        for run_id, run in list(self.runs.items()):
            over = min(run["ends"], run["lease"])
            if now < over:
                continue
            self.tell("E", run_id, self.owner, f"{over:.6f}")
            del self.runs[run_id]
            self.ends.append((run_id, run))

    def end(self, run_id, name, start, *, lock=None, older=""):
        keys = [key(part) for part in ("rundata", "rundata:active", "kron:claims", "kron:fence", "kron:outcomes",
                                       "results:success", f"results:{name}:success", f"rundata:output:{run_id}")]
        return self.link.ask("end", keys + ([lock] if lock else []),
                             [run_id, start, f'{{"job_name":"{name}","start_time":"{start}","duration":', "}", 10000,
                              1000, run_id, 0, older, "", 100000, 86400, "zset", 0, "line"])

    def tell_ends(self):
        self.ends = [(run_id, run) for run_id, run in self.ends
                     if self.end(run_id, run["job"].name, run["start"], lock=run["lock"]) is None]

    def keep(self):
        now = time.monotonic()
        due = [(run_id, run) for run_id, run in self.runs.items()
               if now - run["beat"] >= min(BEAT, run["job"].ttl / 3)]
        if not due:
            return
        locked = [(run_id, run) for run_id, run in due if run["lock"]]
        answer = self.link.ask("keep", [key("rundata:active"), key("kron:fence"), *[run["lock"] for _, run in locked]],
                               [len(due), *[run_id for run_id, _ in due],
                                *[word for run_id, run in locked for word in (run_id, run["job"].ttl * 1000)]], 3)
        if answer is None:
            return
        for run_id, run in due:
            run["beat"] = now
            if run["lock"]:
                run["lease"] = time.monotonic() if run_id in answer[5] else lease_of(run["job"], now)

    def reap(self):
        if not self.is_due("reap", BEAT):
            return
        answer = self.link.ask("stale_runs", [key("rundata"), key("rundata:active"), key("instances"),
                                              key("kron:fence")], [STALE, 100], 3) or []
        for run_id, blob in zip(answer[4::2], answer[5::2]):
            data = json.loads(blob)
            self.end(run_id, data["job_name"], data["start_time"], older=STALE)
        self.link.ask("sweep", [key("kron:claims"), key("rundata:active")], [0, 1000], 3)

    def assert_what_is_known(self):
        """Redis has lost writes: what this host knows is written again, before anybody starts anything."""
        self.link.has_lost_writes = False
        self.settled_at = time.monotonic() + SETTLING
        for job in self.jobs:
            if job.name in self.memory:
                self.put_back(job)
        for run_id, run in list(self.runs.items()):
            name = run["job"].name
            blob = f'{{"job_name":"{name}","start_time":"{run["start"]}"}}'
            keys = [key("rundata"), key("rundata:active"), key("kron:claims"), key("kron:fence")]
            sent = time.monotonic()
            answer = self.link.ask("assert", keys + ([run["lock"]] if run["lock"] else []),
                                   [run_id, self.owner, 0, run["start"], blob, run["job"].ttl * 1000])
            if answer is not None and answer[0] == "taken":
                run["lease"] = time.monotonic()
            elif answer is not None and answer[0] == "ok" and run["lock"]:
                run["lease"] = lease_of(run["job"], sent)


if __name__ == "__main__":
    Host(**json.loads(sys.argv[1])).live()
