"""Who is to be told, and is away, slow, or not who he should be: nothing is lost, and nobody else waits for it."""

import json
import time
import unittest

from krond_host import DUE, HOUR, IS_FULL, MINUTE, instant, until
from notify_host import OnNotifyHost
from notify_receivers import self_signed


# Failed deliveries of one message: from the tenth on the pause is an hour.
ATTEMPTS = 12 if IS_FULL else 3


class NotifyAway(OnNotifyHost):
    def go_bad_at(self, when):
        """A krond whose hourly job has just failed, and whose message nobody has got yet."""
        self.webhook()
        self.job("0 * * * *", policy={"deadline": "30m"})
        self.make(is_bad=True)
        self.host.once(at=when - MINUTE)
        return self.start(at=when + 1)

    def wait_for_failures(self, count):
        """The only message, of which so many deliveries have failed."""
        found = []

        def has_failed():
            found[:] = [task for task in self.tasks() if task["state"] == "PENDING" and
                        [one["status"] for one in task["executions"]].count("ABORTED") >= count]
            return bool(found)

        until(has_failed, f"{count} failed deliveries")
        task, = found
        return task

    def go_away(self):
        """The receiver is gone: nobody listens at its port."""
        self.receiver.close()
        return self.receiver.port

    def test_a_receiver_whose_port_is_closed_is_told_once_by_the_same_krond_when_it_is_back(self):
        port = self.go_away()
        krond = self.go_bad_at(DUE)
        task = self.wait_for_failures(1)
        self.assertIn("not notified", self.attention())
        self.assertEqual(task["timeout"], "2m")
        self.receiver = self.receive(port=port)
        self.wait_until_told(1)
        until(lambda: self.under_way() == 0, "the word that it was told")
        self.assertEqual(self.receiver.attempts, 1)
        *failed, last = [one["status"] for one in self.task()["executions"]]
        self.assertEqual((set(failed), last), ({"ABORTED"}, "DONE"))
        self.assertNotIn("not notified", self.attention())
        self.assertEqual(len(krond.all("notification_submitted")), 1)

    def test_a_receiver_that_is_away_is_asked_less_and_less_often_and_no_less_than_once_an_hour(self):
        port = self.go_away()
        krond = self.go_bad_at(DUE)
        at, begun, attempts = DUE + 1, time.monotonic(), 0
        while attempts < ATTEMPTS:
            task = self.wait_for_failures(attempts + 1)
            self.stop(krond)
            attempts = len(task["executions"])
            pause = instant(task["runAt"]) - instant(task["executions"][-1]["finished_at"])
            usual = min(10 * 2 ** (attempts - 1), HOUR)
            self.assertTrue(usual / 2 <= pause <= usual, f"{pause} s after attempt {attempts}")
            at += time.monotonic() - begun + pause + MINUTE
            begun = time.monotonic()
            if attempts >= ATTEMPTS:
                self.receiver = self.receive(port=port)
            # The hours that pass are none in which the job fails again.
            self.job("0 0 1 1 *", policy={"deadline": "30m"})
            krond = self.start(at=at)
        self.wait_until_told(1)
        self.assertEqual([kind for kind, _ in self.told()], ["failed"])
        until(lambda: self.under_way() == 0, "the word that it was told")
        self.assertEqual(self.receiver.attempts, 1)
        self.assertEqual(self.task()["executions"][-1]["status"], "DONE")

    def test_through_krond_a_wrong_certificate_is_told_nothing_and_is_seen(self):
        certificate = self_signed(self.host.root)
        self.receiver = self.receive(certificate=certificate)
        krond = self.go_bad_at(DUE)
        self.wait_for_failures(1)
        item, = [item for item in json.loads(self.attention())["attention"]["items"] if item["matter"] == "not notified"]
        self.assertEqual((item["name"], item["count"]), ("ops", 1))
        self.assertIn("kron notify test ops", item["cure"])
        until(lambda: any("certificate of 127.0.0.1 is not accepted" in line for line in krond.noise), "why, in the log")
        self.assertEqual(self.receiver.messages, [])
        self.assertNotIn("hunter2", krond.log() + self.attention() + json.dumps(self.tasks()))
        self.stop(krond)
        self.webhook(ca_file=certificate[0])
        self.start(at=DUE + 5 * MINUTE)
        self.wait_until_told(1)
        self.assertEqual([kind for kind, _ in self.told()], ["failed"])
        until(lambda: "not notified" not in self.attention(), "that all is well")

    def is_cut_off(self):
        krond = self.go_bad_at(DUE)
        until(lambda: self.receiver.attempts == 1, "an attempt")
        begun = time.monotonic()
        until(lambda: any("no answer within 30s" in line for line in krond.noise), "that it is cut off")
        self.assertLess(time.monotonic() - begun, 60)
        self.receiver.drips = False
        self.receiver.let_go()
        until(lambda: self.under_way() == 0, "another attempt")
        self.assertEqual(self.receiver.attempts, 2)
        self.assertEqual(len(self.receiver.bodies()), 1, "the same message")

    @unittest.skipUnless(IS_FULL, "waits for the longest delivery, half a minute")
    def test_a_receiver_that_does_not_answer_is_cut_off_and_tried_again(self):
        self.receiver.hold()
        self.is_cut_off()

    @unittest.skipUnless(IS_FULL, "waits for the longest delivery, half a minute")
    def test_a_receiver_that_comes_to_no_end_of_its_answer_is_cut_off_and_tried_again(self):
        self.receiver.drips = True
        self.is_cut_off()

    def test_a_receiver_that_is_down_for_an_hour_is_told_when_it_is_back(self):
        self.webhook()
        self.job("0 * * * *", policy={"deadline": "30m"})
        self.make(is_bad=True)
        self.host.once(at=DUE - MINUTE)
        self.receiver.status = 500
        krond = self.start(at=DUE + 1)
        until(lambda: self.receiver.attempts >= 2, "a second attempt")
        self.assertIn("not notified", self.attention())
        self.stop(krond)
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
        self.receiver.hold()
        krond = self.start()
        krond.wait_for("notification_submitted")
        krond.wait_for("run_started", count=6)
        self.assertEqual(self.receiver.messages, [], "runs have not waited for it")
        self.receiver.let_go()
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



if __name__ == "__main__":
    unittest.main()
