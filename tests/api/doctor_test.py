"""`kron doctor` on hosts that are well, and on hosts that are not: what it finds, what it advises, its status."""

import json
import os
import socket
import time
import unittest

from api_host import KRON_EXEC, NEVER, ApiHost


class Doctor(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.host.write_jobs(self.host.job("hello", NEVER))

    def findings(self, *flags, status, helper=KRON_EXEC):
        """[(verdict, about, what and cure)], and the same as text has to agree."""
        flags = ("--helper", helper, "--state-dir", self.host.state, "--config", self.host.config, *flags)
        result = self.host.kron("doctor", *flags, "--format", "json")
        self.assertEqual(result.returncode, status, result)
        report = json.loads(result.stdout)
        found = [(one["verdict"], one["about"], one["what"] + " → " + one.get("cure", "")) for one in report["findings"]]
        problems = [one for one in found if one[0] == "problem"]
        self.assertEqual((report["problems"], bool(problems)), (len(problems), status == 1))
        shown = self.host.kron("doctor", *flags)
        self.assertEqual(shown.returncode, status)
        words = [line.split()[0] for line in shown.stdout.splitlines() if not line.startswith(" ")]
        self.assertEqual(words, [one[0] for one in found])
        return found

    def expect(self, found, verdict, about, text):
        self.assertTrue(any(one[0] == verdict and one[1] == about and text in one[2] for one in found), found)

    def test_a_host_that_is_well(self):
        krond, _ = self.host.serve()
        found = self.findings(status=0)
        self.expect(found, "ok", "socket", f"answers, PID {krond.pid}, 1 jobs")
        self.expect(found, "ok", "socket", "root may connect")
        self.expect(found, "ok", "config", "1 valid job")
        self.expect(found, "ok", "state", f"process {krond.pid} works on it")
        self.expect(found, "ok", "state", "all records are readable")
        self.expect(found, "ok", "zones", os.environ["TZDIR"])
        self.expect(found, "ok", "helper", KRON_EXEC)
        self.assertIn("clock", {one[1] for one in found})

    def test_it_asks_krond_where_things_are(self):
        self.host.serve()
        result = self.host.kron("doctor", "--helper", KRON_EXEC)
        self.assertEqual(result.returncode, 0, result)
        self.assertIn(f"{self.host.config}: 1 valid job", result.stdout)
        self.assertIn(f"{self.host.state} belongs to", result.stdout)

    def test_no_krond(self):
        found = self.findings(status=1)
        self.expect(found, "problem", "socket", "is not there: krond is not running")
        self.expect(found, "warning", "state", "krond makes it when it first starts")

    def test_a_krond_that_died(self):
        krond, _ = self.host.serve()
        krond.kill()
        found = self.findings(status=1)
        self.expect(found, "problem", "socket", "systemctl start krond")
        self.expect(found, "warning", "state", f"the last was process {krond.pid}")

    def test_something_else_where_the_socket_should_be(self):
        self.host.state.mkdir(mode=0o700)
        self.host.socket.write_text("no socket", encoding="utf-8")
        self.expect(self.findings(status=1), "problem", "socket", "is no socket")
        self.host.socket.unlink()
        with socket.socket(socket.AF_UNIX) as other:
            other.bind(str(self.host.socket))
            self.expect(self.findings(status=1), "problem", "socket", "")

    def test_job_files_that_are_wrong(self):
        self.host.serve()
        self.host.write_jobs(text="0 * * * * name=x command=true window=nonsense\n", name="bad.kron")
        self.expect(self.findings(status=1), "problem", "config", f"{self.host.config}/bad.kron:1:")
        (self.host.config / "bad.kron").chmod(0o666)
        self.expect(self.findings(status=1), "problem", "config", "chmod go-w")
        (self.host.config / "bad.kron").unlink()
        found = self.findings("--config", "/nowhere", status=1)
        self.expect(found, "problem", "config", "cannot read /nowhere")

    def test_jobs_that_name_what_this_host_does_not_have(self):
        self.host.serve()
        lines = ("user=nosuchuser command=/bin/true", "group=nosuchgroup command=/bin/true", "cwd=/nope command=/bin/true",
                 "command=/nonexistent/x", "command=nosuchprogram", "shell=/bin/nosh command=true",
                 "cwd=/ command=bin/nosuch", f"command={self.host.config}/jobs.json", "task=anything",
                 'shell=true command="anything at all"', "command=true", "cwd=~ command=/bin/true")
        self.host.write_jobs(text="".join(f"0 * * * * name=j{i} {line}\n" for i, line in enumerate(lines)),
                             name="more.kron")
        found = self.findings(status=0)
        for i, words in enumerate(("there is no user 'nosuchuser'", "there is no group 'nosuchgroup'",
                                   "there is no directory '/nope'", "there is no program '/nonexistent/x'",
                                   "there is no program 'nosuchprogram' in its PATH", "there is no program '/bin/nosh'",
                                   "there is no program '/bin/nosuch'", "cannot be executed")):
            self.expect(found, "warning", "config", f"more.kron:{i + 1}: 'j{i}' cannot run on this host: ")
            self.expect(found, "warning", "config", words)
        for i in range(8, len(lines)):
            self.assertFalse(any(f"'j{i}' cannot run" in one[2] for one in found), found)

    def test_a_directory_without_jobs(self):
        (self.host.config / "jobs.json").unlink()
        self.host.serve()
        self.expect(self.findings(status=0), "warning", "config", "there is no job")

    def test_a_state_directory_that_others_can_read_or_write(self):
        self.host.serve()
        self.host.state.chmod(0o755)
        self.expect(self.findings(status=0), "warning", "state", "chmod 700")
        self.host.state.chmod(0o777)
        self.expect(self.findings(status=1), "problem", "state", "chmod 700")

    def test_files_that_are_damaged_or_from_the_future(self):
        self.host.serve()
        (self.host.state / ("0" * 64 + ".json.corrupt.2026-03-01T00:00:00Z")).touch()
        ahead = self.host.state / "first-seen.json"
        ahead.touch()
        os.utime(ahead, (time.time() + 10_000, time.time() + 10_000))
        found = self.findings(status=0)
        self.expect(found, "warning", "state", "1 damaged files were set aside")
        self.expect(found, "warning", "state", "1 files are from the future, the first is")

    def test_a_shifted_clock_and_a_helper_that_is_not_there(self):
        self.host.serve("--clock-offset", "1h")
        self.expect(self.findings(status=0), "warning", "socket", "clock is shifted by 3600 seconds")
        self.expect(self.findings(helper="/nowhere/kron-exec", status=1), "problem", "helper", "/nowhere/kron-exec")

    def test_no_zones(self):
        self.host.serve()
        result = self.host.kron("doctor", "--helper", KRON_EXEC, "--format", "json")
        self.assertEqual(result.returncode, 0)
        before = os.environ["TZDIR"]
        os.environ["TZDIR"] = "/nowhere"
        try:
            result = self.host.kron("doctor", "--helper", KRON_EXEC)
        finally:
            os.environ["TZDIR"] = before
        self.assertEqual(result.returncode, 1)
        self.assertIn("install tzdata", result.stdout)


if __name__ == "__main__":
    unittest.main()
