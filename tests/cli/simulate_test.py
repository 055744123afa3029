"""End-to-end tests of `kron simulate`: the three formats, errors, exit status, progress, and a large run."""

import json
import os
import re
import subprocess
import tempfile
import time
import unittest
from pathlib import Path

KRON = os.environ["KRON"]
# More jobs when the whole suite is scaled up.
SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
DAY = ["--from", "2026-03-01T00:00:00Z", "--for", "1d"]


class Simulate(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def write(self, text, name="jobs.kron"):
        path = self.directory / name
        path.write_text(text, encoding="utf-8")
        path.chmod(0o644)
        return str(path)

    def simulate(self, *arguments, **environment):
        run = subprocess.run([KRON, "simulate", *arguments], capture_output=True, text=True, check=False,
                             env={**os.environ, **environment}, timeout=300)
        return run.returncode, run.stdout, run.stderr

    def profile(self, *arguments):
        status, out, err = self.simulate(*arguments, "--format", "json")
        self.assertEqual((status, err), (0, ""))
        return json.loads(out)

    def test_counts_by_hand(self):
        path = self.write("0 */6 * * * name=a command=true\n0 0 * * * name=b command=true\n")
        profile = self.profile(path, *DAY, "--step", "6h")
        before = profile["before"]
        self.assertEqual(before["starts"], [2, 1, 1, 1])
        self.assertEqual((before["total"], before["peak"], before["p50"], before["p95"], before["p99"]), (5, 2, 1, 2, 2))
        self.assertEqual(before["hotSpots"][0],
                         {"time": "2026-03-01T00:00:00Z", "starts": 2, "jobs": 2,
                          "causes": [{"job": "a", "starts": 1}, {"job": "b", "starts": 1}]})
        self.assertEqual(profile["after"], before)
        self.assertEqual((profile["from"], profile["until"]), ("2026-03-01T00:00:00Z", "2026-03-02T00:00:00Z"))
        self.assertEqual((profile["stepSeconds"], profile["steps"], profile["jobs"]), (21600, 4, 2))

    def test_chosen_times_are_those_of_decide(self):
        lines = "".join(f"0 * * * * @win(around,40m) @only(hours=3-20) name=job-{i} command=true\n" for i in range(20))
        profile = self.profile(self.write(lines), *DAY, "--step", "1m")
        requests = "".join(
            json.dumps({"identity": f"job-{i}", "periodStart": f"2026-03-{day:02}T{hour:02}:00:00Z", "window": "40m",
                        "mode": "around", "onlyHours": list(range(3, 21))}) + "\n"
            for i in range(20) for day in (1, 2) for hour in range(24))
        decided = subprocess.run([KRON, "decide"], input=requests, capture_output=True, text=True, check=True).stdout
        chosen = [json.loads(line)["chosenTime"] for line in decided.splitlines()]
        expected = [0] * 1440
        for t in chosen:
            if t.startswith("2026-03-01"):
                expected[int(t[11:13]) * 60 + int(t[14:16])] += 1
        self.assertEqual(profile["after"]["starts"], expected)

    def test_lists_unschedulable_periods(self):
        path = self.write("0 0 * * * @win(1h) @only(hours=5) name=never command=true\n")
        profile = self.profile(path, *DAY)
        self.assertEqual(profile["unschedulable"],
                         {"periods": 1, "jobs": [{"job": "never", "periods": 1, "first": ["2026-03-01T00:00:00Z"]}]})
        self.assertEqual(profile["after"]["total"], 0)
        self.assertIn("never  1 period: 2026-03-01T00:00:00Z", self.simulate(path, *DAY)[1])

    def test_text_fits_the_width(self):
        path = self.write("".join(f"H H * * * name=j{i} command=true\n" for i in range(50)))
        for width in (60, 80, 160):
            status, out, _ = self.simulate(path, *DAY, COLUMNS=str(width))
            self.assertEqual(status, 0)
            chart = [line for line in out.splitlines() if re.match(r" *\d* [┤│└]", line)]
            self.assertEqual(len(chart), 18)
            self.assertLessEqual(max(map(len, chart)), width)
            self.assertEqual(len(chart[-1]), width)

    def test_html_is_one_page_that_fetches_nothing(self):
        path = self.write('{"</script><b>": {"cron_args": {"hour": 1}, "job_args": {"cmd": "x", "lock": true, "ttl": 1}}}',
                          "jobs.json")
        status, page, _ = self.simulate(path, *DAY, "--format", "html")
        self.assertEqual(status, 0)
        self.assertTrue(page.startswith("<!doctype html>"))
        self.assertNotRegex(page, r"(?i)https?://|src=|@import|<link|url\(")
        self.assertEqual(page.count("</script>"), 2)
        data = re.search(r'<script type="application/json" id="profile">(.*?)</script>', page, re.DOTALL).group(1)
        self.assertEqual(json.loads(data), self.profile(path, *DAY))

    def test_a_bad_job_is_shown_and_the_others_are_counted(self):
        path = self.write("0 0 * * * name=a command=true\n0 25 * * * name=b command=true\n")
        status, out, err = self.simulate(path, *DAY, "--format", "json")
        self.assertEqual(status, 1)
        self.assertIn(":2:3: error: ", err)
        self.assertEqual(json.loads(out)["before"]["total"], 1)

    def test_wrong_usage(self):
        path = self.write("0 0 * * * name=a command=true\n")
        for arguments, said in [
            ((path, "--for", "soon"), "--for"),
            ((path, "--step", "0s"), "--step: must be at least 1s"),
            ((path, "--from", "yesterday"), "--from"),
            ((path, "--from", "2026-03-01T00:00:00Z", "--for", "30d", "--step", "1s"), "take 3s or more"),
        ]:
            status, out, err = self.simulate(*arguments)
            self.assertEqual((status, out), (1, ""), arguments)
            self.assertIn(said, err)
        self.assertEqual(self.simulate("--socket", str(self.directory / "none.sock"))[0], 3,
                         "without files krond is asked, and there is none")
        self.assertEqual(self.simulate(path, "--format", "xml")[0], 2)
        self.assertEqual(self.simulate(str(self.directory / "missing.kron"))[0], 2)

    def test_many_jobs_for_a_week_with_progress(self):
        count = 2_000 * SCALE
        path = self.write("".join(f"{i % 5} */{i % 6 + 1} * * * @win(after,{i % 50 + 1}m) name=j{i} command=true\n"
                                  for i in range(count)))
        began = time.monotonic()
        status, out, err = self.simulate(path, "--from", "2026-03-01T00:00:00Z", "--for", "7d", "--format", "json",
                                         "--progress")
        self.assertEqual(status, 0)
        if time.monotonic() - began > 3:
            self.assertRegex(err, r"kron simulate: +\d+ %")
        profile = json.loads(out)
        self.assertEqual(sum(profile["before"]["starts"]), profile["before"]["total"])
        self.assertGreater(profile["before"]["peak"], profile["after"]["peak"])


if __name__ == "__main__":
    unittest.main()
