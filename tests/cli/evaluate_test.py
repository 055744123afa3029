"""End-to-end tests of `kron evaluate`: the golden outcomes, every action, errors in their place."""

import json
import os
import subprocess
import unittest

KRON = os.environ["KRON"]
BACKUP = {"name": "prod/db-backup", "schedule": "0 0 * * *", "window": "3h", "seed": {"salt": "backup"}}
PERIOD = "2026-03-01T00:00:00Z"
CHOSEN = "2026-03-01T02:32:20Z"


def evaluate(*requests):
    text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in requests)
    result = subprocess.run([KRON, "evaluate"], input=text, capture_output=True, text=True, check=False)
    return result.returncode, [json.loads(line) for line in result.stdout.splitlines()]


def request(now, policy=None, state=None, active=None, **job):
    return {
        "job": {**BACKUP, **({"policy": policy} if policy else {}), **job},
        "state": state if state is not None else {},
        "active": active if active is not None else [],
        "now": now,
    }


def answer(action, until="", period="", chosen="", outcome="", reason=""):
    return {
        "action": action, "until": until, "periodId": period, "chosenTime": chosen, "outcome": outcome, "reason": reason,
    }


class Evaluate(unittest.TestCase):
    def expect(self, asked, answered):
        self.assertEqual(evaluate(asked), (0, [answered]))

    def test_golden_missed(self):
        self.expect(request("2026-03-01T02:32:21Z"), answer("record", "", PERIOD, CHOSEN, "missed", "deadline"))

    def test_golden_executed(self):
        asked = request("2026-03-01T02:40:00Z", policy={"deadline": "10m"})
        self.expect(asked, answer("start", "", PERIOD, CHOSEN, "executed"))

    def test_golden_skipped(self):
        asked = request("2026-03-01T02:40:00Z", policy={"deadline": "10m"}, active=[{"PeriodID": "", "PID": 1}])
        self.expect(asked, answer("record", "", PERIOD, CHOSEN, "skipped", "concurrency_forbid"))

    def test_queued_waits_for_the_active_run(self):
        asked = request("2026-03-01T02:40:00Z", policy={"deadline": "10m", "concurrency": "queue"},
                        active=[{"PeriodID": "", "PID": 1}])
        self.expect(asked, {**answer("wait", "2026-03-01T02:42:21Z", PERIOD, CHOSEN, ""), "queued": True})

    def test_golden_already_handled_is_nothing(self):
        asked = request("2026-03-01T02:40:00Z", state={"LastHandledPeriodID": PERIOD})
        code, [found] = evaluate(asked)
        self.assertEqual((code, found["action"], found["periodId"]), (0, "wait", "2026-03-02T00:00:00Z"))
        self.assertEqual(found["until"], found["chosenTime"])

    def test_a_whole_state_file_is_understood(self):
        state = {
            "Version": "1", "Identity": "prod/db-backup", "LastHandledPeriodID": "2026-02-28T00:00:00Z",
            "LastOutcome": "executed", "LastChosenTime": "2026-02-28T01:00:00Z",
            "LastNominalTime": "2026-02-28T00:00:00Z", "History": [],
            "ActiveExecution": {"PeriodID": PERIOD, "PID": 7, "StartedAt": CHOSEN, "ChosenTime": CHOSEN},
        }
        code, [found] = evaluate(request("2026-03-01T02:40:00Z", policy={"deadline": "1h"}, state=state))
        self.assertEqual((code, found["action"]), (0, "wait"), "an active period is never started again")

    def test_suspended_waits(self):
        asked = request("2026-03-01T02:40:00Z", policy={"suspend": True})
        self.expect(asked, answer("wait"))

    def test_unschedulable_says_why(self):
        asked = request("2026-03-01T00:00:00Z", only={"hours": "12"})
        self.expect(asked, {**answer("record", "", PERIOD, "", "unschedulable", "excluded"), "clause": "only hours=12"})

    def test_bad_lines_are_answered_in_their_place(self):
        good = request("2026-03-01T02:32:20Z")
        bad = [
            ("", ""), ("[]", ""), ({**good, "now": "noon"}, "now"), ({**good, "extra": 1}, "extra"),
            ({**good, "state": []}, "state"), ({**good, "active": {}}, "active"),
            ({**good, "state": {"LastOutcome": "perhaps"}}, "state.LastOutcome"),
            ({**good, "state": {"Identity": "other"}}, "state.Identity"),
            ({**good, "state": {"Version": "2"}}, "state.Version"),
            ({"state": {}, "now": PERIOD}, "job"), ({"job": BACKUP, "state": {}}, "now"),
            (request(PERIOD, schedule="61 * * * *"), "schedule"),
        ]
        code, found = evaluate(good, *(line for line, _ in bad), good)
        self.assertEqual(code, 1)
        self.assertEqual((found[0]["action"], found[-1]["action"]), ("start", "start"))
        for (line, field), error in zip(bad, found[1:-1]):
            self.assertIn("error", error, line)
            self.assertEqual(sorted(error["error"]), ["column", "field", "message"])
            if field:
                self.assertEqual(error["error"]["field"], field, error)


if __name__ == "__main__":
    unittest.main()
