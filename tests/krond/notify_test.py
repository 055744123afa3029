"""Who is told when a job goes bad, and when it is well again: once each."""

import hashlib
import hmac
import json
import subprocess
import time
import unittest

from krond_host import EVERY_SECOND, IS_FULL, until
from notify_host import KRON, OnNotifyHost, called_for
from notify_receivers import MailServer


class Notify(OnNotifyHost):
    def test_an_alarm_is_told_of_once_when_it_opens_and_once_when_it_closes_to_each_destination(self):
        mail = MailServer()
        self.addCleanup(mail.close)
        secret = self.host.root / "secret"
        secret.write_text("hush\n", encoding="utf-8")
        secret.chmod(0o600)
        out = self.host.root / "told"
        self.destinations(
            ops={"webhook": {"url": self.receiver.url, "secret_file": str(secret)}},
            team={"mail": {"to": ["ops@example.org"], "from": "kron@example.org",
                           "sendmail": str(mail.sendmail(self.host.root / "sendmail"))}},
            pager={"command": ["/bin/sh", "-c", f"cat >> {out}"]})
        self.job(to=["ops", "team", "pager"])
        self.make(is_bad=True)
        krond = self.start()
        krond.wait_for("run_ended", count=3)
        self.make(is_bad=False)
        self.wait_until_told(2)
        until(lambda: len(mail.mails) == 2 and out.exists() and len(out.read_text().splitlines()) == 2,
              "mails and commands")
        time.sleep(2)
        self.assertEqual(len(self.receiver.messages), 2)
        first = called_for(self.host.history("job"))
        self.assertEqual(self.told(), first)
        self.assertEqual([kind for kind, _ in first], ["failed", "recovered"])
        for path, headers, body in self.receiver.messages:
            self.assertEqual(path, "/hook?key=hunter2")
            self.assertEqual(headers["Kron-Signature"], "sha256=" + hmac.new(b"hush", body, hashlib.sha256).hexdigest())
        self.assertEqual([json.loads(line)["kind"] for line in out.read_text().splitlines()], ["failed", "recovered"])
        for (recipients, text), word in zip(mail.mails, ["failed", "well again"]):
            self.assertEqual(recipients, ["ops@example.org"])
            self.assertIn("Subject: [kron] job ", text)
            self.assertIn(word, text)
        self.assertNotIn("Owed", json.dumps(self.host.record("job")))
        self.assertNotIn("hunter2", krond.log() + json.dumps(self.host.records()))
        self.assertNotIn("hush", krond.log())

    def test_destinations_are_listed_without_their_secrets_and_tried(self):
        self.webhook()
        self.assertRegex(self.notify("list"), r"^ops +webhook http://127\.0\.0\.1:\d+\n$")
        self.assertIn("there is no destination", self.notify("test", "nobody", status=1))
        self.file.chmod(0o666)
        self.assertIn("notify.yaml", self.notify("list", status=4))

    @unittest.skipUnless(IS_FULL, "waits for the longest delivery, two minutes")
    def test_a_test_of_a_command_that_does_not_end_does(self):
        self.destinations(ops={"command": ["/bin/sh", "-c", "sleep 1000 & sleep 1000"]})
        self.assertIn("has not ended within 2m and was killed", self.notify("test", "ops", status=3))

    def test_a_late_run_is_told_of_while_it_runs(self):
        self.webhook()
        self.job(then="sleep 6", notify={"late": "2s"}, policy={"concurrency": "forbid"})
        self.start()
        self.wait_until_told(2)
        self.assertEqual([kind for kind, _ in self.told()][:2], ["late", "recovered"])

    def test_a_manual_run_that_fails_is_nobodys_alarm(self):
        self.webhook()
        self.job("0 0 1 1 *")
        self.make(is_bad=True)
        krond = self.start()
        krond.wait_for("daemon_started")
        subprocess.run([KRON, "trigger", "job", "--state-dir", str(self.host.state)], timeout=60, check=True,
                       capture_output=True)
        krond.wait_for("run_ended")
        self.assertNotIn("Alarm", self.host.record("job"))

    def test_without_notify_there_is_no_process_and_no_queue(self):
        self.host.write_jobs(self.host.job("job", EVERY_SECOND, "false"))
        krond = self.start()
        krond.wait_for("run_ended", count=2)
        self.assertEqual(krond.all("deliverer_started"), [])
        self.assertFalse((self.host.state / "data").exists())
        self.assertNotIn("Alarm", self.host.record("job"))


if __name__ == "__main__":
    unittest.main()
