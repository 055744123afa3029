"""How fast the page is, in a real browser, with 10,000 jobs (web/test/speed.mjs)."""

import unittest

from browser_host import OnBrowser
from web_host import NEVER

JOBS = 10_000


class Speed(OnBrowser):
    def write_jobs(self):
        teams = [f"team-{chr(97 + i)}" for i in range(20)]
        self.host.write_jobs(
            self.host.job("often", "*/5 * * * * *", "echo hello"),
            *({"name": f"{teams[i % 20]}/job-{i}", "schedule": f"{i % 60} {i % 24} * * *", "command": "true",
               "window": {"mode": "after", "duration": "50m"}, "description": f"the job of number {i}"} for i in range(JOBS - 1)))

    def test_page(self):
        self.drive("speed.mjs")


class FewJobs(OnBrowser):
    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("often", "*/5 * * * *", "echo hello"), self.host.job("never", NEVER, "true"),
            *({"name": f"host-{i}/backup", "schedule": "0 0 * * *", "command": "true",
               "window": {"mode": "after", "duration": "3h"}} for i in range(200)))

    def test_first_view(self):
        self.drive("first_view.mjs")


if __name__ == "__main__":
    unittest.main()
