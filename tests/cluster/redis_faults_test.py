"""Redis is killed, comes back empty, is away, is full, forgets its scripts, refuses: nothing runs twice, nothing is left
behind, and the fleet goes on by itself."""

import threading
import time
import unittest

import witness
from cluster_host import EVERY_SECOND, SCALE, Fleet, until
from redis_host import RedisServer
from resp_client import RespError
from witness import Terms

TERMS = {"tick": Terms(1, "tick"), "second": Terms(1, "second"), "free": Terms(1), "lasting": Terms(1, "lasting"),
         "lasting-free": Terms(1)}
HOSTS = ("h1", "h2")
POLICY = {"policy": {"deadline": "5s"}}
# Who krond is when its rights are taken away: exactly what docs/cluster.md asks for.
ACL = ("~{cronken}:* &{cronken}:* +@read +@write +@scripting +@pubsub +@connection +info +role +wait +time "
       "+config|get")


class Case(unittest.TestCase):
    """A fleet whose jobs run every second; a test disturbs it, and they must run again afterwards."""

    def start(self, server, **how):
        self.addCleanup(server.close)
        fleet = Fleet(server=server)
        self.addCleanup(fleet.close)
        for name in ("tick", "second"):
            fleet.define(name, "seq 1 5", cron=EVERY_SECOND, reload=False, kron=POLICY)
        fleet.define("free", cron=EVERY_SECOND, reload=False, lock=False, kron=POLICY)
        for krond in [fleet.start(host, **how) for host in HOSTS]:
            fleet.wait_until_joined(krond)
        self.fleet, self.redis = fleet, fleet.redis
        self.assert_goes_on()
        return fleet

    def runs(self, job=None):
        return [run for run in witness.runs_in(self.fleet.effects()) if job in (None, run.job)]

    def assert_goes_on(self, count=3):
        """More runs, of each job, on its own."""
        for job in ("tick", "second"):
            before = len(self.runs(job))
            until(lambda: len(self.runs(job)) >= before + count, f"{job} to go on\n{self.described()}")

    def described(self):
        return "\n".join(line for krond in self.fleet.kronds for line in krond.log().splitlines()[-5:])

    def assert_kept(self):
        self.fleet.publish("pause", "all")
        until(lambda: self.redis("SCARD", self.fleet.key("jobs:paused")) >= 3, "all to be paused")
        self.fleet.wait_until_idle()
        runs = self.runs()
        self.assertEqual(witness.doubled_runs(runs, TERMS), [])
        self.assertEqual(witness.overlaps(runs, TERMS, self.ends()), [])
        for krond in self.fleet.kronds[:len(HOSTS)]:
            self.assertIsNone(krond.process.poll())

    def ends(self):
        blobs = self.fleet.blobs()
        return {run_id: float(blob["start_time"]) + (blob.get("duration") or 0) for run_id, blob in blobs.items()}


class Server(Case):
    def test_it_is_killed_and_comes_back_with_its_log(self):
        server = RedisServer(appendonly=True, appendfsync="always").start()
        self.start(server)
        for _ in range(2 * SCALE):
            server.kill()
            time.sleep(0.5)
            server.start()
            self.assert_goes_on()
        self.assert_kept()
        finals = [blob for blob in self.fleet.blobs().values() if blob["status"] == "success"]
        self.assertTrue(all(blob["output"] in ("", "1\n2\n3\n4\n5\n") for blob in finals))

    def test_it_comes_back_empty(self):
        server = RedisServer().start()
        self.start(server)
        texts = self.redis.hash(self.fleet.key("jobs"))
        server.restart(kill=True, keep_data=False)
        self.assert_goes_on()
        for name, text in texts.items():
            self.fleet.write(name, text)
        until(lambda: self.fleet.publish("reload", {}) == len(HOSTS), "both to listen")
        self.assert_goes_on()
        self.assert_kept()

    def test_it_is_away_for_ten_seconds(self):
        for is_hanging in (False, True):
            with self.subTest(is_hanging=is_hanging):
                server = RedisServer(appendonly=True, appendfsync="always").start()
                fleet = self.start(server)
                # Longer than the outage: shorter outages change nothing, and what is said meanwhile comes later.
                for name, lock in (("lasting", True), ("lasting-free", False)):
                    fleet.define(name, "for i in $(seq 1 14); do echo $i; sleep 1; done", lock=lock, ttl=30)
                    fleet.trigger(name, "e" * 31 + ("1" if lock else "2"))
                locked, = fleet.wait_for_running("lasting")
                free = fleet.wait_for_running("lasting-free", len(HOSTS))
                if is_hanging:
                    server.suspend()
                    time.sleep(10)
                    server.resume()
                else:
                    server.kill()
                    time.sleep(10)
                    server.start()
                self.assert_goes_on()
                fleet.wait_for_final("lasting")
                fleet.wait_for_final("lasting-free", len(HOSTS))
                for run_id in (locked, *free):
                    self.assertEqual(fleet.blob(run_id)["status"], "success")
                    self.assertEqual(fleet.lines(run_id), [str(line).encode() for line in range(1, 15)])
                self.assert_kept()


class Commands(Case):
    """One server for all of them: it only refuses for a while."""

    def setUp(self):
        server = RedisServer(acl=["kron on >secret " + ACL]).start()
        self.start(server, url=server.url(user="kron", password="secret"))

    def test_it_refuses_in_many_ways(self):
        for disturb in (self.scripts_are_forgotten, self.clients_are_killed, self.records_are_deleted, self.it_is_full,
                        self.rights_are_taken_away):
            with self.subTest(disturb.__name__):
                disturb()
                self.assert_goes_on()
        self.assert_kept()

    def again_and_again(self, *command, seconds=3.0):
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline:
            self.redis(*command)
            time.sleep(0.05)

    def scripts_are_forgotten(self):
        self.again_and_again("SCRIPT", "FLUSH")

    def clients_are_killed(self):
        self.again_and_again("CLIENT", "KILL", "USER", "kron", "SKIPME", "yes")

    def records_are_deleted(self):
        self.again_and_again("DEL", self.fleet.key("kron:state"), seconds=2)

    def it_is_full(self):
        self.redis("CONFIG", "SET", "maxmemory", 1)
        time.sleep(3)
        begun = {run.run_id for run in self.runs()}
        time.sleep(1.5)
        late = {run.run_id for run in self.runs()} - begun
        self.assertEqual(late, set(), "runs without a claim")
        self.redis("CONFIG", "SET", "maxmemory", 0)

    def rights_are_taken_away(self):
        self.redis("ACL", "SETUSER", "kron", "-@all", "resetkeys")
        time.sleep(2)
        before = len(self.runs())
        time.sleep(1.5)
        self.assertEqual(len(self.runs()), before)
        for krond in self.fleet.kronds:
            self.assertIn("NOPERM", krond.log())
            told = krond.all("redis_forbids")
            self.assertEqual(len(told), 1, "once, however much is refused")
            self.assertRegex(told[0]["command"], r"^[A-Z]+( [A-Z]+)?( \(script \w+\))?( on \{cronken\}:.*)?$")
            self.assertIn("ACL SETUSER kron ~{cronken}:*", told[0]["reason"])
        late = self.fleet.start("h3", url=self.fleet.server.url(user="kron", password="secret"))
        self.assertIn("+@scripting", late.wait_for("redis_unreachable")["reason"], "the ACL line that is needed")
        late.kill()
        self.redis("ACL", "SETUSER", "kron", *ACL.split())
        for krond in self.fleet.kronds[:-1]:
            krond.wait_for("redis_allows_again")


class Storm(Case):
    @unittest.skipUnless(SCALE > 1, "long")
    def test_everything_at_once(self):
        server = RedisServer(appendonly=True, appendfsync="always").start()
        self.start(server)
        stop = threading.Event()

        def disturb():
            while not stop.wait(0.2):
                try:
                    server.cli("SCRIPT", "FLUSH")
                    server.cli("CLIENT", "KILL", "TYPE", "normal", "SKIPME", "yes")
                except (OSError, RespError):
                    pass

        thread = threading.Thread(target=disturb)
        thread.start()
        try:
            for _ in range(3):
                time.sleep(5)
                server.kill()
                time.sleep(1)
                server.start()
        finally:
            stop.set()
            thread.join()
        self.assert_goes_on()
        self.assert_kept()


if __name__ == "__main__":
    unittest.main()
