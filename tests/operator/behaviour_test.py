#!/usr/bin/env python3
"""The cases of tests/kube/behaviour_cases.py on the model of an API server."""

import contextlib
import sys
import time
import unittest

from operator_host import JOBS, KRON_JOBS, NAMESPACE, ROOT, Cluster, Stalls, shipped_rules, until

sys.path.insert(0, str(ROOT / "tests/kube"))
from behaviour_cases import LeaderCases, PeriodCases  # noqa: E402  pylint: disable=wrong-import-position

EVENTS = f"/apis/events.k8s.io/v1/namespaces/{NAMESPACE}/events"


def merged(into, value):
    if not isinstance(into, dict) or not isinstance(value, dict):
        return value
    return {**into, **{key: merged(into.get(key), member) for key, member in value.items()}}


class OnTheModel:
    stalls = Stalls

    def setUp(self):
        self.cluster = Cluster()
        self.addCleanup(self.cluster.__exit__, None, None, None)
        self.cluster.tell("roles", {"operator": shipped_rules()})
        self.operators = self.cluster.operators

    def operator(self, *flags):
        return self.cluster.operator("operator", *flags)

    def until(self, condition, what):
        return until(condition, what)

    def add(self, name, schedule, **more):
        return self.cluster.add(name, schedule, **more)

    def kron_job(self, name):
        return self.cluster.kron_job(name)

    def edit(self, name, spec):
        """For the version that was read, until it is."""
        while True:
            before = self.cluster.kron_job(name)
            if self.cluster.ask("PUT", f"{KRON_JOBS}/{name}", merged(before, {"spec": spec}))[0] == 200:
                return

    def run_now(self, name, token):
        code, answer = self.cluster.patch(f"{KRON_JOBS}/{name}", {"op": "add", "path": "/metadata/annotations",
                                                                  "value": {"kron.io/run-now": token}})  # fmt: skip
        self.assertEqual(code, 200, answer)

    def remove_kron_job(self, name):
        self.assertEqual(self.cluster.ask("DELETE", f"{KRON_JOBS}/{name}")[0], 200)

    def job_list(self):
        return self.cluster.jobs()

    def delete_job(self, name):
        return self.cluster.ask("DELETE", f"{JOBS}/{name}")[0] == 200

    def end_job(self, name):
        self.cluster.tell("finish", {"namespace": NAMESPACE, "name": name})

    def event_reasons(self):
        return {(one["reason"], one["regarding"]["name"]) for one in self.cluster.ask("GET", EVENTS)[1]["items"]}

    def opened(self):
        return {(start["identity"], start["period"] or start["name"]) for start in self.cluster.started()}

    def broken(self):
        return self.cluster.doubled()

    def worked_again_at(self, since):
        """When the first Job started."""
        return min((start["at"] for start in self.cluster.started() if start["at"] > since), default=None)

    @contextlib.contextmanager
    def without_status_writes(self):
        rules = [rule for rule in shipped_rules() if rule["resources"] != ["kronjobs/status"]]
        self.cluster.tell("roles", {"operator": rules})
        yield
        self.cluster.tell("roles", {"operator": shipped_rules()})

    def restart_server(self):
        self.cluster.tell("down")
        self.cluster.tell("compact")
        time.sleep(3)
        self.cluster.tell("up")

    def collect_garbage(self):
        self.cluster.tell("collect-garbage")


class Periods(OnTheModel, PeriodCases, unittest.TestCase):
    pass


class Leaders(OnTheModel, LeaderCases, unittest.TestCase):
    pass


if __name__ == "__main__":
    unittest.main()
