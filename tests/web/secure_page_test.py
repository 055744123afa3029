"""The page of `kron web --service` over TLS, in a real browser (web/test/secure.mjs)."""

import unittest

from browser_host import Browsing
from secure_host import OnSecureHost


class SecurePage(Browsing, OnSecureHost):
    def test_page(self):
        self.drive("secure.mjs")

    def do_place(self):
        self.token, _ = self.new_token("ada", "operate")
        wrong = self.token[:-1] + ("a" if self.token[-1] != "a" else "b")
        return {"address": f"https://127.0.0.1:{self.front.port}/", "token": self.token, "wrong": wrong}

    def do_requested(self):
        return {"by": [event["by"] for event in self.krond.all("run_requested")]}

    def do_replay(self, cookie):
        return {"status": self.front.ask("GET", "/api/v1/jobs", {"Cookie": cookie}).status}


if __name__ == "__main__":
    unittest.main()
