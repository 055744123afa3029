"""`kron state`, and the records it looks at and mends: with a krond, without one, and when one must not get in."""

import json
import os
import subprocess
import unittest

from api_host import KRON, NEVER, PATIENCE, ApiHost
from krond_host import DUE, HOUR, MINUTE, period_id
from verbs_test import check

LARGEST = 4 << 20
FAR = "2036-03-01T00:00:00Z"


class StateHost(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)

    def state(self, *arguments, status=0):
        """`kron state …` on the host's state directory, whoever has it."""
        environment = {key: value for key, value in os.environ.items() if key != "KRON_SOCKET"}
        result = subprocess.run([KRON, "state", *map(str, arguments), "--state-dir", self.host.state],
                                capture_output=True, text=True, check=False, timeout=PATIENCE, env=environment)
        self.assertEqual(result.returncode, status, result)
        return result.stdout if status == 0 else result.stderr

    def lines(self, *arguments):
        return [json.loads(line) for line in self.state(*arguments, "--format", "json").splitlines()]

    def plant(self, identity, text="", **members):
        self.host.state.mkdir(mode=0o700, exist_ok=True)
        path = self.host.state_path(identity)
        path.write_text(text or json.dumps({"Version": "1", "Identity": identity, **members}), encoding="utf-8")
        path.chmod(0o600)
        return path


class Records(StateHost):
    """The same with a krond and without."""

    def plant_all(self):
        self.host.write_jobs(self.host.job("good", NEVER), self.host.job("large", NEVER), self.host.job("new", NEVER))
        self.plant("good", LastHandledPeriodID="2026-01-01T00:00:00Z", LastOutcome="executed",
                   LastChosenTime="2026-01-01T00:00:00Z")
        self.plant("large", json.dumps({"Version": "1", "Identity": "large"}) + " " * LARGEST)
        self.plant("gone")
        self.plant("torn", '{"Version":"1","Identity":"torn","Last')

    def look_at_all(self):
        records = {record["identity"]: record for record in self.lines("list")}
        for record in records.values():
            check("StateRecord", record)
        self.assertEqual({name: record["fault"] for name, record in records.items()},
                         {"good": None, "large": "too large", "gone": None, "torn": "damaged"})
        self.assertEqual(records["good"]["lastPeriodId"], "2026-01-01T00:00:00Z")
        shown = self.state("list").splitlines()
        self.assertEqual(shown[0].split(), ["NAME", "RECORD", "LAST", "PERIOD", "OUTCOME", "ACTIVE", "BYTES"])
        self.assertEqual([line.split()[0] for line in shown[1:]], ["gone", "good", "large", "torn"])
        one, = self.lines("show", "good")
        check("RecordWithText", one)
        self.assertEqual(one["record"]["LastHandledPeriodID"], "2026-01-01T00:00:00Z")
        self.assertIn("kron state reset large", self.state("show", "large"))
        self.assertIn("no record of 'nobody'", self.state("show", "nobody", status=1))

    def reset_and_prune(self, *flags):
        reset, = self.lines("reset", "large")
        check("StateReset", reset)
        self.assertEqual(self.host.record("large")["FirstSeen"], reset["firstSeen"])
        self.assertTrue(list(self.host.state.glob(self.host.state_path("large").name + ".corrupt.*")))
        would, = self.lines("prune", *flags)
        check("PrunedState", would)
        self.assertEqual((would["count"], would["dryRun"]), (2, True))
        self.assertIn("would remove gone\n", self.state("prune", *flags))
        self.assertTrue(self.host.state_path("gone").exists())
        self.assertIn("removed gone\n", self.state("prune", "--yes", *flags))
        self.assertEqual({record["identity"] for record in self.lines("list")}, {"good", "large"})
        self.assertIn("is configured", self.state("prune", "--yes", *flags))

    def test_with_a_krond(self):
        self.plant_all()
        krond, api = self.host.serve()
        self.assertEqual(krond.wait_for("job_not_scheduled")["identity"], "large")
        status = api.get("status")
        self.assertEqual([one["identity"] for one in status["notScheduled"]], ["large"])
        self.assertEqual(status["jobs"], 2)
        self.assertRegex(self.host.kron("status").stdout, r"(?m)^not scheduled +large: .*kron state reset")
        self.look_at_all()
        self.reset_and_prune()
        status = api.get("status")
        self.assertEqual((status["notScheduled"], status["jobs"]), ([], 3))
        self.assertIn("there is no job named 'nobody'", self.state("reset", "nobody", status=1))

    def test_without_a_krond(self):
        self.plant_all()
        self.look_at_all()
        self.reset_and_prune("--config", self.host.config)
        self.state("reset", "nobody", status=1)

    def test_prune_keeps_its_hands_off_while_a_job_file_has_errors(self):
        self.plant_all()
        self.host.serve()
        self.host.write_jobs(text="61 * * * * name=x command=true\n", name="bad.kron")
        self.assertIn("bad.kron has an error", self.state("prune", "--yes", status=4))
        self.assertTrue(self.host.state_path("gone").exists())

    def test_a_krond_without_a_socket_is_not_worked_around(self):
        self.plant_all()
        krond = self.host.started("--socket", "none")
        self.assertIn(f"process {krond.pid} has it", self.state("list", status=4))

    def test_a_run_that_lasts_is_not_forgotten(self):
        self.host.write_jobs(self.host.holding_job("lasting", NEVER))
        krond, api = self.host.serve()
        api.post("jobs", "lasting", "trigger")
        self.host.wait_for_effects(1)
        self.assertIn("is active", self.state("reset", "lasting", status=4))
        krond.kill()
        self.assertIn("is active", self.state("reset", "lasting", status=4))
        self.host.write_jobs(self.host.job("other", NEVER))
        self.assertIn("is configured", self.state("prune", "--yes", "--config", self.host.config))
        self.assertTrue(self.host.state_path("lasting").exists())

    def test_ten_thousand_records(self):
        self.host.write_jobs(self.host.job("job-0", NEVER))
        for number in range(10_000):
            self.plant(f"job-{number}", LastHandledPeriodID="2026-01-01T00:00:00Z", LastOutcome="executed")
        self.assertEqual(len(self.lines("list")), 10_000)
        told = self.host.kron("doctor", "--state-dir", self.host.state, "--config", self.host.config).stdout
        self.assertIn("10000 valid records", told)
        self.host.serve()
        self.assertEqual(len(self.lines("list")), 10_000)
        self.assertEqual(self.lines("prune", "--yes")[0]["count"], 9_999)
        self.assertEqual([record["identity"] for record in self.lines("list")], ["job-0"])


class Doctor(StateHost):
    def findings(self, verdict):
        found = json.loads(self.host.kron("doctor", "--state-dir", self.host.state, "--config", self.host.config,
                                          "--format", "json").stdout)["findings"]
        return "\n".join(one["what"] + " → " + one.get("cure", "") for one in found
                         if (one["verdict"], one["about"]) == (verdict, "state"))

    def test_records_that_are_not_in_order_are_named_with_their_cure(self):
        self.host.write_jobs(*(self.host.job(name, NEVER) for name in ("large", "torn", "newer", "fine", "ahead")),
                             self.host.job("early", NEVER, window={"mode": "before", "duration": "12h"}))
        self.plant("fine", LastHandledPeriodID="2026-01-01T00:00:00Z", LastOutcome="executed")
        self.assertIn("1 valid record", self.findings("ok"))
        self.plant("large", " " * (LARGEST + 1))
        self.plant("torn", "{")
        self.plant("newer", '{"Version":"2","Identity":"newer"}')
        problems = self.findings("problem")
        self.assertIn("the record of 'large'", problems)
        self.assertIn("is too large, so its job is not scheduled", problems)
        self.assertIn("the record of 'torn'", problems)
        self.assertIn("so krond does not start: state version '2'", problems)
        for name in ("large", "torn", "newer"):
            self.assertIn(f"`kron state reset {name}`", problems)
        self.assertNotIn("all records are readable", self.findings("ok"))

    def test_records_from_the_future(self):
        self.host.write_jobs(self.host.job("tick", "* * * * *"), self.host.job("seen", NEVER))
        self.plant("tick", LastHandledPeriodID=FAR, LastOutcome="executed", LastChosenTime=FAR)
        self.plant("seen", FirstSeen=FAR)
        warnings = self.findings("warning")
        for name in ("tick", "seen"):
            self.assertIn(f"the record of '{name}' is from the future", warnings)
            self.assertIn(f"then `kron state reset {name}`", warnings)
        self.assertNotIn("from the future", self.findings("ok"))
        self.host.serve()
        self.assertIn("reset tick: nothing due before", self.state("reset", "tick"))
        self.assertNotIn("'tick'", self.findings("warning"))
        self.assertLess(self.host.record("tick")["FirstSeen"], FAR)

    def test_a_lock_file_that_was_removed(self):
        self.host.write_jobs(self.host.job("hello", NEVER))
        krond, _ = self.host.serve()
        (self.host.state / "lock").unlink()
        self.assertIn(f"process {krond.pid} works on it, and its lock file was removed", self.findings("warning"))


class OneKrond(StateHost):
    def test_a_removed_lock_file_lets_no_second_krond_in(self):
        self.host.write_jobs(self.host.job("hello", NEVER))
        first = self.host.started("--socket", "none")
        for _ in range(2):
            (self.host.state / "lock").unlink(missing_ok=True)
            for flags, once in ((("--socket", "none"), False), ((), True), ((), False)):
                second = self.host.start(*flags, once=once)
                self.assertEqual(second.ended(), 2, second.log())
                self.assertIn(f"process {first.pid} has it", second.log())
        self.assertEqual(first.stop(), 0)
        self.assertEqual(self.host.started("--socket", "none").stop(), 0)

    def test_a_state_directory_that_anybody_could_exchange_is_refused(self):
        self.host.write_jobs(self.host.job("hello", NEVER))
        parent = self.host.root / "open"
        parent.mkdir()
        parent.chmod(0o777)
        krond = self.host.start(state=parent / "state")
        self.assertNotEqual(krond.ended(), 0)
        self.assertIn(f"everybody can write {parent}", krond.log())
        parent.chmod(0o1777)
        krond = self.host.start(state=parent / "state", once=True)
        self.assertEqual(krond.ended(), 0, krond.log())


class LostRecords(StateHost):
    def test_a_record_that_is_gone_makes_no_handled_period_run_again(self):
        self.host.write_jobs(self.host.job("daily", "0 1 * * *", policy={"deadline": "1h"}))
        self.host.once(at=DUE - HOUR)
        self.host.once(at=DUE + MINUTE)
        self.assertEqual(self.host.periods("daily"), [period_id(DUE)])
        self.host.state_path("daily").unlink()
        self.host.once(at=DUE + 2 * MINUTE)
        self.assertEqual(self.host.periods("daily"), [period_id(DUE)])

    def test_nor_does_one_that_is_gone_together_with_all_the_rest_but_the_runs(self):
        """In the middle of a window whose time is still to come by a clock that was set back."""
        self.host.write_jobs(self.host.job("wide", "0 1 * * *", policy={"deadline": "1h"}))
        self.host.once(at=DUE - HOUR)
        self.host.once(at=DUE + MINUTE)
        run_id = self.host.history("wide")[0]["RunID"]
        self.assertTrue((self.host.run_directory(run_id) / "started").exists())
        for path in self.host.state.glob("*.json"):
            path.unlink()
        self.host.once(at=DUE - MINUTE)
        krond = self.host.once(at=DUE + MINUTE)
        self.assertEqual(krond.wait_for("already_run")["runId"], run_id)
        self.assertEqual(self.host.periods("wide"), [period_id(DUE)])
        entry, = self.host.history("wide")
        self.assertEqual((entry["Outcome"], entry["ExitCode"], entry["RunID"]), ("executed", 0, run_id))


if __name__ == "__main__":
    unittest.main()
