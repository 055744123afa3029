"""Redis as a fleet finds it: with TLS, with replicas, behind Sentinels, as a cluster of three."""

import time
import unittest

import witness
from cluster_host import EVERY_SECOND, Fleet, until
from redis_host import Authority, RedisCluster, RedisServer, SentinelGroup
from redis_view import Redis
from witness import Terms

TERMS = {"tick": Terms(1, "tick")}
POLICY = {"policy": {"deadline": "10s"}}


class Case(unittest.TestCase):
    def start(self, server, *flags, hosts=("h1", "h2"), others=(), **how):
        # A run whose end was lost in a failover is the reaper's: so soon that a test can wait for it.
        fleet = Fleet(server=server, environment={"CRONKEN_HEARTBEAT_CADENCE": "2"})
        fleet.other_servers = [Redis(other) for other in others]
        self.addCleanup(fleet.close)
        fleet.define("tick", "seq 1 5", cron=EVERY_SECOND, reload=False, kron=POLICY)
        for krond in [fleet.start(host, *flags, **how) for host in hosts]:
            fleet.wait_until_joined(krond)
        self.fleet = fleet
        self.assert_goes_on()
        return fleet

    def runs(self):
        return witness.runs_in(self.fleet.effects())

    def assert_goes_on(self, count=3):
        before = len(self.runs())
        until(lambda: len(self.runs()) >= before + count, "the job to go on\n" + "\n".join(
            line for krond in self.fleet.kronds for line in krond.log().splitlines()[-5:]))

    def assert_kept(self):
        self.fleet.publish("pause", "all")
        until(lambda: self.fleet.redis("SCARD", self.fleet.key("jobs:paused")) == 1, "the pause")
        self.fleet.wait_until_idle()
        self.assertEqual(witness.doubled_runs(self.runs(), TERMS), [])
        blobs = self.fleet.blobs()
        ends = {run_id: float(blob["start_time"]) + (blob.get("duration") or 0) for run_id, blob in blobs.items()}
        self.assertEqual(witness.overlaps(self.runs(), TERMS, ends), [])


class Single(Case):
    def test_with_tls_and_a_password(self):
        authority = Authority()
        self.addCleanup(authority.close)
        server = RedisServer(authority=authority, password="secret-word").start()
        self.addCleanup(server.close)
        fleet = self.start(server, url=server.url())
        self.assert_kept()
        self.assertNotIn("secret", "".join(krond.log() for krond in fleet.kronds))

    def test_a_certificate_of_somebody_else_is_refused(self):
        authority, other = Authority(), Authority()
        self.addCleanup(authority.close)
        self.addCleanup(other.close)
        server = RedisServer(authority=authority).start()
        self.addCleanup(server.close)
        with Fleet(server=server) as fleet:
            fleet.define("tick", cron=EVERY_SECOND, reload=False)
            url = server.url().replace(str(authority.ca_file), str(other.ca_file))
            krond = fleet.start("h1", url=url)
            krond.wait_for("redis_unreachable")
            time.sleep(2)
            self.assertEqual(fleet.effects(), "")
            self.assertIsNone(krond.process.poll())

    def test_a_claim_that_no_replica_has_is_not_run(self):
        server = RedisServer().start()
        self.addCleanup(server.close)
        replica = RedisServer(replica_of=server).start()
        self.addCleanup(replica.close)
        server.wait_for_replicas(1)
        fleet = self.start(server, "--claim-replicas", "1")
        replica.suspend()
        time.sleep(1)  # what has been let go already begins
        before = {run.run_id for run in self.runs()}
        time.sleep(4)
        late = {run.run_id for run in self.runs()} - before
        self.assertEqual(late, set(), "runs whose claim one server has")
        replica.resume()
        self.assert_goes_on()
        self.assert_kept()
        # What was claimed and not run says so.
        ran = {run.run_id for run in self.runs()}
        for run_id, blob in fleet.blobs().items():
            self.assertEqual(blob["status"], "success" if run_id in ran else "fail", run_id)


class Failover(Case):
    def test_lost_writes_are_reported_and_the_fleet_goes_on(self):
        group = SentinelGroup(replicas=1)
        self.addCleanup(group.close)
        group.start()
        fleet = self.start(group.master, url=group.url())
        replica = group.replicas[0]
        replica.suspend()
        # What was sent to it waits in its socket; what comes now is not sent.
        group.master.cli("CLIENT", "KILL", "TYPE", "replica")
        self.assert_goes_on(3)
        group.master.kill()
        replica.resume()
        until(lambda: group.current_master() is replica, "the replica to be master")
        fleet.redis.close()
        fleet.redis = Redis(replica)
        self.assert_goes_on(3)
        until(lambda: any("lost_writes" in krond.log() for krond in fleet.kronds), "lost writes to be reported")
        fleet.publish("pause", "all")
        until(lambda: fleet.redis("SCARD", fleet.key("jobs:paused")) == 1, "the pause")
        fleet.wait_until_idle()

    def test_a_failover_that_loses_nothing_doubles_nothing(self):
        group = SentinelGroup(replicas=1)
        self.addCleanup(group.close)
        group.start()
        fleet = self.start(group.master, "--claim-replicas", "1", url=group.url())
        new = group.fail_over()
        fleet.redis.close()
        fleet.redis = Redis(new)
        # There is nobody left to wait for: a claim needs a second server, and the old master becomes one.
        group.master.start()
        self.assert_goes_on(3)
        self.assert_kept()


class RedisClusters(Case):
    def test_its_slot_moves_to_another_node(self):
        cluster = RedisCluster()
        self.addCleanup(cluster.close)
        cluster.start()
        slot = cluster.slot_of("{cronken}:jobs")
        source = cluster.owner(slot)
        target, third = (node for node in cluster.nodes if node is not source)
        fleet = self.start(source, url=third.url(), others=(target, third))
        cluster.begin_move(slot, target)
        while cluster.move_keys(slot, source, target, 1):  # a part of the keys is here, a part there
            time.sleep(0.02)
        cluster.finish_move(slot, target)
        fleet.redis.close()
        fleet.redis = Redis(target)
        self.assert_goes_on()
        # The only node of the URL goes: what is published is heard by another.
        for node in cluster.nodes:
            node.cli("CONFIG", "SET", "cluster-require-full-coverage", "no")
        third.kill()
        left = [Redis(node) for node in (source, target)]
        channel = fleet.key("__events__")
        until(lambda: sum(node("PUBSUB", "NUMSUB", channel)[1] for node in left) == len(fleet.kronds),
              "all to listen at other nodes")
        self.assert_goes_on()
        self.assert_kept()

    def test_a_namespace_without_braces_is_refused(self):
        cluster = RedisCluster()
        self.addCleanup(cluster.close)
        cluster.start()
        with Fleet(server=cluster.nodes[0], namespace="plain") as fleet:
            krond = fleet.start("h1", url=cluster.url())
            until(lambda: krond.process.poll() is not None or "{" in krond.log(), "a word about braces")
            until(lambda: any(event.get("level") == "error" for event in krond.events) or
                  krond.process.poll() is not None, "an error")


if __name__ == "__main__":
    unittest.main()
