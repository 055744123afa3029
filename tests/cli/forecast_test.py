"""End-to-end tests of `kron next` on files and of `kron explain`: they say what `kron decide` says."""

import json
import tempfile
import unittest
from pathlib import Path

from kron_command import CRONTABS, EXAMPLES, answers, run

FROM = "2026-03-28T00:00:00Z"


def decided(request):
    return answers(run("decide", lines=[request]))[0]


class Next(unittest.TestCase):
    def test_a_table_of_periods(self):
        result = run("next", "db-backup", "--file", EXAMPLES, "--from", FROM, "--count", "2")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        title, *rows = result.stdout.splitlines()
        self.assertRegex(title, r"^PERIOD +CHOSEN \(UTC\) +CHOSEN \(LOCAL\) +JOB +WINDOW$")
        self.assertEqual(len(rows), 2)
        self.assertRegex(rows[0], r"^2026-03-27T23:00:00Z  2026-03-28T01:48:06Z  2026-03-28T02:48:06\+01:00  db-backup")

    def test_json_lines_hold_the_decision(self):
        for period in answers(run("next", "--all", "--file", EXAMPLES, "--from", FROM, "--count", "25", "--format",
                                  "json")):
            explained = answers(run("explain", period["identity"], "--file", EXAMPLES, "--period", period["periodId"],
                                    "--format", "json"))[0]
            answer = decided(explained["request"])
            self.assertEqual({key: period[key] for key in answer}, answer)
            self.assertEqual({key: explained[key] for key in answer}, answer)
            self.assertEqual(list(period)[len(answer):], ["nominalLocal", "chosenLocal", "file", "line"])

    def test_all_jobs_come_in_the_order_they_run(self):
        periods = answers(run("next", "--all", "--file", EXAMPLES, "--from", FROM, "--count", "200", "--format", "json"))
        times = [period["chosenTime"] or period["windowStart"] for period in periods]
        self.assertEqual(len(periods), 200)
        self.assertEqual(times, sorted(times))
        self.assertGreaterEqual(min(times), FROM)

    def test_for_ends_before_its_end(self):
        result = run("next", "minutely", "--file", EXAMPLES / "cronken.json", "--from", FROM, "--for", "10m",
                     "--format", "json")
        self.assertTrue(all(period["chosenTime"] < "2026-03-28T00:10:00Z" for period in answers(result)))
        self.assertEqual(len(answers(result)), 10)

    def test_crontabs_follow_the_zone_of_the_host(self):
        result = run("next", "--all", "--file", CRONTABS / "etc/crontab", "--from", FROM, "--for", "1d", "--format",
                     "json", TZ="Europe/Paris")
        six = [period for period in answers(result) if period["nominalLocal"].startswith("2026-03-28T06:25:00")]
        self.assertEqual([period["chosenTime"] for period in six], ["2026-03-28T05:25:00Z"])

    def test_a_job_that_is_not_there_offers_the_nearest(self):
        result = run("next", "db-backp", "--file", EXAMPLES)
        self.assertEqual(result.returncode, 1)
        self.assertIn("did you mean db-backup?", result.stderr)
        answer = run("next", "db-backp", "--file", EXAMPLES, "--format", "json")
        self.assertEqual((answer.returncode, list(answers(answer)[0])), (1, ["error"]))

    def test_a_bad_file_is_told_and_the_others_are_answered(self):
        with tempfile.TemporaryDirectory() as directory:
            (Path(directory) / "bad.kron").write_text("0 99 * * * name=b command=x\n")
            (Path(directory) / "good.kron").write_text("0 0 * * * name=a command=x\n@reboot name=r command=x\n")
            result = run("next", "--all", "--file", directory, "--from", FROM, "--count", "1")
        self.assertEqual(result.returncode, 1)
        self.assertIn("bad.kron:1:3: error:", result.stderr)
        self.assertIn("@reboot", result.stderr)
        self.assertIn("2026-03-28T00:00:00Z", result.stdout)

    def test_wrong_usage_is_status_2(self):
        for asked in ("a", "--all"):
            self.assertEqual(run("next", asked, "--socket", "/nonexistent.sock").returncode, 3, "krond is asked")
        for arguments in (["a", "--all", "--file", "x"], ["a", "--file", "x", "--cron", "* * * * *"],
                          ["a", "--file", "x", "--count", "1", "--for", "1h"], ["a", "--file", "/nonexistent.kron"]):
            self.assertEqual(run("next", *arguments).returncode, 2, arguments)
        self.assertEqual(run("next", "a", "--file", EXAMPLES, "--for", "long").returncode, 1)


class Explain(unittest.TestCase):
    def explain(self, *arguments):
        result = run("explain", *arguments, "--format", "json")
        self.assertEqual(result.returncode, 0, result.stdout + result.stderr)
        return answers(result)[0]

    def test_json_names_and_their_order(self):
        story = self.explain("db-backup", "--file", EXAMPLES, "--at", FROM, "--now", FROM)
        request = answers(run("decide", lines=[story["request"]]))[0]
        self.assertEqual(list(story)[len(request):], [
            "chosenLocal", "nominalLocal", "schedule", "fields", "dstRule", "dstEffect", "draws", "allowedShare",
            "chanceUnschedulable", "atNow", "request"])
        self.assertEqual(list(story["fields"][0]), ["field", "value", "accepts"])
        self.assertEqual(list(story["draws"][0]), ["u", "candidate", "candidateLocal", "allowed", "refusedBy"])
        self.assertEqual(list(story["atNow"]), ["now", "idle", "busy", "supersededBy"])
        self.assertEqual(story["atNow"]["idle"]["action"], "wait")

    def test_a_refused_period_tells_why(self):
        story = self.explain("db-backup", "--file", EXAMPLES, "--at", "2026-12-25T00:00:00Z")
        self.assertEqual((story["unschedulable"], story["allowedShare"], len(story["draws"])), (True, 0, 64))
        self.assertEqual({draw["refusedBy"] for draw in story["draws"]}, {"avoid dates=2026-12-24..2026-12-26"})

    def test_a_gap_and_a_repeated_hour_are_told(self):
        with tempfile.NamedTemporaryFile("w", suffix=".kron") as file:
            file.write("30 2 * * * @tz(Europe/Paris) name=a command=x\n")
            file.flush()
            gap = self.explain("a", "--file", file.name, "--period", "2026-03-29T01:00:00Z")["dstEffect"]
            twice = self.explain("a", "--file", file.name, "--period", "2026-10-25T00:30:00Z")["dstEffect"]
        self.assertEqual((gap["kind"], gap["wallClock"]), ("moved", "2026-03-29 02:30:00"))
        self.assertEqual((twice["kind"], twice["second"]), ("repeated", "2026-10-25T01:30:00Z"))

    def test_text_tells_the_story(self):
        text = run("explain", "db-backup", "--file", EXAMPLES, "--period", "2026-02-28T23:00:00Z", "--now", FROM).stdout
        for word in ("schedule 0 0 * * * in Europe/Paris", "window ", "sha256 of 'db-backup'", "skewLate shape=2.5",
                     "draws ", "chosen ", "pass it over"):
            self.assertIn(word, text)

    def test_a_time_that_is_no_period_names_the_neighbours(self):
        result = run("explain", "db-backup", "--file", EXAMPLES, "--period", FROM)
        self.assertEqual(result.returncode, 1)
        self.assertIn("the one before is 2026-03-27T23:00:00Z, the one after is 2026-03-28T23:00:00Z", result.stderr)

    def test_log_lines_reproduce_the_decision(self):
        story = self.explain("db-backup", "--file", EXAMPLES, "--at", FROM)
        request = story["request"]
        lines = [
            request,
            json.dumps({"event": "run_started", "chosenTime": story["chosenTime"], "decision": request}),
            f'run_started chosenTime={story["chosenTime"]} seedHash={story["seedHash"]} '
            f"decision={json.dumps(request)}",
        ]
        for line in lines:
            self.assertEqual(self.explain("--log-line", line)["chosenTime"], story["chosenTime"])

    def test_a_log_line_that_says_something_else_is_status_1(self):
        line = json.dumps({"chosenTime": FROM, "decision": {"identity": "a", "periodStart": "2026-03-01T00:00:00Z"}})
        result = run("explain", "--log-line", line)
        self.assertEqual(result.returncode, 1)
        self.assertIn(FROM, result.stderr)
        self.assertEqual(run("explain", "--log-line", "run_ended pid=3").returncode, 1)

    def test_wrong_usage_is_status_2(self):
        self.assertEqual(run("explain", "a", "--socket", "/nonexistent.sock").returncode, 3, "krond is asked")
        for arguments in ([], ["a", "--file", "x", "--at", FROM, "--period", FROM],
                          ["a", "--log-line", "x"], ["a", "--file", "/nonexistent.kron"]):
            self.assertEqual(run("explain", *arguments).returncode, 2, arguments)


if __name__ == "__main__":
    unittest.main()
