#!/usr/bin/env python3
"""kron-operator on a real API server, with the rights of the shipped roles and no other.

Where the server's own Jobs cannot be suspended, the operator works on a kind that is shaped like Job and can be
(--test-jobs): names, compare-and-set, patch tests, preconditions, watches and garbage collection are then the server's own,
and nothing runs the Jobs.

    operator_test.py SOURCE_DIRECTORY KRON_OPERATOR
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
from kube_host import until

PATIENCE = 180
SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
TEST_KIND = "test.kron.io/v1/jobs/Job"
LEASE = "/apis/coordination.k8s.io/v1/namespaces/kron-system/leases/kron-operator"
TEMPLATE = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}
EVERY_SECOND = "* * * * * *"
EVERY_FIVE = "*/5 * * * * *"
NEVER = "0 0 1 1 *"


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


def at_second(seconds):
    """The schedule of one second, in UTC, of one year."""
    now = time.gmtime(seconds)
    return f"{now.tm_sec} {now.tm_min} {now.tm_hour} {now.tm_mday} {now.tm_mon} * {now.tm_year}"


def acquired():
    """When the present leader became one, in seconds since 1970."""
    text = ADMIN.get(LEASE).json["spec"]["acquireTime"]
    return datetime.datetime.fromisoformat(text.replace("Z", "+00:00")).timestamp()


class Witness(threading.Thread):
    """Sees every version of every Job of a namespace, and notes which uids were ever open. A server that was started again
    has forgotten older versions: what is there then is looked at as a whole."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path = path
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
            self.opened.setdefault(key, set()).add(meta["uid"])

    def doubled(self):
        return {key: uids for key, uids in dict(self.opened).items() if len(uids) > 1}

    def end(self):
        self.ended.set()
        with contextlib.suppress(OSError, AttributeError):
            self.client.connection.sock.shutdown(socket.SHUT_RDWR)  # wakes the thread that reads
        self.join(70)


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


class OnAServer(unittest.TestCase):
    """Each test has a namespace of its own, which its operators watch alone."""

    def setUp(self):
        self.namespace = self.id().rsplit(".", 1)[-1].removeprefix("test_").replace("_", "-")[:50].rstrip("-")
        HOST.install({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": self.namespace}})
        self.kron_jobs = f"/apis/kron.io/v1alpha1/namespaces/{self.namespace}/kronjobs"
        self.jobs = f"/apis/test.kron.io/v1/namespaces/{self.namespace}/jobs"
        ADMIN.delete(LEASE)
        self.witness = Witness(self.jobs)
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

    def leader(self):
        return until(lambda: [one for one in self.operators if one.process.poll() is None and one.leads()],
                     "there is a leader", PATIENCE)[0]

    def pair(self):
        """The leader of two."""
        self.operator()
        first = self.leader()
        second = self.operator()
        until(lambda: second.page("/readyz")[0] == 200, "the second stands by", PATIENCE)
        return first

    def leads_but(self, leader):
        return any(one is not leader and one.process.poll() is None and one.leads() for one in self.operators)

    def add(self, name, schedule=EVERY_FIVE, deadline="1m", concurrency="allow", template=TEMPLATE, **spec):
        policy = {"deadline": deadline, "concurrency": concurrency}
        answer = ADMIN.post(self.kron_jobs, {
            "apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "metadata": {"name": name},
            "spec": {"schedule": schedule, "policy": policy, "jobTemplate": template, **spec}})
        self.assertEqual(answer.code, 201, answer)
        return answer.json

    def status(self, name):
        return ADMIN.get(f"{self.kron_jobs}/{name}").json.get("status", {})

    def condition(self, name, kind):
        return next((one for one in self.status(name).get("conditions", []) if one["type"] == kind), {})

    def started(self):
        return len(self.witness.opened)

    def goes_on(self, more=2):
        before = self.started()
        self.until(lambda: self.started() > before + more, "it goes on")
        self.assertEqual(self.witness.doubled(), {})


class Periods(OnAServer):
    def test_a_period_is_created_recorded_opened_and_told(self):
        operator = self.operator()
        self.leader()
        stored = self.add("report", at_second(time.time() + 5), deadline="2m")
        self.until(lambda: self.started() == 1, "it is opened")
        status = self.until(lambda: (self.status("report").get("last") or {}).get("outcome") and self.status("report"), "it is recorded")
        [job] = ADMIN.get(self.jobs).json["items"]
        last = status["last"]
        self.assertEqual((last["outcome"], last["jobName"]), ("executed", job["metadata"]["name"]))
        self.assertEqual(job["metadata"]["annotations"]["kron.io/period-id"], last["periodID"])
        self.assertEqual(job["metadata"]["labels"]["kron.io/name"], "report")
        self.assertEqual(job["metadata"]["ownerReferences"][0]["uid"], stored["metadata"]["uid"])
        self.assertEqual((status["handled"]["through"], status["observedGeneration"]), (last["periodID"], 1))
        conditions = {one["type"]: one["status"] for one in status["conditions"]}
        self.assertEqual(set(conditions), {"Ready", "InvalidSpec", "SchedulingError", "Unschedulable", "Suspended"})
        self.assertEqual(conditions["InvalidSpec"], "False")
        events = f"/apis/events.k8s.io/v1/namespaces/{self.namespace}/events"
        told = self.until(lambda: [one for one in ADMIN.get(events).json["items"] if one["reason"] == "Executed"], "an event tells of it")
        self.assertEqual(told[0]["regarding"]["name"], "report")
        # Its end is the controller's of such Jobs to tell.
        ended = {"conditions": [{"type": "Complete", "status": "True", "lastTransitionTime": "2026-03-01T12:00:00Z"}]}
        self.assertEqual(ADMIN.patch(f"{self.jobs}/{job['metadata']['name']}/status", {"status": ended}, "merge").code, 200)
        self.until(lambda: self.status("report").get("lastSuccessfulTime") == "2026-03-01T12:00:00Z", "its end is seen")
        self.assertEqual(self.status("report")["activeCount"], 0)
        self.assertNotIn("orbidden", operator.text())

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

    def test_a_user_who_deletes_each_job_makes_nothing_run_twice(self):
        self.operator()
        self.leader()
        self.add("report", EVERY_SECOND)
        end = time.monotonic() + 15
        deleted = 0
        while time.monotonic() < end or deleted < 4:
            for job in ADMIN.get(self.jobs).json["items"]:
                deleted += ADMIN.delete(f"{self.jobs}/{job['metadata']['name']}").code == 200
        self.assertEqual(self.witness.doubled(), {})

    def test_nothing_starts_while_no_status_can_be_written(self):
        path = "/apis/rbac.authorization.k8s.io/v1/clusterroles/kron-operator"
        role = ADMIN.get(path).json
        self.operator()
        self.leader()
        self.add("report", NEVER)
        self.until(lambda: self.status("report").get("next"), "it is looked at")
        rules = [rule for rule in role["rules"] if rule["resources"] != ["kronjobs/status"]]
        self.assertEqual(ADMIN.patch(path, [{"op": "replace", "path": "/rules", "value": rules}]).code, 200)
        try:
            ADMIN.patch(f"{self.kron_jobs}/report", {"spec": {"schedule": EVERY_FIVE}}, "merge")
            time.sleep(15)
            self.assertEqual(self.started(), 0)
        finally:
            ADMIN.patch(path, [{"op": "replace", "path": "/rules", "value": role["rules"]}])
        self.goes_on(0)

    def test_the_jobs_of_a_deleted_kron_job_go_with_it(self):
        if "kube-controller-manager" not in HOST.processes:
            self.skipTest("no garbage collector here")
        self.operator()
        self.add("report", EVERY_FIVE)
        self.until(self.started, "it runs")
        self.assertEqual(ADMIN.delete(f"{self.kron_jobs}/report").code, 200)
        self.until(lambda: not ADMIN.get(self.jobs).json["items"], "its Jobs are gone")

    def test_many_are_due_within_a_minute(self):
        crowd = 100 if SCALE == 1 else 2000
        self.operator()
        self.leader()
        begin = int(time.time()) + 10 + crowd // 10
        within = 10 if SCALE == 1 else 60
        expected = set()
        for i in range(crowd):
            due = begin + i * within // crowd
            created = self.add(f"due-{i}", at_second(due), deadline="10m")["metadata"]["creationTimestamp"]
            # One that a busy machine was too slow to create before its time has no period.
            if calendar.timegm(time.strptime(created, "%Y-%m-%dT%H:%M:%SZ")) + 1 < due:
                expected.add(f"{self.namespace}/due-{i}")
        self.assertGreater(len(expected), crowd // 2)
        self.until(lambda: expected <= {identity for identity, _ in list(self.witness.opened)}, "all are opened",
                   PATIENCE + max(0.0, begin + within - time.time()))
        self.assertEqual(self.witness.doubled(), {})


class Leaders(OnAServer):
    def test_another_takes_over_when_the_leader_is_killed(self):
        leader = self.pair()
        self.add("often", EVERY_SECOND)
        self.until(self.started, "it runs")
        killed = time.time()
        leader.signal(signal.SIGKILL)
        leader.process.wait()
        with Stalls() as stalls:
            self.until(lambda: self.leads_but(leader), "another leads")
        self.assertLess(acquired() - killed, 20 + stalls.seconds)
        self.goes_on()

    def test_a_leader_that_sleeps_and_wakes_starts_nothing_twice(self):
        leader = self.pair()
        self.add("often", EVERY_SECOND)
        self.until(self.started, "it runs")
        stopped = time.time()
        leader.signal(signal.SIGSTOP)
        with Stalls() as stalls:
            self.until(lambda: self.leads_but(leader), "another leads")
        self.assertLess(acquired() - stopped, 20 + stalls.seconds)
        self.goes_on()
        leader.signal(signal.SIGCONT)
        self.assertNotEqual(leader.process.wait(PATIENCE), 0)
        self.goes_on()

    def test_a_leader_that_is_asked_to_end_hands_over(self):
        leader = self.pair()
        self.add("often", EVERY_SECOND)
        self.until(self.started, "it runs")
        leader.signal(signal.SIGTERM)
        self.assertEqual(leader.process.wait(PATIENCE), 0)
        self.until(lambda: self.leads_but(leader), "another leads")
        self.goes_on()

    def test_a_server_that_is_killed_and_started_again_costs_nothing_twice(self):
        self.operator()
        self.leader()
        self.add("often", EVERY_SECOND, deadline="2m")
        self.until(self.started, "it runs")
        HOST.kill("kube-apiserver")
        HOST.start_api()
        self.goes_on()


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


if __name__ == "__main__":
    OPERATOR = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    BASE = SOURCE / "deploy/kubernetes"
    ASSETS = kube_host.assets_or_skip(SOURCE)
    unittest.main()
