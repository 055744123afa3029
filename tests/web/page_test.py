"""The page in a real browser, before a real krond. web/test/page.mjs drives the browser, and asks here for what happens
to krond. Skipped (77) where there is no browser: `scripts/deps web` brings it."""

import json
import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CHROMIUM = os.environ.get("CHROMIUM") or shutil.which("chromium")


def missing():
    if not shutil.which("node"):
        return "node"
    if not (ROOT / "web/node_modules/playwright-core").exists():
        return "web/node_modules"
    return "" if CHROMIUM else "chromium"


if what := missing():
    print(f"NOT TESTED in a browser: there is no {what}. Run scripts/deps web.")
    sys.exit(1 if os.environ.get("BROWSER_REQUIRED") else 77)

# pylint: disable=wrong-import-position
from web_host import NEVER, PATIENCE, OnWebHost  # noqa: E402

HOSTILE = r"""printf '</script><img src=x onerror=alert(1)>\n\033[31mred\033[0m \033]8;;http://evil.example\033\\link\033[2J\n'
printf '\342\200\256right to left\n'
head -c 2000000 /dev/zero | tr '\0' x; echo"""


class Browser(OnWebHost):
    def write_jobs(self):
        self.host.write_jobs(
            self.host.job("hello", "*/15 * * * *", "echo hello", description="says hello"),
            self.host.job("failing", NEVER, "echo no rate for CHF; exit 3"),
            self.host.job("team/a.b", NEVER, "true"),
            self.host.job("hostile", NEVER, HOSTILE, description="<b>bold</b><img src=x onerror=alert(2)>"),
            self.host.job("lasting", NEVER, "echo holding; sleep 600"))

    fresh = None

    def test_page(self):
        environment = {**os.environ, "CHROMIUM": CHROMIUM, "KRON_TEST_PATIENCE": str(PATIENCE)}
        with subprocess.Popen(["node", str(ROOT / "web/test/page.mjs")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                              text=True, env=environment) as browser:
            self.addCleanup(browser.kill)
            for line in browser.stdout:
                wish = json.loads(line)
                answer = getattr(self, f"do_{wish.pop('do')}")(**wish)
                browser.stdin.write(json.dumps(answer) + "\n")
                browser.stdin.flush()
            self.assertEqual(browser.wait(PATIENCE), 0)

    def do_address(self):
        # The code lives a minute, and a browser may take as long to start.
        if self.fresh is None:
            self.fresh = self.page = self.web()
        return {"address": f"http://127.0.0.1:{self.page.port}/#code={self.page.code}"}

    def do_trigger(self, job):
        answer = self.api.post("jobs", job, "trigger")
        if job != "lasting":
            self.ended(answer["runId"])
        return answer

    def do_job(self, job):
        return self.api.get("jobs", job)

    def do_streams(self):
        return {"count": self.api.get("status")["eventStreams"]}

    def do_kill(self):
        self.krond.kill()
        return {}

    def do_start(self):
        self.krond, self.api = self.host.serve()
        return {}


if __name__ == "__main__":
    unittest.main()
