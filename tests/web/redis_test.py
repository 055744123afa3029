"""The page before one of two krond on a real Redis (web/test/redis.mjs)."""

import sys
import unittest
from pathlib import Path

from browser_host import Browsing

sys.path.append(str(Path(__file__).resolve().parents[1] / "cluster"))

# pylint: disable=wrong-import-position
from api_client import Api  # noqa: E402
from api_host import ApiHost, OnApiHost, until  # noqa: E402
from cluster_host import Fleet  # noqa: E402
from web_host import OnWebHost  # noqa: E402


STRANGE = "<script>alert(4)</script>/\u202eeman"


class OnRedis(Browsing, unittest.TestCase):
    web = OnWebHost.web
    ended = OnApiHost.ended

    def setUp(self):
        self.fleet = Fleet()
        self.addCleanup(self.fleet.close)
        self.fleet.define("told", "echo one; echo two", reload=False)
        self.fleet.define("lasting", f"echo holding; {self.fleet.holding()}; echo let go", ttl=30, reload=False)
        self.fleet.define("failing", "echo no rate for CHF; exit 3", reload=False)
        self.fleet.define("often", cron={"minute": "*/5"}, kron={"window": "4m"}, reload=False)
        # In a file no job could have such a name; in Redis anybody may have put it there.
        self.fleet.define(STRANGE, "echo of a strange name", reload=False)
        for host in ("h1", "h2"):
            self.fleet.started(host)
        # What a `kron web` needs of a host: where its krond listens.
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.host.state = self.fleet.root / "state-h1"
        self.api = Api(self.host.socket)

    def test_page(self):
        self.drive("redis.mjs")

    def do_other(self, *, path):
        """What the other host answers."""
        return Api(self.fleet.root / "state-h2/krond.sock").get(*path)

    def do_elsewhere(self, job):
        """A run that the other host was asked for."""
        return Api(self.fleet.root / "state-h2/krond.sock").post("jobs", job, "trigger")

    def do_let_go(self):
        self.fleet.hold_no_more()
        return {}

    def do_hang(self):
        self.fleet.server.suspend()
        return {}

    def do_go_on(self):
        self.fleet.server.resume()
        until(lambda: self.api.get("status")["cluster"]["linkUp"], "the link to Redis")
        return {}


if __name__ == "__main__":
    unittest.main()
