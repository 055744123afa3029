#!/usr/bin/env python3
"""The manifests of deploy/kubernetes agree with each other, and with what the operator does.

    manifests_test.py SOURCE_DIRECTORY KUBE_PROBE
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import yaml

import cel
import chart
import crd
from probe import probed
from samples import BAD, GOOD, with_value

# What is no step about one KronJob: lists and watches of all, and what people are told.
OTHER_CALLS = {("kron.io", "kronjobs", "list"), ("kron.io", "kronjobs", "watch"), ("batch", "jobs", "list"),
               ("batch", "jobs", "watch"), ("events.k8s.io", "events", "create"),
               # No call: to create a Job that blocks the deletion of its owner takes it.
               ("kron.io", "kronjobs/finalizers", "update")}


def key_of(document):
    return document["kind"], document["metadata"].get("namespace", ""), document["metadata"]["name"]


def by_key(documents):
    found = {key_of(document): document for document in documents}
    assert len(found) == len(documents)
    return found


def base_documents():
    listed = yaml.safe_load((BASE / "kustomization.yaml").read_text(encoding="utf-8"))["resources"]
    return [document for name in listed for document in crd.load_all(BASE / name)]


def call_of(line):
    """(group, resource, verb) of a line of kube_probe: "create /apis/batch/v1/namespaces/shop/jobs"."""
    verb, path = line.split()
    found = re.fullmatch(r"/apis/([a-z0-9.]+)/v[a-z0-9]+/namespaces/[a-z-]+/([a-z]+)(?:/[a-z0-9-]+(/[a-z]+)?)?", path)
    return found[1], found[2] + (found[3] or ""), verb


def self_of(stored, place):
    """The part of an object that a rule at this place of the schema is about; None: it has none."""
    for key in place:
        stored = stored.get(key) if stored is not None else None
    return stored


class Generated(unittest.TestCase):
    def test_what_is_made_is_as_the_script_makes_it(self):
        with tempfile.TemporaryDirectory() as directory:
            subprocess.run([sys.executable, SOURCE / "scripts/kube-manifests", directory], check=True)
            made = {path.relative_to(directory) for path in Path(directory).rglob("*") if path.is_file()}
            for name in made:
                self.assertEqual((Path(directory) / name).read_text(encoding="utf-8"),
                                 (BASE / name).read_text(encoding="utf-8"), f"run scripts/kube-manifests: {name}")
            kept = {path.relative_to(BASE) for path in (BASE / "chart").rglob("*") if path.is_file()}
            self.assertEqual(made - {Path("crd-1.24.yaml")}, kept)

    def test_the_crd_without_rules_is_the_crd_without_rules(self):
        def without(value):
            if isinstance(value, dict):
                return {key: without(member) for key, member in value.items() if key != "x-kubernetes-validations"}
            return [without(item) for item in value] if isinstance(value, list) else value

        with_rules, bare = crd.load_all(BASE / "crd.yaml"), crd.load_all(BASE / "crd-1.24.yaml")
        self.assertEqual(without(with_rules), bare)
        self.assertNotEqual(with_rules, bare)


class Chart(unittest.TestCase):
    def test_renders_what_kustomize_builds(self):
        base = by_key(base_documents())
        rendered = by_key(chart.documents(BASE / "chart"))
        self.assertEqual(rendered[("CustomResourceDefinition", "", "kronjobs.kron.io")]["metadata"].pop("annotations"),
                         {"helm.sh/resource-policy": "keep"})
        del base[("Namespace", "", "kron-system")]  # helm install --create-namespace
        self.assertEqual(rendered, base)

    def test_follows_its_values(self):
        rendered = by_key(chart.documents(
            BASE / "chart", namespace="jobs", image="example.org/kron:2", replicas=3, args=["--qps=5"], resources={},
            crds={"install": False}))
        self.assertNotIn(("CustomResourceDefinition", "", "kronjobs.kron.io"), rendered)
        self.assertEqual({namespace for _, namespace, _ in rendered}, {"", "jobs"})
        deployment = rendered[("Deployment", "jobs", "kron-operator")]["spec"]
        container = deployment["template"]["spec"]["containers"][0]
        self.assertEqual((deployment["replicas"], container["image"], container["args"], container["resources"]),
                         (3, "example.org/kron:2", ["--qps=5"], {}))
        for kind in ("ClusterRoleBinding", "RoleBinding"):
            for (found, _, _), document in rendered.items():
                if found == kind:
                    self.assertEqual(document["subjects"][0]["namespace"], "jobs")

    def test_other_constructs_are_refused(self):
        for text in ("{{ include \"x\" . }}", "{{ .Values.image | quote }}", "{{- range .Values.args }}{{- end }}"):
            with self.assertRaises(ValueError):
                chart.rendered(text, {"image": "a", "args": []}, "x")

    @unittest.skipUnless(shutil.which("helm"), "no helm here")
    def test_helm_renders_the_same(self):
        text = subprocess.run(["helm", "template", "kron", BASE / "chart", "--namespace", "kron-system"], check=True,
                              capture_output=True, text=True).stdout
        self.assertEqual(by_key([d for d in yaml.safe_load_all(text) if d]), by_key(chart.documents(BASE / "chart")))


class Kustomize(unittest.TestCase):
    @unittest.skipUnless(shutil.which("kubectl"), "no kubectl here")
    def test_builds_every_object(self):
        built = subprocess.run(["kubectl", "kustomize", BASE], check=True, capture_output=True, text=True).stdout
        self.assertEqual(by_key([d for d in yaml.safe_load_all(built) if d]), by_key(base_documents()))

    def test_uses_nothing_but_plain_resources(self):
        kustomization = yaml.safe_load((BASE / "kustomization.yaml").read_text(encoding="utf-8"))
        self.assertEqual(set(kustomization), {"apiVersion", "kind", "resources"})
        self.assertEqual(set(kustomization["resources"]) | {"crd-1.24.yaml", "kustomization.yaml"},
                         {path.name for path in BASE.glob("*.yaml")})


class Deployment(unittest.TestCase):
    def setUp(self):
        self.objects = by_key(base_documents())
        self.deployment = self.objects[("Deployment", "kron-system", "kron-operator")]
        self.pod = self.deployment["spec"]["template"]["spec"]
        self.container = self.pod["containers"][0]

    def test_runs_without_privileges(self):
        pod, container = self.pod["securityContext"], self.container["securityContext"]
        self.assertTrue(pod["runAsNonRoot"])
        self.assertGreater(pod["runAsUser"], 0)
        self.assertEqual(pod["seccompProfile"], {"type": "RuntimeDefault"})
        self.assertEqual(container, {"allowPrivilegeEscalation": False, "readOnlyRootFilesystem": True,
                                     "capabilities": {"drop": ["ALL"]}})

    def test_is_probed_where_it_listens(self):
        port = self.container["ports"][0]
        self.assertIn(f"--metrics-listen=0.0.0.0:{port['containerPort']}", self.container["args"])
        for probe, path in (("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
            self.assertEqual(self.container[probe]["httpGet"], {"path": path, "port": port["name"]})

    def test_two_replicas_elect_a_leader_and_survive_a_drain(self):
        self.assertEqual(self.deployment["spec"]["replicas"], 2)
        self.assertIn("--leader-elect", self.container["args"])
        budget = self.objects[("PodDisruptionBudget", "kron-system", "kron-operator")]["spec"]
        labels = self.deployment["spec"]["template"]["metadata"]["labels"]
        for selector in (budget["selector"], self.deployment["spec"]["selector"]):
            self.assertEqual(selector["matchLabels"].items() & labels.items(), selector["matchLabels"].items())

    def test_the_image_is_of_this_version(self):
        cmake = (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8")
        version = re.search(r"^project\(kron VERSION ([0-9.]+)", cmake, re.MULTILINE)[1]
        self.assertEqual(self.container["image"], f"kron-operator:{version}")


class Rights(unittest.TestCase):
    def test_are_those_of_the_calls_and_no_other(self):
        lines = subprocess.run([PROBE, "calls"], check=True, capture_output=True, text=True).stdout.splitlines()
        made = {call_of(line) for line in lines} | OTHER_CALLS
        objects = by_key(base_documents())
        granted = set()
        for key in (("ClusterRole", "", "kron-operator"), ("Role", "kron-system", "kron-operator-lease")):
            for rule in objects[key]["rules"]:
                granted |= {(group, resource, verb) for group in rule["apiGroups"] for resource in rule["resources"]
                            for verb in rule["verbs"]}
        self.assertEqual(granted, made)

    def test_a_lease_is_read_and_written_by_its_name_only(self):
        rules = by_key(base_documents())[("Role", "kron-system", "kron-operator-lease")]["rules"]
        for rule in rules:
            if rule["verbs"] != ["create"]:
                self.assertEqual(rule["resourceNames"], ["kron-operator"])

    def test_every_binding_names_what_is_there(self):
        objects = by_key(base_documents())
        for (kind, namespace, _), document in objects.items():
            if not kind.endswith("Binding"):
                continue
            role = document["roleRef"]
            self.assertIn((role["kind"], namespace if role["kind"] == "Role" else "", role["name"]), objects)
            for subject in document["subjects"]:
                self.assertIn((subject["kind"], subject["namespace"], subject["name"]), objects)


class Rules(unittest.TestCase):
    """CEL, by the implementation in cel.py."""

    def setUp(self):
        self.crd = crd.Crd(BASE / "crd.yaml")

    def test_a_good_object_keeps_all_of_them(self):
        self.assertEqual(self.crd.admitted(GOOD)[1], [])
        for distribution in ({}, {"name": "uniform", "params": {}}, {"name": "skewEarly", "params": {"shape": "2"}},
                             {"name": "exponential", "params": {"lambda": "2", "dir": "late"}}):
            self.assertEqual(self.crd.admitted(with_value("spec.distribution", distribution))[1], [])

    def test_each_is_broken_by_what_it_forbids_and_by_nothing_else(self):
        self.assertEqual(set(BAD), {message for _, _, message in crd.rules(self.crd.schema)})
        for message, (path, value) in BAD.items():
            found = [problem.split(": ", 1)[1] for problem in self.crd.admitted(with_value(path, value))[1]]
            self.assertEqual(found, [message])

    def test_the_operator_repeats_each_of_them(self):
        stored = []
        for path, value in BAD.values():
            made = self.crd.admitted(with_value(path, value))[0]
            made["metadata"].update(uid="u", resourceVersion="1", generation=1, creationTimestamp="2026-03-01T00:00:00Z")
            stored.append(made)
        for message, seen in zip(BAD, probed(PROBE, "read", stored)):
            self.assertTrue(seen["problem"], message)

    def test_another_implementation_judges_alike(self):
        modules = SOURCE / "build/npm-kube/node_modules"
        if not shutil.which("node") or not (modules / "@marcbachmann/cel-js").exists():
            self.skipTest("scripts/deps kube brings another implementation of CEL")
        asked = []
        for path, value in [("metadata.name", "a"), *BAD.values()]:
            stored = self.crd.admitted(with_value(path, value))[0]
            asked += [(rule, self_of(stored, place)) for place, rule, _ in crd.rules(self.crd.schema)
                      if self_of(stored, place) is not None]
        run = subprocess.run(["node", SOURCE / "tests/kube/cel_peer.mjs", modules], check=True, capture_output=True, text=True,
                             input="".join(json.dumps({"rule": rule, "self": value}) + "\n" for rule, value in asked))
        verdicts = [json.loads(line) for line in run.stdout.splitlines()]
        self.assertEqual(verdicts, [cel.evaluate(cel.Parser(rule).whole(), {"self": value}) for rule, value in asked])
        self.assertEqual({True, False}, set(verdicts))

    def test_the_evaluator_knows_the_language(self):
        schema = {"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "array", "items": {}},
                                                   "m": {"type": "object", "additionalProperties": {"type": "string"}}}}
        value = {"a": "x", "b": [1, 2], "m": {"k": "v"}}
        for rule, verdict in (("self.a == 'x' && size(self.b) >= 2", True), ("!(1 in self.b) || self.a != 'x'", False),
                              ("self.m.all(k, k == 'k') && self.b.exists(i, i > 1)", True),
                              ("has(self.a) && 'k' in self.m", True), ("self.a.startsWith('y')", False)):
            self.assertIs(cel.holds(rule, value, schema), verdict, rule)
        self.assertTrue(cel.holds("self.a == 'x' || true", {}, schema), "an error on one side, a decision on the other")
        for broken in ("self.c", "self.a ==", "unknown(self.a)", "self.a", "other.a == 'x'", "self.a + 'x'"):
            with self.assertRaises(cel.CelError, msg=broken):
                cel.holds(broken, value, schema)


if __name__ == "__main__":
    PROBE = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    BASE = SOURCE / "deploy/kubernetes"
    unittest.main()
