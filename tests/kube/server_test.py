#!/usr/bin/env python3
"""The manifests on a real API server: what it makes of the CRD, what the shipped roles allow and nothing else, and that the
compare-and-sets that the operator's proof rests on are what it takes them for.

    server_test.py SOURCE_DIRECTORY
"""

import copy
import subprocess
import sys
import unittest
from pathlib import Path

import yaml

import crd
import kube_host
from samples import BAD, GOOD, OTHER_VALUES, SPELLINGS, full_status, object_with, with_value

NAMESPACE = "shop"
KRON_JOBS = f"/apis/kron.io/v1alpha1/namespaces/{NAMESPACE}/kronjobs"
TEST_JOBS = f"/apis/test.kron.io/v1/namespaces/{NAMESPACE}/jobs"
CEL_SINCE = (1, 25)
SUSPEND_SINCE = (1, 22)


def setUpModule():
    global HOST, ADMIN, OPERATOR
    HOST = kube_host.KubeHost(ASSETS).start()
    try:
        bare = HOST.version < CEL_SINCE
        for name in ("namespace.yaml", "crd-1.24.yaml" if bare else "crd.yaml", "rbac.yaml"):
            HOST.install(*crd.load_all(BASE / name))
        HOST.install({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE}},
                     *crd.load_all(SOURCE / "tests/kube/test_jobs_crd.yaml"))
        ADMIN = HOST.admin()
        OPERATOR = HOST.account("kron-system", "kron-operator")
    except BaseException:
        HOST.stop()
        raise


def tearDownModule():
    ADMIN.close()
    OPERATOR.close()
    HOST.stop()


def kron_job(name, where=None, value=None):
    made = object_with(where, value)
    made["metadata"] = {"name": name, "namespace": NAMESPACE}
    return made


def with_status(stored, status):
    meta = {key: stored["metadata"][key] for key in ("name", "namespace", "resourceVersion")}
    return {"apiVersion": stored["apiVersion"], "kind": stored["kind"], "metadata": meta, "status": status}


class TheCrd(unittest.TestCase):
    def test_is_accepted_as_it_is(self):
        answer = ADMIN.get("/apis/apiextensions.k8s.io/v1/customresourcedefinitions/kronjobs.kron.io").json
        conditions = {one["type"]: one["status"] for one in answer["status"]["conditions"]}
        self.assertEqual(conditions.get("NonStructuralSchema", "False"), "False")
        self.assertEqual((conditions["NamesAccepted"], conditions["Established"]), ("True", "True"))

    def test_rules_do_no_harm_where_they_are_not_known(self):
        document = crd.load_all(BASE / "crd.yaml")[0]
        answer = ADMIN.get(kube_host.object_path(document)).json
        document["metadata"]["resourceVersion"] = answer["metadata"]["resourceVersion"]
        self.assertEqual(ADMIN.call("PUT", kube_host.object_path(document) + "?dryRun=All", document).code, 200)

    def test_every_value_of_every_field_is_kept(self):
        shipped = crd.Crd(BASE / "crd.yaml")
        for field, (where, value) in OTHER_VALUES.items():
            made = kron_job("field", where, value)
            answer = ADMIN.post(KRON_JOBS + "?dryRun=All", made)
            self.assertEqual(answer.code, 201, (field, answer))
            self.assertEqual(answer.json["spec"], shipped.admitted(made)[0]["spec"], field)

    def test_takes_and_refuses_what_the_tests_of_the_schema_say(self):
        for path, (both, neither, schema_refuses, operator_refuses) in SPELLINGS.items():
            for value in [*both, *operator_refuses]:
                answer = ADMIN.post(KRON_JOBS + "?dryRun=All", kron_job("spelling", path, value))
                self.assertEqual(answer.code, 201, (path, value, answer))
            for value in [*neither, *schema_refuses]:
                if HOST.version < CEL_SINCE and path == "schedule" and value:
                    continue  # refused by rules
                answer = ADMIN.post(KRON_JOBS + "?dryRun=All", kron_job("spelling", path, value))
                self.assertEqual(answer.code, 422, (path, value, answer))

    def test_rules_judge_as_our_implementation_does(self):
        if HOST.version < CEL_SINCE:
            self.skipTest("this server knows no rules")
        for message, (path, value) in BAD.items():
            made = with_value(path, value)
            made["metadata"]["namespace"] = NAMESPACE
            answer = ADMIN.post(KRON_JOBS + "?dryRun=All", made)
            self.assertEqual((answer.code, message in answer.text), (422, True), answer)
        made = copy.deepcopy(GOOD)
        made["metadata"]["namespace"] = NAMESPACE
        self.assertEqual(ADMIN.post(KRON_JOBS + "?dryRun=All", made).code, 201)

    def test_a_template_keeps_what_the_schema_does_not_name(self):
        made = kron_job("template")
        made["spec"]["jobTemplate"]["spec"]["podFailurePolicy"] = {"rules": [{"action": "Ignore"}]}
        made["spec"]["jobTemplate"]["metadata"] = {"labels": {"team": "a"}}
        self.assertEqual(ADMIN.post(KRON_JOBS + "?dryRun=All", made).json["spec"]["jobTemplate"], made["spec"]["jobTemplate"])
        made["spec"]["jobTemplate"]["spec"]["template"]["spec"]["restartPolicy"] = "Always"
        self.assertEqual(ADMIN.post(KRON_JOBS + "?dryRun=All", made).code, 422)

    def test_shows_its_columns(self):
        made = ADMIN.post(KRON_JOBS, kron_job("columns", "policy", {"suspend": True})).json
        status = {"activeCount": 2, "last": {"at": "2026-03-01T12:00:00Z", "outcome": "skipped"},
                  "next": {"chosenTime": "2099-01-01T00:00:00Z"},
                  "conditions": [{"type": "Suspended", "status": "False", "reason": "Active",
                                  "lastTransitionTime": "2026-03-01T12:00:00Z"},
                                 {"type": "Ready", "status": "True", "reason": "Scheduled",
                                  "lastTransitionTime": "2026-03-01T12:00:00Z"}]}
        self.assertEqual(ADMIN.put(KRON_JOBS + "/columns/status", with_status(made, status)).code, 200)
        table = ADMIN.get(KRON_JOBS + "/columns", Accept="application/json;as=Table;v=v1;g=meta.k8s.io").json
        shown = dict(zip((column["name"] for column in table["columnDefinitions"]), table["rows"][0]["cells"]))
        expected = {"Name": "columns", "Schedule": "0 3 * * *", "Timezone": "UTC", "Suspend": True, "Active": 2,
                    "Next": "2099-01-01T00:00:00Z", "Outcome": "skipped", "Ready": "True"}
        self.assertEqual({key: shown[key] for key in expected}, expected)
        self.assertNotIn(shown["Last"], ("<invalid>", None))

    def test_is_known_by_its_short_name(self):
        resources = {one["name"]: one for one in ADMIN.get("/apis/kron.io/v1alpha1").json["resources"]}
        self.assertEqual((resources["kronjobs"]["shortNames"], resources["kronjobs"]["namespaced"]), (["kj"], True))
        self.assertIn("kronjobs/status", resources)


class TheStatus(unittest.TestCase):
    def test_a_minimal_put_leaves_the_spec_alone(self):
        made = ADMIN.post(KRON_JOBS, kron_job("minimal")).json
        answer = OPERATOR.put(KRON_JOBS + "/minimal/status", with_status(made, {"observedGeneration": 1}))
        self.assertEqual(answer.code, 200, answer)
        self.assertEqual((answer.json["spec"], answer.json["metadata"]["generation"]), (made["spec"], 1))
        stale = OPERATOR.put(KRON_JOBS + "/minimal/status", with_status(made, {"observedGeneration": 2}))
        self.assertEqual((stale.code, stale.json["reason"]), (409, "Conflict"))

    def test_a_full_one_is_kept(self):
        status = full_status(crd.Crd(BASE / "crd.yaml"))
        made = ADMIN.post(KRON_JOBS, kron_job("full")).json
        answer = OPERATOR.put(KRON_JOBS + "/full/status", with_status(made, status))
        self.assertEqual((answer.code, answer.json.get("status")), (200, status))

    def test_lists_have_their_limits(self):
        made = ADMIN.post(KRON_JOBS, kron_job("limits")).json
        status = {"starting": [{"periodID": "2026-03-01T12:00:00Z", "jobName": "a", "jobUID": "u"}] * 17}
        self.assertEqual(OPERATOR.put(KRON_JOBS + "/limits/status", with_status(made, status)).code, 422)


class TheOperatorsRole(unittest.TestCase):
    def allowed(self, client, group, resource, verb, namespace=NAMESPACE, name=""):
        resource, _, subresource = resource.partition("/")
        attributes = {"group": group, "resource": resource, "subresource": subresource, "verb": verb, "namespace": namespace,
                      "name": name}
        answer = client.post("/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                             {"apiVersion": "authorization.k8s.io/v1", "kind": "SelfSubjectAccessReview",
                              "spec": {"resourceAttributes": attributes}})
        return answer.json["status"]["allowed"]

    def test_reaches_what_it_needs_in_every_namespace_and_no_further(self):
        yes = [("kron.io", "kronjobs", verb) for verb in ("get", "list", "watch")]
        yes += [("batch", "jobs", verb) for verb in ("get", "list", "watch", "create", "patch", "delete")]
        yes += [("kron.io", "kronjobs/status", "update"), ("events.k8s.io", "events", "create")]
        no = [("kron.io", "kronjobs", verb) for verb in ("create", "update", "patch", "delete", "deletecollection")]
        no += [("batch", "jobs", verb) for verb in ("update", "deletecollection")]
        no += [("", resource, verb) for resource in ("secrets", "configmaps", "pods") for verb in ("get", "list", "create")]
        no += [("rbac.authorization.k8s.io", "roles", "create"), ("coordination.k8s.io", "leases", "create"),
               ("batch", "cronjobs", "get"), ("kron.io", "kronjobs/status", "patch")]
        for call, expected in [*((one, True) for one in yes), *((one, False) for one in no)]:
            self.assertIs(self.allowed(OPERATOR, *call), expected, call)

    def test_has_one_lease(self):
        for verb in ("get", "update"):
            self.assertTrue(self.allowed(OPERATOR, "coordination.k8s.io", "leases", verb, "kron-system", "kron-operator"))
            self.assertFalse(self.allowed(OPERATOR, "coordination.k8s.io", "leases", verb, "kron-system", "other"))
        self.assertFalse(self.allowed(OPERATOR, "coordination.k8s.io", "leases", "delete", "kron-system", "kron-operator"))

    def test_may_create_jobs_that_block_the_deletion_of_their_kron_job(self):
        owner = ADMIN.post(KRON_JOBS, kron_job("owner")).json["metadata"]
        reference = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "name": "owner", "uid": owner["uid"],
                     "controller": True, "blockOwnerDeletion": True}
        pods = {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}
        job = {"apiVersion": "batch/v1", "kind": "Job", "spec": {"suspend": True, "template": {"spec": pods}},
               "metadata": {"name": "owned", "ownerReferences": [reference], "annotations": {"kron.io/gate": "1"}}}
        path = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
        answer = OPERATOR.post(path, job)
        self.assertEqual(answer.code, 201, answer)
        self.assertEqual("suspend" in answer.json["spec"], HOST.version >= SUSPEND_SINCE, "what tells an ungated server")
        self.assertEqual(OPERATOR.post(path, job).json["reason"], "AlreadyExists")
        self.assertEqual(OPERATOR.patch(KRON_JOBS + "/owner", {"spec": {"schedule": "@daily"}}, "merge").code, 403)


class TheGate(unittest.TestCase):
    """Step by step as the operator takes it, on a kind that can be suspended on every server."""

    OPEN = "/metadata/annotations/kron.io~1gate"

    def job(self, name):
        return {"apiVersion": "test.kron.io/v1", "kind": "Job", "metadata": {"name": name, "annotations": {"kron.io/gate": "1"}},
                "spec": {"suspend": True, "template": {}}}

    def opening(self, uid):
        return [{"op": "test", "path": "/metadata/uid", "value": uid}, {"op": "remove", "path": self.OPEN},
                {"op": "add", "path": "/spec/suspend", "value": False}]

    def test_opens_once_and_only_the_recorded_uid(self):
        made = ADMIN.post(TEST_JOBS, self.job("once")).json
        self.assertEqual(ADMIN.patch(TEST_JOBS + "/once", self.opening("another")).code, 422)
        self.assertTrue(ADMIN.get(TEST_JOBS + "/once").json["spec"]["suspend"])
        opened = ADMIN.patch(TEST_JOBS + "/once", self.opening(made["metadata"]["uid"]))
        self.assertEqual((opened.code, opened.json["spec"]["suspend"]), (200, False))
        paused = ADMIN.patch(TEST_JOBS + "/once", {"spec": {"suspend": True}}, "merge")
        self.assertEqual(paused.code, 200)
        late = ADMIN.patch(TEST_JOBS + "/once", self.opening(made["metadata"]["uid"]))
        self.assertIn(late.code, (422, 400), "a late repeat does not un-pause it")
        self.assertTrue(ADMIN.get(TEST_JOBS + "/once").json["spec"]["suspend"])
        self.assertEqual(ADMIN.patch(TEST_JOBS + "/gone", self.opening("u")).code, 404)

    def test_a_name_is_a_lock_while_the_object_exists(self):
        first = ADMIN.post(TEST_JOBS, self.job("lock")).json
        again = ADMIN.post(TEST_JOBS, self.job("lock"))
        self.assertEqual((again.code, again.json["reason"]), (409, "AlreadyExists"))
        ADMIN.delete(TEST_JOBS + "/lock")
        self.assertNotEqual(ADMIN.post(TEST_JOBS, self.job("lock")).json["metadata"]["uid"], first["metadata"]["uid"])

    def test_removal_asks_for_uid_and_version(self):
        made = ADMIN.post(TEST_JOBS, self.job("removed")).json["metadata"]
        options = {"apiVersion": "v1", "kind": "DeleteOptions", "propagationPolicy": "Background"}
        opened = ADMIN.patch(TEST_JOBS + "/removed", self.opening(made["uid"])).json["metadata"]
        for wrong in ({"uid": "another"}, {"uid": made["uid"], "resourceVersion": made["resourceVersion"]}):
            answer = ADMIN.delete(TEST_JOBS + "/removed", {**options, "preconditions": wrong})
            self.assertEqual((answer.code, answer.json["reason"]), (409, "Conflict"), wrong)
        right = {"uid": made["uid"], "resourceVersion": opened["resourceVersion"]}
        self.assertEqual(ADMIN.delete(TEST_JOBS + "/removed", {**options, "preconditions": right}).code, 200)


class TheManifests(unittest.TestCase):
    def test_the_server_takes_every_object(self):
        for name in ("deployment.yaml", "disruption.yaml"):
            for document in crd.load_all(BASE / name):
                if document["apiVersion"] == "policy/v1" and HOST.version < (1, 21):
                    document["apiVersion"] = "policy/v1beta1"
                answer = ADMIN.post(kube_host.collection_path(document) + "?dryRun=All", document)
                self.assertEqual(answer.code, 201, answer)


class Kubectl(unittest.TestCase):
    """The kubectl of the server's own version, with the commands of docs/kubernetes.md."""

    def setUp(self):
        if not (ASSETS / "kubectl").exists():
            self.skipTest("no kubectl beside the server")
        self.config = HOST.kubeconfig("kubectl")

    def kubectl(self, *arguments):
        return subprocess.run([ASSETS / "kubectl", "--kubeconfig", self.config, *arguments], capture_output=True, text=True,
                              cwd=BASE, env={"HOME": str(HOST.directory), "PATH": "/usr/bin:/bin"}, timeout=120)

    def test_builds_the_base(self):
        built = self.kubectl("kustomize", ".")
        self.assertEqual(built.returncode, 0, built.stderr)
        made = sorted((one["kind"], one["metadata"]["name"]) for one in yaml.safe_load_all(built.stdout))
        listed = yaml.safe_load((BASE / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
        self.assertEqual(made, sorted((one["kind"], one["metadata"]["name"])
                                      for name in listed for one in crd.load_all(BASE / name)))

    def test_applies_the_files(self):
        files = ["crd-1.24.yaml" if HOST.version < CEL_SINCE else "crd.yaml", "namespace.yaml", "rbac.yaml", "deployment.yaml"]
        applied = self.kubectl("apply", "--dry-run=server", *(word for name in files for word in ("-f", name)))
        self.assertEqual(applied.returncode, 0, applied.stderr)
        self.assertIn("deployment.apps/kron-operator", applied.stdout)

    def test_lists_and_explains_kron_jobs(self):
        ADMIN.post(KRON_JOBS, kron_job("listed"))
        listed = self.kubectl("get", "kj", "-n", NAMESPACE, "listed")
        self.assertEqual(listed.stdout.splitlines()[0].split(),
                         ["NAME", "SCHEDULE", "SUSPEND", "ACTIVE", "NEXT", "LAST", "OUTCOME", "READY", "AGE"], listed.stderr)
        explained = self.kubectl("explain", "kronjob.spec.window.mode")
        self.assertIn("Where the window lies", explained.stdout, explained.stderr)

    def test_a_run_by_hand_is_an_annotation(self):
        ADMIN.post(KRON_JOBS, kron_job("by-hand"))
        self.assertEqual(self.kubectl("-n", NAMESPACE, "annotate", "kronjob", "by-hand", "--overwrite",
                                      "kron.io/run-now=one").returncode, 0)
        self.assertEqual(ADMIN.get(KRON_JOBS + "/by-hand").json["metadata"]["annotations"]["kron.io/run-now"], "one")


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    BASE = SOURCE / "deploy/kubernetes"
    ASSETS = kube_host.assets_or_skip(SOURCE)
    unittest.main()
