"""The helper of all tests with a Redis server, tried once: what it claims to do it does."""

import shutil
import unittest
from unittest import mock

from redis_host import Authority, RedisCluster, RedisServer, RespError, SentinelGroup


class RedisHost(unittest.TestCase):
    def test_a_server_answers_and_never_on_the_port_of_a_real_one(self):
        with RedisServer() as redis:
            self.assertEqual(redis.cli("SET", "key", "värde"), "OK")
            self.assertEqual(redis.cli("GET", "key"), "värde")
            self.assertNotEqual(redis.port, 6379)

    def test_redis_tools_alone_are_enough(self):
        which = shutil.which
        with mock.patch("shutil.which", lambda name: None if name == "redis-server" else which(name)):
            with RedisServer() as redis:
                self.assertIn("redis_version", redis.cli("INFO", "server"))

    def test_what_was_answered_survives_a_kill_with_appendfsync_always_and_not_the_loss_of_the_disk(self):
        with RedisServer(appendonly=True, appendfsync="always") as redis:
            redis.cli("SET", "key", "value")
            port = redis.port
            redis.restart(kill=True)
            self.assertEqual((redis.port, redis.cli("GET", "key")), (port, "value"))
            redis.restart(kill=True, keep_data=False)
            self.assertIsNone(redis.cli("GET", "key"))

    def test_a_suspended_server_is_silent_until_it_is_resumed(self):
        with RedisServer() as redis:
            redis.suspend()
            with self.assertRaises(TimeoutError):
                redis.cli("PING", timeout=0.2)
            redis.resume()
            self.assertEqual(redis.cli("PING"), "PONG")

    def test_a_password_and_an_acl_are_asked_for(self):
        with RedisServer(password="secret", acl=["kron on >word ~a:* +get"]) as redis:
            with self.assertRaisesRegex(RespError, "NOAUTH"):
                redis.cli("GET", "a:b", password=None)
            with self.assertRaisesRegex(RespError, "NOPERM"):
                redis.cli("SET", "a:b", "1", user="kron", password="word")
            self.assertIsNone(redis.cli("GET", "a:b", user="kron", password="word"))

    def test_tls_needs_the_authority(self):
        with Authority() as authority, RedisServer(authority=authority) as redis:
            self.assertEqual(redis.cli("PING"), "PONG")
            with self.assertRaises(OSError):
                redis.cli("PING", tls=None)

    def test_a_replica_follows_and_sentinels_fail_over(self):
        with SentinelGroup() as group:
            group.master.cli("SET", "key", "value")
            group.master.cli("WAIT", 1, 5000)
            new = group.fail_over()
            self.assertIsNot(new, group.master)
            self.assertEqual(new.cli("GET", "key"), "value")
            self.assertEqual({group.named_by(sentinel) for sentinel in group.sentinels}, {new.port})

    def test_a_slot_moves_from_one_node_of_a_cluster_to_another(self):
        with RedisCluster() as cluster:
            slot = cluster.slot_of("{cronken}:jobs")
            owner = cluster.owner(slot)
            target = next(node for node in cluster.nodes if node is not owner)
            owner.cli("SET", "{cronken}:jobs", "here")
            cluster.begin_move(slot, target)
            with self.assertRaisesRegex(RespError, "ASK"):
                owner.cli("GET", "{cronken}:other")
            cluster.move_keys(slot, owner, target)
            cluster.finish_move(slot, target)
            self.assertIs(cluster.owner(slot), target)
            self.assertEqual(target.cli("GET", "{cronken}:jobs"), "here")
            with self.assertRaisesRegex(RespError, "MOVED"):
                owner.cli("GET", "{cronken}:jobs")


if __name__ == "__main__":
    unittest.main()
