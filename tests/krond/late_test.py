"""Many jobs that are late at once: krond is heard while it catches up, and what becomes due meanwhile is on time."""

import os
import signal
import subprocess
import time
import unittest

from krond_host import DUE, EVERY_SECOND, HOUR, IS_FULL, MINUTE, OnHost, instant, until

KRON = os.environ["KRON"]
CROWD = 20_000 if IS_FULL else 15_000
# How long an answer may take on a machine that is busy. Before turns had an end, all of the crowd came first.
SOON = 10


class Late(OnHost):
    def setUp(self):
        super().setUp()
        crowd = [{"name": f"late/{i}", "schedule": "0 * * * *", "command": "true"} for i in range(CROWD)]
        self.host.write_jobs(*crowd, {"name": "tick", "schedule": EVERY_SECOND, "command": "true", "history": 1000})
        self.host.once(at=DUE - MINUTE)

    def catching_up(self, at):
        """A krond that has begun to catch up, and most of it is still before it."""
        krond = self.host.started(at=at)
        krond.wait_for("period_ended", count=20)
        return krond

    def ended(self, krond):
        return len([event for event in krond.all("period_ended") if event["identity"].startswith("late/")])

    def test_status_is_answered_and_term_is_obeyed(self):
        krond = self.catching_up(DUE + MINUTE)
        asked = time.monotonic()
        answer = subprocess.run([KRON, "status", "--state-dir", str(self.host.state)], capture_output=True, text=True,
                                timeout=120, check=False)
        self.assertEqual(answer.returncode, 0, answer.stderr)
        self.assertLess(time.monotonic() - asked, SOON)
        told = time.monotonic()
        krond.signal(signal.SIGTERM)
        self.assertEqual(krond.ended(), 0)
        self.assertLess(time.monotonic() - told, SOON)
        done = self.ended(krond)
        self.assertLess(done, CROWD, "it was to be told in the middle")
        # The next one does the rest, and nothing twice.
        krond = self.host.started(at=DUE + 2 * MINUTE)
        krond.wait_for("period_ended", count=CROWD - done)
        self.assertEqual(krond.stop(), 0)
        self.assertEqual(done + self.ended(krond), CROWD)

    def test_what_becomes_due_meanwhile_is_on_time(self):
        start = DUE + HOUR + MINUTE
        krond = self.catching_up(start)
        until(lambda: self.ended(krond) >= CROWD, "the crowd")
        krond.wait_for("run_started", identity="tick", count=3)
        self.assertEqual(krond.stop(), 0)
        missed = [event for event in krond.all("period_ended", identity="tick", outcome="missed")
                  if instant(event["periodId"]) > start + 1]
        self.assertEqual(missed, [])


if __name__ == "__main__":
    unittest.main()
