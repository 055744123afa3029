#!/usr/bin/env python3
"""Many KronJobs that are due within a minute: each runs once, also when the leader is killed among them."""

import time
import unittest

from operator_host import SCALE, Cluster, at_second, until

# A quick run asks whether it works, a long one for the 2,000 within a minute that are promised.
MANY, WITHIN = (300, 15) if SCALE == 1 else (2000, 60)


class Crowd(unittest.TestCase):
    def test_all_that_are_due_within_a_minute_run_once_though_the_leader_is_killed(self):
        with Cluster() as cluster:
            cluster.operator()
            victim = cluster.leader()
            cluster.operator()
            begin = int(time.time()) + 10 + MANY // 30
            for i in range(MANY):
                cluster.add(f"job-{i}", at_second(begin + i % WITHIN), deadline="5m")
            self.assertLess(time.time(), begin, "the machine is too slow to prepare it")
            until(lambda: len(cluster.started()) >= MANY // 4, "a quarter has run", patience=300, pause=1)
            victim.kill()
            until(lambda: len(cluster.started()) >= MANY, "all have run", patience=300, pause=1)
            time.sleep(2)
            started = cluster.started()
            self.assertEqual(len({start["identity"] for start in started}), MANY)
            self.assertEqual(cluster.doubled(), {})


if __name__ == "__main__":
    unittest.main()
