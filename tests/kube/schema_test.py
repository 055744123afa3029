#!/usr/bin/env python3
"""The schema of the CRD and the operator's reader know the same fields, the same words and the same limits.

    schema_test.py SOURCE_DIRECTORY KUBE_PROBE
"""

import re
import sys
import unittest
from pathlib import Path

import crd
from probe import probed
from samples import OTHER_VALUES, SPELLINGS, full_status, object_with

KNOWN_ARE = re.compile(r"known are ([\w, ]+)")
WRITTEN_KEY = re.compile(r'(?:\bmember\(|\bkey\(|write_time\(out, |write_text\(out, )"(\w+)"')


def source(name):
    return (SOURCE / "src/kron" / name).read_text(encoding="utf-8")


class Schema(unittest.TestCase):
    def setUp(self):
        self.crd = crd.Crd(SOURCE / "deploy/kubernetes/crd.yaml")
        self.spec = self.crd.schema["properties"]["spec"]
        self.status = self.crd.schema["properties"]["status"]

    def seen(self, objects):
        return probed(PROBE, "read", objects)

    def schema_at(self, path):
        schema = self.spec
        for key in path.split("."):
            schema = schema["properties"][key]
        return schema

    def problem_at(self, where, value):
        return self.seen([object_with(where, value)])[0]["problem"]

    def known_words(self, where, value):
        """What the operator says it knows, when it is given a word that it does not."""
        found = KNOWN_ARE.search(self.problem_at(where, value))
        self.assertIsNotNone(found, self.problem_at(where, value))
        return set(found[1].split(", "))


class Spec(Schema):
    def test_every_field_of_the_schema_has_its_effect(self):
        fields = {".".join(path) for path in crd.leaves(self.spec) if path[0] != "jobTemplate"}
        self.assertEqual(fields, set(OTHER_VALUES))
        objects = [object_with(where, value) for where, value in OTHER_VALUES.values()]
        stored = []
        for field, made in zip(OTHER_VALUES, objects):
            one, problems = self.crd.admitted(made)
            self.assertEqual(problems, [], field)
            stored.append(one)
        plain, as_stored = self.seen([object_with(), self.crd.admitted(object_with())[0]])
        self.assertEqual({**plain, "template": ""}, {**as_stored, "template": ""}, "the defaults are the operator's own")
        for field, seen in zip(OTHER_VALUES, self.seen(stored)):
            self.assertEqual(seen["problem"], "", field)
            self.assertNotEqual(seen, as_stored, field)

    # What job files know and a KronJob does not: the reader is the same, and the operator refuses each by its name.
    KROND_ONLY = {"policy.pauseAfter": 3, "policy.catchUpSpread": "10m", "policy.concurrency": "queue",
                  "ping": "https://hc.example/x", "pool": "db:4"}

    def test_what_is_for_krond_only_is_refused_by_name(self):
        for where, value in self.KROND_ONLY.items():
            problem = self.problem_at(where, value)
            self.assertIn(where, problem)
            self.assertIn("for krond only", problem)

    def test_the_reader_knows_no_field_more(self):
        keys = set(re.search(r"kJobKeys\{([^}]*)\}", source("json/job_fields.h"))[1].replace('"', "").replace(" ", "")
                   .replace("\n", "").split(","))
        reader = source("operator/spec.cc")
        keys |= set(re.findall(r'limit\("(\w+)"', reader)) | set(re.findall(r'\*?spec, \{"(\w+)"', reader))
        self.assertIn('"constraints"', reader)
        flat = set(self.spec["properties"]) - {"constraints"} | set(self.spec["properties"]["constraints"]["properties"])
        self.assertEqual(keys - set(self.KROND_ONLY), flat)
        for part in ("window", "distribution", "seed", "policy"):
            refused = {where.partition(".")[2] for where in self.KROND_ONLY if where.startswith(part + ".")}
            known = self.known_words(part, {"qqqqqqqqqq": "x"})
            offered = set(self.schema_at(part)["properties"])
            self.assertEqual(known - (refused - offered), offered, part)
        for side in ("constraints.only", "constraints.avoid"):
            self.assertEqual(self.known_words(side, {"qqqqqqqqqq": "x"}), set(self.schema_at(side)["properties"]), side)

    def test_words_are_those_of_the_reader(self):
        # A spelling of job files that the schema does not take over.
        aliases = {"window.mode": {"center"}, "policy.concurrency": {self.KROND_ONLY["policy.concurrency"]}}
        for path in ("window.mode", "distribution.name", "seed.strategy", "policy.concurrency"):
            known = self.known_words(path, "qqqqqqqqqqqqqqqqqqqqqq")
            self.assertEqual(known - aliases.get(path, set()), set(self.schema_at(path)["enum"]), path)

    def test_spellings_are_taken_and_refused_alike(self):
        cases = [(path, value, by_schema, by_operator)
                 for path, spellings in SPELLINGS.items()
                 for values, (by_schema, by_operator) in zip(spellings, ((True, True), (False, False), (False, True), (True, False)))
                 for value in values]
        objects = [object_with(path, value) for path, value, _, _ in cases]
        for made in objects:
            if "window" in made["spec"]:
                made["spec"]["schedule"] = "0 3 1 * *"  # no more than a few periods open at once
        for (path, value, by_schema, by_operator), made, seen in zip(cases, objects, self.seen(objects)):
            self.assertEqual(self.crd.admitted(made)[1] == [], by_schema, (path, value))
            self.assertEqual(seen["problem"] == "", by_operator, (path, value, seen["problem"]))

    def test_limits_of_history_are_those_of_the_reader(self):
        most = int(re.search(r"kMostHistory = (\d+)", source("operator/spec.h"))[1])
        for field, default in (("successfulJobsHistoryLimit", 3), ("failedJobsHistoryLimit", 1)):
            schema = self.schema_at(field)
            self.assertEqual((schema["minimum"], schema["maximum"], schema["default"]), (0, most, default))

    def test_a_template_is_kept_as_it_is(self):
        made = object_with()
        made["spec"]["jobTemplate"]["spec"]["newInSomeVersion"] = {"a": [1]}
        self.assertEqual(self.crd.admitted(made)[0]["spec"]["jobTemplate"], made["spec"]["jobTemplate"])

    def test_a_misspelt_field_is_dropped_by_the_server(self):
        self.assertNotIn("windw", self.crd.admitted(object_with("windw", {}))[0]["spec"])


class Status(Schema):
    def test_every_field_is_read_and_written(self):
        status = full_status(self.crd)
        self.assertEqual(self.crd.admitted({**object_with(), "status": status})[1], [])
        self.assertEqual(probed(PROBE, "status", [status]), [status])

    def test_no_other_is_written(self):
        written = set(WRITTEN_KEY.findall(source("operator/status.cc")))
        names = {key for path in crd.leaves(self.status) for key in path if key != "[]"}
        self.assertEqual(written, names)

    def test_outcomes_are_those_of_core(self):
        self.assertEqual(self.status["properties"]["last"]["properties"]["outcome"]["enum"],
                         ["executed", "skipped", "missed", "unschedulable"])

    def test_lists_have_room_for_what_is_written(self):
        constants = dict(re.findall(r"(k\w+) = (\d+);", source("operator/status.h")))
        fields = self.status["properties"]
        for schema, constant in ((fields["recent"], "kMostRecent"), (fields["starting"], "kMostStarting"),
                                 (fields["active"], "kMostActiveShown"),
                                 (fields["handled"]["properties"]["open"], "kMostOpenKept")):
            self.assertEqual(schema["maxItems"], int(constants[constant]), constant)
        self.assertEqual(fields["handled"]["properties"]["passedOver"]["maxItems"],
                         int(re.search(r"kMostSpans = (\d+)", source("core/state.h"))[1]))
        self.assertEqual(fields["conditions"]["items"]["properties"]["message"]["maxLength"],
                         int(constants["kLongestMessage"]))

    def test_columns_show_fields_that_are_there(self):
        for column in self.crd.columns:
            path = re.sub(r"\[.*?\]", "", column["jsonPath"]).lstrip(".").split(".")
            if path[0] == "metadata":
                continue
            schema = self.crd.schema
            for key in path:
                schema = schema["items"] if schema["type"] == "array" else schema
                self.assertIn(key, schema["properties"], column)
                schema = schema["properties"][key]
            self.assertEqual("format" in schema and column["type"] == "string", column["name"] == "Next", column)


if __name__ == "__main__":
    PROBE = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
