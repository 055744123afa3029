"""What krond tells of its job files: those it refused, those that changed on disk since it read them."""

import json
import os
import unittest

from api_host import NEVER, ApiHost


class JobFiles(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        self.path = self.host.write_jobs(self.host.job("hello", NEVER))

    def status(self):
        result = self.host.kron("status")
        self.assertEqual(result.returncode, 0, result)
        return result.stdout

    def test_a_file_that_others_can_write_is_told_everywhere(self):
        self.path.chmod(0o664)
        lint = self.host.kron("lint", self.path)
        self.assertEqual(lint.returncode, 0, lint)
        self.assertIn("warning: krond does not read this file: refused: others can write it", lint.stdout)
        _, api = self.host.serve()
        status = api.get("status")
        self.assertFalse(status["ready"])
        self.assertEqual((status["jobFiles"]["refusedCount"], status["jobFiles"]["changed"]), (1, None))
        refused, = status["jobFiles"]["refused"]
        self.assertEqual((refused["file"], refused["line"], refused["inForce"]), (str(self.path), 0, "none"))
        self.assertIn("others can write it", refused["reason"])
        answer = api.ask("GET", "/readyz")
        self.assertEqual(answer.status, 503)
        self.assertIn(f"{self.path}: refused: others can write it", answer.body.decode())
        shown = self.status()
        self.assertIn(", not ready\n", shown)
        self.assertIn("1 file refused\n", shown)
        self.assertRegex(shown, rf"(?m)^refused +{self.path}: refused: others can write it.*; none of its jobs runs$")

    def test_the_cure_is_seen_before_and_after_the_reload(self):
        self.path.chmod(0o664)
        _, api = self.host.serve()
        self.path.chmod(0o600)
        self.assertRegex(self.status(), rf"(?m)^changed +{self.path}, on disk since .*kron reload")
        self.assertEqual(self.host.kron("reload").stdout, "1 job: 1 added\n")
        status = api.get("status", changes="true")
        self.assertTrue(status["ready"])
        self.assertEqual((status["jobFiles"]["refused"], status["jobFiles"]["changed"]), ([], []))
        self.assertEqual(api.ask("GET", "/readyz").status, 200)

    def test_one_file_of_several_that_is_refused_leaves_krond_ready(self):
        self.host.write_jobs(text="0 0 * * * name=other command=true\n", name="other.kron").chmod(0o666)
        _, api = self.host.serve()
        status = api.get("status")
        self.assertEqual((status["ready"], status["jobs"], status["jobFiles"]["refusedCount"]), (True, 1, 1))
        self.assertEqual(api.ask("GET", "/readyz").status, 200)

    def test_an_edit_that_was_not_read_is_told_by_status_and_doctor(self):
        _, api = self.host.serve()
        read_at = api.get("status")["jobFiles"]["readAt"]
        added = self.host.write_jobs(text="0 0 * * * name=new command=true\n", name="new.kron")
        with open(self.path, "a", encoding="utf-8") as file:
            file.write("\n")
        self.assertRegex(self.status(), rf"(?m)^changed +{self.path}, on disk since {read_at}; `kron reload` reads it$")
        self.assertRegex(self.status(), rf"(?m)^added +{added}, on disk since {read_at}")
        doctor = json.loads(self.host.kron("doctor", "--format", "json").stdout)
        self.assertIn({"verdict": "warning", "about": "config", "cure": "`kron reload`",
                       "what": f"{self.path}: changed on disk since krond read it at {read_at}"}, doctor["findings"])
        self.host.kron("reload")
        self.assertNotIn("on disk since", self.status())
        os.unlink(added)
        self.assertRegex(self.status(), rf"(?m)^removed +{added}, on disk since ")

    def test_a_reload_that_refused_a_file_is_told_until_the_file_is_right(self):
        _, api = self.host.serve()
        self.host.write_jobs(text="no job file")
        result = self.host.kron("reload")
        self.assertEqual(result.returncode, 1, result)
        refused, = api.get("status")["jobFiles"]["refused"]
        self.assertEqual((refused["file"], refused["inForce"]), (str(self.path), "earlier"))
        self.assertRegex(self.status(), rf"(?m)^refused +{self.path}:.*; its earlier jobs stay in force$")
        self.assertTrue(api.get("status")["ready"])
        self.host.write_jobs(self.host.job("hello", NEVER))
        self.assertEqual(self.host.kron("reload").returncode, 0)
        self.assertNotIn("refused", self.status())

    def test_a_problem_of_a_whole_file_has_no_line(self):
        self.host.serve()
        self.path.chmod(0o664)
        self.assertIn(f"{self.path}: error: refused: others can write it", self.host.kron("reload").stderr)


if __name__ == "__main__":
    unittest.main()
