#!/usr/bin/env python3
"""Leaders that die one after the other. What becomes of one that dies, sleeps or ends in order is in behaviour_test.py."""

import unittest

from operator_host import EVERY_FIVE, Cluster, until


class Leaders(unittest.TestCase):
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
