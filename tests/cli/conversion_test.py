"""End-to-end tests of `kron convert`, `kron import`, `kron schema`, `kron completion`, and of the manual page."""

import functools
import json
import os
import re
import subprocess
import tempfile
import unittest
from pathlib import Path

import jsonschema

from kron_command import CRONTABS, EXAMPLES, KRON, run

KROND = os.environ["KROND"]
OPERATOR = os.environ["KRON_OPERATOR"]
MANUAL = Path(__file__).resolve().parents[2] / "man/kron.1"
CRONJOB = """
apiVersion: batch/v1
kind: CronJob
metadata:
  name: backup
  namespace: prod
  uid: 1234
  finalizers: [example.org/x]
  labels: {app: db}
spec:
  schedule: "0 0 */2 * MON"
  timeZone: Europe/Paris
  concurrencyPolicy: Forbid
  startingDeadlineSeconds: 600
  suspend: true
  failedJobsHistoryLimit: 5
  jobTemplate:
    spec: {template: {spec: {restartPolicy: Never, containers: [{name: c, image: "busybox:1"}]}}}
"""


def predicted(text, source):
    result = run("next", "--all", "--file", "-", "--source", source, "--from", "2026-03-28T00:00:00Z", "--for", "2d",
                 "--format", "json", text=text)
    keep = ("identity", "periodId", "chosenTime", "seedHash", "reason")
    return [[json.loads(line)[key] for key in keep] for line in result.stdout.splitlines()]


class Convert(unittest.TestCase):
    def test_what_is_converted_runs_at_the_same_times(self):
        for name in ("backup.kron", "fleet.yaml"):
            yaml = run("convert", "--to", "yaml", EXAMPLES / name)
            self.assertEqual((yaml.returncode, yaml.stderr), (0, ""))
            text = (EXAMPLES / name).read_text()
            self.assertEqual(predicted(yaml.stdout, "yaml"), predicted(text, name.rsplit(".", 1)[1]))
        lines = run("convert", "--to", "kron", EXAMPLES / "backup.kron").stdout
        self.assertEqual(predicted(lines, "kron"), predicted((EXAMPLES / "backup.kron").read_text(), "kron"))

    def test_what_a_line_cannot_say_is_reported(self):
        result = run("convert", "--to", "kron", EXAMPLES)
        self.assertEqual(result.returncode, 1)
        self.assertIn("fleet.yaml:26:1: error: 'search/warm-up' has a line break", result.stderr)
        self.assertIn("cronken's lock and ttl are not carried over", result.stderr)
        self.assertIn("name=db-backup", result.stdout)

    def test_wrong_usage_is_status_2(self):
        for arguments in ([EXAMPLES], ["--to", "json", EXAMPLES], ["--to", "yaml"], ["--to", "yaml", "/nonexistent.kron"]):
            self.assertEqual(run("convert", *arguments).returncode, 2, arguments)


class Import(unittest.TestCase):
    def test_crontabs_run_at_the_same_times(self):
        for name in ("etc/crontab", "cron.d/variables", "cron.d/sysstat"):
            imported = run("import", "crontab", CRONTABS / name, TZ="Europe/Paris")
            self.assertEqual(imported.returncode, 0, imported.stderr)
            expected = run("next", "--all", "--file", CRONTABS / name, "--from", "2026-03-28T00:00:00Z", "--for", "2d",
                           "--format", "json", TZ="Europe/Paris")
            times = [json.loads(line)["chosenTime"] for line in expected.stdout.splitlines()]
            self.assertEqual([row[2] for row in predicted(imported.stdout, "yaml")], times)

    def test_what_is_not_carried_over_is_told(self):
        result = run("import", "crontab", CRONTABS / "cron.d/variables")
        self.assertIn("MAILTO is not acted on", result.stderr)
        self.assertIn("6 jobs", result.stderr)

    def test_standard_input_is_a_users_crontab(self):
        result = run("import", "crontab", "-", "--to", "kron", text="5 4 * * sun echo hello\n")
        self.assertEqual(result.returncode, 0)
        self.assertRegex(result.stdout, r'^5 4 \* \* 0 name=cron/-/[0-9a-f]{12} command="echo hello" shell=true')

    def test_what_was_written_is_counted(self):
        result = run("import", "crontab", "-", "--to", "kron",
                     text="0 1 * * * cat%a%b\n0 2 * * * true\n0 99 * * * false\n")
        self.assertEqual(result.stdout.count("name="), 1)
        self.assertIn("wrote 1 job, left out 2 (see above)", result.stderr)

    def test_a_user_column_can_be_said(self):
        text = "17 * * * * root    cd / && run-parts --report /etc/cron.hourly\n"
        plain = run("import", "crontab", "-", text=text)
        self.assertIn("the command begins with 'root', which is a user of this host and no program", plain.stderr)
        self.assertIn("--user-column", plain.stderr)
        result = run("import", "crontab", "--user-column", "-", text=text)
        self.assertNotIn("warning", result.stderr)
        self.assertIn("user: root\n", result.stdout)
        self.assertIn('command: "cd / && run-parts --report /etc/cron.hourly"\n', result.stdout)

    def test_an_unescaped_percent_is_warned_of(self):
        result = run("import", "crontab", "-", text="0 1 * * * date +%Y >> days\n")
        self.assertIn("-:1:17: warning: an unescaped % ends the command", result.stderr)

    def test_names_may_be_made_of_the_commands(self):
        text = "0 1 * * * /usr/bin/backup --full\n0 2 * * * /usr/bin/backup --fast\n0 3 * * * cd / && run-parts /etc/x\n"
        result = run("import", "crontab", "--readable-names", "--to", "kron", text=text)
        self.assertEqual(re.findall(r"name=(\S+)", result.stdout), ["backup", "backup-2", "run-parts-x"])

    def test_comments_become_descriptions(self):
        result = run("import", "crontab", "-", text="# Nightly backup\n0 1 * * * /usr/bin/backup\n")
        self.assertIn("    description: Nightly backup\n", result.stdout)

    def test_nobody_is_sent_to_look_for_a_notifier(self):
        result = run("import", "crontab", "-", text="MAILTO=ops\n0 1 * * * true\n")
        self.assertNotIn("notifier", result.stderr)
        self.assertIn("kron events can be piped into mail", result.stderr)

    def test_seconds_are_written_as_they_were(self):
        result = run("convert", "--source", "kron", "--to", "kron", "-", text="*/2 * * * * * name=a command=x\n")
        self.assertEqual(result.stdout, "*/2 * * * * * name=a command=x\n")

    def test_an_imported_kronjob_is_one_that_lint_takes(self):
        result = run("import", "cronjob", text=CRONJOB)
        self.assertTrue(result.stdout.startswith("apiVersion: kron.io/v1alpha1\n"), result.stdout)
        self.assertIn("kron import: wrote 1 KronJob. The CronJobs were not changed", result.stderr)
        checked = run("kube", "lint", "-", text=result.stdout)
        self.assertEqual(checked.returncode, 0, checked.stdout)
        self.assertIn("1 KronJob read: 0 errors", checked.stdout)

    def test_in_one_pipe_the_closing_line_comes_behind_everything(self):
        refused = CRONJOB.replace("name: backup", "name: broken", 1).replace("restartPolicy: Never", "restartPolicy: Always")
        for arguments, text in ((("cronjob",), CRONJOB + "---" + refused), (("crontab", "-"), "MAILTO=a\n5 4 * * sun echo hello\n")):
            result = subprocess.run([KRON, "import", *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                    text=True, check=False)
            lines = result.stdout.splitlines()
            self.assertRegex(lines[-1], r"^kron import: wrote 1 (KronJob|job)\b", result.stdout)
            self.assertEqual(result.stdout.count("kron import: wrote"), 1)
            self.assertTrue(any("note: " in line or "warning: " in line for line in lines[:-1]), result.stdout)

    def test_a_gap_is_noted_only_where_one_swallows_a_time(self):
        words = "a CronJob leaves that run out"
        self.assertNotIn(words, run("import", "cronjob", text=CRONJOB).stderr)
        touched = CRONJOB.replace("0 0 */2 * MON", "30 2 * * *")
        self.assertIn(words, run("import", "cronjob", text=touched).stderr)

    def test_a_file_name_that_no_job_may_have_is_changed(self):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "My Jobs"
            path.write_text("5 4 * * sun echo hello\n")
            result = run("import", "crontab", path)
        self.assertIn("name: cron/my-jobs/", result.stdout)
        self.assertIn("is called cron/my-jobs/", result.stderr)

    def test_a_cronjob_becomes_a_kronjob(self):
        result = run("import", "cronjob", "-f", "-", text=CRONJOB)
        self.assertEqual(result.returncode, 0, result.stderr)
        for line in ("apiVersion: kron.io/v1alpha1", "kind: KronJob", "  namespace: prod", '  schedule: "0 0 */2 * MON"',
                     "  timezone: Europe/Paris", "    concurrency: forbid", "    deadline: 10m", "    suspend: true",
                     "  failedJobsHistoryLimit: 5", "  jobTemplate:"):
            self.assertIn(line + "\n", result.stdout)
        self.assertNotIn("uid", result.stdout)
        for word in ("metadata.finalizers is not carried over", "match both", "gap"):
            self.assertIn(word, result.stderr)

    def test_what_kubernetes_assumes_is_written_out(self):
        text = re.sub(r"\n  (timeZone|concurrencyPolicy|startingDeadlineSeconds|suspend):.*", "", CRONJOB)
        result = run("import", "cronjob", text=text)
        self.assertIn("    concurrency: allow\n    deadline: 52w\n", result.stdout)
        self.assertIn("without timeZone", result.stderr)

    def test_lists_and_several_documents(self):
        both = CRONJOB + "---\nkind: Service\n---\nkind: List\nitems:\n" + "".join(
            ("  - " if number == 0 else "    ") + line + "\n" for number, line in enumerate(CRONJOB.strip().splitlines()))
        result = run("import", "cronjob", text=both)
        self.assertEqual(result.stdout.count("kind: KronJob"), 2)
        self.assertEqual(result.stdout.count("\n---\n"), 1)
        self.assertIn("passed by: this is a 'Service'", result.stderr)

    def test_mistakes_are_status_1_and_nothing_is_printed(self):
        for old, new in (('"0 0 */2 * MON"', '"99 * * * *"'), ("Forbid", "Never"), ("600", "soon"), ("name: backup", "x: y"),
                         ("Europe/Paris", "Mars/Olympus"), ("batch/v1", "batch/v9"), ("jobTemplate", "template"),
                         ("spec:\n  schedule", "spec:\n  scheduel"), ("kind: CronJob", "kind: Pod")):
            result = run("import", "cronjob", text=CRONJOB.replace(old, new, 1))
            self.assertEqual((result.returncode, result.stdout), (1, ""), new)
            self.assertIn("error: ", result.stderr)
        self.assertEqual(run("import", "cronjob", "-f", "/nonexistent.yaml").returncode, 2)
        self.assertEqual(run("import", "anything").returncode, 2)


DKRON = [{"name": "backup", "schedule": "0 30 2 * * *", "timezone": "Europe/Paris", "executor": "shell",
          "executor_config": {"command": "/usr/bin/backup --all", "timeout": "2h"}, "concurrency": "forbid", "retries": 2},
         {"name": "often", "schedule": "@every 10m", "executor": "shell", "executor_config": {"command": "true"}}]
CRONICLE = {"rows": [{"id": "e1", "title": "Backup, nightly", "enabled": 1, "timing": {"hours": [2], "minutes": [30]},
                      "timezone": "Europe/Paris", "plugin": "shellplug", "params": {"script": "#!/bin/sh\nbackup\n"},
                      "max_children": 1, "catch_up": 1},
                     {"id": "e2", "title": "off", "enabled": 0, "timing": {"minutes": [0, 20, 40]}, "max_children": 1,
                      "timezone": "UTC", "plugin": "shellplug", "params": {"script": "true"}}]}


class ImportFromOthers(unittest.TestCase):
    def imported(self, kind, document, *flags, status=0):
        with tempfile.TemporaryDirectory() as directory:
            path = Path(directory) / "jobs.json"
            path.write_text(document if isinstance(document, str) else json.dumps(document), encoding="utf-8")
            result = run("import", kind, *flags, path)
        self.assertEqual(result.returncode, status, result.stderr)
        return result

    def times(self, yaml, name):
        rows = run("next", "--all", "--file", "-", "--source", "yaml", "--from", "2026-03-28T00:00:00Z", "--for", "2d", "--format",
                   "json", text=yaml)
        self.assertEqual(rows.returncode, 0, rows.stderr)
        return [row["periodId"] for row in map(json.loads, rows.stdout.splitlines()) if row["identity"] == name]

    def test_what_comes_of_dkron_runs_at_its_times(self):
        result = self.imported("dkron", DKRON)
        self.assertEqual(self.times(result.stdout, "backup"), ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"])
        self.assertEqual(len(self.times(result.stdout, "often")), 288)
        for words in ("retries: a run that fails", "@every counts from 1970", "wrote 2 jobs. dkron was not changed"):
            self.assertIn(words, result.stderr)
        self.assertEqual(run("lint", "--source", "yaml", "-", text=result.stdout).returncode, 0)

    def test_what_comes_of_cronicle_runs_at_its_times(self):
        result = self.imported("cronicle", CRONICLE)
        self.assertEqual(self.times(result.stdout, "backup-nightly"), ["2026-03-28T01:30:00Z", "2026-03-29T01:00:00Z"])
        self.assertIn("suspend: true", result.stdout)
        for words in ("catch_up: of what was missed", "wrote 2 jobs. Cronicle was not changed"):
            self.assertIn(words, result.stderr)
        self.assertEqual(run("lint", "--source", "yaml", "-", text=result.stdout).returncode, 0)

    def test_lines_of_kron_can_be_asked_for(self):
        for kind, document in (("dkron", DKRON), ("cronicle", CRONICLE)):
            result = self.imported(kind, document, "--to", "kron")
            self.assertEqual(result.stdout.count("name="), 2, result.stdout)

    def test_what_cannot_be_is_told_and_the_rest_is_written(self):
        other = {**DKRON[1], "name": "asks", "executor": "http"}
        result = self.imported("dkron", [*DKRON, other], status=1)
        self.assertIn("the executor 'http' is not one that runs a command", result.stderr)
        self.assertIn("wrote 2 jobs", result.stderr)
        by_hand = {**CRONICLE["rows"][1], "title": "by hand", "timing": False}
        result = self.imported("cronicle", {"rows": [*CRONICLE["rows"], by_hand]}, status=1)
        self.assertIn("the event only runs on demand", result.stderr)
        self.assertIn("wrote 2 jobs", result.stderr)

    def test_what_is_no_answer_of_theirs_is_an_error(self):
        for kind in ("dkron", "cronicle"):
            for text in ("{", "[1]", '"x"', '{"rows": 5}'):
                self.assertEqual(self.imported(kind, text, status=1).stdout, "", (kind, text))
            self.assertEqual(run("import", kind, "/nonexistent.json").returncode, 2)


class Schema(unittest.TestCase):
    def test_it_is_a_json_schema(self):
        result = run("schema")
        self.assertEqual(result.returncode, 0)
        self.assertIn("$schema", json.loads(result.stdout))

    def test_it_wants_exactly_one_of_command_and_task_as_lint_does(self):
        schema = json.loads(run("schema").stdout)
        jsonschema.Draft202012Validator.check_schema(schema)
        validator = jsonschema.Draft202012Validator(schema)
        for job, defaults, is_valid in (({"command": "x"}, {}, True), ({"task": "x"}, {}, True),
                                        ({"command": "x", "task": "y"}, {}, False), ({}, {}, False),
                                        ({}, {"command": "x"}, True), ({"task": "y"}, {"command": "x"}, True),
                                        ({}, {"user": "x"}, False), ({}, {"command": "x", "task": "y"}, False),
                                        ({"command": "x"}, {"timeout": "1m"}, True)):
            file = {"jobs": [{"name": "a", "schedule": "@daily", **job}], **({"defaults": defaults} if defaults else {})}
            linted = run("lint", "--source", "yaml", "-", text=json.dumps(file))
            self.assertEqual((validator.is_valid(file), linted.returncode == 0), (is_valid, is_valid), file)


@functools.cache
def verbs_and_flags():
    """{verb: its long flags}, as `--help` shows them."""
    shown = run("--help").stdout.split("Examples:")[0]
    verbs = re.findall(r"^  ([a-z]+) ", shown, re.MULTILINE)
    return {verb: set(re.findall(r"^  (?:-\w,)?(--[a-z-]+)", run(verb, "--help").stdout, re.MULTILINE)) for verb in verbs}


class EveryWord(unittest.TestCase):
    def test_help_teaches_by_example(self):
        verbs = verbs_and_flags()
        self.assertIn("lint", verbs)
        for verb in verbs:
            self.assertRegex(run(verb, "--help").stdout.split("Examples:\n")[1], rf"kron {verb}")

    def test_is_completed_in_every_shell(self):
        for shell, flag_prefix in (("bash", "--"), ("zsh", "--"), ("fish", "-l ")):
            script = run("completion", shell).stdout
            for verb, flags in verbs_and_flags().items():
                self.assertRegex(script, rf"\b{verb}\b")
                for flag in flags:
                    self.assertIn(flag_prefix + flag[2:], script, f"{shell} {verb}")
        self.assertEqual(run("completion", "tcsh").returncode, 2)

    def test_bash_completes_verbs_flags_and_values(self):
        script = run("completion", "bash").stdout
        for words, expected in ((["kron", "li"], "lint"), (["kron", "lint", "--fo"], "--format"),
                                (["kron", "lint", "--format", "j"], "json"), (["kron", "import", "cronj"], "cronjob")):
            probe = f"COMP_WORDS=({' '.join(words)}); COMP_CWORD={len(words) - 1}; _kron; echo \"${{COMPREPLY[@]}}\""
            result = subprocess.run(["bash", "-c", script + probe], capture_output=True, text=True, check=False)
            self.assertEqual((result.stdout.split(), result.stderr), ([expected], ""))

    def completed(self, script, *words, path=None):
        """What bash offers for the last of these words, one entry each."""
        quoted = " ".join(f"'{word}'" for word in words)
        probe = f"COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _{words[0]}; printf '%s\\n' \"${{COMPREPLY[@]}}\""
        environment = {**os.environ, "PATH": f"{path}:{os.environ['PATH']}" if path else os.environ["PATH"]}
        result = subprocess.run(["bash", "-c", script + probe], capture_output=True, text=True, check=False,
                                env=environment, timeout=60)
        self.assertEqual(result.stderr, "")
        return result.stdout.splitlines()

    def test_bash_completes_a_value_of_two_words_as_one(self):
        script = run("completion", "bash").stdout
        self.assertEqual(self.completed(script, "kron", "runs", "--outcome", "passed"), ["passed over"])

    def test_bash_completes_names_of_jobs_from_krond(self):
        script = run("completion", "bash").stdout
        with tempfile.TemporaryDirectory() as directory:
            kron = Path(directory) / "kron"
            kron.write_text("#!/bin/sh\n[ \"$1\" = jobs ] && printf 'backup\\nbilling\\nreport\\n'\n")
            kron.chmod(0o755)
            (Path(directory) / "bfile").touch()
            for words in (("trigger", "b"), ("logs", "b"), ("show", "b"), ("pause", "report", "b"), ("runs", "--job", "b")):
                self.assertEqual(self.completed(script, "kron", *words, path=directory), ["backup", "billing"], words)
            self.assertIn("--tail", self.completed(script, "kron", "logs", "--t", path=directory))

    def test_names_of_jobs_are_completed_in_every_shell(self):
        for shell in ("bash", "zsh", "fish"):
            self.assertIn(" jobs --names --limit 1000 2>/dev/null", run("completion", shell).stdout)

    def test_the_flags_of_krond_are_completed_too(self):
        for shell, flag in (("bash", "--log-format"), ("zsh", "--log-format"), ("fish", "-l log-format")):
            script = subprocess.run([KROND, "--completion", shell], capture_output=True, text=True, check=True,
                                    timeout=60).stdout
            self.assertIn(flag, script)
            self.assertNotIn("--completion", script)
            if shell == "bash":
                self.assertEqual(self.completed(script, "krond", "--log-f"), ["--log-format"])
                self.assertEqual(self.completed(script, "krond", "--once", "--log-format", "j"), ["json"])

    def test_no_apostrophe_is_lost_in_a_description(self):
        self.assertIn("krond\\'s state directory", run("completion", "fish").stdout)
        self.assertIn("krond'\\''s state directory", run("completion", "zsh").stdout)

    def test_is_in_the_manual(self):
        page = MANUAL.read_text().replace("\\-", "-")
        for verb, flags in verbs_and_flags().items():
            self.assertIn(f"kron {verb}", page)
            for flag in flags:
                self.assertIn(flag, page, verb)

    def test_of_the_programs_that_stay_is_in_their_manuals(self):
        for program in (KROND, OPERATOR):
            page = MANUAL.with_name(Path(program).name + ".8").read_text(encoding="utf-8").replace("\\-", "-")
            shown = subprocess.run([program, "--help"], capture_output=True, text=True, check=True, timeout=60).stdout
            flags = set(re.findall(r"^ +(?:-\w, ?)?(--[a-z-]+)", shown, re.MULTILINE))
            self.assertGreater(len(flags), 8)
            self.assertEqual({flag for flag in flags if flag not in page}, set(), program)
            of_page = set(re.findall(r"^\.(?:B|BI|BR) (--[a-z-]+)", page, re.MULTILINE))
            self.assertEqual(of_page - flags, set(), program)


if __name__ == "__main__":
    unittest.main()
