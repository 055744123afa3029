#!/usr/bin/env python3
"""docs/kubernetes.md describes every field, condition, event and annotation, and its examples are KronJobs that the server
and the operator take.

    docs_test.py SOURCE_DIRECTORY KUBE_PROBE
"""

import re
import sys
import unittest
from pathlib import Path

import yaml

import crd
from probe import probed
from samples import object_with

BLOCK = re.compile(r"^```yaml\n(.*?)^```$", re.MULTILINE | re.DOTALL)
ROW = re.compile(r"^\| (`[^|]+`) \|", re.MULTILINE)
WORD = re.compile(r"`([^`]+)`")


def merged(into, value):
    if not isinstance(into, dict) or not isinstance(value, dict):
        return value
    return {**into, **{key: merged(into.get(key), member) for key, member in value.items()}}


class Page(unittest.TestCase):
    def setUp(self):
        self.text = (SOURCE / "docs/kubernetes.md").read_text(encoding="utf-8")
        self.crd = crd.Crd(SOURCE / "deploy/kubernetes/crd.yaml")
        self.fields = {word for cell in ROW.findall(self.text) for word in WORD.findall(cell)}

    def test_examples_are_taken_by_the_server_and_by_the_operator(self):
        examples = [yaml.safe_load(text) for text in BLOCK.findall(self.text)]
        self.assertGreater(len(examples), 8)
        stored = []
        for example in examples:
            made = merged(object_with(), example)
            as_stored, problems = self.crd.admitted(made)
            self.assertEqual(problems, [], example)
            self.assertEqual(merged(as_stored, made), as_stored, "a field that the schema does not know")
            stored.append(as_stored)
        for example, seen in zip(examples, probed(PROBE, "read", stored)):
            self.assertEqual(seen["problem"], "", example)

    def test_the_reference_has_every_field_of_the_spec(self):
        for path in crd.leaves(self.crd.schema["properties"]["spec"]):
            if path[0] == "jobTemplate":
                path = path[:1]
            if path[0] == "constraints":
                path = (*path[:2], "*")
            self.assertIn(".".join(path), self.fields)

    def test_the_page_has_every_field_of_the_status(self):
        names = {key for path in crd.leaves(self.crd.schema["properties"]["status"]) for key in path if key != "[]"}
        of_conditions = {"type", "status", "message", "lastTransitionTime"}  # as everywhere in Kubernetes
        of_active = {"name", "uid"}
        self.assertEqual({name for name in names - of_conditions - of_active if f"`{name}`" not in self.text}, set())

    def test_defaults_are_those_of_the_schema(self):
        rows = dict(re.findall(r"^\| `([^|`]+)` \| `([^|`]+)` \|", self.text, re.MULTILINE))
        spec = self.crd.schema["properties"]["spec"]
        for path in crd.leaves(spec):
            schema = spec
            for key in path:
                schema = schema.get("properties", {}).get(key, {})
            if schema.get("default", "") != "":
                default = schema["default"]
                self.assertEqual(rows[".".join(path)], str(default).lower() if isinstance(default, bool) else str(default))

    def test_the_page_has_every_annotation_condition_and_event(self):
        names = (SOURCE / "src/kron/operator/names.h").read_text(encoding="utf-8")
        words = set(re.findall(r'"(kron\.io/[a-z-]+)"', names))
        sources = "".join(path.read_text(encoding="utf-8") for path in (SOURCE / "src/kron/operator").glob("*.cc")
                          if not path.stem.endswith("_test"))
        words |= set(re.findall(r'\badd\("(\w+)"', sources)) | set(re.findall(r'\bwarn\("(\w+)"', sources))
        words |= set(re.findall(r'\{(?:true|false), "(\w+)", ', sources))
        words |= set(re.findall(r'case Outcome::\w+:\s+return "(\w+)"', sources))
        self.assertGreater(len(words), 20)
        self.assertEqual({word for word in words if f"`{word}`" not in self.text}, set())

    def test_the_page_has_every_flag_of_the_operator(self):
        options = "".join((SOURCE / "src/kron" / name).read_text(encoding="utf-8")
                          for name in ("operator/options.h", "log/log_flags.h"))
        flags = {flag for kind, flag in re.findall(r'visit\.(\w+)\("(--[a-z-]+)"', options) if kind != "hidden"}
        self.assertEqual({word for word in self.fields if word.startswith("--")}, flags)

    def test_links_lead_somewhere(self):
        for name in re.findall(r"\]\(([a-z-]+\.md)", self.text):
            self.assertTrue((SOURCE / "docs" / name).exists(), name)


if __name__ == "__main__":
    PROBE = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
