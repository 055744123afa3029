#!/usr/bin/env python3
"""What deploy/ says about metrics agrees with what krond and kron-operator answer to a scrape: promtool reads the answer
and the alert rules, each alert fires when it should and only then, and alerts and dashboards ask for no metric that is not
there.

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


class Deploy:
    """Of one program: its alerts, their cases, its dashboard, and what it answers to a scrape."""

    rules, cases, dashboard, sample = "", "", "", []

    def setUp(self):
        self.alerts = SOURCE / "deploy/prometheus" / self.rules
        self.panels_text = (SOURCE / "deploy/grafana" / self.dashboard).read_text(encoding="utf-8")
        self.metrics = subprocess.run([SAMPLE_METRICS, *self.sample], capture_output=True, text=True, check=True).stdout

    def assert_known(self, expression):
        for name in METRIC.findall(expression):
            self.assertIn(OF_HISTOGRAM.sub("", name), families(self.metrics), expression)

    def test_promtool_reads_the_metrics(self):
        check = promtool("check", "metrics", text=self.metrics)
        self.assertEqual((check.returncode, check.stdout + check.stderr), (0, ""))

    def test_promtool_reads_the_alerts(self):
        check = promtool("check", "rules", str(self.alerts))
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_each_alert_fires_when_it_should(self):
        cases = SOURCE / "tests/deploy" / self.cases
        with tempfile.TemporaryDirectory() as directory:
            shutil.copy(self.alerts, directory)
            shutil.copy(cases, directory)
            check = promtool("test", "rules", cases.name, directory=directory)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)
        for alert in ALERT.findall(self.alerts.read_text(encoding="utf-8")):
            self.assertIn(f"- name: {alert}\n", cases.read_text(encoding="utf-8"))

    def test_alerts_ask_for_metrics_that_are_there(self):
        self.assert_known(re.sub(r"(#|summary:|description:).*", "", self.alerts.read_text(encoding="utf-8")))

    def test_the_dashboard_asks_for_metrics_that_are_there(self):
        found = list(expressions(json.loads(self.panels_text)))
        self.assertGreater(len(found), 20)
        for expression in found:
            self.assert_known(expression)

    def test_the_dashboard_shows_every_metric(self):
        shown = {OF_HISTOGRAM.sub("", name) for name in METRIC.findall(self.panels_text)}
        self.assertEqual(families(self.metrics) - shown, set())

    def test_panels_have_their_own_ids_and_places(self):
        panels = json.loads(self.panels_text)["panels"]
        self.assertEqual(len({panel["id"] for panel in panels}), len(panels))
        self.assertEqual(len({(panel["gridPos"]["x"], panel["gridPos"]["y"]) for panel in panels}), len(panels))


class Krond(Deploy, unittest.TestCase):
    rules, cases, dashboard = "kron-alerts.yml", "alerts_test.yml", "kron-dashboard.json"

    def panel(self, title):
        panel, = [one for one in json.loads(self.panels_text)["panels"] if one["title"] == title]
        return [target["expr"].replace("$instance", ".*").replace("$__rate_interval", "5m") for target in panel["targets"]]

    def expect_values(self, series, expected):
        """Each expression has these samples, {labels: value}, when the series stand so."""
        test = {"interval": "1m", "input_series": [{"series": one, "values": f"{value}x10"} for one, value in series.items()],
                "promql_expr_test": [
                    {"expr": expression, "eval_time": "5m",
                     "exp_samples": [{"labels": labels, "value": value} for labels, value in samples.items()]}
                    for expression, samples in expected.items()]}
        with tempfile.TemporaryDirectory() as directory:
            cases = Path(directory, "cases.yml")
            # JSON is YAML.
            cases.write_text(json.dumps({"evaluation_interval": "1m", "tests": [test]}), encoding="utf-8")
            check = promtool("test", "rules", str(cases))
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_tasks_that_hosts_share_are_not_added_up_and_those_of_each_host_are(self):
        series = {}
        for host, (shared, mail, sms, age) in {"c1": (1, 5, 2, 70), "c2": (1, 5, 2, 71), "c3": (1, 5, 2, 70),
                                               "o1": (0, 3, 0, 10), "o2": (0, 4, 1, 20)}.items():
            of = f'job="kron",instance="{host}"'
            series[f"kron_tasks_shared{{{of}}}"] = shared
            series[f'kron_tasks{{{of},state="pending",type="MAIL"}}'] = mail
            series[f'kron_tasks{{{of},state="pending",type="SMS"}}'] = sms
            series[f'kron_tasks{{{of},state="running",type="SMS"}}'] = 1
            series[f"kron_oldest_pending_task_seconds{{{of}}}"] = age
        own, shared, _ = self.panel("Tasks by state")
        oldest_own, oldest_shared = self.panel("Oldest pending task")
        name = "kron_oldest_pending_task_seconds"
        self.expect_values(series, {
            own: {'{state="pending"}': 8, '{state="running"}': 2},
            shared: {'{state="pending"}': 7, '{state="running"}': 1},
            oldest_own: {f'{name}{{job="kron",instance="o1"}}': 10, f'{name}{{job="kron",instance="o2"}}': 20},
            oldest_shared: {"{}": 71},
        })

    def test_promtool_notices_what_is_no_metric(self):
        self.assertNotEqual(promtool("check", "metrics", text="kron jobs 1\n").returncode, 0)

    def test_the_page_of_formats_has_every_metric(self):
        page = (SOURCE / "docs/formats.md").read_text(encoding="utf-8")
        described = set(re.findall(r"^\| `((?:kron|process)_[a-z_]+)(?:\{[a-z,]+\})?` \| (?:counter|gauge|histogram) ", page,
                                   re.MULTILINE))
        of_operator = subprocess.run([SAMPLE_METRICS, "operator"], capture_output=True, text=True, check=True).stdout
        front = (SOURCE / "src/kron/web/service_front.cc").read_text(encoding="utf-8")
        of_front = set(re.findall(r'"(kron_[a-z_]+)"', front))
        self.assertEqual(described, families(self.metrics) | families(of_operator) | of_front)


class Operator(Deploy, unittest.TestCase):
    rules, cases, dashboard = "kron-operator-alerts.yml", "operator_alerts_test.yml", "kron-operator-dashboard.json"
    sample = ["operator"]

    def test_every_expression_names_the_scrape_job(self):
        """Some metrics have the names of krond's."""
        for expression in expressions(json.loads(self.panels_text)):
            self.assertEqual(len(METRIC.findall(expression)), expression.count('job="kron-operator"'), expression)


if __name__ == "__main__":
    SAMPLE_METRICS = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
