"""Who watches jobs from outside hears of each run when it starts and when it ends, soon or not at all."""

import http.client
import json
import os
import re
import socket
import subprocess
import time
import unittest
import uuid

from krond_host import DUE, EVERY_SECOND, MINUTE, OnHost, until
from notify_receivers import Receiver, self_signed

KRON = os.environ["KRON"]
SECRET = "hunter2"


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path):
        super().__init__("localhost", timeout=60)
        self.path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX)
        self.sock.settimeout(60)
        self.sock.connect(self.path)


class Pings(OnHost):
    def setUp(self):
        super().setUp()
        self.receiver = self.receive()

    def receive(self, **how):
        receiver = Receiver(**how)
        self.addCleanup(receiver.close)
        return receiver

    def job(self, schedule=EVERY_SECOND, then="", name="job", ping=None, **keys):
        return self.host.job(name, schedule, then, ping=ping or f"{self.receiver.place}/ping/{SECRET}", **keys)

    def write(self, *jobs):
        self.host.write_jobs(*jobs)

    def got(self, receiver=None):
        """(what, run id or "", body) of each ping, in the order in which they came."""
        found = []
        for path, _, body in list((receiver or self.receiver).messages):
            parts = re.fullmatch(rf"/ping/{SECRET}(?:-\w+)?/(start|log|fail|\d+)(?:\?rid=(.+))?", path)
            self.assertTrue(parts, path)
            run = uuid.UUID(parts[2]).hex if parts[2] else ""
            if run:
                self.assertEqual(str(uuid.UUID(run)), parts[2])
            found.append((parts[1], run, body.decode()))
        return found

    def wait_for_pings(self, count, receiver=None):
        until(lambda: len((receiver or self.receiver).messages) >= count, f"{count} pings")
        return self.got(receiver)

    def counts(self):
        """Of krond's metric, by result."""
        connection = UnixConnection(self.host.state / "krond.sock")
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
        connection.close()
        return {result: int(count)
                for result, count in re.findall(r'^kron_pings_total\{result="(\w+)"\} (\d+)$', text, re.MULTILINE)}

    def assert_secret(self, krond):
        self.assertNotIn(SECRET, krond.log() + json.dumps(self.host.records()))
        for path in self.host.state.rglob("*"):
            if path.is_file():
                self.assertNotIn(SECRET.encode(), path.read_bytes(), path)

    def test_each_run_is_told_of_when_it_starts_and_when_it_ends(self):
        self.write(self.job(then="echo some words; exit 3"))
        krond = self.host.start()
        krond.wait_for("run_ended", count=3)
        got = self.wait_for_pings(6)
        self.assertEqual(krond.stop(), 0)
        runs = [event["runId"] for event in krond.all("run_started")]
        self.assertEqual(got[:6], [ping for run in runs[:3] for ping in (("start", run, ""), ("3", run, "some words\n"))])
        self.assertEqual(krond.all("ping_dropped"), [])
        self.assert_secret(krond)

    def test_an_end_is_told_as_the_job_counts_it(self):
        cases = {"fine": ("exit 2", {"success_exit": "0,2"}, "0"), "spoke": ("echo no >&2", {"fails_on": "stderr"}, "fail"),
                 "killed": ("kill -9 $$", {}, "fail"), "late": ("sleep 60", {"timeout": "1s"}, "fail"),
                 "well": ("true", {}, "0")}
        self.write(*[self.job("@reboot", then, name, f"{self.receiver.place}/ping/{SECRET}-{name}", **keys)
                     for name, (then, keys, _) in cases.items()])
        krond = self.host.start()
        krond.wait_for("run_ended", count=len(cases))
        self.wait_for_pings(2 * len(cases))
        told = {path.split("-")[1].split("/")[0]: path.split("/")[-1].split("?")[0]
                for path, _, _ in self.receiver.messages if "/start" not in path}
        self.assertEqual(told, {name: expected for name, (_, _, expected) in cases.items()})

    def test_what_did_not_run_is_told_with_its_reason(self):
        self.write(self.job("0 * * * *"))
        self.host.once(at=DUE - MINUTE)
        self.host.once(at=DUE + 1)
        (what, run, body), = self.got()
        self.assertEqual((what, run), ("fail", ""))
        self.assertIn("missed", body)

    def test_what_was_skipped_is_no_failure(self):
        self.write(self.host.holding_job("job", EVERY_SECOND, ping=f"{self.receiver.place}/ping/{SECRET}"))
        krond = self.host.start()
        krond.wait_for("period_ended", outcome="skipped")
        got = self.wait_for_pings(2)
        self.host.let_go()
        self.assertEqual((got[0][0], got[1][0]), ("start", "log"))
        self.assertIn("skipped", got[1][2])

    def test_of_much_output_the_end_is_told(self):
        self.write(self.job("@reboot", "seq 1 100000"))
        krond = self.host.start()
        krond.wait_for("run_ended")
        body = self.wait_for_pings(2)[1][2]
        self.assertEqual(len(body), 10_000)
        self.assertTrue(body.endswith("\n99999\n100000\n"))

    def test_a_receiver_that_keeps_connections_hears_all(self):
        receiver = self.receive(protocol="HTTP/1.1")
        self.write(self.job(ping=f"{receiver.place}/ping/{SECRET}"))
        krond = self.host.start()
        krond.wait_for("run_ended", count=4)
        got = self.wait_for_pings(8, receiver)
        self.assertEqual([what for what, _, _ in got[:8]], ["start", "0"] * 4)

    def test_a_receiver_that_hangs_delays_no_run_and_not_the_pings_of_others(self):
        well = self.receive()
        self.receiver.pause = 60
        self.write(*[self.job(name=f"hangs{i}") for i in range(10)],
                   self.job(name="well", ping=f"{well.place}/ping/{SECRET}"))
        krond = self.host.start()
        krond.wait_for("run_ended", count=30)
        self.wait_for_pings(6, well)
        self.assertEqual(self.receiver.messages, [])
        late = [event for event in krond.all("period_ended") if event["outcome"] == "missed"]
        self.assertEqual(late, [])
        stopped = time.monotonic()
        self.assertEqual(krond.stop(), 0)
        self.assertLess(time.monotonic() - stopped, 40, "krond ends although somebody does not answer")

    def test_a_receiver_that_fails_is_tried_three_times_and_then_no_more(self):
        self.receiver.status = 500
        self.write(self.job("@reboot"))
        krond = self.host.started()
        until(lambda: self.counts()["failed"] == 2, "that start and end are given up")
        self.assertEqual(self.receiver.attempts, 6)
        dropped = krond.wait_for("ping_dropped")
        self.assertEqual(dropped["receiver"], self.receiver.place)
        self.assertIn("status 500", dropped["reason"])
        self.receiver.status = 200
        time.sleep(3)
        self.assertEqual(self.receiver.messages, [], "nothing is sent late")
        self.assert_secret(krond)

    def test_nobody_there(self):
        place = self.receiver.place
        self.receiver.close()
        self.write(self.job("@reboot", ping=f"{place}/ping/{SECRET}"))
        krond = self.host.started()
        until(lambda: self.counts()["failed"] == 2, "that start and end are given up")
        self.assertEqual(self.counts(), {"sent": 0, "failed": 2, "no_room": 0})
        self.assert_secret(krond)

    def test_a_receiver_with_a_wrong_certificate_is_told_nothing(self):
        certificate = self_signed(self.host.root)
        receiver = self.receive(certificate=certificate)
        self.write(self.job("@reboot", ping=f"{receiver.place}/ping/{SECRET}"))
        krond = self.host.start()
        self.assertIn("certificate", krond.wait_for("ping_dropped")["reason"])
        krond.stop()
        self.assertEqual((receiver.messages, receiver.attempts), ([], 0))
        self.assert_secret(krond)

    def test_a_receiver_with_a_certificate_that_is_known_is_told(self):
        certificate = self_signed(self.host.root)
        receiver = self.receive(certificate=certificate)
        self.write(self.job("@reboot", ping=f"{receiver.place}/ping/{SECRET}"))
        self.host.start(environment={"SSL_CERT_FILE": certificate[0]})
        self.assertEqual([what for what, _, _ in self.wait_for_pings(2, receiver)], ["start", "0"])

    def test_the_end_of_a_run_that_outlived_its_krond_is_told_once(self):
        self.write(self.host.holding_job("job", "@reboot", ping=f"{self.receiver.place}/ping/{SECRET}"))
        krond = self.host.start()
        run = krond.wait_for("run_started")["runId"]
        self.wait_for_pings(1)
        krond.kill()
        krond = self.host.start()
        krond.wait_for("run_adopted")
        self.host.let_go()
        krond.wait_for("run_ended")
        self.wait_for_pings(2)
        self.assertEqual(krond.stop(), 0)
        self.host.started().stop()
        self.assertEqual([ping[:2] for ping in self.got()], [("start", run), ("0", run)])

    def test_once_ends_when_its_pings_are_there(self):
        self.receiver.pause = 2
        self.write(self.job("0 * * * *", policy={"deadline": "30m"}))
        self.host.once(at=DUE - MINUTE)
        self.host.once(at=DUE + 1)
        self.assertEqual([what for what, _, _ in self.got()], ["start", "0"])

    def test_a_run_by_hand_is_told_of_too(self):
        self.write(self.job("0 0 1 1 *"))
        krond = self.host.started()
        subprocess.run([KRON, "trigger", "job", "--state-dir", str(self.host.state)], timeout=60, check=True,
                       capture_output=True)
        run = krond.wait_for("run_ended")["runId"]
        self.assertEqual([ping[:2] for ping in self.wait_for_pings(2)], [("start", run), ("0", run)])

    def test_a_reload_changes_where_pings_go(self):
        other = self.receive()
        self.write(self.job())
        krond = self.host.start()
        self.wait_for_pings(2)
        self.write(self.job(ping=f"{other.place}/ping/{SECRET}"))
        krond.signal(1)
        self.wait_for_pings(2, other)
        self.write(self.host.job("job", EVERY_SECOND))
        krond.signal(1)
        krond.wait_for("reloaded", count=2)
        told = len(self.receiver.messages) + len(other.messages)
        krond.wait_for("run_ended", count=len(krond.all("run_ended")) + 3)
        self.assertLessEqual(len(self.receiver.messages) + len(other.messages), told + 2, "of what was under way")

    def test_without_pings_there_is_no_thread_for_them(self):
        def threads_of(krond):
            krond.wait_for("run_ended", count=2)
            return len(os.listdir(f"/proc/{krond.pid}/task"))

        self.write(self.host.job("job", EVERY_SECOND))
        krond = self.host.start()
        without = threads_of(krond)
        krond.stop()
        self.write(self.job())
        krond = self.host.start()
        self.assertEqual(threads_of(krond), without + 8)


if __name__ == "__main__":
    unittest.main()
