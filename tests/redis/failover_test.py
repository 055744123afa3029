"""Our connection to Redis where the right server changes: Sentinel's failover, a slot that a Redis Cluster moves."""

import unittest

from redis_host import RedisCluster, SentinelGroup
from talker import Talker

KEY = "{cronken}:jobs"


class Sentinel(unittest.TestCase):
    def test_a_failover_is_followed_and_the_old_master_is_not_believed(self):
        with SentinelGroup(password="secret") as group, Talker(group.url()) as talker:
            self.assertEqual(talker.connect(), f"127.0.0.1:{group.master.port}")
            self.assertEqual(talker.values(["SET", "a", "1"], ["WAIT", "1", "5000"]), ["OK", 1])
            self.assertEqual(talker.subscribe("events"), {})

            new = group.fail_over()
            self.assertEqual(talker.hows(["SET", "a", "2"]), ["not_sent"])
            self.assertEqual(talker.next()["code"], "unreachable")
            self.assertEqual(talker.connect_until_it_works(), f"127.0.0.1:{new.port}")
            self.assertEqual(talker.values(["GET", "a"], ["SET", "a", "2"]), ["1", "OK"])
            self.assertEqual(talker.subscribe("events"), {})
            new.cli("PUBLISH", "events", "after the failover")
            self.assertEqual(talker.next()["payload"], "after the failover")

            # It may still believe to be master.
            group.master.start()
            with Talker(group.url()) as other:
                self.assertEqual(other.connect_until_it_works(), f"127.0.0.1:{new.port}")

    def test_one_sentinel_of_three_is_enough_to_find_the_master(self):
        with SentinelGroup() as group, Talker(group.url()) as talker:
            group.sentinels[0].kill()
            group.sentinels[1].suspend()
            self.assertEqual(talker.connect(10_000), f"127.0.0.1:{group.master.port}")
            with Talker(group.url().replace("mymaster", "other")) as lost:
                answer = lost.connect(3000)
                self.assertEqual(answer["code"], "refused")
                self.assertIn("knows no master 'other'", answer["message"])


class Cluster(unittest.TestCase):
    def setUp(self):
        self.cluster = RedisCluster().start()
        self.addCleanup(self.cluster.close)
        self.slot = self.cluster.slot_of(KEY)
        self.owner = self.cluster.owner(self.slot)
        self.target, self.third = [node for node in self.cluster.nodes if node is not self.owner]

    def test_every_node_leads_to_the_one_with_the_slot(self):
        for node in self.cluster.nodes:
            with Talker(node.url(), KEY) as talker:
                self.assertEqual(talker.connect(), f"127.0.0.1:{self.owner.port}")
        # Also without a key to look for: the first command finds it.
        with Talker(self.third.url()) as talker:
            talker.connect()
            self.assertEqual(talker.values(["SET", KEY, "1"], ["GET", KEY]), ["OK", "1"])
            self.assertEqual(talker.ask(call=[["PING"]], timeout=1000)["peer"], f"127.0.0.1:{self.owner.port}")

    def test_a_slot_that_moves_is_followed_in_every_stage(self):
        with Talker(self.cluster.url(), KEY) as talker:
            talker.connect()
            talker.values(["SET", KEY, "1"], ["SET", "{cronken}:a", "2"])
            self.cluster.begin_move(self.slot, self.target)
            # A key that is still here, and one that is not here any more, or never was (ASK).
            self.assertEqual(talker.values(["GET", KEY], ["SET", "{cronken}:new", "3"], ["GET", "{cronken}:new"]),
                             ["1", "OK", "3"])
            # Keys on both sides (TRYAGAIN): not before the move is over.
            replies = talker.call(["MGET", KEY, "{cronken}:new"], timeout=300)
            self.assertEqual(replies[0]["how"], "error")
            self.assertIn("TRYAGAIN", replies[0]["why"])
            talker.begin(call=[["MGET", KEY, "{cronken}:new"], ["GET", "{cronken}:a"]], timeout=60_000)
            while self.cluster.move_keys(self.slot, self.owner, self.target, count=1):
                pass
            answers = talker.answer()["replies"]
            self.assertEqual([reply.get("value") for reply in answers], [["1", "3"], "2"])
            self.cluster.finish_move(self.slot, self.target)
            # MOVED.
            answer = talker.ask(call=[["INCR", "{cronken}:n"], ["GET", KEY]], timeout=60_000)
            self.assertEqual([reply.get("value") for reply in answer["replies"]], [1, "1"])
            self.assertEqual(answer["peer"], f"127.0.0.1:{self.target.port}")

    def test_events_reach_subscribers_of_every_node(self):
        talkers = [Talker(node.url()) for node in self.cluster.nodes]
        for talker in talkers:
            self.addCleanup(talker.close)
            self.assertEqual(talker.subscribe("{cronken}:__events__"), {})
        # A node knows of the others' subscribers only by passing everything on.
        self.third.cli("PUBLISH", "{cronken}:__events__", "hello")
        for talker in talkers:
            self.assertEqual(talker.next().get("payload"), "hello")

    def test_a_node_that_dies_with_the_slot_is_an_honest_error(self):
        with Talker(self.third.url(), KEY) as talker:
            talker.connect()
            self.owner.kill()
            self.assertEqual(talker.hows(["GET", KEY]), ["not_sent"])
            self.assertEqual(talker.connect(3000)["code"], "unreachable")
            self.owner.start()
            self.assertEqual(talker.connect_until_it_works(), f"127.0.0.1:{self.owner.port}")


if __name__ == "__main__":
    unittest.main()
