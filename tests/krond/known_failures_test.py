"""What earlier schedulers got wrong, each by its name."""

import json
import os
import signal
import subprocess
import unittest

from krond_host import (DAY, EVERY_SECOND, HOUR, MIDNIGHT, MINUTE, PATIENT, Host, OnHost, instant, period_id,
                        process_start, until)

KRON = os.environ["KRON"]


class Failures(OnHost):
    def predicted(self, job, start, seconds):
        """(nominal, chosen) of the periods that are due then, as `kron next` says."""
        told = subprocess.run([KRON, "next", job, "--file", str(self.host.config / "jobs.json"), "--from",
                               period_id(start), "--for", f"{seconds}s", "--format", "json"],
                              capture_output=True, text=True, check=True).stdout
        periods = [json.loads(line) for line in told.splitlines()]
        return [(period["periodId"], instant(period["chosenTime"])) for period in periods]

    def executed(self, identity):
        return {entry["PeriodID"]: entry["ExitCode"] for entry in self.host.history(identity, "executed")}


class Clocks(Failures):
    def test_new_york_fall_back_runs_a_nightly_job_once_and_an_interval_job_in_both_hours(self):
        keys = {"timezone": "America/New_York", "policy": {"deadline": "5m"}}
        self.host.write_jobs(self.host.job("nightly", "30 1 * * *", **keys),
                             self.host.job("often", "*/20 * * * *", **keys))
        start = instant("2026-11-01T05:00:00Z")
        self.host.once(at=start - MINUTE)
        for at in range(start, start + 150 * MINUTE + 1, 10 * MINUTE):
            self.host.once(at=at + 5)
        self.assertEqual(self.host.periods("nightly"), ["2026-11-01T05:30:00Z"])
        self.assertEqual(self.host.periods("often"), [period_id(start + i * 20 * MINUTE) for i in range(8)])

    def test_a_day_of_downtime_runs_at_most_one_period_of_a_minutely_job(self):
        self.host.write_jobs(self.host.job("patient", "* * * * *", policy=PATIENT),
                             self.host.job("strict", "* * * * *"))
        self.host.once(at=MIDNIGHT - 55)
        self.host.once(at=MIDNIGHT + 20)
        self.host.once(at=MIDNIGHT + DAY + 20)
        first, last = period_id(MIDNIGHT), period_id(MIDNIGHT + DAY)
        self.assertEqual(self.host.periods("patient"), [first, last])
        self.assertEqual(self.host.periods("strict"), [])
        for job in ("patient", "strict"):
            passed_over = self.host.history(job, "passed over")
            self.assertEqual([(entry["Count"], entry["First"], entry["Last"]) for entry in passed_over],
                             [(DAY // MINUTE - 1, period_id(MIDNIGHT + MINUTE), period_id(MIDNIGHT + DAY - MINUTE))])
            self.assertEqual(self.host.record(job)["LastHandledPeriodID"], last)
        self.assertEqual([entry["Reason"] for entry in self.host.history("strict", "missed")], ["deadline"] * 2)

    def test_resume_by_reload_runs_at_most_one_period(self):
        def write(suspend):
            self.host.write_jobs(self.host.job("job", "* * * * *", policy={**PATIENT, "suspend": suspend}))

        write(True)
        self.host.once(at=MIDNIGHT)
        self.host.once(at=MIDNIGHT + 5 * MINUTE)
        krond = self.host.started(at=MIDNIGHT + 10 * MINUTE + 5)
        self.assertEqual(self.host.effects(), [])
        write(False)
        krond.signal(signal.SIGHUP)
        krond.wait_for("run_ended")
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT + 10 * MINUTE)])

    def test_resume_by_an_operator_runs_at_most_one_period(self):
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT))
        self.host.once(at=MIDNIGHT - 30)
        self.host.once(at=MIDNIGHT + 5)
        self.host.edit_record("job", Suspended={"Since": period_id(MIDNIGHT + 30)})
        for minutes in (2, 5, 9):
            self.host.once(at=MIDNIGHT + minutes * MINUTE + 5)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT)])
        self.host.edit_record("job", Suspended=None)
        self.host.once(at=MIDNIGHT + 10 * MINUTE + 5)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT), period_id(MIDNIGHT + 10 * MINUTE)])

    def test_a_clock_that_goes_back_runs_nothing_again(self):
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT))
        for at in (-30, 5, MINUTE + 5, 5, -HOUR, 10, MINUTE + 10):
            self.host.once(at=MIDNIGHT + at)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT), period_id(MIDNIGHT + MINUTE)])

    def test_a_clock_that_was_years_ahead_for_a_moment_does_not_silence_a_job(self):
        self.host.write_jobs(self.host.job("job", "* * * * *", policy=PATIENT))
        for at in (-30, 5, 3650 * DAY + 5):
            self.host.once(at=MIDNIGHT + at)
        # Only what is still ahead was not handled: a krond is there when it becomes due.
        krond = self.host.started("--on-stop", "wait", at=MIDNIGHT + MINUTE - 3)
        late = krond.wait_for("run_started")["periodId"]
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT), period_id(MIDNIGHT + 3650 * DAY), late])
        self.assertLess(instant(late), MIDNIGHT + HOUR)


class Windows(Failures):
    def test_a_fresh_start_inside_a_window_still_runs_its_period(self):
        late = {"window": "30m", "only": {"between": "01:20-01:30"}}
        self.host.write_jobs(self.host.job("job", "0 * * * *", policy=PATIENT, **late))
        self.host.once(at=MIDNIGHT + HOUR + 10 * MINUTE)
        self.assertEqual(self.host.effects(), [])
        self.host.once(at=MIDNIGHT + HOUR + 31 * MINUTE)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT + HOUR)])

    def test_a_fresh_start_after_the_chosen_time_does_not_run_it(self):
        early = {"window": "50m", "only": {"between": "01:00-01:20"}}
        self.host.write_jobs(self.host.job("job", "0 * * * *", policy=PATIENT, **early))
        self.host.once(at=MIDNIGHT + HOUR + 22 * MINUTE)
        self.host.once(at=MIDNIGHT + HOUR + 40 * MINUTE)
        self.assertEqual(self.host.effects(), [])

    def test_hourly_with_a_window_of_six_hours_runs_every_period_at_its_own_time(self):
        policy = {"deadline": "30s", "concurrency": "allow"}
        self.host.write_jobs(self.host.job("job", "0 * * * *", window="6h", policy=policy))
        self.host.once(at=MIDNIGHT)
        periods = self.predicted("job", MIDNIGHT + MINUTE, 12 * HOUR)
        self.assertNotEqual([nominal for nominal, _ in periods], sorted(nominal for nominal, _ in periods))
        for nominal, chosen in periods:
            krond = self.host.once(at=chosen + 2)
            started = {event["periodId"]: instant(event["chosenTime"]) for event in krond.all("run_started")}
            self.assertEqual(started.get(nominal), chosen)
        self.assertEqual(sorted(self.host.periods("job")), sorted(nominal for nominal, _ in periods))

    def test_corrupt_state_with_windows_before_and_around_never_repeats(self):
        for mode in ("before", "around"):
            with self.subTest(mode=mode):
                self.repeat_after_corruption(mode)

    def repeat_after_corruption(self, mode):
        job = f"job-{mode}"
        self.host.write_jobs(self.host.job(job, "0 * * * *", window={"mode": mode, "duration": "40m"}, policy=PATIENT))
        self.host.once(at=MIDNIGHT + 30)
        (first, first_chosen), (second, second_chosen) = self.predicted(job, MIDNIGHT + MINUTE, 4 * HOUR)[:2]
        self.host.once(at=first_chosen + 1)
        self.assertEqual(self.host.periods(job), [first])
        self.host.state_path(job).write_text("{", encoding="utf-8")
        # Right away, at the nominal time, at the end of the window, and before and after the next one's time.
        nominal = instant(first)
        later = [first_chosen + 2, nominal, nominal + 20 * MINUTE, second_chosen - 2, second_chosen + 1]
        for at in sorted(at for at in later if at > first_chosen):
            self.host.once(at=at)
        self.assertEqual(self.host.periods(job), [first, second])
        self.assertEqual(len(list(self.host.state.glob(self.host.state_path(job).name + ".corrupt.*"))), 1)


class Records(Failures):
    def test_a_kill_between_start_and_save_runs_the_period_once(self):
        has_made_process = False
        for point in range(1, 60):
            with Host() as host:
                host.write_jobs(host.job("job", "* * * * *", policy=PATIENT))
                host.once(at=MIDNIGHT - 30)
                killed = host.start(at=MIDNIGHT + 5, once=True, kill_at=point)
                killed.ended()
                at_call = json.loads(killed.answer)["killed_at"]
                self.assertIsNotNone(at_call, "krond never replaced the record after it had made a process")
                has_made_process = has_made_process or at_call.startswith("clone") or at_call == "vfork"
                if not (has_made_process and at_call.startswith("rename")):
                    continue
                self.assertEqual(host.effects(), [], "it ran before its record was safe")
                self.assertEqual(host.record("job"), {})
                host.once(at=MIDNIGHT + 6)
                host.once(at=MIDNIGHT + 7)
                self.assertEqual(host.periods("job"), [period_id(MIDNIGHT)])
                return

    def test_skipped_stays_skipped_after_a_restart(self):
        self.host.write_jobs(self.host.holding_job("job", "* * * * *", policy=PATIENT))
        self.host.once(at=MIDNIGHT - 30)
        first = self.host.start(at=MIDNIGHT + 5)
        first.wait_for("run_started")
        first.kill()
        second = self.host.start(at=MIDNIGHT + MINUTE + 5)
        self.assertEqual(second.wait_for("period_ended")["reason"], "concurrency_forbid")
        second.kill()
        self.host.let_go()
        self.host.wait_for_runs()
        self.host.once(at=MIDNIGHT + MINUTE + 10)
        self.host.once(at=MIDNIGHT + MINUTE + 20)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT)])
        skipped = [entry["PeriodID"] for entry in self.host.history("job", "skipped")]
        self.assertEqual(skipped, [period_id(MIDNIGHT + MINUTE)])

    def test_a_reused_pid_does_not_block_forbid(self):
        foreign = subprocess.Popen(["sleep", "1000"])
        self.addCleanup(foreign.wait)
        self.addCleanup(foreign.kill)
        self.host.write_jobs(self.host.holding_job("job", "* * * * *", policy=PATIENT))
        self.host.once(at=MIDNIGHT - 30)
        krond = self.host.start(at=MIDNIGHT + 5)
        krond.wait_for("run_started")
        self.host.wait_for_effects(1)
        krond.kill()
        self.host.let_go()
        self.host.wait_for_runs()
        run = self.host.record("job")["ActiveExecution"]
        # Its PID is another's now; then even the start time is, but in another boot.
        start = process_start(foreign.pid)
        reuses = [{"PID": foreign.pid}, {"PID": foreign.pid, "ProcessStart": start, "BootID": "another"}]
        record = self.host.record("job")
        for minute, reuse in enumerate(reuses, 1):
            active = {**run, **reuse}
            self.host.edit_record("job", ActiveExecution=active, ActiveExecutions=[active],
                                  History=record.get("History", []))
            self.host.once(at=MIDNIGHT + minute * MINUTE + 5)
        self.assertEqual(self.host.periods("job"), [period_id(MIDNIGHT + minute * MINUTE) for minute in range(3)])
        self.assertIsNone(foreign.poll())


class Commands(Failures):
    def test_what_cannot_be_executed_is_that_runs_failure(self):
        locked = self.host.root / "locked"
        locked.mkdir(mode=0o700)
        plain = self.host.root / "plain"
        plain.write_text("no program", encoding="utf-8")
        every = {"schedule": EVERY_SECOND}
        jobs = {"missing": {"command": "/no/such/command", **every}, "no-program": {"command": str(plain), **every},
                "stranger": {"command": "true", "user": "no-such-user", **every},
                "no-directory": {"command": "true", "cwd": "/no/such/directory", **every},
                "file-as-directory": {"command": "true", "cwd": str(plain), **every}}
        if os.geteuid() == 0:
            jobs["locked-out"] = {"command": "true", "cwd": str(locked), "user": "nobody", **every}
        self.host.write_jobs(*[{"name": name, **job} for name, job in jobs.items()],
                             self.host.job("good", EVERY_SECOND))
        krond = self.host.started()
        for name in jobs:
            ended = krond.wait_for("run_ended", identity=name)
            self.assertEqual(ended["exitCode"], 127 if name == "missing" else 126, ended)
            self.assertNotEqual(ended.get("reason", ""), "", ended)
        goods = len(krond.all("run_ended", identity="good", exitCode=0))
        krond.wait_for("run_ended", identity="good", count=goods + 2, exitCode=0)
        krond.wait_for("run_ended", identity="missing", count=2)
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(set(self.executed("stranger").values()), {126})

    def test_a_job_that_leaves_a_daemon_behind_ends_properly(self):
        pids = self.host.root / "pids"
        self.addCleanup(self.kill_all_in, pids)
        silent = f"setsid sleep 1000 </dev/null >/dev/null 2>&1 & echo $! >> {pids}; echo said"
        holding = f"sleep 1000 & echo $! >> {pids}; echo said"
        self.host.write_jobs(self.host.job("silent", "0 * * * *", silent, policy=PATIENT),
                             self.host.job("holding", "0 * * * *", holding, policy=PATIENT))
        self.host.once(at=MIDNIGHT - 30)
        krond = self.host.once(at=MIDNIGHT + 5)
        for job in ("silent", "holding"):
            ended = krond.wait_for("run_ended", identity=job)
            self.assertEqual(ended["exitCode"], 0)
            self.assertEqual(self.host.output(ended["runId"]), "said\n")
        left_behind = [int(pid) for pid in pids.read_text(encoding="utf-8").split()]
        self.assertEqual([process_start(pid) is not None for pid in left_behind], [True, True])
        # It does not stand in the way of the next period either.
        self.host.once(at=MIDNIGHT + HOUR + 5)
        self.assertEqual(len(self.host.periods("silent")), 2)

    def kill_all_in(self, pids):
        for pid in pids.read_text(encoding="utf-8").split():
            os.kill(int(pid), signal.SIGKILL)

    def test_a_flood_of_output_does_not_slow_other_jobs(self):
        beat = self.host.job("beat", EVERY_SECOND, policy={"deadline": "3s"})
        flood = {"name": "flood", "schedule": EVERY_SECOND, "command": "yes flood"}
        self.host.write_jobs(flood, beat)
        krond = self.host.started("--on-stop", "terminate")
        run = krond.wait_for("run_started", identity="flood")["runId"]
        output = self.host.run_directory(run) / "output"
        until(lambda: output.exists() and output.stat().st_size > 1 << 20, "the flood")
        before = len(krond.all("run_ended", identity="beat"))
        krond.wait_for("run_ended", identity="beat", count=before + 4)
        self.assertEqual(krond.stop(), 0)
        beats = [instant(period) for period in self.host.periods("beat")]
        self.assertEqual(beats, list(range(beats[0], beats[-1] + 1)))
        self.assertEqual({entry["Outcome"] for entry in self.host.history("beat")}, {"executed"})
        self.assertLess(output.stat().st_size, (10 << 20) + 100)
        self.assertIn("bytes cut here", self.host.output(run)[:100])


if __name__ == "__main__":
    unittest.main()
