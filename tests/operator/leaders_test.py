#!/usr/bin/env python3
"""Two kron-operators: one works, the other takes over, and nothing is started twice, whoever dies, sleeps or wakes."""

import signal
import time
import unittest

from operator_host import EVERY_FIVE, EVERY_SECOND, PATIENCE, Cluster, Stalls, at_second, until


LOST = 3  # its exit status when the lease was lost


def started_after(cluster, when):
    return [start for start in cluster.started() if start["at"] > when]


class Leaders(unittest.TestCase):
    def pair(self, cluster):
        first = cluster.operator()
        cluster.leader()
        second = cluster.operator()
        until(lambda: second.page("/readyz")[0] == 200, "the second stands by")
        self.assertFalse(second.leads())
        return first, second

    def test_another_takes_over_within_twenty_seconds_when_the_leader_is_killed(self):
        with Cluster() as cluster:
            leader, other = self.pair(cluster)
            cluster.add("often", EVERY_SECOND)
            until(cluster.started, "it runs")
            killed = time.time()
            # Due while nobody leads, and in time by their deadline.
            due = int(killed) + 8
            for i in range(50):
                cluster.add(f"once-{i}", at_second(due), deadline="5m")
            with Stalls() as stalls:
                leader.kill()
                first = until(lambda: started_after(cluster, killed + 1), "the other works")[0]
            self.assertTrue(other.leads())
            self.assertLessEqual(first["at"] - killed, 20 + stalls.seconds)
            until(lambda: sum(s["identity"].startswith("shop/once-") for s in cluster.started()) == 50, "nothing is lost")
            time.sleep(2)
            self.assertEqual(cluster.doubled(), {})

    def test_a_leader_that_was_stopped_and_wakes_up_starts_nothing_twice(self):
        with Cluster() as cluster:
            leader, other = self.pair(cluster)
            cluster.add("often", EVERY_SECOND)
            until(cluster.started, "it runs")
            stopped = time.time()
            with Stalls() as stalls:
                leader.signal(signal.SIGSTOP)
                first = until(lambda: started_after(cluster, stopped + 1), "the other works")[0]
            self.assertLessEqual(first["at"] - stopped, 20 + stalls.seconds)
            time.sleep(5)
            leader.signal(signal.SIGCONT)
            # It has lost the lease: a fresh process is its clean slate.
            self.assertEqual(leader.process.wait(PATIENCE), LOST)
            before = len(cluster.started())
            until(lambda: len(cluster.started()) > before + 3, "the other goes on")
            self.assertTrue(other.leads())
            self.assertEqual(cluster.doubled(), {})

    def test_a_leader_that_is_asked_to_end_hands_over_at_once(self):
        with Cluster() as cluster:
            leader, _ = self.pair(cluster)
            cluster.add("often", EVERY_SECOND, deadline="10s")
            until(cluster.started, "it runs")
            asked = time.time()
            with Stalls() as stalls:
                self.assertEqual(leader.stop(), 0)
                first = until(lambda: started_after(cluster, asked + 1), "the other works")[0]
            self.assertLessEqual(first["at"] - asked, 10 + stalls.seconds)
            self.assertEqual(cluster.doubled(), {})

    def test_leaders_that_are_killed_again_and_again_start_nothing_twice(self):
        with Cluster() as cluster:
            for i in range(20):
                cluster.add(f"often-{i}", EVERY_FIVE)
            for _ in range(2):
                cluster.operator()
            for _ in range(2):
                victim = cluster.leader()
                before = len(cluster.started())
                until(lambda: len(cluster.started()) > before + 5, "it works")
                victim.kill()
                cluster.operator()
            cluster.leader()
            before = len(cluster.started())
            until(lambda: len(cluster.started()) > before + 20, "the last one works")
            self.assertEqual(cluster.doubled(), {})


if __name__ == "__main__":
    unittest.main()
