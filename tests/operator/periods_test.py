#!/usr/bin/env python3
"""One kron-operator: what is due runs once, and what stands in the way does not make it run twice or unrecorded."""

import time
import unittest

from operator_host import EVERY_FIVE, EVERY_SECOND, NEVER, Cluster, at_second, shipped_rules, until


class Periods(unittest.TestCase):
    def test_a_due_period_is_created_suspended_recorded_and_opened_once(self):
        with Cluster() as cluster:
            cluster.operator()
            cluster.leader()
            cluster.tell("forget-calls")
            cluster.add("report", at_second(time.time() + 3))
            until(cluster.started, "it was started")
            status = until(lambda: (cluster.status("report").get("last") or {}).get("outcome") and cluster.status("report"),
                           "it is recorded")
            self.assertEqual(status["last"]["outcome"], "executed")
            [start] = cluster.started()
            [job] = cluster.jobs()
            self.assertEqual(start["period"], status["last"]["periodID"])
            self.assertEqual(job["metadata"]["uid"], start["uid"])
            self.assertNotIn("kron.io/gate", job["metadata"]["annotations"])
            self.assertFalse(job["spec"]["suspend"])
            cluster.tell("finish", {"namespace": "shop", "name": start["name"]})
            until(lambda: cluster.status("report").get("lastSuccessfulTime"), "its end is seen")
            time.sleep(1)
            self.assertEqual(cluster.doubled(), {})
            # The first look at it (status, dry run), then create, record, open, the end; and events.
            writes = cluster.calls(resource="kronjobs/status") + cluster.calls(resource="jobs")
            self.assertLessEqual(writes - cluster.calls(verb="list") - cluster.calls(verb="watch"), 8)

    def test_an_idle_operator_asks_for_nothing_but_its_lease(self):
        with Cluster() as cluster:
            for i in range(20):
                cluster.add(f"idle-{i}", NEVER)
            cluster.operator()
            until(lambda: all(cluster.status(f"idle-{i}").get("next") for i in range(20)), "all are looked at")
            time.sleep(1)
            cluster.tell("forget-calls")
            until(lambda: cluster.calls(verb="update", resource="leases", code=200) >= 3, "it renews its lease")
            others = [call for call in cluster.state()["calls"] if call["resource"] != "leases"]
            self.assertEqual(others, [])

    def test_what_a_role_lacks_is_said_and_is_made_up_for_when_it_comes(self):
        with Cluster() as cluster:
            rules = [
                {"verbs": ["get", "list", "watch"], "resources": ["kronjobs", "jobs"]},
                {"verbs": ["update"], "resources": ["kronjobs/status"]},
                {"verbs": ["*"], "resources": ["leases"]},
            ]
            cluster.tell("roles", {"operator": rules})
            cluster.operator()
            cluster.leader()
            cluster.add("report", EVERY_FIVE)
            until(lambda: cluster.condition("report", "SchedulingError").get("status") == "True", "it says why not")
            self.assertEqual(cluster.started(), [])
            self.assertGreater(cluster.calls(verb="create", resource="jobs", code=403), 0)
            cluster.tell("roles", {"operator": [{"verbs": ["*"], "resources": ["*"]}]})
            until(cluster.started, "then it starts")
            until(lambda: cluster.condition("report", "SchedulingError").get("status") != "True", "all is well again")
            self.assertEqual(cluster.doubled(), {})

    def test_the_role_that_is_shipped_is_enough(self):
        with Cluster() as cluster:
            cluster.tell("roles", {"operator": shipped_rules()})
            cluster.operator()
            cluster.leader()
            cluster.add("report", EVERY_SECOND, successfulJobsHistoryLimit=1)
            cluster.tell("options", {"jobs_take_ms": 10})
            until(lambda: cluster.calls(verb="delete", resource="jobs", code=200), "Jobs of the past are removed")
            until(lambda: cluster.calls(verb="create", resource="events", code=201), "it tells what it does")
            self.assertEqual(cluster.calls(code=403), 0)

    def test_a_server_that_is_busy_is_asked_again_later(self):
        with Cluster() as cluster:
            cluster.operator()
            cluster.leader()
            cluster.tell("refusals", [{"verb": "create", "resource": "jobs", "code": 429, "reason": "TooManyRequests",
                                       "retry_after": 1, "times": 3}])  # fmt: skip
            cluster.add("report", at_second(time.time() + 3))
            until(cluster.started, "it was started")
            self.assertEqual(cluster.doubled(), {})

    def test_answers_that_are_lost_and_requests_that_float_start_nothing_twice(self):
        with Cluster() as cluster:
            cluster.operator()
            cluster.leader()
            cluster.add("report", EVERY_SECOND)
            until(cluster.started, "it runs")
            for kind in ("lose_answer", "floats", "drop"):
                for verb, resource in (("create", "jobs"), ("update", "kronjobs/status"), ("patch", "jobs")):
                    cluster.tell("faults", [{"kind": kind, "verb": verb, "resource": resource, "delay_ms": 3000, "times": 2}])
                    before = len(cluster.started())
                    until(lambda: len(cluster.started()) > before + 1, f"it goes on behind {kind} of {verb}")
            self.assertEqual(cluster.doubled(), {})


if __name__ == "__main__":
    unittest.main()
