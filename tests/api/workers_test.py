"""The workers of examples/workers against a live krond."""

import json
import os
import subprocess
import unittest

from api_host import EXAMPLES, OnApiHost, until

PYTHON = [str(EXAMPLES / "workers/worker.py"), "--type", "T"]
SHELL = str(EXAMPLES / "workers/worker.sh")
ODD_DATA = ['"a \\"quoted\\" back\\\\slash"', '{"execId":"x","token":1,"data":[1,2]}', "null", '"\\u00e4\\n{}}]}"', "1.50"]


class Workers(OnApiHost):
    def start(self, *command):
        # pylint: disable-next=consider-using-with
        worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                                  text=True, env={**os.environ, "KRON_SOCKET": str(self.host.socket)})
        self.addCleanup(self.end, worker)
        return worker

    @staticmethod
    def end(worker):
        if worker.poll() is None:
            worker.terminate()
        return worker.communicate(timeout=60)[1]

    def work(self, *command):
        """To its end; what it said."""
        worker = self.start(*command)
        said = worker.communicate(timeout=60)[1]
        self.assertEqual(worker.returncode, 0, said)
        return said

    def submit_data(self, task_id, data):
        body = '{"taskId":"%s","payload":{"type":"T","data":%s}}' % (task_id, data)
        self.api.post("tasks", body=body.encode(), headers={"Content-Type": "application/json"})

    def outcome(self, task_id):
        task = self.api.get("tasks", task_id)
        return task.get("outcome", task["state"]), task.get("result")

    def wait_for(self, task_id):
        until(lambda: self.outcome(task_id)[0] == "SUCCEEDED", f"the end of {task_id}")

    def test_python_does_its_tasks_and_publishes_a_file(self):
        for number, data in enumerate(ODD_DATA):
            self.submit_data(f"t{number}", data)
        self.work(*PYTHON, "--once")
        for number, data in enumerate(ODD_DATA):
            state, result = self.outcome(f"t{number}")
            self.assertEqual(state, "SUCCEEDED")
            self.assertEqual(json.loads(result), {"task": f"t{number}", "got": json.loads(data)})
            published = self.host.data / "effects" / f"t{number}" / "result.json"
            self.assertEqual(published.read_text(encoding="utf-8"), result)

    def test_shell_does_its_tasks_whatever_is_in_them(self):
        for number, data in enumerate(ODD_DATA):
            self.submit_data(f"t{number}", data)
        self.work(SHELL, "-1", "T", "cat")
        for number, data in enumerate(ODD_DATA):
            self.assertEqual(self.outcome(f"t{number}"), ("SUCCEEDED", data))

    def test_shell_keeps_lines_and_tells_failure_from_another_time(self):
        self.submit("lines", "bad", "later", maxAttempts=1)
        script = ('case $KRON_TASK_ID in lines) printf "one\\ntwo \\"x\\" \\\\\\\\";; bad) exit 3;; '
                  '*) [ "$KRON_ATTEMPT" = 2 ] || exit 75;; esac')
        self.work(SHELL, "-1", "T", "sh", "-c", script)
        self.assertEqual(self.outcome("lines"), ("SUCCEEDED", 'one\ntwo "x" \\'))
        self.assertEqual(self.outcome("bad")[0], "FAILED")
        self.assertEqual(self.api.get("tasks", "bad")["executions"][0]["reason"], "exit status 3")
        self.assertEqual(self.outcome("later")[0], "PENDING")
        self.assertEqual(self.api.get("tasks", "later")["executions"][0]["reason"], "exit status 75")

    def test_leases_are_renewed_while_the_work_lasts(self):
        self.submit("a")
        self.work(SHELL, "-1", "-l", "2", "T", "sleep", "4")
        self.assertEqual([one["status"] for one in self.api.get("tasks", "a")["executions"]], ["DONE"])

    def test_both_come_back_when_krond_does(self):
        workers = [self.start(*PYTHON), self.start(SHELL, "U", "cat")]
        for round_number in range(2):
            names = [f"{kind}{round_number}" for kind in "TU"]
            for name in names:
                self.api.post("tasks", body={"taskId": name, "payload": {"type": name[0], "data": 1}})
            for name in names:
                self.wait_for(name)
            self.krond.kill()
            for worker in workers:
                self.assertIn("does not answer", worker.stderr.readline() + worker.stderr.readline())
            self.krond, self.api = self.host.serve()


if __name__ == "__main__":
    unittest.main()
