"""End-to-end tests of `kron lint`."""

import json
import os
import pty
import subprocess
import tempfile
import unittest
from pathlib import Path

from kron_command import CRONTABS, EXAMPLES, KRON, run

NOW = ("--now", "2026-03-01T00:00:00Z")
BAD = "0 0 * * * nam=a command=x\n* 99 * * * name=b command=x\n0 0 * * * name=c command=x\n"


class Lint(unittest.TestCase):
    def test_examples_and_real_crontabs_have_no_errors(self):
        result = run("lint", EXAMPLES, CRONTABS / "etc", CRONTABS / "cron.d", *NOW)
        self.assertEqual((result.returncode, result.stderr), (0, ""), result.stdout)
        self.assertRegex(result.stdout.splitlines()[-1], r"^\d+ jobs read: 0 errors, \d+ warnings?$")

    def test_every_error_is_shown_with_its_place_the_text_and_the_cure(self):
        result = run("lint", "--source", "kron", "-", *NOW, text=BAD)
        self.assertEqual(result.returncode, 1)
        self.assertIn("-:1:11: error: unknown key", result.stdout)
        self.assertIn("hint: did you mean name?", result.stdout)
        self.assertIn("-:2:3: error: ", result.stdout)
        self.assertIn("      ^\n", result.stdout)
        self.assertRegex(result.stdout, r"1 job read: \d errors, 0 warnings\n$")

    def test_json_names(self):
        result = run("lint", "--source", "kron", "-", "--format", "json", *NOW, text=BAD)
        problems = json.loads(result.stdout)
        self.assertEqual(result.returncode, 1)
        self.assertEqual(list(problems[0]),
                         ["file", "line", "column", "severity", "field", "message", "hint", "source"])
        self.assertEqual((problems[0]["line"], problems[0]["column"], problems[0]["severity"]), (1, 11, "error"))
        self.assertEqual(problems[0]["source"], BAD.splitlines()[0])

    def test_a_clean_file_is_an_empty_list(self):
        result = run("lint", "--source", "kron", "-", "--format", "json", *NOW, text="0 0 * * * name=c command=x\n")
        self.assertEqual((result.returncode, result.stdout), (0, "[]\n"))

    def test_a_name_given_twice_names_both_places(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("a.kron", "b.kron"):
                (Path(directory) / name).write_text("0 0 * * * name=twice command=x\n")
            result = run("lint", directory, *NOW)
        self.assertEqual(result.returncode, 1)
        self.assertIn("b.kron:1:1: error: the name 'twice' is taken by the job at", result.stdout)
        self.assertIn("a.kron:1", result.stdout)

    def test_a_file_that_everybody_can_write_is_a_warning(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "a.kron"
            path.write_text("0 0 * * * name=a command=x\n")
            path.chmod(0o646)
            result = run("lint", path, *NOW)
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning: everybody can write this file", result.stdout)

    def test_the_dates_on_which_the_clock_changes_touch_a_job_are_named(self):
        result = run("lint", "--source", "kron", "-", *NOW,
                     text="30 2 * * * @tz(Europe/Paris) name=a command=x\n")
        self.assertIn("2026-03-29 02:30 moved to after the gap", result.stdout)

    def test_what_many_jobs_share_is_one_line(self):
        text = "".join(f"{minute} 2 * * * @tz(Europe/Paris) name=j{minute} command=x\n" for minute in range(50))
        result = run("lint", "--source", "kron", "-", *NOW, text=text)
        self.assertRegex(result.stdout, r"50 jobs \(j0, j1, j2 …\): changes of the clock in Europe/Paris affect them: "
                                        r"2026-03-29 moved to after the gap, 2027-03-28 moved")
        self.assertEqual(result.stdout.count("warning:"), 1, result.stdout)

    def test_rare_jobs_that_may_not_start_late_are_a_warning_and_daily_ones_a_note(self):
        text = "0 3 * * 1 name=weekly command=x\n0 3 * * * name=daily command=x\n"
        result = run("lint", "--source", "kron", "-", *NOW, text=text)
        self.assertIn("-:1:1: warning: 'weekly': due less often than daily", result.stdout)
        self.assertIn("-:2:1: note: 'daily': due once a day", result.stdout)
        self.assertEqual(result.stdout.count("hint: allow a late start with a deadline"), 2)
        self.assertTrue(result.stdout.endswith("2 jobs read: 0 errors, 1 warning\n"), result.stdout)

    def test_traps_of_cron_are_warned_of(self):
        for schedule, column, words in (("* 3 * * *", 1, "runs 60 times"), ("*/45 * * * *", 1, "does not divide 60"),
                                        ("0 0 13 * 5", 5, "match either"), ("0 0 */2 * 1", 5, "match day-of-month and")):
            result = run("lint", "--source", "kron", "-", *NOW,
                         text=f"{schedule} @policy(deadline=1h) name=a command=x\n")
            self.assertRegex(result.stdout, rf"-:1:{column}: warning: [^\n]*{words}")

    def test_quiet_shows_errors_only_and_counts_the_rest(self):
        text = "* 3 * * * name=a command=x\n* 99 * * * name=b command=x\n"
        result = run("lint", "--source", "kron", "-", "--quiet", *NOW, text=text)
        self.assertEqual((result.stdout.count("error:"), result.stdout.count("warning:")), (1, 0), result.stdout)
        self.assertRegex(result.stdout, r"1 job read: 1 error, [12] warnings?\n$")
        as_json = run("lint", "--source", "kron", "-", "-q", "--format", "json", *NOW, text=text)
        self.assertEqual([problem["severity"] for problem in json.loads(as_json.stdout)], ["error"])

    def test_every_mistake_comes_in_one_go(self):
        text = "0 1 * * * name=a command=x timeout=soon\n0 2 * * * name=a command=x umask=9\n99 * * * * command=x\n"
        found = json.loads(run("lint", "--source", "kron", "-", "--format", "json", *NOW, text=text).stdout)
        self.assertEqual([(one["line"], one["field"]) for one in found],
                         [(1, "timeout"), (2, "name"), (2, "umask"), (3, "name"), (3, "schedule")], found)

    def test_a_zone_that_is_nearly_right_offers_the_right_one(self):
        for zone in ("europe/paris", "Europe/Pariss"):
            result = run("lint", "--source", "kron", "-", *NOW, text=f"0 1 * * * @tz({zone}) name=a command=x\n")
            self.assertIn("hint: did you mean Europe/Paris?", result.stdout)

    def test_a_file_that_its_group_can_write_is_a_warning_as_krond_refuses_it(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "a.kron"
            path.write_text("0 0 * * * name=a command=x\n")
            path.chmod(0o664)
            result = run("lint", path, *NOW)
        self.assertEqual(result.returncode, 0)
        self.assertIn("warning: krond does not read this file: refused: others can write it", result.stdout)

    def test_manifests_of_kubernetes_are_called_what_they_are(self):
        result = run("lint", "--source", "yaml", "-", *NOW, text="apiVersion: kron.io/v1alpha1\nkind: KronJob\n")
        self.assertEqual(result.returncode, 1)
        self.assertIn("error: this is a KronJob: Kron's operator for Kubernetes runs it, krond cannot", result.stdout)

    def test_a_crontab_in_a_zone_without_a_name_is_refused_and_says_why(self):
        for zone in ("nonsense", "EST5EDT,M3.2.0,M11.1.0"):
            result = run("lint", "--source", "cron", "-", *NOW, text="30 2 * * * x\n40 2 * * * y\n", TZ=zone)
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stdout.count(f"error: the host's time zone has no name: TZ is '{zone}'"), 1)
            self.assertIn("hint: set CRON_TZ", result.stdout)
            named = run("lint", "--source", "cron", "-", *NOW, text="CRON_TZ=Europe/Paris\n30 5 * * * x\n", TZ=zone)
            self.assertEqual(named.returncode, 0, named.stdout)

    def test_what_cannot_be_read_is_status_2(self):
        self.assertEqual(run("lint", "/nonexistent.kron").returncode, 2)
        self.assertEqual(run("lint").returncode, 2)
        self.assertEqual(run("lint", "--source", "xml", EXAMPLES).returncode, 2)

    def test_a_name_that_does_not_tell_the_spelling_asks_for_source(self):
        result = run("lint", "-", text="")
        self.assertEqual(result.returncode, 1)
        self.assertIn("--source", result.stdout)

    def colours(self, **environment):
        outside, inside = pty.openpty()
        with tempfile.NamedTemporaryFile("w", suffix=".kron") as file:
            file.write(BAD)
            file.flush()
            settings = {key: value for key, value in os.environ.items() if key != "NO_COLOR"}
            subprocess.run([KRON, "lint", file.name], stdout=inside, check=False, env={**settings, **environment})
        os.close(inside)
        shown = os.read(outside, 65536)
        os.close(outside)
        return b"\x1b[" in shown

    def test_colour_is_for_terminals_whose_user_did_not_refuse_it(self):
        self.assertTrue(self.colours())
        self.assertFalse(self.colours(NO_COLOR="1"))
        self.assertNotIn("\x1b[", run("lint", "--source", "kron", "-", text=BAD).stdout)


if __name__ == "__main__":
    unittest.main()
