"""What survives krond, how it is told to end, and what a pause is to it."""

import json
import os
import platform
import select
import signal
import subprocess
import unittest
from pathlib import Path

from krond_host import (DUE, EVERY_SECOND, HOUR, IS_FULL, MINUTE, PATIENCE, PATIENT, OnHost, instant, is_process_of,
                        period_id, until)

KRON = os.environ["KRON"]

# epoll_wait and epoll_pwait, as /proc names them.
SLEEPING_CALLS = {"232", "281"} if platform.machine() == "x86_64" else {"22"}


def state_of(pid):
    return Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]


class RunsSurvive(OnHost):
    def finish_after(self, end_krond):
        job = self.host.holding_job("job", "0 * * * *", policy=PATIENT)
        job["command"] = "echo before; " + job["command"] + "; echo after; exit 7"
        self.host.write_jobs(job)
        self.host.once(at=DUE - MINUTE)
        krond = self.host.start(at=DUE + 5)
        run_id = krond.wait_for("run_started")["runId"]
        self.host.wait_for_effects(1)
        end_krond(krond)
        self.assertTrue(is_process_of(self.only_active_run()))
        return run_id

    def assert_ended(self, krond, run_id):
        ended = krond.wait_for("run_ended", runId=run_id)
        self.assertEqual(ended["exitCode"], 7)
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(self.host.output(run_id), "before\nafter\n")
        self.assertEqual([entry["ExitCode"] for entry in self.host.history("job")], [7])
        self.assertEqual(self.host.periods("job"), [period_id(DUE)])

    def test_a_stop_and_the_next_krond_sees_their_end(self):
        run_id = self.finish_after(lambda krond: self.assertEqual(krond.stop(), 0))
        krond = self.host.started(at=DUE + 10)
        self.assertEqual(krond.all("daemon_started")[0]["running"], 1)
        self.host.let_go()
        self.assert_ended(krond, run_id)

    def test_a_kill_and_their_end_is_known_although_nobody_saw_it(self):
        run_id = self.finish_after(lambda krond: krond.kill())
        self.host.let_go()
        self.host.wait_for_runs()
        self.assert_ended(self.host.started(at=DUE + 10), run_id)

    def test_their_timeout_holds_while_no_krond_is_there(self):
        krond, run_id = self.hold_run(timeout="1s")
        krond.kill()
        self.host.wait_for_runs()
        ended = self.host.once(at=DUE + 20).wait_for("run_ended", runId=run_id)
        self.assertEqual((ended["exitCode"], ended["reason"]), (143, "timed out after 1s"))

    def test_forbid_holds_for_them(self):
        krond, _ = self.hold_run()
        krond.kill()
        krond = self.host.started(at=DUE + HOUR + 5)
        self.assertEqual(krond.wait_for("period_ended")["reason"], "concurrency_forbid")
        self.host.let_go()
        krond.wait_for("run_ended", exitCode=0)
        self.assertEqual(self.host.periods("job"), [period_id(DUE)])

    def test_runs_of_a_job_that_is_gone_are_ended_in_the_record(self):
        krond, run_id = self.hold_run()
        os.unlink(self.host.config / "jobs.json")
        krond.signal(signal.SIGHUP)
        krond.wait_for("reloaded")
        self.host.let_go()
        krond.wait_for("run_ended", runId=run_id, exitCode=0)
        self.assertEqual(krond.stop(), 0)
        self.assertEqual([entry["ExitCode"] for entry in self.host.history("job")], [0])


class Stopping(OnHost):
    def test_leave_ends_at_once_and_the_run_goes_on(self):
        krond, _ = self.hold_run()
        krond.signal(signal.SIGINT)
        self.assertEqual(krond.ended(), 0)
        self.assertTrue(is_process_of(self.only_active_run()))

    def test_wait_ends_with_the_last_run_and_starts_nothing(self):
        self.host.write_jobs(self.host.holding_job("job", EVERY_SECOND, policy={"concurrency": "allow"}))
        krond = self.host.start("--on-stop", "wait")
        krond.wait_for("run_started")
        krond.signal(signal.SIGTERM)
        stopping = krond.wait_for("daemon_stopping")
        self.assertIsNone(krond.process.poll())
        self.host.let_go()
        self.assertEqual(krond.ended(), 0)
        self.assertEqual(len(self.host.history("job", "executed")), stopping["running"])
        self.assertEqual(self.host.active_runs(), [])

    def test_wait_told_twice_waits_no_longer(self):
        krond, _ = self.hold_run("--on-stop", "wait")
        krond.signal(signal.SIGTERM)
        krond.wait_for("daemon_stopping")
        krond.signal(signal.SIGTERM)
        self.assertEqual(krond.ended(), 0)
        self.assertTrue(is_process_of(self.only_active_run()))

    def test_terminate_ends_the_runs_and_records_it(self):
        krond, run_id = self.hold_run("--on-stop", "terminate")
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(krond.wait_for("run_ended", runId=run_id)["exitCode"], 143)
        self.assertEqual([entry["ExitCode"] for entry in self.host.history("job")], [143])

    def test_terminate_kills_what_does_not_listen(self):
        self.host.write_jobs(self.host.job("job", "0 * * * *", "trap '' TERM; while :; do sleep 0.1; done",
                                           policy=PATIENT, grace="1s"))
        self.host.once(at=DUE - MINUTE)
        krond = self.host.start("--on-stop", "terminate", at=DUE + 5)
        krond.wait_for("run_started")
        self.host.wait_for_effects(1)
        self.assertEqual(krond.stop(), 0)
        self.assertEqual([entry["ExitCode"] for entry in self.host.history("job")], [137])


class PromisedRuns(OnHost):
    """A manual run that waits for another to end, and never starts."""

    def test_whoever_waits_for_one_whose_job_is_removed_is_told(self):
        command = f"trap 'echo job asked >> {self.host.effects_path}' TERM; while :; do sleep 0.1; done"
        deaf = self.host.job("job", "0 0 1 1 *", command, policy={"concurrency": "replace"}, grace="1m")
        self.host.write_jobs(deaf)
        krond = self.host.started("--on-stop", "terminate")
        kron = [KRON, "trigger", "job", "--state-dir", str(self.host.state), "--format", "json"]
        first = json.loads(subprocess.check_output(kron, timeout=PATIENCE))
        krond.wait_for("run_started", runId=first["runId"])
        self.host.wait_for_effects(1)
        waiting = subprocess.Popen([*kron, "--wait"], stdout=subprocess.PIPE, text=True)
        self.addCleanup(waiting.kill)
        self.host.wait_for_effects(2)  # the first was asked to end, so the second waits
        self.host.write_jobs()
        krond.signal(signal.SIGHUP)
        dropped = krond.wait_for("manual_run_dropped")
        answer, _ = waiting.communicate(timeout=PATIENCE)
        run = json.loads(answer)
        self.assertEqual((run["runId"], run["outcome"], run["reason"]), (dropped["runId"], "skipped", "start failed"))
        self.assertNotEqual(waiting.returncode, 0)
        (_, active), = self.host.active_runs()
        os.kill(active["PID"], signal.SIGUSR1)


class PlannedRestarts(OnHost):
    """TERM, and the next krond within ten seconds; all of the clocks but the offset are real."""

    def note(self):
        return self.host.state / "stopped.json"

    def outcome_after(self, end_krond, back_at, **edits):
        self.host.write_jobs(self.host.job("job", "0 * * * *"))
        krond = self.host.started(at=DUE - 5)
        end_krond(krond)
        if edits:
            self.note().write_text(json.dumps({**json.loads(self.note().read_text(encoding="utf-8")), **edits}))
        krond = self.host.started(at=back_at)
        self.assertFalse(self.note().exists())
        event = krond.wait_for_any("run_started", "period_ended")
        self.assertEqual(event["periodId"], period_id(DUE))
        krond.stop()
        return event["outcome"]

    @staticmethod
    def term(krond):
        krond.stop()

    def test_what_became_due_meanwhile_runs(self):
        self.assertEqual(self.outcome_after(self.term, DUE + 2), "executed")

    def test_the_last_ten_seconds_count_and_no_more(self):
        self.assertEqual(self.outcome_after(self.term, DUE + MINUTE), "missed")

    def test_a_krond_that_was_killed_leaves_no_note(self):
        self.assertEqual(self.outcome_after(lambda krond: krond.kill(), DUE + 2), "missed")

    def test_another_boot_is_downtime(self):
        self.assertEqual(self.outcome_after(self.term, DUE + 2, BootID="another"), "missed")

    def test_a_restart_that_takes_long_is_downtime(self):
        self.assertEqual(self.outcome_after(self.term, DUE + 2, SinceBoot="1ms"), "missed")

    def test_a_note_that_is_damaged_is_downtime(self):
        self.assertEqual(self.outcome_after(self.term, DUE + 2, StoppedAt=7), "missed")


class Pauses(OnHost):
    def stop_in_its_sleep(self, krond):
        """STOP, while it sleeps until something is due: of a turn, ten seconds would count as its own load."""
        def is_asleep():
            krond.signal(signal.SIGSTOP)
            until(lambda: state_of(krond.pid) == "T", "krond to stop")
            if Path(f"/proc/{krond.pid}/syscall").read_text(encoding="utf-8").split()[0] in SLEEPING_CALLS:
                return True
            krond.signal(signal.SIGCONT)
            return False
        until(is_asleep, "krond to sleep")

    def test_a_krond_that_was_stopped_for_seconds_treats_them_as_downtime(self):
        self.host.write_jobs(self.host.job("patient", EVERY_SECOND, policy=PATIENT, history=1000),
                             self.host.job("strict", EVERY_SECOND, policy={"deadline": "1s"}, history=1000))
        krond = self.host.started("--on-stop", "wait")
        krond.wait_for("run_ended", identity="patient", count=2)
        if IS_FULL:
            # The stop may hit krond in the middle of a turn, of which ten seconds count as its own load.
            krond.signal(signal.SIGSTOP)
            select.select([], [], [], 16.5)
        else:
            self.stop_in_its_sleep(krond)
            select.select([], [], [], 5.5)
        krond.signal(signal.SIGCONT)
        krond.wait_for("passed_over", identity="patient")
        krond.wait_for("passed_over", identity="strict")
        krond.wait_for("run_ended", identity="patient", count=len(krond.all("run_ended", identity="patient")) + 2)
        self.assertEqual(krond.stop(), 0)
        effects = self.host.effects()
        self.assertEqual(len(effects), len(set(effects)))
        for job in ("patient", "strict"):
            gap = next(entry for entry in self.host.history(job, "passed over") if entry["Count"] >= 3)
            passed_over = {period_id(at) for at in range(instant(gap["First"]), instant(gap["Last"]) + 1)}
            self.assertEqual(passed_over & set(self.host.periods(job)), set(), job)


if __name__ == "__main__":
    unittest.main()
