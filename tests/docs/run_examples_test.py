#!/usr/bin/env python3
"""The check of the pages must notice a page that is wrong."""

import tempfile
import unittest
from pathlib import Path

from run_examples import problems_of


class Examples(unittest.TestCase):
    def problems(self, *lines):
        with tempfile.TemporaryDirectory() as directory:
            page = Path(directory) / "page.md"
            page.write_text("\n".join(["# Page", "", "```console", *lines, "```", ""]), encoding="utf-8")
            return problems_of(page, [])

    def test_accepts_what_is_printed(self):
        self.assertEqual(self.problems("$ echo one; echo two", "one", "two", "$ printf three", "three"), [])

    def test_accepts_a_continued_command(self):
        self.assertEqual(self.problems("$ echo one \\", ">   two", "one two"), [])

    def test_accepts_gaps(self):
        self.assertEqual(self.problems("$ seq 9", "1", "…", "9"), [])
        self.assertEqual(self.problems("$ echo took 12 ms", "took … ms"), [])

    def test_shows_standard_error_and_the_status(self):
        self.assertEqual(self.problems("$ echo no >&2; false", "no", "$ echo $?", "1"), [])

    def test_blocks_share_a_home_of_their_own(self):
        self.assertEqual(self.problems("$ cd; ls", "$ echo one > kept", "```", "", "```console", "$ cat ~/kept", "one"), [])

    def test_notices_another_output(self):
        self.assertIn("printed:\n  two", self.problems("$ echo two", "one")[0])

    def test_notices_a_missing_line(self):
        self.assertEqual(len(self.problems("$ echo one; echo two", "one")), 1)
        self.assertEqual(len(self.problems("$ true", "one")), 1)

    def test_notices_a_session_that_ends_early(self):
        self.assertTrue(self.problems("$ exit 3", "$ echo one", "one"))

    def test_names_the_line_of_the_block(self):
        self.assertIn("page.md:3: $ echo two", self.problems("$ echo two", "one")[0])


if __name__ == "__main__":
    unittest.main()
