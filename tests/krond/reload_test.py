"""HUP, and what krond refuses to read: other people's files, and another krond's state."""

import json
import os
import signal
import subprocess
import unittest

import krond_host
from krond_host import DUE, EVERY_SECOND, MINUTE, PATIENT, OnHost, is_process_of, period_id


class OnReloadedHost(OnHost):
    def reload(self, krond, event="reloaded"):
        before = len(krond.all("reloaded"))
        krond.signal(signal.SIGHUP)
        krond.wait_for("reloaded", count=before + 1)
        return krond.all(event)[-1]

    def runs_after(self, krond, *jobs):
        """Which of these have started anew once each of them has had the time to, twice."""
        counts = {job: len(krond.all("run_started", identity=job)) for job in jobs}
        krond.wait_for("run_started", identity="beat", count=len(krond.all("run_started", identity="beat")) + 3)
        return {job for job in jobs if len(krond.all("run_started", identity=job)) > counts[job]}

    def beat(self):
        return self.host.job("beat", EVERY_SECOND, policy={"deadline": "3s"})


class Reload(OnReloadedHost):
    def test_a_bad_file_keeps_its_old_jobs_and_the_others_go_on(self):
        self.host.write_jobs(self.beat(), name="beat.json")
        self.host.write_jobs(self.host.job("other", EVERY_SECOND, policy={"deadline": "3s"}), name="other.json")
        krond = self.host.started()
        path = self.host.write_jobs(name="other.json", text='{"jobs": [{"name": "other", "schedule": "99 * * * *"')
        refused = self.reload(krond, "job_file_refused")
        self.assertEqual(refused["path"], str(path))
        self.assertEqual(self.runs_after(krond, "beat", "other"), {"beat", "other"})
        # It is in order again, and says something else.
        self.host.write_jobs(self.host.job("another", EVERY_SECOND, policy={"deadline": "3s"}), name="other.json")
        self.reload(krond)
        self.assertEqual(self.runs_after(krond, "beat", "other", "another"), {"beat", "another"})

    def test_a_file_that_is_gone_takes_its_jobs_with_it(self):
        self.host.write_jobs(self.beat(), name="beat.json")
        path = self.host.write_jobs(self.host.job("other", EVERY_SECOND), name="other.json")
        krond = self.host.started()
        krond.wait_for("run_started", identity="other")
        path.unlink()
        self.assertEqual(self.reload(krond)["jobs"], 1)
        self.assertEqual(self.runs_after(krond, "beat", "other"), {"beat"})
        self.assertTrue(self.host.record("other"), "its state must stay")

    def test_what_did_not_change_is_not_touched(self):
        self.host.write_jobs(self.host.job("idle", "0 * * * *", policy=PATIENT), name="idle.json")
        self.host.write_jobs(self.host.holding_job("busy", "0 * * * *", policy=PATIENT), name="busy.json")
        self.host.once(at=DUE - MINUTE)
        krond = self.host.start(at=DUE + 5)
        krond.wait_for("run_started", identity="busy")
        krond.wait_for("run_ended", identity="idle")
        records = {job: self.host.state_path(job).stat() for job in ("idle", "busy")}
        self.host.write_jobs(self.host.job("new", "30 * * * *"), name="new.json")
        self.assertEqual(self.reload(krond)["jobs"], 3)
        for job, before in records.items():
            after = self.host.state_path(job).stat()
            self.assertEqual((after.st_ino, after.st_mtime_ns), (before.st_ino, before.st_mtime_ns), job)
        self.assertTrue(is_process_of(self.only_active_run()))

    def test_a_changed_command_holds_from_the_next_run_on_and_no_period_runs_again(self):
        self.host.write_jobs(self.host.job("job", "* * * * *", "echo old", policy=PATIENT))
        self.host.once(at=DUE - 30)
        krond = self.host.start(at=DUE + 5)
        krond.wait_for("run_ended")
        self.host.write_jobs(self.host.job("job", "* * * * *", "echo new", policy=PATIENT))
        self.reload(krond)
        self.assertEqual(krond.stop(), 0)
        run = self.host.once(at=DUE + MINUTE + 5).wait_for("run_ended")
        self.assertEqual(self.host.output(run["runId"]), "new\n")
        self.assertEqual(self.host.periods("job"), [period_id(DUE), period_id(DUE + MINUTE)])


    def test_a_storm_of_reloads_runs_no_period_twice(self):
        def write(turn):
            schedule = EVERY_SECOND if turn % 2 else "*/2 * * * * *"
            changing = self.host.job("changing", schedule, f"echo {turn}", history=1000)
            coming = [self.host.job("coming", EVERY_SECOND, history=1000)] if turn % 3 else []
            self.host.write_jobs(self.beat(), changing, *coming)

        write(1)
        krond = self.host.started("--on-stop", "wait")
        turn = 1
        while len(krond.all("run_ended", identity="beat")) < 4:
            turn += 1
            write(turn)
            self.reload(krond)
        self.assertEqual(krond.stop(), 0)
        effects = self.host.effects()
        self.assertEqual(len(effects), len(set(effects)))
        self.assertGreater(turn, 10)


class Calendars(OnReloadedHost):
    """A job that keeps out of the holidays in a file beside it."""

    def write_calendar(self, *days, then=""):
        events = "".join(f"BEGIN:VEVENT\r\nUID:{day}\r\nDTSTART;VALUE=DATE:{day}\r\nEND:VEVENT\r\n" for day in days)
        return self.host.write_jobs(name="fr.ics", text=f"BEGIN:VCALENDAR\r\n{events}{then}END:VCALENDAR\r\n")

    def write_job(self):
        self.host.write_jobs(
            name="jobs.json",
            text=json.dumps({"calendars": {"holidays": {"file": "fr.ics"}},
                             "jobs": [self.beat(), self.host.job("job", EVERY_SECOND, policy={"deadline": "3s"},
                                                                 avoid={"calendar": "holidays"})]}))

    @staticmethod
    def today(krond_at=DUE):
        return period_id(krond_at)[:10].replace("-", "")

    def decided(self, line):
        """What kron decide makes of the decision in a line of the log."""
        result = subprocess.run([os.environ["KRON"], "decide"], input=json.dumps(line["decision"]) + "\n", text=True,
                                capture_output=True, check=True)
        return json.loads(result.stdout)

    def test_a_changed_file_holds_from_the_reload_on_and_the_log_tells_its_dates(self):
        days = ["20260101", "20300101"]
        self.write_calendar(*days)
        self.write_job()
        krond = self.host.started(at=DUE)
        started = krond.wait_for("run_started", identity="job")
        self.assertEqual(started["decision"]["calendars"], {"holidays": []})
        self.write_calendar(self.today(), *days)
        self.reload(krond)
        ended = krond.wait_for("period_ended", identity="job", outcome="unschedulable")
        self.assertEqual((ended["reason"], ended["clause"]), ("excluded", "avoid calendar=holidays"))
        self.assertEqual(ended["decision"]["calendars"], {"holidays": [period_id(DUE)[:10]]})
        (self.host.config / "fr.ics").unlink()
        answer = self.decided(ended)
        self.assertEqual((answer["unschedulable"], answer["clause"], answer["seedHash"]),
                         (True, ended["clause"], ended["seedHash"]))
        self.assertEqual(self.decided(started)["chosenTime"], started["chosenTime"])
        # The file is gone: what it said stays in force.
        self.assertEqual(self.reload(krond, "job_file_refused")["path"], str(self.host.config / "jobs.json"))
        self.assertEqual(self.runs_after(krond, "beat", "job"), {"beat"})
        self.write_calendar(*days)
        self.reload(krond)
        self.assertEqual(self.runs_after(krond, "beat", "job"), {"beat", "job"})

    def test_a_file_that_others_can_write_is_refused(self):
        path = self.write_calendar("20300101")
        path.chmod(0o662)
        self.write_job()
        krond = self.host.started(at=DUE)
        problem = krond.wait_for("job_file_problem", level="error")
        self.assertIn("others can write it", problem["reason"])
        krond.wait_for("run_started", identity="beat", count=2)
        self.assertEqual(krond.all("run_started", identity="job"), [])

    def test_two_hosts_with_the_same_file_decide_the_same(self):
        self.write_calendar(self.today(), "20300101", then="BEGIN:VEVENT\r\nUID:y\r\nDTSTART;VALUE=DATE:20000714\r\n"
                                                          "RRULE:FREQ=YEARLY\r\nEND:VEVENT\r\n")
        job = self.host.job("job", "0 * * * *", window="30m", policy={"deadline": "1h"}, avoid={"calendar": "holidays"})
        text = json.dumps({"calendars": {"holidays": {"file": "fr.ics"}}, "jobs": [job]})
        decisions = []
        with krond_host.Host() as other:
            for host in (self.host, other):
                host.write_jobs(name="fr.ics", text=(self.host.config / "fr.ics").read_text(encoding="utf-8"))
                host.write_jobs(name="jobs.json", text=text)
                host.once(at=DUE - MINUTE)
                ended = host.once(at=DUE + 2400).wait_for("period_ended", identity="job")
                decisions.append({key: ended[key] for key in ("periodId", "outcome", "clause", "seedHash", "decision")})
        self.assertEqual(decisions[0], decisions[1])
        self.assertEqual(decisions[0]["outcome"], "unschedulable")


class Refusals(OnHost):
    def test_a_second_krond_on_the_same_state_is_refused_and_told_by_whom(self):
        self.host.write_jobs(self.host.job("job", "0 * * * *"))
        first = self.host.started()
        second = self.host.start()
        self.assertEqual(second.ended(), 2)
        self.assertIn(str(first.pid), second.log())
        self.assertEqual(first.stop(), 0)
        self.assertEqual(self.host.started().stop(), 0)

    def test_files_that_others_can_write_are_refused(self):
        self.host.write_jobs(self.host.job("safe", EVERY_SECOND), name="safe.json")
        path = self.host.write_jobs(self.host.job("open", EVERY_SECOND), name="open.json")
        for mode in (0o620, 0o602):
            path.chmod(mode)
            krond = self.host.started()
            problem = krond.wait_for("job_file_problem", path=path)
            self.assertEqual(problem["level"], "error")
            self.assertIn("others can write", problem["reason"])
            krond.wait_for("run_ended", identity="safe")
            self.assertEqual(krond.stop(), 0)
        self.assertEqual(self.host.periods("open"), [])

    def test_a_file_that_others_can_write_after_a_reload_keeps_its_old_jobs(self):
        path = self.host.write_jobs(self.host.job("job", EVERY_SECOND, policy={"deadline": "3s"}))
        krond = self.host.started()
        path.chmod(0o666)
        krond.signal(signal.SIGHUP)
        krond.wait_for("reloaded")
        krond.wait_for("run_started", count=len(krond.all("run_started")) + 2)

    def test_a_directory_of_jobs_that_others_can_write_is_refused(self):
        self.host.write_jobs(self.host.job("job", EVERY_SECOND))
        self.host.config.chmod(0o777)
        krond = self.host.once()
        self.assertIn("others can write", krond.log())
        self.assertEqual(self.host.effects(), [])

    def test_a_state_directory_that_others_can_write_is_refused(self):
        self.host.write_jobs(self.host.job("job", EVERY_SECOND))
        self.host.state.mkdir()
        self.host.state.chmod(0o777)
        krond = self.host.start()
        self.assertNotEqual(krond.ended(), 0)
        self.assertIn("can be changed by others", krond.log())


if __name__ == "__main__":
    unittest.main()
