"""krond is killed at each of its changing system calls in turn, and started again: no period runs twice, none that was
handled is forgotten, and none that was recorded and did not run goes unreported."""

import contextlib
import hashlib
import json
import os
import signal
import sys
import unittest

from krond_host import HOUR, IS_FULL, MIDNIGHT, MINUTE, SCALE, Host, period_id, task_id, until

# As many points of each scenario in a quick run; a full one takes them all.
QUICK_POINTS = 5
FEW_POINTS = 3  # where what is swept is a small part of all calls
FEWEST_POINTS = 800
SCENARIOS = 18

SEEN = MIDNIGHT + 30  # when the jobs are first seen
DUE = MIDNIGHT + HOUR  # when something of theirs is due
AT = DUE + 20
LATE = {"deadline": "30m"}
LOST = ("lost", period_id(DUE))  # its end was recorded, and the test has removed that


class Scenario:
    """What is there before, what krond finds to do, and what must be true afterwards."""

    name = ""
    points = QUICK_POINTS
    at = AT  # when krond looks, and when those look that are started after it was killed
    restarts = (AT, AT + MINUTE)
    is_still = True  # prepare() leaves no process, so the host can be copied
    flags = ("--once",)
    restart_flags = None  # of those that are started after it was killed; none: the same
    torn = set()  # prepare() leaves records of these that cannot be read

    def jobs(self, host):
        raise NotImplementedError

    def prepare(self, host):
        """The host as the krond finds it that will be killed."""
        host.write_jobs(*self.jobs(host))
        host.once(at=SEEN)

    def attend(self, host, krond):
        """What the world does while a krond runs that may be killed at any time."""

    def effects(self, host):
        """What really ran, as (identity, period)."""
        return host.effects()

    def expect(self, test, host):
        """What must be true in the end, whatever happened."""


class Start(Scenario):
    """One job is due: created, recorded, let go, and its end recorded."""

    name = "start and end"

    def jobs(self, host):
        return [host.job("one", "0 * * * *", policy=LATE)]

    def expect(self, test, host):
        test.assert_handled(host, "one", period_id(DUE), {"executed"})


class Retry(Scenario):
    """One job fails twice before it succeeds: one run, one record, and how many attempts there were is part of it."""

    name = "retry"

    def jobs(self, host):
        note = host.job("one", "0 * * * *")["command"]
        return [{"name": "one", "schedule": "0 * * * *", "policy": LATE, "shell": True, "retry": 5, "backoff": "0s",
                 "command": f'[ "$KRON_ATTEMPT" != 1 ] || {{ {note}; }}; [ "$KRON_ATTEMPT" = 3 ]'}]

    def expect(self, test, host):
        test.assert_handled(host, "one", period_id(DUE), {"executed"})
        for entry in host.history("one", "executed"):
            # A run that was held when krond was killed has no attempts, and no code.
            test.assertEqual((entry["ExitCode"], entry.get("Attempts")),
                             (0, 3) if host.periods("one") else (None, None))


class Fresh(Start):
    """The same on a host that never had a krond."""

    name = "first start"
    at = SEEN
    restarts = (SEEN, AT, AT)

    def prepare(self, host):
        host.write_jobs(*self.jobs(host))


class Together(Scenario):
    """Many jobs are due in the same second and share one write."""

    name = "several together"
    count = 16

    def jobs(self, host):
        return [host.job(f"job-{i}", "0 * * * *", policy=LATE) for i in range(self.count)]

    def expect(self, test, host):
        for i in range(self.count):
            test.assert_handled(host, f"job-{i}", period_id(DUE), {"executed"})


class Miss(Scenario):
    """One job is too late, another runs the last of three periods and passes over the others."""

    name = "miss"
    restarts = (AT + 2 * HOUR + 10 * MINUTE, AT + 2 * HOUR + 11 * MINUTE)
    at = AT + 2 * HOUR + 10 * MINUTE

    def jobs(self, host):
        return [host.job("strict", "0 * * * *", policy={"deadline": "30s"}),
                host.job("patient", "0 * * * *", policy=LATE)]

    def expect(self, test, host):
        last = period_id(DUE + 2 * HOUR)
        test.assert_handled(host, "strict", last, {"missed"})
        test.assert_handled(host, "patient", last, {"executed"})
        test.assertEqual(host.periods("strict"), [])
        test.assertLessEqual(set(host.periods("patient")), {last})


class Active(Scenario):
    """A run of an earlier krond that was killed is still alive when the next period is due."""

    is_still = False

    def prepare(self, host):
        host.write_jobs(*self.jobs(host))
        host.once(at=SEEN)
        earlier = host.start(at=AT)
        earlier.wait_for("run_started")
        host.wait_for_effects(1)
        earlier.kill()


class Skip(Active):
    """concurrency=forbid: the period is skipped; then the run ends and its end is recorded."""

    name = "skip and end of an adopted run"
    first, second = period_id(DUE), period_id(DUE + MINUTE)
    at = DUE + MINUTE + 20
    restarts = (at, at)

    def jobs(self, host):
        return [host.holding_job("one", "* 1 * * *", policy=LATE)]

    def attend(self, host, krond):
        if host.record("one")["LastHandledPeriodID"] != self.second:
            if krond.wait_for_or_end("period_ended") is None:
                return
        elif krond.wait_for_or_end("daemon_started") is None:
            return
        host.let_go()

    def expect(self, test, host):
        test.assert_handled(host, "one", self.second, {"skipped"})
        test.assertEqual(host.periods("one"), [self.first])
        test.assertEqual([entry["ExitCode"] for entry in host.history("one", "executed")], [0])


class Replace(Active):
    """concurrency=replace: the run is ended, and the period starts in its place."""

    name = "replace"
    first, second = period_id(DUE), period_id(DUE + MINUTE)
    at = DUE + MINUTE + 20
    restarts = (at, at)

    def jobs(self, host):
        return [host.holding_job("one", "* 1 * * *", policy={**LATE, "concurrency": "replace"}, grace="5s")]

    def prepare(self, host):
        super().prepare(host)
        host.hold_no_more()

    def expect(self, test, host):
        test.assert_handled(host, "one", self.second, {"executed"})
        ended = next(entry for entry in host.history("one", "executed") if entry["PeriodID"] == self.first)
        test.assertEqual(ended["ExitCode"], 143)


class Recovery(Scenario):
    """What several kronds may leave: ended runs with and without a record, a torn state file, temporary files."""

    name = "recovery"
    torn = {"torn"}
    restarts = (AT + HOUR, AT + HOUR)
    at = AT + HOUR

    def jobs(self, host):
        return [host.job(name, "0 * * * *", policy=LATE) for name in ("known", "lost", "torn", "idle")]

    def prepare(self, host):
        host.write_jobs(*[host.holding_job(job["name"], job["schedule"], policy=LATE) for job in self.jobs(host)])
        host.once(at=SEEN)
        krond = host.start(at=AT)
        krond.wait_for("run_started", count=4)
        host.wait_for_effects(4)
        krond.kill()
        runs = dict(host.active_runs())
        host.let_go()
        host.wait_for_runs()
        (host.run_directory(runs[LOST[0]]["RunID"]) / "exit").unlink()
        host.state_path("torn").write_text('{"Version": "1", "Ident', encoding="utf-8")
        for name in (".tmp-1", ".tmp-2"):
            (host.state / name).write_text("{", encoding="utf-8")

    def expect(self, test, host):
        for name in ("known", "lost", "idle"):
            test.assert_handled(host, name, period_id(DUE + HOUR), {"executed"})
        codes = {name: host.history(name, "executed")[0]["ExitCode"] for name in ("known", "lost")}
        test.assertEqual(codes, {"known": 0, "lost": None})
        # What was torn may have said anything: nothing runs that was due before it was found.
        test.assertEqual(host.periods("torn"), [period_id(DUE)])
        test.assertEqual(json.loads(host.state_path("torn").read_text(encoding="utf-8"))["Identity"], "torn")
        test.assertEqual(list(host.state.glob(".tmp-*")), [])


class Reboot(Scenario):
    """@reboot: its period is the start of the krond that runs it, and no later krond of this boot has another."""

    name = "reboot"
    at = SEEN

    def jobs(self, host):
        return [host.job("one", "@reboot")]

    def prepare(self, host):
        host.write_jobs(*self.jobs(host))

    def expect(self, test, host):
        (entry,) = host.history("one")
        test.assert_handled(host, "one", entry["PeriodID"], {"executed"})
        test.assertLessEqual(len(host.effects()), 1)


class Terminate(Active):
    """A krond that is told to end ends the run that it took up, and records that."""

    name = "terminate"
    restarts = (AT, AT)
    flags = ("--on-stop", "terminate")

    def jobs(self, host):
        return [host.holding_job("one", "0 * * * *", policy=LATE)]

    def attend(self, host, krond):
        started = krond.wait_for_or_end("daemon_started")
        if started is not None:
            with contextlib.suppress(ProcessLookupError):
                os.kill(started["pid"], signal.SIGTERM)

    def expect(self, test, host):
        test.assert_handled(host, "one", period_id(DUE), {"executed"})
        test.assertEqual([entry["ExitCode"] for entry in host.history("one")], [143])


class Submit(Scenario):
    """Jobs that submit a task: recorded, then submitted, and submitted again by the next krond."""

    name = "submit"
    names = ("mail/one", "two")

    def jobs(self, host):
        return [{"name": name, "schedule": "0 * * * *", "policy": LATE, "task": "MAIL", "stdin": '{"n":1}'}
                for name in self.names]

    def effects(self, host):
        expected = {task_id(name, period_id(DUE)): (name, period_id(DUE)) for name in self.names}
        return [expected[task] for task in host.pending_tasks()]

    def expect(self, test, host):
        for name in self.names:
            test.assert_handled(host, name, period_id(DUE), {"executed"})
            task = host.pending_tasks()[task_id(name, period_id(DUE))]
            test.assertEqual(task["payload"], {"type": "MAIL", "data": {"n": 1}})


def message_id(identity, key, destination):
    """The id of the task that tells one destination of an alarm."""
    return "notify-" + hashlib.sha256(f"{identity}\n{key}\n{destination}".encode()).hexdigest()[:32]


class Notify(Scenario):
    """A job that fails tells two destinations: its end, the alarm and what is owed are one write; then it is submitted,
    and then paid."""

    name = "notify"
    points = FEW_POINTS
    destinations = ("ops", "team")

    def jobs(self, host):
        return [host.job("one", "0 * * * *", "exit 3", policy=LATE, notify={"to": list(self.destinations)})]

    def called_for(self, host):
        """By the words of the contract, out of what happened: a run that was held when krond was killed has failed."""
        keys, first = [], None
        for entry in host.history("one", "executed"):
            if entry["ExitCode"] != 0 and first is None:
                first = entry["PeriodID"]
                keys.append(f"failed {first}")
            elif entry["ExitCode"] == 0 and first is not None:
                keys.append(f"recovered {first} {entry['PeriodID']}")
                first = None
        return {message_id("one", key, to) for key in keys for to in self.destinations}

    def expect(self, test, host):
        self.expect_messages(test, host)
        test.assert_handled(host, "one", period_id(DUE), {"executed"})
        test.assertEqual(len(host.pending_tasks()), 2)

    def expect_messages(self, test, host):
        test.assertEqual(set(host.pending_tasks()), self.called_for(host))
        test.assertNotIn("Owed", host.record("one").get("Alarm", {}))


class Recover(Notify):
    """The next run goes well, and closes the alarm."""

    name = "recover"
    points = FEW_POINTS
    at = AT + HOUR
    restarts = (AT + HOUR, AT + HOUR)

    def jobs(self, host):
        return [host.job("one", "0 * * * *", f'[ "$KRON_PERIOD_ID" != {period_id(DUE)} ]', policy=LATE,
                         notify={"to": list(self.destinations)})]

    def prepare(self, host):
        super().prepare(host)
        host.once(at=AT)

    def expect(self, test, host):
        self.expect_messages(test, host)
        test.assert_handled(host, "one", period_id(DUE + HOUR), {"executed"})
        is_well = period_id(DUE + HOUR) in host.periods("one")
        test.assertEqual(host.record("one").get("Alarm", {}).get("Open", False), not is_well)
        test.assertEqual(len(host.pending_tasks()), 4 if is_well else 2)


class PauseAfter(Scenario):
    """The last failure in a row: its end and the pause are one write, so no period starts after it."""

    name = "pause after failures"
    points = FEW_POINTS
    at = AT + MINUTE
    restarts = (AT + 2 * MINUTE, AT + 3 * MINUTE)

    def jobs(self, host):
        return [host.job("one", "* 1 * * *", "exit 3", policy={**LATE, "pauseAfter": 2})]

    def prepare(self, host):
        super().prepare(host)
        host.once(at=AT)

    def expect(self, test, host):
        # A run that was held when krond was killed does not count, for nobody knows how it ended.
        failed = [entry["PeriodID"] for entry in host.history("one", "executed") if entry["ExitCode"] == 3]
        test.assertEqual(host.periods("one"), failed)
        test.assertEqual(len(failed), 2)
        record = host.record("one")
        test.assertEqual(record["Suspended"]["By"], "kron")
        test.assertEqual(record["LastHandledPeriodID"], failed[-1])
        test.assertNotIn("FailuresInARow", record)


class Attended(Scenario):
    """krond goes on until all is done, and is then told to end. Who starts after it was killed has one turn."""

    flags = ()
    restart_flags = ("--once",)
    names = ("one",)
    last = period_id(DUE)

    def is_done(self, host):
        records = [host.record(name) for name in self.names]
        return all(record.get("LastHandledPeriodID") == self.last and not record.get("ActiveExecutions")
                   for record in records)

    @staticmethod
    def wait(krond, condition, what):
        """False: it ended before."""
        until(lambda: krond.process.poll() is not None or condition(), f"{what}: {krond.log()}")
        return krond.process.poll() is None

    def attend(self, host, krond):
        if "--once" in krond.process.args or not self.wait(krond, lambda: self.is_done(host), "all to be done"):
            return
        with contextlib.suppress(ProcessLookupError):
            os.kill(krond.wait_for("daemon_started")["pid"], signal.SIGTERM)


class Queue(Attended):
    """concurrency=queue: what is due waits for the run before it, and then runs."""

    name = "queue"
    points = FEW_POINTS
    is_still = False
    first, last = period_id(DUE), period_id(DUE + MINUTE)
    at = DUE + MINUTE + 20
    # The first sees the run end, and the second starts what has waited.
    restarts = (at, at)

    def jobs(self, host):
        return [host.holding_job("one", "0,1 1 * * *", policy={**LATE, "concurrency": "queue"})]

    def prepare(self, host):
        Active.prepare(self, host)

    def attend(self, host, krond):
        if self.wait(krond, lambda: krond.all("period_waits") or krond.all("run_started"), "a period that waits"):
            host.let_go()
        super().attend(host, krond)

    def expect(self, test, host):
        test.assert_handled(host, "one", self.last, {"executed"})
        test.assertEqual([entry["PeriodID"] for entry in host.history("one")], [self.first, self.last])
        test.assertEqual(host.history("one")[0]["ExitCode"], 0)


class Pool(Scenario):
    """A pool with one slot: what finds none waits for it, and a run that outlives its krond keeps its own."""

    name = "pool"
    points = FEW_POINTS
    names = ("a", "b", "c")

    def jobs(self, host):
        alone = f"mkdir {host.root}/slot || touch {host.root}/shared; rmdir {host.root}/slot"
        return [host.job(name, "0 * * * *", alone, policy=LATE, pool="db:1") for name in self.names]

    def expect(self, test, host):
        for name in self.names:
            test.assert_handled(host, name, period_id(DUE), {"executed"})
        test.assertFalse((host.root / "shared").exists(), "two had the slot at once")


class SpreadLate(Attended):
    """What is found late at the start is spread; nothing of that is written, and who starts next draws anew."""

    name = "catch-up spread"
    points = FEW_POINTS
    flags = ("--catch-up-spread", "2s")
    names = tuple(f"job-{i}" for i in range(8))

    def jobs(self, host):
        return [host.job(name, "0 * * * *", policy=LATE) for name in self.names]

    def expect(self, test, host):
        for name in self.names:
            test.assert_handled(host, name, period_id(DUE), {"executed"})


class Judged(Scenario):
    """Whether a run has failed is a part of its end: by exit codes that are fine, and by what stands on stderr."""

    name = "exit rules"
    points = FEW_POINTS

    def jobs(self, host):
        policy = {**LATE, "pauseAfter": 1}
        return [host.job("fine", "0 * * * *", "exit 3", policy=policy, success_exit="0,3"),
                host.job("bad", "0 * * * *", "exit 4", policy=policy, success_exit="0,3"),
                host.job("noisy", "0 * * * *", "echo no >&2", policy=policy, fails_on="stderr")]

    def expect(self, test, host):
        for name, code, failed in (("fine", 3, False), ("bad", 4, None), ("noisy", 0, True)):
            test.assert_handled(host, name, period_id(DUE), {"executed"})
            (entry,) = host.history(name, "executed")
            has_run = bool(host.periods(name))
            test.assertEqual((entry["ExitCode"], entry.get("Failed")), (code, failed) if has_run else (None, None), name)
            test.assertEqual("Suspended" in host.record(name), has_run and name != "fine", name)


class KillAtEveryCall(unittest.TestCase):
    points = 0
    counts = {}

    @classmethod
    def tearDownClass(cls):
        print(json.dumps({"points": cls.points, **cls.counts}), file=sys.stderr)
        if IS_FULL and len(cls.counts) == SCENARIOS and cls.points < FEWEST_POINTS:
            raise AssertionError(f"only {cls.points} points, not {FEWEST_POINTS}")

    def assert_handled(self, host, identity, period, outcomes):
        """The last period of the job is this one, and what its record says of it is true."""
        record = host.record(identity)
        self.assertEqual(record["LastHandledPeriodID"], period)
        self.assertIn(record["LastOutcome"], outcomes)
        self.assertNotIn("ActiveExecution", record)
        self.assertEqual([entry.get("PeriodID") for entry in record["History"]].count(period), 1)

    def assert_true(self, scenario, host):
        """What the records say and what really ran are the same."""
        effects = scenario.effects(host)
        self.assertEqual(len(effects), len(set(effects)), "a period ran twice")
        executed = {}
        for identity, record in host.records().items():
            for entry in record.get("History", []):
                if entry["Outcome"] == "executed":
                    executed[identity, entry["PeriodID"]] = entry["ExitCode"]
                elif entry["Outcome"] != "passed over":
                    self.assertNotIn((identity, entry["PeriodID"]), effects, entry)
        for run, code in executed.items():
            # kron-exec outlives krond, so the code of what ran is never lost; unless the test has removed it.
            self.assertEqual(run in effects, code is not None or run == LOST, run)
        for run in effects:
            self.assertTrue(run in executed or run[0] in host.torn, f"{run} ran, and no record says so")

    def life(self, scenario, host, at, kill_at):
        before = host.last_handled()
        is_restart = kill_at is None and scenario.restart_flags is not None
        krond = host.start(*(scenario.restart_flags if is_restart else scenario.flags), at=at, kill_at=kill_at)
        scenario.attend(host, krond)
        krond.ended()
        after = host.last_handled()
        for identity, handled in before.items():
            self.assertGreaterEqual(after[identity], handled, "what was handled is forgotten")
        return json.loads(krond.answer) if kill_at is not None else krond

    def host(self, scenario, still):
        if still is None:
            host = Host()
            scenario.prepare(host)
        else:
            host = Host(copy_of=still)
            host.write_jobs(*scenario.jobs(host))
        host.torn = scenario.torn
        return host

    def try_point(self, scenario, still, point):
        """The calls that krond made, or None when it was killed."""
        with self.host(scenario, still) as host:
            answer = self.life(scenario, host, scenario.at, point)
            for at in scenario.restarts:
                krond = self.life(scenario, host, at, None)
                self.assertEqual(krond.process.returncode, 0, krond.log())
            self.assert_true(scenario, host)
            scenario.expect(self, host)
        self.assertEqual(answer["status"], 0 if answer["killed_at"] is None else 137, answer)
        return answer

    def sweep(self, scenario):
        still = None
        if scenario.is_still:
            still = Host()
            self.addCleanup(still.close)
            scenario.prepare(still)
        calls = self.try_point(scenario, still, 0)["calls"]
        step = 1 if IS_FULL else max(1, calls // (scenario.points * SCALE))
        point, killed = 1 + calls % step, 0
        while True:
            with self.subTest(scenario=scenario.name, point=point):
                answer = self.try_point(scenario, still, point)
                if answer["killed_at"] is None:
                    break
                killed += 1
            point += step
            if point > 2 * calls + 10:
                self.fail("krond never came to its end")
        self.assertGreater(killed, 2)
        type(self).points += killed
        type(self).counts[scenario.name] = killed

    def test_start(self):
        self.sweep(Start())

    def test_retry(self):
        self.sweep(Retry())

    def test_first_start(self):
        self.sweep(Fresh())

    def test_several_together(self):
        self.sweep(Together())

    def test_miss(self):
        self.sweep(Miss())

    def test_skip(self):
        self.sweep(Skip())

    def test_replace(self):
        self.sweep(Replace())

    def test_recovery(self):
        self.sweep(Recovery())

    def test_reboot(self):
        self.sweep(Reboot())

    def test_terminate(self):
        self.sweep(Terminate())

    def test_submit(self):
        self.sweep(Submit())

    def test_notify(self):
        self.sweep(Notify())

    def test_recover(self):
        self.sweep(Recover())

    def test_pause_after(self):
        self.sweep(PauseAfter())

    def test_queue(self):
        self.sweep(Queue())

    def test_pool(self):
        self.sweep(Pool())

    def test_spread(self):
        self.sweep(SpreadLate())

    def test_exit_rules(self):
        self.sweep(Judged())


if __name__ == "__main__":
    unittest.main()
