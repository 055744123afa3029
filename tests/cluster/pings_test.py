"""Of each run one host tells the check, whichever runs it; of a period without a run the one that recorded it."""

import collections
import re
import time
import unittest
import uuid

from cluster_host import OnFleet, until
from notify_receivers import Receiver


class Pings(OnFleet):
    hosts = ("h1", "h2", "h3")

    def setUp(self):
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)

    def got(self, job):
        """(what, run) of each ping."""
        found = [re.fullmatch(rf"/{job}/(\w+)(?:\?rid=(.*))?", path) for path, _, _ in list(self.receiver.messages)]
        return [(parts[1], uuid.UUID(parts[2]).hex if parts[2] else "") for parts in found if parts]

    def test_each_run_is_told_of_once(self):
        self.fleet.define("tick", "true", cron={"second": "*"},
                          kron={"ping": f"{self.receiver.place}/tick", "policy": {"deadline": "20s"}})
        until(lambda: len([run for what, run in self.got("tick") if what == "0"]) >= 5, "five ends")
        self.fleet.publish("pause", "tick")
        self.fleet.wait_until_idle()
        time.sleep(2)
        counts = collections.Counter(self.got("tick"))
        self.assertEqual(set(counts.values()), {1}, counts)
        runs = {run for _, run in counts}
        self.assertEqual({("start", run) for run in runs} | {("0", run) for run in runs}, set(counts))
        self.assertEqual(runs, set(self.fleet.blobs("tick")))

    def test_a_period_that_did_not_run_is_told_of_once(self):
        self.fleet.define("held", self.fleet.holding(), cron={"second": "*/2"}, kron={"ping": f"{self.receiver.place}/held"})
        self.addCleanup(self.fleet.hold_no_more)
        until(lambda: len([what for what, _ in self.got("held") if what != "start"]) >= 3, "three that did not run")
        self.fleet.publish("pause", "held")
        time.sleep(2)
        without_run = [entry for entry in self.fleet.outcomes("held") if entry.get("outcome") in ("skipped", "missed")]
        told = [what for what, _ in self.got("held") if what in ("log", "fail")]
        self.assertEqual(len(told), len(without_run), (told, without_run))

    def test_a_job_that_is_removed_is_told_of_no_more(self):
        self.fleet.define("gone", "true", cron={"second": "*"}, kron={"ping": f"{self.receiver.place}/gone"})
        until(lambda: self.got("gone"), "a ping")
        self.fleet.redis("HDEL", self.key("jobs"), "gone")
        self.fleet.reload()
        self.fleet.wait_until_idle()
        time.sleep(2)
        count = len(self.got("gone"))
        self.stays(lambda: len(self.got("gone")) == count, "a ping of a job that is gone")


if __name__ == "__main__":
    unittest.main()
