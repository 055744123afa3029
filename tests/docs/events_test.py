#!/usr/bin/env python3
"""Every event that krond and kron-operator can log stands in the table of docs/formats.md, and the table names no other.

    events_test.py SOURCE_DIRECTORY
"""

import re
import sys
import unittest
from pathlib import Path

# The rooms whose log is krond's or the operator's, and the log itself, which has a line of its own to write.
ROOMS = ("api", "cluster", "daemon", "history", "http", "ledger", "log", "operator", "queue", "runner", "scheduler")
CALL = re.compile(r'\b(?:log_?(?:\.|->)(?:info|warning|error|write)|line_of)\(\s*(?:[\w.:()]+,\s*)?"([a-z_.]+)"')
ROW = re.compile(r"^\| `([a-z_.]+)` \| (?:debug|info|warning|error|that of)", re.MULTILINE)


def events_in_sources(source):
    paths = [path for room in ROOMS for path in (source / "src/kron" / room).rglob("*.cc")
             if not path.stem.endswith("_test")]
    return {event for path in paths for event in CALL.findall(path.read_text(encoding="utf-8"))}


class Events(unittest.TestCase):
    def test_a_call_is_recognised(self):
        text = 'log_.info("one", {});\nworld_.log.error(\n    "two", {{"a", b}});\nlog_.write(level_of(x.y), "three", z);'
        self.assertEqual(CALL.findall(text), ["one", "two", "three"])

    def test_the_page_has_those_of_the_sources(self):
        page = (SOURCE / "docs/formats.md").read_text(encoding="utf-8")
        self.assertEqual(sorted(events_in_sources(SOURCE)), sorted(ROW.findall(page)))


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
