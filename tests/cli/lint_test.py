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
