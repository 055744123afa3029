#!/usr/bin/env python3
"""kron-operator and a server that goes, comes back, forgets and refuses."""

import os
import subprocess
import tempfile
import time
import unittest

from operator_host import EVERY_SECOND, OPERATOR, PATIENCE, Cluster, at_second, until


class Server(unittest.TestCase):
    def goes_on(self, cluster):
        before = len(cluster.started())
        until(lambda: len(cluster.started()) > before + 2, "it goes on")
        self.assertEqual(cluster.doubled(), {})

    def test_a_server_that_comes_back_is_worked_on_by_the_same_operator(self):
        with Cluster() as cluster:
            operator = cluster.operator()
            cluster.leader()
            cluster.add("often", EVERY_SECOND)
            until(cluster.started, "it runs")
            for forgets in (False, True):
                cluster.tell("down")
                if forgets:
                    cluster.tell("compact")
                time.sleep(4)
                cluster.tell("up")
                self.goes_on(cluster)
            self.assertTrue(operator.is_alive())

    def test_a_leader_without_a_server_ends_and_another_goes_on(self):
        with Cluster() as cluster:
            operator = cluster.operator()
            cluster.leader()
            cluster.add("once", at_second(time.time() + 30), deadline="5m")
            until(lambda: cluster.status("once").get("next"), "it is looked at")
            cluster.tell("down")
            self.assertEqual(operator.process.wait(PATIENCE), 3)
            cluster.tell("up")
            cluster.operator()
            until(cluster.started, "it was started")
            time.sleep(1)
            self.assertEqual(len(cluster.started()), 1)

    def test_watches_that_break_and_versions_that_are_forgotten_lose_nothing(self):
        with Cluster() as cluster:
            cluster.operator()
            cluster.leader()
            for fault in ("bytes", "twice", "cut"):
                # Whoever breaks every line can never say one.
                cluster.tell("faults", [{"kind": fault, "times": 5 if fault == "cut" else -1}])
                cluster.add(f"job-{fault}", EVERY_SECOND)
                until(lambda: any(s["identity"] == f"shop/job-{fault}" for s in cluster.started()), fault)
            cluster.tell("faults", [])
            for as_status in (False, True):
                cluster.tell("options", {"gone_as_status": as_status})
                cluster.tell("compact")
                cluster.tell("cut-watches")
                self.goes_on(cluster)

    def test_a_token_that_expires_is_read_anew(self):
        with Cluster() as cluster:
            path = cluster.root / "operator.kubeconfig"
            (cluster.root / "token").write_text("token-of-operator", encoding="utf-8")
            path.write_text(path.read_text(encoding="utf-8").replace("token: token-of-operator", "tokenFile: token"),
                            encoding="utf-8")  # fmt: skip
            cluster.operator()
            cluster.leader()
            cluster.add("often", EVERY_SECOND)
            until(cluster.started, "it runs")
            cluster.tell("tokens", {"another": "operator"})
            (cluster.root / "token").write_text("another", encoding="utf-8")
            self.goes_on(cluster)

    def test_a_kubeconfig_is_looked_for_where_kubectl_looks(self):
        command = [OPERATOR, "--lease-namespace", "kron", "--metrics-listen", "none"]
        with Cluster() as cluster, tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "HOME": home}
            environment.pop("KUBERNETES_SERVICE_HOST", None)
            environment.pop("KUBECONFIG", None)
            for variables, words in (({}, "There is no ~/.kube/config, and KUBECONFIG is not set; give --kubeconfig PATH"),
                                     ({"KUBECONFIG": "/nowhere"}, "KUBECONFIG is '/nowhere', and no such file is there")):
                result = subprocess.run(command, capture_output=True, text=True, check=False, timeout=PATIENCE,
                                        env={**environment, **variables})  # fmt: skip
                self.assertEqual(result.returncode, 2)
                self.assertIn(words, result.stderr)
            found = f"/nowhere:{cluster.root / 'operator.kubeconfig'}"
            with subprocess.Popen(command, stderr=subprocess.DEVNULL, env={**environment, "KUBECONFIG": found}) as process:
                try:
                    until(cluster.holder, "it leads")
                finally:
                    process.kill()

    def test_a_certificate_is_as_good_as_a_token(self):
        with Cluster() as cluster:
            cluster.operator("operator-certificate")
            cluster.add("often", EVERY_SECOND)
            until(cluster.started, "it runs")
            self.assertGreater(cluster.calls(user="operator", verb="create", resource="jobs", code=201), 0)

    def test_a_server_that_drops_suspend_is_said_to_have_no_gate(self):
        with Cluster() as cluster:
            cluster.tell("options", {"drops_suspend": True})
            cluster.operator()
            cluster.add("often", EVERY_SECOND)
            until(cluster.started, "it runs")
            until(lambda: cluster.condition("often", "Ready").get("reason") == "Ungated", "it says so")
            self.goes_on(cluster)


if __name__ == "__main__":
    unittest.main()
