"""Outputs that no page could hold, followed in a real browser (web/test/output.mjs)."""

import unittest

from browser_host import OnBrowser
from web_host import NEVER

# Held by a file each, so that the page is there first.
MUCH = """echo ready; while [ ! -e {root}/go ]; do sleep 0.05; done
line=$(head -c 99 /dev/zero | tr '\\0' x); yes "$line" | head -c 100000000; echo; echo the end
while [ ! -e {root}/over ]; do sleep 0.05; done"""
COUNTING = """i=0; while [ ! -e {root}/over ]; do i=$((i + 1)); echo "line $i"; sleep 0.02; done; echo the end"""


class Outputs(OnBrowser):
    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("much", NEVER, MUCH.format(root=self.host.root)),
            self.host.job("counting", NEVER, COUNTING.format(root=self.host.root)))

    def test_page(self):
        self.drive("output.mjs")

    def do_touch(self, name):
        (self.host.root / name).touch()
        return {}

    def do_untouch(self, name):
        (self.host.root / name).unlink()
        return {}


if __name__ == "__main__":
    unittest.main()
