"""`kron why` and its endpoint against real kronds: what ran, what did not, and what kept it."""

import datetime
import json
import unittest

from api_host import NEVER, ApiHost, OnApiHost, until
from krond_host import DUE, HOUR, MINUTE, instant, period_id

HOURLY = "0 * * * *"


def weekday(seconds):
    return datetime.datetime.fromtimestamp(seconds, datetime.timezone.utc).strftime("%a").upper()


class Why(unittest.TestCase):
    """Three kronds: one that is told to end, one that is killed, and one that is asked."""

    @classmethod
    def setUpClass(cls):
        cls.host = ApiHost()
        cls.addClassCleanup(cls.host.close)
        host = cls.host
        host.write_jobs(
            host.job("hourly", HOURLY),
            host.job("failing", HOURLY, "exit 3"),
            host.holding_job("busy", HOURLY),
            host.job("patient", HOURLY, policy={"deadline": "12h"}),
            host.job("paused", HOURLY),
            host.job("asleep", HOURLY, policy={"suspend": True}),
            host.job("excluded", HOURLY, avoid={"dow": weekday(DUE)}),
            host.job("boot", "@reboot"),
            host.job("never", NEVER))
        first, api = host.serve(at=DUE - 15)  # time enough to pause on a busy machine
        api.post("jobs", "paused", "pause")
        first.wait_for("run_ended", identity="failing")
        first.wait_for("run_ended", identity="hourly")
        host.wait_for_effects(1, "busy")
        assert first.stop() == 0
        second, api = host.serve(at=DUE + 2 * HOUR + 30 * MINUTE)
        second.wait_for("period_ended", identity="hourly")
        # Killed before, it would be passed over, or its start be known no more.
        until(lambda: any(run.get("periodId") == period_id(DUE + 2 * HOUR) and run["state"] == "ended"
                          for run in api.get("runs", job="patient")["runs"]), "the late run in the history")
        second.kill()
        cls.krond, cls.api = host.serve(at=DUE + 4 * HOUR + 30 * MINUTE)
        cls.krond.wait_for("period_ended", identity="hourly")

    def why(self, job, **question):
        """The answer of the API; `kron why` says the same."""
        answer = self.api.get("jobs", job, "why", **question)
        flags = [word for name, value in question.items() for word in (f"--{name}", value)]
        result = self.host.kron("why", job, *flags, "--format", "json")
        self.assertEqual(result.returncode, 0, result)
        told = json.loads(result.stdout)
        for name in ("verdict", "sentence", "reason", "instead", "period", "entry", "down", "paused"):
            self.assertEqual(told[name], answer[name])
        screen = self.host.kron("why", job, *flags).stdout
        self.assertTrue(screen.startswith(answer["sentence"] + "\n"), screen)
        return answer

    def assert_near(self, text, seconds):
        self.assertLess(abs(instant(text) - seconds), 10 * MINUTE, (text, period_id(seconds)))

    def test_a_run_is_told_with_its_end(self):
        answer = self.why("hourly", period=period_id(DUE))
        self.assertEqual(answer["sentence"], "executed: exit 0")
        self.assertEqual(answer["entry"]["periodId"], period_id(DUE))
        self.assertEqual(self.why("failing", at=period_id(DUE))["sentence"], "executed: failed with exit 3")

    def test_what_was_missed_names_the_time_without_krond(self):
        stopped = self.why("hourly", period=period_id(DUE + 2 * HOUR))
        self.assertEqual(stopped["verdict"], "missed")
        self.assertRegex(stopped["sentence"], r"^missed: krond was stopped from \S+Z to \S+Z$")
        self.assertEqual(stopped["down"]["why"], "stopped")
        self.assert_near(stopped["down"]["from"], DUE)
        self.assert_near(stopped["down"]["to"], DUE + 2 * HOUR + 30 * MINUTE)
        self.assertRegex(stopped["instead"], r"^with deadline=(30m|1h) it would have started at ")
        killed = self.why("hourly", period=period_id(DUE + 4 * HOUR))
        self.assertRegex(killed["sentence"], r"^missed: krond was down from \S+Z to \S+Z$")
        self.assertEqual(killed["down"]["why"], "")
        self.assert_near(killed["down"]["from"], DUE + 2 * HOUR + 30 * MINUTE)

    def test_what_was_late_is_told_with_its_cause(self):
        late = self.why("patient", period=period_id(DUE + 2 * HOUR))
        self.assertEqual(late["verdict"], "executed")
        self.assertRegex(late["reason"], r"after its chosen time .*: krond was stopped from ")

    def test_what_was_passed_over(self):
        answer = self.why("hourly", period=period_id(DUE + HOUR))
        self.assertEqual(answer["verdict"], "passed over")
        self.assertRegex(answer["sentence"], "krond was stopped from")

    def test_a_pause_and_a_definition_hold_back(self):
        answer = self.why("paused", period=period_id(DUE))
        self.assertEqual(answer["verdict"], "paused")
        self.assert_near(answer["paused"]["since"], DUE)
        self.assertRegex(answer["sentence"], r"^paused: .*since \S+Z, until it is resumed")
        self.assertEqual(self.why("asleep", period=period_id(DUE + HOUR))["verdict"], "suspended")

    def test_what_is_excluded_names_the_clause(self):
        answer = self.why("excluded", period=period_id(DUE))
        self.assertEqual(answer["verdict"], "excluded")
        self.assertIn(f"avoid dow={weekday(DUE)}", answer["sentence"])
        self.assertRegex(answer["instead"], r"^without `avoid dow=...` its time would be ")

    def test_a_time_without_a_period(self):
        answer = self.why("hourly", at=period_id(DUE + 7 * MINUTE))
        self.assertEqual(answer["verdict"], "no period")
        self.assertIn("minute 7 is not in 0", answer["sentence"])
        self.assertEqual(answer["before"]["periodId"], period_id(DUE))
        self.assertEqual(answer["after"]["periodId"], period_id(DUE + HOUR))

    def test_a_run_that_goes_on_and_what_it_keeps_away(self):
        self.assertEqual(self.why("busy", period=period_id(DUE))["verdict"], "running")

    def test_what_was_before_krond_knew_the_job(self):
        self.assertEqual(self.why("hourly", period=period_id(DUE - HOUR))["verdict"], "not loaded")

    def test_what_is_ahead(self):
        self.assertEqual(self.why("hourly", period=period_id(DUE + 9 * HOUR))["verdict"], "ahead")
        self.assertEqual(self.why("boot")["verdict"], "executed")

    def test_who_asks_wrongly_is_told(self):
        for arguments, status, text in ((("why", "nosuch"), 1, "there is no job named 'nosuch'"),
                                        (("why", "hourly", "--at", "soon"), 1, "--at"),
                                        (("why", "hourly", "--socket", "/nonexistent/sock"), 3, "krond")):
            result = self.host.kron(*arguments)
            self.assertEqual(result.returncode, status, result)
            self.assertIn(text, result.stderr)
            self.assertEqual(result.stdout, "")


class Skipped(OnApiHost):
    """What a run keeps away."""

    def write_jobs(self):
        self.host.write_jobs(self.host.holding_job("busy", "* * * * * *"))

    def test_the_run_that_went_on_is_named(self):
        self.krond.wait_for("period_ended", identity="busy", outcome="skipped")
        skipped = self.api.get("runs", outcome="skipped", limit=1)["runs"][0]
        answer = self.api.get("jobs", "busy", "why", period=skipped["periodId"])
        self.assertEqual(answer["verdict"], "skipped")
        running = self.api.get("jobs", "busy")["active"][0]["runId"]
        self.assertIn(f"the run {running} of the period", answer["reason"])
        self.assertRegex(answer["instead"], "^with concurrency=allow it would have started at ")
        at = self.api.get("jobs", "busy", "why", at=skipped["periodId"])
        self.assertEqual(at["sentence"], answer["sentence"])


class UpTimes(unittest.TestCase):
    """history/up.json, whatever becomes of it."""

    @staticmethod
    def times_in(path):
        """None while the text there is not whole: what was cut off stays until it is replaced."""
        try:
            return json.loads(path.read_text())["up"]
        except json.JSONDecodeError:
            return None

    def test_a_file_that_was_cut_off_is_begun_anew(self):
        with ApiHost() as host:
            host.write_jobs(host.job("never", NEVER))
            krond, _ = host.serve()
            krond.stop()
            path = host.state / "history/up.json"
            up = json.loads(path.read_text())["up"]
            self.assertEqual([one["end"] for one in up], ["stopped"])
            self.assertEqual(path.stat().st_mode & 0o777, 0o600)
            path.write_text(path.read_text()[:30])
            krond, _ = host.serve()
            krond.wait_for("up_times_lost")
            until(lambda: len(self.times_in(path) or []) == 1, "the file anew")
            krond.kill()
            krond, _ = host.serve()
            until(lambda: len(json.loads(path.read_text())["up"]) == 2, "the next krond")
            self.assertNotIn("end", json.loads(path.read_text())["up"][0], "it was killed")


if __name__ == "__main__":
    unittest.main()
