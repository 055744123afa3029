"""End-to-end tests of calendars: `kron next --format ics`, read back by libical, and .ics files that job files name."""

import json
import tempfile
import unittest
from pathlib import Path

from ical import events_of
from kron_command import EXAMPLES, answers, run

FROM = "2026-03-28T00:00:00Z"
HOLIDAYS = """BEGIN:VCALENDAR
VERSION:2.0
PRODID:-//example//holidays//EN
BEGIN:VEVENT
UID:1
SUMMARY:Fête nationale
DTSTART;VALUE=DATE:20000714
RRULE:FREQ=YEARLY
END:VEVENT
END:VCALENDAR
"""


class Export(unittest.TestCase):
    def calendar(self, *arguments):
        result = run("next", *arguments, "--from", FROM, "--format", "ics")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        return result.stdout

    def test_libical_reads_the_periods_that_next_shows(self):
        jobs = EXAMPLES / "fleet.yaml"
        shown = answers(run("next", "--all", "--file", jobs, "--from", FROM, "--for", "7d", "--format", "json"))
        events = events_of(self.calendar("--all", "--file", jobs, "--for", "7d"))
        read = {event.uid: event for event in events if not event.is_date}
        self.assertTrue(read)
        names = {event.summary for event in read.values()}
        wanted = [period for period in shown if period["identity"] in names and period["chosenTime"]]
        self.assertEqual({f"{period['identity']}@{period['periodId']}": period["chosenTime"] for period in wanted},
                         {uid: event.start for uid, event in read.items()})

    def test_every_line_is_as_the_standard_wants_it(self):
        with tempfile.TemporaryDirectory() as directory:
            jobs = Path(directory) / "jobs.yaml"
            name = "a" * 190
            jobs.write_text(json.dumps({"jobs": [{"name": name, "schedule": "0 3 * * *", "window": "2h", "command": "x"},
                                                 {"name": "often", "schedule": "* * * * *", "command": "x"}]}))
            text = run("next", "--all", "--file", jobs, "--from", FROM, "--for", "2d", "--format", "ics").stdout
            raw = text.encode()
        self.assertEqual(text.count("\n"), len(text.splitlines()))
        for line in raw.split(b"\n")[:-1]:
            self.assertLessEqual(len(line.rstrip(b"\r")), 75)
        note, *events = events_of(text)
        self.assertEqual((note.uid, note.is_date, note.start), ("kron-note", True, "2026-03-28"))
        self.assertIn("1 job with more than 24 periods a day", note.summary)
        self.assertEqual([event.summary for event in events], [name] * 2)
        self.assertIn("Window: 2026-03-28T03:00:00+00:00 to 2026-03-28T05:00:00+00:00", events[0].description)

    def test_one_job(self):
        events = events_of(self.calendar("db-backup", "--file", EXAMPLES))
        self.assertEqual(({event.summary for event in events}, len(events)), ({"db-backup"}, 31))

    def test_what_does_not_go_together_is_refused(self):
        for flags in (("--cron", "@daily"), ("--all", "--file", EXAMPLES, "--count", "3"),
                      ("--all", "--file", EXAMPLES, "--for", "367d"), ("--all", "--file", EXAMPLES, "--for", "x")):
            result = run("next", *flags, "--format", "ics")
            self.assertNotEqual(result.returncode, 0, flags)
            self.assertNotIn("BEGIN", result.stdout)


class Holidays(unittest.TestCase):
    def setUp(self):
        self.directory = Path(self.enterContext(tempfile.TemporaryDirectory()))
        self.ics = self.directory / "fr.ics"
        self.ics.write_text(HOLIDAYS)
        self.jobs = self.directory / "jobs.yaml"
        self.jobs.write_text("calendars: {holidays: {file: fr.ics}}\njobs:\n"
                             "  - {name: a, schedule: '@daily', window: 12h, avoid: {calendar: holidays}, command: x}\n")

    def periods(self, **how):
        return answers(run("next", "a", "--file", self.jobs, "--from", "2026-07-12T00:00:00Z", "--count", "3", "--format",
                           "json", **how))

    def test_a_holiday_is_kept_out(self):
        self.assertEqual([period["periodId"][:10] for period in self.periods()],
                         ["2026-07-12", "2026-07-13", "2026-07-15"])
        explained = answers(run("explain", "a", "--file", self.jobs, "--period", "2026-07-14T00:00:00Z", "--now",
                                "2026-07-12T00:00:00Z", "--format", "json"))[0]
        self.assertEqual((explained["reason"], explained["clause"]), ("excluded", "avoid calendar=holidays"))

    def test_decide_gives_the_decision_again_without_the_file(self):
        for period in ("2026-07-13", "2026-07-14", "2026-07-15"):
            told = answers(run("explain", "a", "--file", self.jobs, "--period", f"{period}T00:00:00Z", "--now",
                               "2026-07-12T00:00:00Z", "--format", "json"))[0]
            request = json.loads(told["request"])
            self.assertEqual(request["calendars"], {"holidays": ["2026-07-14"]})
            self.ics.unlink()
            answer = answers(run("decide", lines=[request]))[0]
            self.ics.write_text(HOLIDAYS)
            self.assertEqual({key: told[key] for key in answer}, answer)
        told = answers(run("explain", "a", "--file", self.jobs, "--period", "2026-03-01T00:00:00Z", "--format", "json"))[0]
        self.assertEqual(json.loads(told["request"])["calendars"], {"holidays": []})

    def test_the_time_of_the_reading_changes_no_decision(self):
        """Two hosts, one of which read the file years ago."""
        first = self.periods()
        for now in ("2024-01-01T00:00:00Z", "2026-01-01T00:00:00Z"):
            told = [answers(run("explain", "a", "--file", self.jobs, "--period", period["periodId"], "--now", now,
                                "--format", "json"))[0] for period in first]
            self.assertEqual([one["chosenTime"] for one in told], [period["chosenTime"] for period in first])

    def test_lint_warns_of_what_is_left_out_and_of_the_end(self):
        self.ics.write_text(HOLIDAYS.replace("RRULE:FREQ=YEARLY\n", "").replace("20000714", "20270714").replace(
            "BEGIN:VEVENT", "BEGIN:VEVENT\nDTSTART:20260101T090000Z\nUID:2\nEND:VEVENT\nBEGIN:VEVENT", 1))
        result = run("lint", self.jobs, "--now", "2026-11-18T00:00:00Z")
        self.assertEqual(result.returncode, 0, result.stderr + result.stdout)
        said = result.stdout + result.stderr
        self.assertIn("1 event with a time of day is left out", said)
        self.assertIn("no date after 2027-07-14", said)
        self.ics.chmod(0o666)
        result = run("lint", self.jobs)
        self.assertIn("fr.ics: krond does not read this file", result.stdout + result.stderr)

    def test_a_file_that_is_gone_or_broken_is_an_error(self):
        for text in (None, "", "hello", HOLIDAYS[:-20], HOLIDAYS.replace("Fête", "F\0te")):
            if text is None:
                self.ics.unlink()
            else:
                self.ics.write_text(text)
            result = run("lint", self.jobs)
            self.assertNotEqual(result.returncode, 0, text)
            self.assertIn("fr.ics", result.stdout + result.stderr)

    def test_convert_writes_the_dates(self):
        result = run("convert", "--to", "kron", self.jobs)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("2026-07-14", result.stdout)
        self.assertNotIn("fr.ics", result.stdout)

    def test_standard_input_names_files_from_here(self):
        text = self.jobs.read_text().replace("fr.ics", str(self.ics))
        result = run("next", "a", "--file", "-", "--source", "yaml", "--from", "2026-07-14T00:00:00Z", "--count", "1", text=text)
        self.assertIn("2026-07-15", result.stdout)


if __name__ == "__main__":
    unittest.main()
