"""A real browser before a `kron web`: a program below web/test drives it, and asks here for what happens to krond.
Skipped (77) where there is no browser: `scripts/deps web` brings it."""

import json
import os
import shutil
import subprocess
import sys
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
from web_host import PATIENCE, OnWebHost  # noqa: E402


class Browsing:
    """For a test with a krond (`api`) and a `kron web` before it (`web()`). do_WISH(**words) is what the program may ask
    for."""

    fresh = None

    def drive(self, program):
        environment = {**os.environ, "CHROMIUM": CHROMIUM, "KRON_TEST_PATIENCE": str(PATIENCE)}
        with subprocess.Popen(["node", str(ROOT / "web/test" / program)], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
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

    def do_get(self, *, path, **parameters):
        return self.api.get(*path, **parameters)

    def do_trigger(self, job, waits=True):
        answer = self.api.post("jobs", job, "trigger")
        if waits:
            self.ended(answer["runId"])
        return answer

    def do_ended(self, run):
        self.ended(run)
        return {}

    def do_streams(self):
        return {"count": self.api.get("status")["eventStreams"]}


class OnBrowser(Browsing, OnWebHost):
    def do_kill(self):
        self.krond.kill()
        return {}

    def do_start(self):
        self.krond, self.api = self.host.serve()
        return {}
