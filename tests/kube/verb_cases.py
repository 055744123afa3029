"""`kron kube …` as a user types it, over TLS, on a cluster with an operator that works. Which cluster that is, a model or a
real server, says who derives from this."""

import json
import os
import subprocess
import tempfile

NEVER = "0 0 1 1 *"
OFTEN = "*/5 * * * * *"


class VerbCases:
    """Needs: kron (the program), configs (a kubeconfig by kind: `admin`, `powerless`, `stranger`, whose authority is
    another), until, and of the cluster: namespace, add, kron_job, job_list, finish."""

    def kube(self, *words, who="admin", **variables):
        """Runs it in the namespace of the test."""
        with tempfile.TemporaryDirectory() as home:
            environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "TZ": "UTC", "HOME": home, **variables}
            environment.pop("KUBERNETES_SERVICE_HOST", None)
            if "KUBECONFIG" not in variables:
                environment.pop("KUBECONFIG", None)
            config = ["--kubeconfig", self.configs[who]] if who else []
            return subprocess.run([self.kron, "kube", *words, "-n", self.namespace, *config], capture_output=True, text=True,
                                  check=False, timeout=300, env=environment)

    def said(self, *words, status=0, **more):
        """What it printed, when it ended with this status."""
        result = self.kube(*words, **more)
        self.assertEqual(result.returncode, status, (words, result.stdout, result.stderr))
        return result.stdout + result.stderr

    def manual_jobs(self):
        return [job for job in self.job_list() if job["metadata"]["annotations"].get("kron.io/trigger") == "manual"]

    def looked_at(self, name):
        self.until(lambda: self.kron_job(name).get("status", {}).get("next"), "an operator has looked at it")

    def test_next_and_explain_tell_what_the_operator_does(self):
        self.add("often", OFTEN)
        self.add("yearly", NEVER)
        last = self.until(lambda: self.kron_job("often").get("status", {}).get("last"), "a period has run")
        self.assertEqual(last["outcome"], "executed")
        explained = json.loads(self.said("explain", "often", "--period", last["periodID"], "--format", "json"))
        self.assertEqual(explained["verdict"]["state"], "executed")
        self.assertEqual(explained["verdict"]["jobName"], last["jobName"])
        job = next(one for one in self.job_list() if one["metadata"]["name"] == last["jobName"])
        self.assertEqual(explained["explanation"]["seedHash"], job["metadata"]["annotations"]["kron.io/seed-hash"])
        self.looked_at("yearly")
        coming = json.loads(self.said("next", "yearly", "--count", "1", "--format", "json"))
        shown = self.kron_job("yearly")["status"]["next"]
        self.assertEqual((coming["periodId"], coming["chosenTime"], coming["seedHash"]),
                         (shown["periodID"], shown["chosenTime"], shown["seedHash"]))
        # On a server that others use too, theirs come as well.
        self.assertIn(f"{self.namespace}/often", self.said("next", "-A", "--count", "200"))
        self.assertIn(f"there is no KronJob 'none' in namespace '{self.namespace}'", self.said("next", "none", status=1))

    def test_trigger_starts_one_run_for_each_id_and_can_wait_for_its_end(self):
        self.add("yearly", NEVER)
        self.looked_at("yearly")
        for words in ("asked for a run", "asked before for a run"):
            self.assertIn(f"{words} of {self.namespace}/yearly", self.said("trigger", "yearly", "--id", "first"))
        [job] = self.until(self.manual_jobs, "its Job is there")
        self.until(lambda: (self.kron_job("yearly")["status"].get("lastManual") or {}).get("token") == "first", "it is recorded")
        self.finish(job["metadata"]["name"])
        # It waits for the end of the Job, which has ended.
        self.assertIn("completed", self.said("trigger", "yearly", "--id", "first", "--wait", "--timeout", "200s"))
        self.until(lambda: not self.kron_job("yearly")["status"].get("activeCount"), "its end is seen")
        self.assertEqual(len(self.manual_jobs()), 1)

    def test_suspend_and_resume_change_what_is_started(self):
        self.add("yearly", NEVER)
        self.looked_at("yearly")
        self.assertIn(f"suspended {self.namespace}/yearly", self.said("suspend", "yearly"))
        self.assertTrue(self.kron_job("yearly")["spec"]["policy"]["suspend"])
        self.until(lambda: not self.kron_job("yearly")["status"].get("next"), "the operator knows")
        self.assertIn("is suspended", self.said("next", "yearly"))
        self.assertIn(f"resumed {self.namespace}/yearly", self.said("resume", "--all"))
        self.looked_at("yearly")

    def test_what_stands_in_the_way_is_said(self):
        self.add("yearly", NEVER)
        self.assertIn("does not allow it", self.said("next", "yearly", status=4, who="powerless"))
        self.assertIn("does not allow it", self.said("suspend", "yearly", status=4, who="powerless"))
        self.assertFalse(self.kron_job("yearly")["spec"].get("policy", {}).get("suspend", False))
        self.assertRegex(self.said("next", "yearly", status=3, who="stranger"), "(?i)cannot be reached: .*certificate")
        without = self.said("next", "yearly", status=2, who=None)
        for word in ("~/.kube/config", "set KUBECONFIG", "give --kubeconfig PATH"):
            self.assertIn(word, without)
        self.assertIn("yearly", self.said("next", "yearly", who=None, KUBECONFIG="/nowhere:" + self.configs["admin"]))
