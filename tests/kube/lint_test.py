#!/usr/bin/env python3
"""`kron kube lint` refuses what the schema of the CRD or the operator refuses, and nothing else.

    lint_test.py SOURCE_DIRECTORY KRON
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import crd
from samples import BAD, GOOD, OTHER_VALUES, SPELLINGS, object_with, with_value


def refused(objects):
    """Whether each has an error, by the number of its file."""
    with tempfile.TemporaryDirectory() as directory:
        for number, made in enumerate(objects):
            made["metadata"]["namespace"] = f"n{number}"  # no name is given twice
            (Path(directory) / f"{number:04}.json").write_text(json.dumps(made), encoding="utf-8")
        run = subprocess.run([KRON, "kube", "lint", directory, "--format", "json"], capture_output=True, text=True,
                             check=False, timeout=120)
    bad = {int(Path(problem["file"]).stem): problem["message"] for problem in json.loads(run.stdout)
           if problem["severity"] == "error"}
    return [bad.get(number) for number in range(len(objects))]


class Lint(unittest.TestCase):
    def setUp(self):
        self.crd = crd.Crd(SOURCE / "deploy/kubernetes/crd.yaml")

    def test_takes_every_field_of_the_schema(self):
        objects = [GOOD] + [object_with(where, value) for where, value in OTHER_VALUES.values()]
        self.assertEqual(refused(objects), [None] * len(objects))

    def test_refuses_what_breaks_a_rule(self):
        found = refused([with_value(path, value) for path, value in BAD.values()])
        for message, said in zip(BAD, found):
            self.assertIsNotNone(said, message)

    def test_spellings_are_those_that_schema_and_operator_take(self):
        cases = [(path, value, kind) for path, spellings in SPELLINGS.items()
                 for kind, values in enumerate(spellings) for value in values]
        objects = [object_with(path, value) for path, value, _ in cases]
        for made in objects:
            if "window" in made["spec"]:
                made["spec"]["schedule"] = "0 3 1 * *"  # no more than a few periods open at once
        for (path, value, kind), said in zip(cases, refused(objects)):
            self.assertEqual(said is None, kind == 0, (path, value, said))

    def test_types_and_sizes_are_those_of_the_schema(self):
        values = {"window": "3h", "window.mode": "center", "distribution": "uniform", "policy.deadline": 90,
                  "policy.suspend": "yes", "distribution.params": {"mu": 0.5}, "constraints.only": {},
                  "constraints.only.hours": "9-17", "constraints.avoid.dow": [1], "constraints.avoid.hours": [""],
                  "constraints.only.dom": ["1"] * 65, "constraints.only.months": ["1," * 64 + "1"],
                  "constraints.avoid.calendar": ["Big Days"], "seed.salt": "s" * 257, "schedule": "0 " * 200,
                  "successfulJobsHistoryLimit": 1001, "failedJobsHistoryLimit": "1", "jobTemplate": {},
                  "jobTemplate.spec": {}, "jobTemplate.spec.template": {"spec": {"restartPolicy": "Never"}},
                  "jobTemplate.spec.template.spec.restartPolicy": "Always",
                  "jobTemplate.spec.template.spec.containers": []}
        objects = [object_with(where, value) for where, value in values.items()]
        for where, made, said in zip(values, objects, refused(objects)):
            problems = self.crd.admitted(made)[1]
            self.assertNotEqual(problems, [], where)
            self.assertIsNotNone(said, where)


if __name__ == "__main__":
    KRON = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
