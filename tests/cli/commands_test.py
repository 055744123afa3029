"""End-to-end tests of the kron command: the golden data through the binary, usage errors, exit statuses."""

import json
import os
import subprocess
import unittest
from pathlib import Path

from kron_command import KRON, answers, run

DATA = Path(os.environ["KRON_TEST_DATA"])
ONE_MEBIBYTE = 1 << 20


def golden_lines(name):
    return [json.loads(line) for line in (DATA / name).read_text().splitlines() if line]


class Decide(unittest.TestCase):
    def expect_all(self, vectors):
        result = run("decide", lines=[vector["input"] for vector in vectors])
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = answers(result)
        self.assertEqual(len(found), len(vectors))
        for vector, answer in zip(vectors, found):
            expected = {key: value for key, value in vector["expected"].items() if key != "reason"}
            self.assertEqual({key: answer[key] for key in expected}, expected, vector["input"])

    def test_reference_vectors_are_reproduced(self):
        for number in range(1, 8):
            self.expect_all(json.loads((DATA / f"kron/v{number}.json").read_text())["cases"])

    def test_two_thousand_random_decisions_are_reproduced(self):
        self.expect_all(golden_lines("kron/decide.jsonl"))

    def test_names_come_in_the_order_of_the_contract(self):
        result = run("decide", lines=[{"identity": "a", "periodStart": "2026-03-01T00:00:00Z"}])
        names = (
            "identity periodId periodKey nominalTime timezone windowMode windowStart windowEnd distribution "
            "seedStrategy salt seedHash constraintsApplied chosenTime attempts unschedulable reason"
        )
        self.assertEqual(" ".join(answers(result)[0]), names)

    def test_a_bad_line_is_answered_in_its_place(self):
        good = {"identity": "a", "periodStart": "2026-03-01T00:00:00Z"}
        bad = ["", "{", {"identity": ""}, {**good, "window": "5"}, {**good, "nonsense": 1}, "[" * 100_000, "\0"]
        result = run("decide", lines=[good, *bad, good])
        self.assertEqual(result.returncode, 1)
        found = answers(result)
        self.assertEqual(["error" in answer for answer in found], [False] + [True] * len(bad) + [False])
        self.assertEqual(list(found[1]["error"]), ["field", "column", "message"])
        self.assertEqual((found[4]["error"]["field"], found[4]["error"]["column"]), ("window", 2))

    def test_a_line_beyond_one_mebibyte_is_an_error_in_its_place(self):
        good = {"identity": "a", "periodStart": "2026-03-01T00:00:00Z"}
        huge = {**good, "salt": "x" * (3 * ONE_MEBIBYTE)}
        large = {**good, "salt": "x" * (ONE_MEBIBYTE // 2)}
        found = answers(run("decide", lines=[huge, large, huge, good]))
        self.assertEqual(["error" in answer for answer in found], [True, False, True, False])

    def test_the_last_line_needs_no_newline_and_no_input_is_no_output(self):
        text = '{"identity":"a","periodStart":"2026-03-01T00:00:00Z"}'
        result = subprocess.run([KRON, "decide"], input=text, capture_output=True, text=True, check=False)
        self.assertEqual((result.returncode, result.stdout.count("\n")), (0, 1))
        self.assertEqual(run("decide", lines=[]).stdout, "")

    def test_bytes_that_are_not_utf8_are_an_error(self):
        line = b'{"identity":"\xff","periodStart":"2026-03-01T00:00:00Z"}\n'
        result = subprocess.run([KRON, "decide"], input=line, capture_output=True, check=False)
        self.assertEqual(result.returncode, 1)
        self.assertIn("UTF-8", json.loads(result.stdout)["error"]["message"])

    def test_an_answer_comes_before_the_next_question(self):
        with subprocess.Popen([KRON, "decide"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as kron:
            for _ in range(2):
                kron.stdin.write('{"identity":"a","periodStart":"2026-03-01T00:00:00Z"}\n')
                kron.stdin.flush()
                self.assertIn("chosenTime", kron.stdout.readline())
            kron.stdin.close()
            self.assertEqual(kron.wait(), 0)

    def test_a_full_disk_is_reported(self):
        with open("/dev/full", "w", encoding="utf-8") as full:
            result = subprocess.run([KRON, "decide"], input="\n", stdout=full, stderr=subprocess.PIPE, text=True,
                                    check=False)
        self.assertEqual(result.returncode, 2)
        self.assertIn("standard output", result.stderr)


class NextBatch(unittest.TestCase):
    def expect_all(self, questions, expected):
        result = run("next", "--batch", lines=questions)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        found = answers(result)
        self.assertEqual(len(found), len(questions))
        for question, answer, times in zip(questions, found, expected):
            self.assertEqual(answer, {"next": times}, question)

    def test_golden_expressions(self):
        for name in ("cron/next.jsonl", "cron/dst.jsonl"):
            cases = golden_lines(name)
            self.expect_all(
                [{key: c[key] for key in ("expr", "tz", "from_utc")} | {"n": len(c["expected_utc"])} for c in cases],
                [c["expected_utc"] for c in cases],
            )

    def test_golden_cron_args(self):
        cases = [c for c in golden_lines("cronken/cron_args.jsonl") if "next_utc" in c]
        # The lines are asked as they are: what a question does not know is left alone.
        self.expect_all(cases, [[time for time in c["next_utc"] if time is not None] for c in cases])

    def test_now_counts_and_a_fraction_of_a_second_is_later(self):
        ask = {"cron_args": {"minute": "*"}, "n": 1}
        self.expect_all(
            [{**ask, "now": "2026-03-01T00:00:00Z"}, {**ask, "now": "2026-03-01T00:00:00.000001Z"}],
            [["2026-03-01T00:00:00Z"], ["2026-03-01T00:01:00Z"]],
        )

    def test_a_schedule_that_ends_gives_fewer_times(self):
        self.expect_all(
            [{"expr": "0 0 0 1 1 ? 2027", "tz": "UTC", "from_utc": "2026-03-01T00:00:00Z", "n": 5},
             {"expr": "0 0 0 1 1 ? 1999", "tz": "UTC", "from_utc": "2026-03-01T00:00:00Z", "n": 5}],
            [["2027-01-01T00:00:00Z"], []],
        )

    def test_bad_lines_name_field_and_column(self):
        ask = {"expr": "* * * * *", "tz": "UTC", "from_utc": "2026-03-01T00:00:00Z", "n": 1}
        cases = [
            ({**ask, "expr": "* 24 * * *"}, "hour", 3),
            ({**ask, "tz": "Mars/Olympus"}, "tz", 1),
            ({**ask, "tz": "../../etc/passwd"}, "tz", 1),
            ({**ask, "from_utc": "yesterday"}, "from_utc", 1),
            ({**ask, "n": -1}, "n", 0),
            ({**ask, "n": 10**6}, "n", 0),
            ({**ask, "n": "5"}, "n", 0),
            ({"expr": "* * * * *"}, "from_utc", 0),
            ({**ask, "form_utc": "x"}, "form_utc", 0),
            ({"now": "2026-03-01T00:00:00Z"}, "expr", 0),
            ({**ask, "cron_args": {}}, "expr", 0),
            ({"cron_args": [], "now": "2026-03-01T00:00:00Z"}, "cron_args", 0),
            ({"cron_args": {"hour": {}}, "now": "2026-03-01T00:00:00Z"}, "cron_args.hour", 0),
            ({"cron_args": {"hour": "24"}, "now": "2026-03-01T00:00:00Z"}, "hour", 1),
            ({**ask, "expr": "*" * 100_000}, "", 1),
            ("[]", "", 1),
        ]
        result = run("next", "--batch", lines=[question for question, _, _ in cases])
        self.assertEqual(result.returncode, 1)
        for (question, field, column), answer in zip(cases, answers(result)):
            error = answer["error"]
            self.assertEqual((error["field"], error["column"]), (field, column), f"{str(question)[:200]}: {error}")
            self.assertTrue(error["message"])


class Next(unittest.TestCase):
    FROM = ("--from", "2026-03-28T00:00:00Z")

    def test_text_is_one_time_per_line(self):
        result = run("next", "--cron", "30 2 * * *", "--tz", "Europe/Paris", "--count", "3", *self.FROM)
        self.assertEqual(result.stdout, "2026-03-28T01:30:00Z\n2026-03-29T01:00:00Z\n2026-03-30T00:30:00Z\n")
        self.assertEqual(result.returncode, 0)

    def test_json(self):
        result = run("next", "--cron", "@daily", "--count", "1", "--format", "json", *self.FROM)
        self.assertEqual(result.stdout, '{"expr":"@daily","tz":"UTC","next":["2026-03-29T00:00:00Z"]}\n')

    def test_the_dst_rule_can_be_overridden(self):
        result = run("next", "--cron", "30 2 * * *", "--tz", "Europe/Paris", "--count", "2", "--dst", "gap=skip", *self.FROM)
        self.assertEqual(result.stdout, "2026-03-28T01:30:00Z\n2026-03-30T00:30:00Z\n")

    def test_h_needs_an_identity(self):
        self.assertEqual(run("next", "--cron", "H H * * *", *self.FROM).returncode, 1)
        first = run("next", "--cron", "H H * * *", "--identity", "a", *self.FROM)
        self.assertEqual((first.returncode, first.stdout.count("\n")), (0, 5))

    def test_without_from_the_present_counts(self):
        self.assertEqual(run("next", "--cron", "* * * * *", "--count", "1").stdout.count("\n"), 1)

    def test_a_wrong_expression_says_where(self):
        result = run("next", "--cron", "5 99 * * *", *self.FROM)
        self.assertEqual((result.returncode, result.stdout), (1, ""))
        self.assertTrue(result.stderr.startswith("kron next: column 3: hour: "), result.stderr)
        answer = run("next", "--cron", "5 99 * * *", "--format", "json", *self.FROM)
        self.assertEqual((answer.returncode, answers(answer)[0]["error"]["column"]), (1, 3))
        for flag, value in (("--tz", "Nowhere"), ("--from", "soon"), ("--dst", "gap=no")):
            wrong = run("next", "--cron", "* * * * *", flag, value)
            self.assertEqual(wrong.returncode, 1)
            self.assertIn(flag, wrong.stderr)


class Usage(unittest.TestCase):
    def test_wrong_usage_is_status_2_and_a_hint(self):
        cases = [
            [], ["decode"], ["next"], ["next", "--cron"], ["next", "--batch", "--cron", "* * * * *"],
            ["next", "--cron", "* * * * *", "--count", "-1"], ["next", "--cron", "* * * * *", "--count", "many"],
            ["next", "--cron", "* * * * *", "--format", "yaml"], ["decide", "--fast"], ["decide", "file"],
        ]
        for arguments in cases:
            result = run(*arguments, lines=[])
            self.assertEqual((result.returncode, result.stdout), (2, ""), arguments)
            self.assertTrue(result.stderr, arguments)
        self.assertIn("did you mean decide?", run("decode").stderr)

    def test_help_shows_examples_and_version_a_number(self):
        for arguments in (["--help"], ["decide", "--help"], ["next", "--help"]):
            result = run(*arguments)
            self.assertEqual(result.returncode, 0)
            self.assertIn("Examples:", result.stdout)
        self.assertRegex(run("--version").stdout, r"^kron \d+\.\d+\.\d+( \([0-9A-Za-z.-]+\))?\n$")

    def test_help_is_a_command_too(self):
        self.assertEqual(run("help").stdout, run("--help").stdout)
        self.assertEqual(run("help", "runs").stdout, run("runs", "--help").stdout)
        self.assertEqual(run("help", "task", "submit").stdout, run("task", "submit", "--help").stdout)
        unknown = run("help", "nosuch")
        self.assertEqual((unknown.returncode, unknown.stdout), (2, ""))

    def test_a_flag_that_is_misspelt_names_the_nearest(self):
        result = run("status", "--formta", "json")
        self.assertEqual((result.returncode, result.stdout), (2, ""))
        self.assertEqual(result.stderr, "kron status: unknown flag '--formta'; did you mean --format?\n")
        self.assertEqual(run("task", "list", "--limt=3").stderr,
                         "kron task list: unknown flag '--limt'; did you mean --limit?\n")
        self.assertEqual(run("decide", "file").stderr, "kron decide: unexpected argument 'file'; see kron decide --help\n")

    def test_a_locale_without_utf8_gets_plain_characters(self):
        jobs = "0 0 * * * name=a command=x\n* * * * * name=b command=x\n"
        simulate = ("simulate", "--source", "kron", "-", "--from", "2026-03-01T00:00:00Z", "--for", "1d")
        for locale in ("C", "POSIX", "en_US.ISO-8859-1"):
            for arguments in (simulate, ("--help",), ("doctor",), ("kill", "--help")):
                result = run(*arguments, text=jobs, LC_ALL=locale)
                self.assertTrue((result.stdout + result.stderr).isascii(), (locale, arguments))
        for locale in ("C.UTF-8", "en_US.utf8"):
            self.assertIn("\u2524", run(*simulate, text=jobs, LC_ALL=locale).stdout)
        self.assertIn("|", run(*simulate, text=jobs, LC_ALL="C").stdout)
        wrong = run("lint", "--source", "yaml", "-", text="jobs: [3]\n", LC_ALL="C")
        self.assertIn("write name: ...", wrong.stdout)

    def test_standard_input_that_cannot_be_read_is_status_2(self):
        with open(os.devnull, "wb") as write_only:
            result = subprocess.run([KRON, "decide"], stdin=write_only, capture_output=True, text=True, check=False)
        self.assertEqual(result.returncode, 2)


if __name__ == "__main__":
    unittest.main()
