#!/usr/bin/env python3
"""What deploy/ says about metrics agrees with what krond answers to a scrape: promtool reads the answer and the alert
rules, each alert fires when it should and only then, and alerts and dashboard ask for no metric that is not there.

    deploy_test.py SOURCE_DIRECTORY SAMPLE_METRICS
"""

import json
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

METRIC = re.compile(r"\b((?:kron|process)_[a-z_]+)\b")
OF_HISTOGRAM = re.compile(r"_(?:bucket|sum|count)$")
ALERT = re.compile(r"^\s*- alert: (\w+)", re.MULTILINE)


def promtool(*arguments, text=None, directory=None):
    return subprocess.run(["promtool", *arguments], input=text, cwd=directory, capture_output=True, text=True)


def families(text):
    return set(re.findall(r"^# TYPE (\S+)", text, re.MULTILINE))


def expressions(value):
    """Every `expr` and every query of a variable, wherever it stands in the document."""
    if isinstance(value, dict):
        for key, member in value.items():
            if key in ("expr", "definition"):
                yield member
            else:
                yield from expressions(member)
    elif isinstance(value, list):
        for item in value:
            yield from expressions(item)


class Deploy(unittest.TestCase):
    def setUp(self):
        self.rules = SOURCE / "deploy/prometheus/kron-alerts.yml"
        self.metrics = subprocess.run([SAMPLE_METRICS], capture_output=True, text=True, check=True).stdout
        self.of_operator = subprocess.run([SAMPLE_METRICS, "operator"], capture_output=True, text=True, check=True).stdout

    def assert_known(self, expression):
        for name in METRIC.findall(expression):
            self.assertIn(OF_HISTOGRAM.sub("", name), families(self.metrics), expression)

    def test_promtool_reads_the_metrics(self):
        for metrics in (self.metrics, self.of_operator):
            check = promtool("check", "metrics", text=metrics)
            self.assertEqual((check.returncode, check.stdout + check.stderr), (0, ""))

    def test_promtool_notices_what_is_no_metric(self):
        self.assertNotEqual(promtool("check", "metrics", text="kron jobs 1\n").returncode, 0)

    def test_promtool_reads_the_alerts(self):
        check = promtool("check", "rules", str(self.rules))
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_each_alert_fires_when_it_should(self):
        cases = SOURCE / "tests/deploy/alerts_test.yml"
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(self.rules, directory)
            shutil.copy(cases, directory)
            check = promtool("test", "rules", cases.name, directory=directory)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        for alert in ALERT.findall(self.rules.read_text(encoding="utf-8")):
            self.assertIn(f"- name: {alert}\n", cases.read_text(encoding="utf-8"))

    def test_alerts_ask_for_metrics_that_are_there(self):
        self.assert_known(re.sub(r"(summary|description):.*", "", self.rules.read_text(encoding="utf-8")))

    def test_the_dashboard_asks_for_metrics_that_are_there(self):
        dashboard = json.loads((SOURCE / "deploy/grafana/kron-dashboard.json").read_text(encoding="utf-8"))
        found = list(expressions(dashboard))
        self.assertGreater(len(found), 20)
        for expression in found:
            self.assert_known(expression)

    def test_the_dashboard_shows_every_metric(self):
        dashboard = (SOURCE / "deploy/grafana/kron-dashboard.json").read_text(encoding="utf-8")
        shown = {OF_HISTOGRAM.sub("", name) for name in METRIC.findall(dashboard)}
        self.assertEqual(families(self.metrics) - shown, set())

    def test_the_page_of_formats_has_every_metric(self):
        page = (SOURCE / "docs/formats.md").read_text(encoding="utf-8")
        described = set(re.findall(r"^\| `((?:kron|process)_[a-z_]+)(?:\{[a-z,]+\})?` \| (?:counter|gauge|histogram) ", page,
                                   re.MULTILINE))
        self.assertEqual(described, families(self.metrics) | families(self.of_operator))

    def test_panels_have_their_own_ids_and_places(self):
        panels = json.loads((SOURCE / "deploy/grafana/kron-dashboard.json").read_text(encoding="utf-8"))["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        self.assertEqual(len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}), len(panels))


if __name__ == "__main__":
    SAMPLE_METRICS = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
