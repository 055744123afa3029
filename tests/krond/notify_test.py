"""Who is told when a job goes bad, and when it is well again: once each, whatever dies and whoever is away."""

import hashlib
import hmac
import json
import os
import random
import subprocess
import time
import unittest

from krond_host import DUE, EVERY_SECOND, HOUR, IS_FULL, MINUTE, OnHost, until
from notify_receivers import MailServer, Receiver, self_signed

KRON = os.environ["KRON"]
KILLS = 100 if IS_FULL else 5


def called_for(history):
    """(kind, first period) of each message that these outcomes call for, by the words of the contract."""
    messages = []
    first = None
    for entry in history:
        if entry.get("Trigger") == "manual" or entry["Outcome"] in ("skipped", "passed over"):
            continue
        is_good = entry["Outcome"] == "executed" and entry["ExitCode"] == 0
        if is_good and first:
            messages.append(("recovered", first))
            first = None
        elif not is_good and not first:
            first = entry["PeriodID"]
            messages.append(("failed" if entry["Outcome"] == "executed" else entry["Outcome"], first))
    return messages


class Notify(OnHost):
    def setUp(self):
        super().setUp()
        self.receiver = self.receive()
        self.file = self.host.root / "notify.yaml"

    def receive(self, **how):
        receiver = Receiver(**how)
        self.addCleanup(receiver.close)
        return receiver

    def destinations(self, **destinations):
        self.file.write_text(json.dumps(destinations), encoding="utf-8")
        self.file.chmod(0o600)

    def webhook(self, **keys):
        self.destinations(ops={"webhook": {"url": self.receiver.url, **keys}})

    def job(self, schedule=EVERY_SECOND, then="", to="ops", notify=(), **keys):
        """Fails while there is a file `bad`."""
        bad = f"[ ! -e {self.host.root}/bad ]"
        self.host.write_jobs(self.host.job("job", schedule, then or bad, history=1000, **keys,
                                           notify={"to": to, **dict(notify)}))

    def make(self, is_bad):
        bad = self.host.root / "bad"
        if is_bad:
            bad.touch()
        else:
            bad.unlink(missing_ok=True)

    def start(self, *flags, **how):
        return self.host.start("--notify-file", str(self.file), *flags, **how)

    def notify(self, *words, status=0):
        done = subprocess.run([KRON, "notify", *words, "--notify-file", str(self.file)], capture_output=True, text=True,
                              timeout=60, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def attention(self):
        done = subprocess.run([KRON, "status", "--format", "json", "--state-dir", str(self.host.state)],
                              capture_output=True, text=True, timeout=60, check=False)
        return done.stdout

    def told(self):
        return [(body["kind"], body["firstPeriod"]) for body in self.receiver.bodies().values()]

    def wait_until_told(self, count):
        until(lambda: len(self.receiver.bodies()) >= count, f"{count} messages: {self.receiver.messages}")

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

    def test_each_alarm_is_told_of_whatever_is_killed(self):
        seed = int(os.environ.get("KRON_TEST_SEED", time.time_ns() % 1_000_000))
        draw = random.Random(seed)
        self.webhook()
        self.job(policy={"deadline": "5s"})
        with self.subTest(seed=seed):
            for _ in range(KILLS):
                self.make(draw.random() < 0.5)
                krond = self.start()
                time.sleep(draw.choice([draw.uniform(0, 0.3), draw.uniform(0.5, 2.5)]))
                krond.kill()
            self.make(is_bad=True)
            krond = self.start()
            krond.wait_for("run_ended", count=2)
            self.make(is_bad=False)
            krond.wait_for("run_ended", count=3, exitCode=0)
            until(lambda: set(self.told()) >= set(called_for(self.host.history("job"))), "all messages")
            self.assertEqual(krond.stop(), 0)
            told = self.told()
            self.assertEqual(len(told), len(set(told)), "one alarm, two messages")
            self.assertEqual(set(told), set(called_for(self.host.history("job"))))

    def test_a_receiver_that_is_down_for_an_hour_is_told_when_it_is_back(self):
        self.webhook()
        self.job("0 * * * *", policy={"deadline": "30m"})
        self.make(is_bad=True)
        self.host.once(at=DUE - MINUTE)
        self.receiver.status = 500
        krond = self.start(at=DUE + 1)
        until(lambda: self.receiver.attempts >= 2, "a second attempt")
        self.assertIn("not notified", self.attention())
        self.assertEqual(krond.stop(), 0)
        self.receiver.status = 200
        krond = self.start(at=DUE + HOUR - 5 * MINUTE)
        self.wait_until_told(1)
        self.assertEqual([kind for kind, _ in self.told()], ["failed"])
        until(lambda: "not notified" not in self.attention(), "that all is well")

    def test_who_was_not_told_that_it_is_bad_yet_is_told_so_before_that_it_is_well(self):
        self.webhook()
        self.job()
        self.make(is_bad=True)
        self.receiver.status = 503
        krond = self.start()
        until(lambda: self.receiver.attempts >= 1, "an attempt")
        self.make(is_bad=False)
        krond.wait_for("notification_submitted", kind="recovered")
        self.receiver.status = 200
        self.wait_until_told(2)
        self.assertEqual([kind for kind, _ in self.told()], ["failed", "recovered"])

    def test_a_slow_receiver_delays_nothing_but_its_own_message(self):
        self.webhook()
        self.job()
        self.make(is_bad=True)
        self.receiver.pause = 8
        krond = self.start()
        krond.wait_for("notification_submitted")
        krond.wait_for("run_started", count=6)
        self.assertEqual(self.receiver.messages, [], "runs have not waited for it")
        self.wait_until_told(1)
        self.assertEqual(len(self.receiver.messages), 1)

    def test_a_receiver_with_a_wrong_certificate_is_told_nothing(self):
        certificate = self_signed(self.host.root)
        self.receiver = self.receive(certificate=certificate)
        self.webhook()
        said = self.notify("test", "ops", status=4)
        self.assertIn("certificate", said)
        self.assertNotIn("hunter2", said)
        self.assertEqual(self.receiver.messages, [])
        self.webhook(ca_file=certificate[0])
        self.notify("test", "ops")
        (_, _, body), = self.receiver.messages
        self.assertEqual(json.loads(body)["kind"], "test")

    def test_destinations_are_listed_without_their_secrets_and_tried(self):
        self.webhook()
        self.assertRegex(self.notify("list"), r"^ops +webhook http://127\.0\.0\.1:\d+\n$")
        self.assertIn("there is no destination", self.notify("test", "nobody", status=1))
        self.file.chmod(0o666)
        self.assertIn("notify.yaml", self.notify("list", status=4))

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
