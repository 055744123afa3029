#!/usr/bin/env python3
"""`kron kube …` on the model of an API server, over TLS, beside a kron-operator. The same cases on a real server are in
operator_test.py."""

import os
import unittest

import operator_host
from verb_cases import VerbCases

# What docs/kubernetes-commands.md says that a verb needs is no part of this role.
POWERLESS = [{"verbs": ["get"], "resources": ["leases"]}]


class Verbs(VerbCases, unittest.TestCase):
    kron = os.environ["KRON"]
    namespace = operator_host.NAMESPACE
    until = staticmethod(operator_host.until)

    @classmethod
    def setUpClass(cls):
        cls.cluster = operator_host.Cluster(users=("operator", "powerless"))
        cls.addClassCleanup(cls.cluster.__exit__, None, None, None)
        cls.cluster.tell("roles", {"powerless": POWERLESS})
        root = cls.cluster.root
        cls.configs = {"admin": str(root / "operator-certificate.kubeconfig"), "powerless": str(root / "powerless.kubeconfig"),
                       "stranger": str(root / "stranger.kubeconfig")}
        text = (root / "operator.kubeconfig").read_text(encoding="utf-8")
        (root / "stranger.kubeconfig").write_text(text.replace("    certificate-authority: ca.crt\n", ""), encoding="utf-8")
        cls.cluster.operator()
        cls.cluster.leader()

    def tearDown(self):
        for kron_job in self.cluster.ask("GET", operator_host.KRON_JOBS)[1]["items"]:
            self.cluster.ask("DELETE", f"{operator_host.KRON_JOBS}/{kron_job['metadata']['name']}")
        self.cluster.tell("collect-garbage")

    def add(self, name, schedule):
        self.cluster.add(name, schedule)

    def kron_job(self, name):
        return self.cluster.kron_job(name)

    def job_list(self):
        return self.cluster.jobs()

    def finish(self, name):
        self.cluster.tell("finish", {"namespace": self.namespace, "name": name})


if __name__ == "__main__":
    unittest.main()
