#!/usr/bin/env python3
"""kron-operator on a real API server, with the rights of the shipped roles and no other.

Where the server's own Jobs cannot be suspended, the operator works on a kind that is shaped like Job and can be
(--test-jobs): names, compare-and-set, patch tests, preconditions, watches and garbage collection are then the server's own,
and nothing runs the Jobs.

    operator_test.py SOURCE_DIRECTORY KRON_OPERATOR KRON
"""

import calendar
import contextlib
import datetime
import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
import unittest
from pathlib import Path

import crd
import kube_host
from behaviour_cases import EVERY_FIVE, NEVER, Behaviour, LeaderCases, PeriodCases, at_second
from kube_host import until
from verb_cases import VerbCases

PATIENCE = 180
SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
TEST_KIND = "test.kron.io/v1/jobs/Job"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kron-system/leases/kron-operator"
TEMPLATE = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}


def setUpModule():
    global HOST, ADMIN
    HOST = kube_host.KubeHost(ASSETS, with_controllers=True).start()
    try:
        ADMIN = HOST.admin()
        bare = HOST.version < (1, 25)
        for name in ("namespace.yaml", "crd-1.24.yaml" if bare else "crd.yaml", "rbac.yaml"):
            HOST.install(*crd.load_all(BASE / name))
        HOST.install(*crd.load_all(SOURCE / "tests/kube/test_jobs_crd.yaml"), *rights_on_test_jobs())
    except BaseException:
        HOST.stop()
        raise


def tearDownModule():
    ADMIN.close()
    HOST.stop()


def rights_on_test_jobs():
    """What the shipped role says of Jobs, of the kind that stands in for them."""
    role = next(one for one in crd.load_all(BASE / "rbac.yaml") if one["kind"] == "ClusterRole")
    rules = [{**rule, "apiGroups": ["test.kron.io"]} for rule in role["rules"] if rule["apiGroups"] == ["batch"]]
    name = {"name": "kron-operator-test-jobs"}
    yield {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRole", "metadata": name, "rules": rules}
    yield {"apiVersion": "rbac.authorization.k8s.io/v1", "kind": "ClusterRoleBinding", "metadata": name,
           "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", **name},
           "subjects": [{"kind": "ServiceAccount", "name": "kron-operator", "namespace": "kron-system"}]}


class Witness(threading.Thread):
    """Sees every version of every Job of a namespace, and notes which uids were ever open, and whether they were recorded
    by then. A server that was started again has forgotten older versions: what is there then is looked at as a whole."""

    def __init__(self, path, kron_jobs):
        super().__init__(daemon=True)
        self.path = path
        self.kron_jobs = kron_jobs
        self.asker = HOST.admin()
        self.unrecorded = []
        self.ended = threading.Event()
        self.client = None
        self.opened = {}  # (identity, period or token's mark) -> uids
        self.created = {}
        self.version = ADMIN.get(path).json["metadata"]["resourceVersion"]
        self.start()

    def run(self):
        while not self.ended.is_set():
            with contextlib.suppress(OSError, http.client.HTTPException, ValueError):
                self.watch()
            time.sleep(0.2)

    def watch(self):
        self.client = HOST.admin()
        try:
            self.client.connection.request("GET", f"{self.path}?watch=1&resourceVersion={self.version}&timeoutSeconds=60")
            self.read(self.client.connection.getresponse())
        finally:
            self.client.close()

    def read(self, answer):
        if answer.status == 410:
            answer.read()
            self.look()
            return
        if answer.status != 200:
            raise http.client.HTTPException(answer.status)  # a server that has just started
        while not self.ended.is_set():
            line = answer.readline()
            if not line:
                return
            event = json.loads(line)
            if event["type"] == "ERROR":
                self.look()
                return
            self.note(event["object"])

    def look(self):
        client = HOST.admin()
        try:
            found = client.get(self.path)
        finally:
            client.close()
        if found.code != 200:
            raise http.client.HTTPException(found.code)
        for job in found.json["items"]:
            self.note(job)
        self.version = found.json["metadata"]["resourceVersion"]

    def note(self, job):
        meta = job["metadata"]
        self.version = meta["resourceVersion"]
        annotations = meta.get("annotations", {})
        key = annotations.get("kron.io/identity"), annotations.get("kron.io/period-id", meta["name"])
        self.created.setdefault(key, set()).add(meta["uid"])
        if "kron.io/gate" not in annotations and not job["spec"].get("suspend"):
            if meta["uid"] not in self.opened.setdefault(key, set()):
                self.opened[key].add(meta["uid"])
                self.look_for_record(meta["labels"]["kron.io/name"], annotations)

    def look_for_record(self, name, annotations):
        """First the record, then the run: who sees the Job open finds its period handled."""
        period = annotations.get("kron.io/period-id")
        if period is None:
            return
        try:
            found = self.asker.get(f"{self.kron_jobs}/{name}")
        except (OSError, http.client.HTTPException):
            return  # a server that is killed by a test
        if found.code != 200:
            return
        handled = found.json.get("status", {}).get("handled", {})
        spans = handled.get("passedOver", [])
        is_open = period in handled.get("open", []) or any(span["first"] <= period <= span["last"] for span in spans)
        if handled.get("through", "") < period or is_open:
            self.unrecorded.append((name, period, handled))

    def broken(self):
        """What must not be: periods that were opened as two Jobs, or before their record."""
        twice = {key: uids for key, uids in dict(self.opened).items() if len(uids) > 1}
        return {**twice, "unrecorded": self.unrecorded} if self.unrecorded else twice

    def end(self):
        self.ended.set()
        with contextlib.suppress(OSError, AttributeError):
            self.client.connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        self.join(70)
        self.asker.close()


class Stalls(threading.Thread):
    """How long this machine has let nobody run, which no take-over can be faster than."""

    def __init__(self):
        super().__init__(daemon=True)
        self.ended = threading.Event()
        self.seconds = 0.0

    def run(self):
        last = time.monotonic()
        while not self.ended.wait(0.1):
            now = time.monotonic()
            self.seconds += max(0.0, now - last - 0.3)
            last = now

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.ended.set()
        self.join()


class Operator:
    def __init__(self, name, namespace, *flags, test_jobs=True):
        self.flags, self.test_jobs = flags, test_jobs
        self.may_end = False  # a test has ended it, or has seen it end
        self.port = kube_host.free_port()
        self.log = HOST.directory / f"{name}.log"
        config = HOST.kubeconfig(name, HOST.token_of("kron-system", "kron-operator"))
        kind = ["--test-jobs", TEST_KIND] if test_jobs else []
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [OPERATOR, "--kubeconfig", config, "--namespace", namespace, "--lease-namespace", "kron-system",
                 "--metrics-listen", f"127.0.0.1:{self.port}", *kind, *flags],
                stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                env={**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "TZ": "UTC"}, preexec_fn=kube_host.die_with_parent)

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def page(self, path):
        """The code and the text; 0: nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            answer = connection.getresponse()
            return answer.status, answer.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def leads(self):
        return any(line.startswith("kron_leader") and float(line.split()[-1]) == 1
                   for line in self.page("/metrics")[1].splitlines())

    def signal(self, number):
        self.may_end = True
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()


class OnAServer(Behaviour, unittest.TestCase):
    """Each test has a namespace of its own, which its operators watch alone."""

    stalls = Stalls

    def setUp(self):
        self.namespace = self.id().rsplit(".", 1)[-1].removeprefix("test_").replace("_", "-")[:50].rstrip("-")
        HOST.install({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.kron_jobs = f"/apis/kron.io/v1alpha1/namespaces/{self.namespace}/kronjobs"
        self.jobs = f"/apis/test.kron.io/v1/namespaces/{self.namespace}/jobs"
        ADMIN.delete(LEASE)
        self.witness = Witness(self.jobs, self.kron_jobs)
        self.addCleanup(self.witness.end)
        self.operators = []

    def tearDown(self):
        for operator in self.operators:
            operator.end()
        if self.failed():
            for operator in self.operators:
                print(f"--- {operator.log.name}\n{operator.text()[-5000:]}")

    def failed(self):
        return any(error for _, error in getattr(self._outcome, "errors", [])) or \
            any(case is self for case, _ in [*self._outcome.result.failures, *self._outcome.result.errors])

    def operator(self, *flags, **more):
        operator = Operator(f"{self.namespace}-{len(self.operators)}", self.namespace, *flags, **more)
        self.operators.append(operator)
        return operator

    def until(self, condition, what, patience=PATIENCE):
        """An operator that lost its Lease, because the machine was busy, ends; in a pod it would be started again."""
        def look():
            for one in list(self.operators):
                if one.process.poll() is not None and not one.may_end:
                    one.may_end = True
                    self.operator(*one.flags, test_jobs=one.test_jobs)
            return condition()

        return until(look, what, patience)

    def add(self, name, schedule=EVERY_FIVE, deadline="1m", concurrency="allow", template=TEMPLATE, **spec):
        policy = {"deadline": deadline, "concurrency": concurrency}
        answer = ADMIN.post(self.kron_jobs, {
            "apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "metadata": {"name": name},
            "spec": {"schedule": schedule, "policy": policy, "jobTemplate": template, **spec}})
        self.assertEqual(answer.code, 201, answer)
        return answer.json

    def kron_job(self, name):
        return ADMIN.get(f"{self.kron_jobs}/{name}").json

    def edit(self, name, spec):
        self.assertEqual(ADMIN.patch(f"{self.kron_jobs}/{name}", {"spec": spec}, "merge").code, 200)

    def run_now(self, name, token):
        annotations = {"metadata": {"annotations": {"kron.io/run-now": token}}}
        self.assertEqual(ADMIN.patch(f"{self.kron_jobs}/{name}", annotations, "merge").code, 200)

    def remove_kron_job(self, name):
        if "kube-controller-manager" not in HOST.processes:
            self.skipTest("no garbage collector here")
        self.assertEqual(ADMIN.delete(f"{self.kron_jobs}/{name}").code, 200)

    def job_list(self):
        return ADMIN.get(self.jobs).json["items"]

    def delete_job(self, name):
        return ADMIN.delete(f"{self.jobs}/{name}").code == 200

    def end_job(self, name):
        """Of the kind that stands in for Jobs: no controller does it."""
        ended = {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-03-01T12:00:00Z"}]}
        self.assertEqual(ADMIN.patch(f"{self.jobs}/{name}/status", {"status": ended}, "merge").code, 200)

    def event_reasons(self):
        events = ADMIN.get(f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events").json["items"]
        return {(one["reason"], one["regarding"]["name"]) for one in events}

    def opened(self):
        return set(list(self.witness.opened))

    def broken(self):
        return self.witness.broken()

    def worked_again_at(self, since):
        """When the present leader became one."""
        text = ADMIN.get(LEASE).json["spec"]["acquireTime"]
        acquired = datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()
        return acquired if acquired > since - 1 else None

    @contextlib.contextmanager
    def without_status_writes(self):
        path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kron-operator"
        all_rules = ADMIN.get(path).json["rules"]
        rules = [rule for rule in all_rules if rule["resources"] != ["kronjobs/status"]]
        self.assertEqual(ADMIN.patch(path, [{"op": "replace", "path": "/rules", "value": rules}]).code, 200)
        try:
            yield
        finally:
            ADMIN.patch(path, [{"op": "replace", "path": "/rules", "value": all_rules}])

    def restart_server(self):
        HOST.kill("kube-apiserver")
        HOST.start_api()

    def collect_garbage(self):
        """A controller of the server does."""
        if "kube-controller-manager" not in HOST.processes:
            self.skipTest("no garbage collector here")


class Periods(PeriodCases, OnAServer):
    def test_columns_show_what_is_and_comes(self):
        self.operator()
        self.add("yearly", NEVER)
        self.until(lambda: self.status("yearly").get("next"), "it is looked at")
        table = ADMIN.get(self.kron_jobs + "/yearly", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").json
        shown = dict(zip((column["name"] for column in table["columnDefinitions"]), table["rows"][0]["cells"]))
        self.assertEqual((shown["Ready"], shown["Active"], shown["Suspend"]), ("True", 0, False))
        self.assertRegex(shown["Next"], r"^\d{4}-01-01T00:00:00Z$")

    def test_a_template_that_the_server_refuses_is_told_at_once(self):
        self.operator(test_jobs=False)
        self.add("broken", NEVER, template={"spec": {"template": {"spec": {"restartPolicy": "Never",
                                                                          "containers": [{"name": "c"}]}}}})
        self.until(lambda: self.condition("broken", "InvalidSpec").get("status") == "True", "it is told")
        condition = self.condition("broken", "InvalidSpec")
        self.assertEqual((condition["reason"], "image" in condition["message"]), ("TemplateRefused", True), condition)

    def test_many_are_due_within_a_minute(self):
        crowd = 100 if SCALE == 1 else 2000
        self.operator()
        self.leader()
        begin = int(time.time()) + 10 + crowd // 10
        within = 10 if SCALE == 1 else 60
        expected = set()
        for i in range(crowd):
            due = begin + i * within // crowd
            created = self.add(f"due-{i}", at_second(due), deadline="1h")["metadata"]["creationTimestamp"]
            # One that a busy machine was too slow to create before its time has no period.
            if calendar.timegm(time.strptime(created, "%Y-%m-%dT%H:%M:%SZ")) + 1 < due:
                expected.add(f"{self.namespace}/due-{i}")
        self.assertGreater(len(expected), crowd // 2)
        # A server that gets a tenth of a processor makes four calls for each of them, and keeps us waiting for each.
        self.until(lambda: expected <= {identity for identity, _ in list(self.witness.opened)}, "all are opened",
                   PATIENCE + crowd / 4 + max(0.0, begin + within - time.time()))
        self.keeps_its_promises()


class Leaders(LeaderCases, OnAServer):
    pass


class OwnJobs(OnAServer):
    def test_a_server_whose_jobs_cannot_be_suspended_is_said_to_have_no_gate(self):
        if HOST.version >= (1, 22):
            self.skipTest("this server's Jobs can be suspended")
        self.operator(test_jobs=False)
        self.add("report", EVERY_FIVE)
        self.until(lambda: self.condition("report", "Ready").get("reason") == "Ungated", "it says so")
        jobs = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        self.until(lambda: len(ADMIN.get(jobs).json["items"]) >= 2, "it works with the name as its lock")
        periods = [job["metadata"]["annotations"]["kron.io/period-id"] for job in ADMIN.get(jobs).json["items"]]
        self.assertEqual(len(set(periods)), len(periods))

    def test_a_server_whose_jobs_can_be_suspended_has_the_gate(self):
        if HOST.version < (1, 22):
            self.skipTest("this server drops spec.suspend")
        self.operator(test_jobs=False)
        self.add("report", EVERY_FIVE)
        jobs = f"/apis/batch/v1/namespaces/{self.namespace}/jobs"
        self.until(lambda: [job for job in ADMIN.get(jobs).json["items"] if not job["spec"]["suspend"]], "one is opened")
        self.assertEqual(self.condition("report", "Ready").get("reason"), "Scheduled")


class Verbs(VerbCases, OnAServer):
    """`kron kube` beside an operator that works on the server's own Jobs; one of no completions ends by itself."""

    ENDS_AT_ONCE = {"spec": {**TEMPLATE["spec"], "completions": 0, "parallelism": 0}}

    def setUp(self):
        super().setUp()
        if "kube-controller-manager" not in HOST.processes:
            self.skipTest("nothing ends Jobs here")
        self.kron = KRON
        HOST.make_stranger()
        account = {"apiVersion": "v1", "kind": "ServiceAccount", "metadata": {"name": "powerless", "namespace": self.namespace}}
        self.assertIn(HOST.create(account).code, (201, 409))
        self.configs = {"admin": HOST.kubeconfig("verbs-admin"),
                        "powerless": HOST.kubeconfig("verbs-powerless", HOST.token_of(self.namespace, "powerless")),
                        "stranger": HOST.kubeconfig("verbs-stranger", authority="stranger.crt")}
        self.operator(test_jobs=False)
        self.leader()

    def add(self, name, schedule):
        return super().add(name, schedule, template=self.ENDS_AT_ONCE)

    def job_list(self):
        return ADMIN.get(f"/apis/batch/v1/namespaces/{self.namespace}/jobs").json["items"]

    def finish(self, name):
        self.until(lambda: any(job["metadata"]["name"] == name and job["status"].get("conditions") for job in self.job_list()),
                   "the Job has ended")


if __name__ == "__main__":
    KRON = sys.argv.pop(3)
    OPERATOR = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    BASE = SOURCE / "deploy/kubernetes"
    ASSETS = kube_host.assets_or_skip(SOURCE)
    unittest.main()
