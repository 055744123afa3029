"""Whatever is killed, each alarm is one task for each who is told of it, and each of these is delivered."""

import collections
import contextlib
import os
import random
import signal
import time
import unittest

from krond_host import HOUR, IS_FULL, until
from notify_host import OnNotifyHost, called_for

ROUNDS = 100 if IS_FULL else 5
# Leases that the dead have held, and pauses before the next attempt, last for minutes: the clock is set on instead.
MOST_HOURS = 20


class NotifyKills(OnNotifyHost):
    def test_each_alarm_is_told_of_whatever_is_killed(self):
        seed = int(os.environ.get("KRON_TEST_SEED", time.time_ns() % 1_000_000))
        self.draw = random.Random(seed)
        received = self.destinations_of_each_kind()
        with self.subTest(seed=seed):
            self.job(policy={"deadline": "5s"}, to=list(received))
            kills = collections.Counter()
            # Each round turns the alarm: one that is bad opens it, the next closes it.
            for number in range(ROUNDS):
                if number % 2 == 0:
                    kills[self.go_bad(kills_worker=number % 4 == 0)] += 1
                else:
                    kills[self.go_well(is_at_once=number % 4 == 1)] += 1
            self.go_well(is_killed=False)
            messages = called_for(self.host.history("job"))
            krond = self.deliver_all()
            tasks = self.tasks()
            self.stop(krond)
            self.judge(messages, tasks, received, kills)

    def go_bad(self, kills_worker):
        """Opens the alarm, and kills in the midst of a delivery."""
        self.receiver.hold()
        attempts = self.receiver.attempts
        self.make(is_bad=True)
        krond = self.start()
        krond.wait_for("run_ended", exitCode=1)
        until(lambda: self.receiver.attempts > attempts, "a delivery")
        if kills_worker:
            with contextlib.suppress(ProcessLookupError):
                os.kill(krond.wait_for("deliverer_started")["pid"], signal.SIGKILL)
            krond.wait_for("deliverer_ended")
        if kills_worker and self.draw.random() < 0.5:
            krond.wait_for("deliverer_started", count=2)
        self.kill(krond)
        self.receiver.let_go()
        return "worker" if kills_worker else "krond that delivers"

    def go_well(self, is_killed=True, is_at_once=False):
        """Closes the alarm, and kills just when the record says so, or later. Before that, one krond hardly lives."""
        if is_killed:
            krond = self.start()
            time.sleep(self.draw.uniform(0, 0.3))
            self.kill(krond)
        self.make(is_bad=False)
        krond = self.start()
        krond.wait_for("run_ended", exitCode=0)
        if not is_killed:
            self.stop(krond)
            self.host.wait_for_runs()
            return ""
        if not is_at_once:
            time.sleep(self.draw.uniform(0, 2))
        self.kill(krond)
        return "krond at once" if is_at_once else "krond"

    def deliver_all(self):
        """A krond whose queue has nothing left to deliver. The job has nothing more to do."""
        self.job("0 0 1 1 *", policy={"deadline": "5s"}, to=["ops", "team", "pager"])
        for hour in range(MOST_HOURS):
            krond = self.start(at=time.time() + hour * HOUR)
            krond.wait_for("deliverer_started")
            if self.has_delivered_all():
                return krond
            self.stop(krond)
        self.fail(f"not delivered within a day: {self.under_way()} messages")

    def has_delivered_all(self):
        """Whether nothing is left, once nothing has been delivered for a while."""
        left, since = self.under_way(), time.monotonic()
        while left > 0 and time.monotonic() - since < 4:
            time.sleep(0.05)
            if self.under_way() < left:
                left, since = self.under_way(), time.monotonic()
        return left == 0

    def judge(self, messages, tasks, received, kills):
        opened = [first for kind, first in messages if kind != "recovered"]
        closed = [first for kind, first in messages if kind == "recovered"]
        self.assertEqual(opened, closed, "each alarm that was opened is closed")
        self.assertEqual(len(opened), len(set(opened)))
        self.assertGreaterEqual(len(messages), ROUNDS, "each round opens one or closes one")
        self.assertEqual(len(kills), min(ROUNDS, 4), kills)
        called = collections.Counter((kind, first, name) for kind, first in messages for name in received)
        queued = collections.Counter((data["kind"], data["firstPeriod"], data["destination"])
                                     for data in (task["payload"]["data"] for task in tasks))
        self.assertEqual(queued, called, "one task for each alarm, kind and destination")
        self.assertEqual({task["outcome"] for task in tasks}, {"SUCCEEDED"})
        for name, ids in received.items():
            wanted = {task["taskId"]: task["payload"]["data"]["kind"] for task in tasks
                      if task["payload"]["data"]["destination"] == name}
            self.assertEqual(ids(), wanted, f"{name} was told of each")


if __name__ == "__main__":
    unittest.main()
