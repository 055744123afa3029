"""Of each alarm one host sends one message, whoever ran the job, and though a host dies in between."""

import collections
import contextlib
import json
import os
import signal
import time
import unittest
from pathlib import Path

from cluster_host import EVERY_SECOND, SCALE, Fleet, until
from notify_receivers import Receiver
from task_fleet import FleetTasks

HOSTS = ("h1", "h2", "h3")
ROUNDS = 10 if SCALE >= 20 else 2


class Notify(unittest.TestCase):
    def setUp(self):
        self.fleet = Fleet()
        self.addCleanup(self.fleet.close)
        self.addCleanup(self.end_workers)
        self.receiver = Receiver()
        self.addCleanup(self.receiver.close)
        self.file = self.fleet.root / "notify.yaml"
        self.file.write_text(json.dumps({"ops": {"webhook": {"url": self.receiver.url}}}), encoding="utf-8")
        self.file.chmod(0o600)
        self.bad = self.fleet.root / "bad"

    def end_workers(self, of=""):
        """A worker whose krond is gone looks for the next one for a minute."""
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and f"{self.fleet.root}/state-{of}".encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)

    def start(self, *hosts):
        kronds = [self.fleet.start(host, "--notify-file", str(self.file)) for host in hosts]
        for krond in kronds:
            self.fleet.wait_until_joined(krond)
        return kronds

    def define(self):
        self.fleet.define("job", f"[ ! -e {self.bad} ]", cron=EVERY_SECOND,
                          kron={"notify": {"to": ["ops"]}, "policy": {"deadline": "20s"}})

    def tasks(self):
        return FleetTasks(self.fleet).list("--type", "kron.notify")

    def told(self):
        return [(body["kind"], body["firstPeriod"]) for body in self.receiver.bodies().values()]

    def wait_until_told(self, count):
        until(lambda: len(self.receiver.bodies()) >= count, f"{count} messages: {self.receiver.messages}")

    def turn(self, is_bad):
        """Opens the alarm, or closes it."""
        if is_bad:
            self.bad.touch()
        else:
            self.bad.unlink()

    def turn_and_see(self, is_bad):
        """And somebody is told of it."""
        told = len(self.receiver.bodies())
        self.turn(is_bad)
        self.wait_until_told(told + 1)

    def wait_until_delivered(self):
        self.fleet.publish("pause", "job")
        self.fleet.wait_until_idle()
        until(lambda: all(task["state"] == "COMPLETED" for task in self.tasks()), f"all deliveries: {self.tasks()}")

    def judge(self):
        """In Redis is one message for each turn of the alarm, and each of them was delivered."""
        tasks = self.tasks()
        kinds = collections.defaultdict(list)
        for data in (task["payload"]["data"] for task in tasks):
            self.assertEqual(data["destination"], "ops")
            kinds[data["firstPeriod"]].append(data["kind"])
        for first, of_alarm in kinds.items():
            self.assertEqual((len(of_alarm), of_alarm.count("recovered")), (2, 1), f"{first}: {of_alarm}")
        self.assertEqual({task["outcome"] for task in tasks}, {"SUCCEEDED"})
        self.assertEqual(set(self.receiver.bodies()), {task["taskId"] for task in tasks})

    def test_one_host_sends_one_message_of_each_alarm(self):
        kronds = self.start(*HOSTS)
        self.define()
        for number in range(1, 2 * ROUNDS + 1):
            self.turn_and_see(is_bad=number % 2 == 1)
        self.wait_until_delivered()
        time.sleep(1)
        self.judge()
        self.assertEqual(len(self.tasks()), 2 * ROUNDS)
        self.assertEqual(self.receiver.attempts, 2 * ROUNDS, "each came once")
        submitted = collections.Counter(event["task"] for krond in kronds for event in
                                        krond.all("notification_submitted", outcome="accepted"))
        self.assertEqual(submitted, collections.Counter(task["taskId"] for task in self.tasks()), "by one host each")

    def test_a_host_that_is_killed_leaves_no_alarm_untold_and_none_in_the_queue_twice(self):
        kronds = {krond.host: krond for krond in self.start(*HOSTS)}
        self.define()
        for number in range(1, 2 * ROUNDS + 1):
            before = {host: len(krond.all("run_ended")) for host, krond in kronds.items()}
            is_bad = number % 2 == 1
            told = len(self.receiver.bodies())
            self.turn(is_bad)
            # Who has run it knows of the alarm first, and dies.
            host = self.host_that_ended(kronds, before, exit_code=int(is_bad))
            kronds[host].process.kill()
            kronds[host].process.wait()
            kronds[host], = self.start(host)
            self.wait_until_told(told + 1)
        self.wait_until_delivered()
        time.sleep(1)
        self.judge()
        self.assertGreaterEqual(len(self.tasks()), 2 * ROUNDS)

    def host_that_ended(self, kronds, before, exit_code):
        found = []

        def has_ended():
            found[:] = [host for host, krond in kronds.items()
                        if any(event["exitCode"] == exit_code for event in krond.all("run_ended")[before[host]:])]
            return bool(found)

        until(has_ended, f"a run that ends with {exit_code}")
        return found[0]

    @unittest.skipUnless(SCALE >= 20, "waits for the lease of the dead")
    def test_what_a_host_was_sending_when_it_died_is_sent_by_another(self):
        self.start(*HOSTS)
        self.define()
        self.receiver.hold()
        self.turn(is_bad=True)
        until(lambda: self.receiver.attempts == 1, "a delivery")
        self.end_workers(of=self.sender())
        self.receiver.let_go()
        until(lambda: self.receiver.attempts == 2, "another delivery")
        self.turn_and_see(is_bad=False)
        self.wait_until_delivered()
        self.judge()

    def sender(self):
        """The host whose worker delivers now."""
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                words = (entry / "cmdline").read_bytes().split(b"\0") if entry.name.isdigit() else []
                if words[1:3] == [b"notify", b"deliver"]:
                    for host in HOSTS:
                        if f"{self.fleet.root}/state-{host}/krond.sock".encode() in words:
                            return host
        raise AssertionError("nobody delivers")


class TasksInFiles(unittest.TestCase):
    """Each host would have a queue of its own, and send what one of them shall send."""

    def test_krond_does_not_start_with_a_notify_file(self):
        with Fleet() as fleet:
            krond = fleet.start("h1", "--tasks", "file", "--notify-file", "/etc/krond-notify.yaml")
            self.assertEqual(krond.ended(), 2)
            self.assertIn("--tasks file", krond.log())
            self.assertIn("leave out --notify-file", krond.log())

    def test_a_job_that_tells_somebody_is_refused(self):
        with Fleet() as fleet:
            told = fleet.definition("false", cron=EVERY_SECOND, kron={"notify": {"to": ["ops"]}})
            fleet.write("told", json.dumps(told))
            fleet.write("other", json.dumps(fleet.definition("true", cron=EVERY_SECOND)))
            krond = fleet.started("h1", "--tasks", "file")
            until(lambda: "--tasks file" in fleet.written("told").decode(), "the reason at the job")
            krond.wait_for("run_ended", identity="other", count=2)
            self.assertEqual(krond.all("run_started", identity="told"), [])
            self.assertEqual(krond.all("notification_submitted"), [])


if __name__ == "__main__":
    unittest.main()
