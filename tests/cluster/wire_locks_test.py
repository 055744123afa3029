"""Locks, heartbeats, the reaper and the list of instances, as others see them in Redis."""

import json
import signal
import time
import unittest

from cluster_host import EVERY_SECOND, OnFleet, fleet_of, sha1, until

# 30 and 45 s by default; half of it again is what the reaper allows.
CADENCE = 2
QUICK = {"CRONKEN_HEARTBEAT_CADENCE": str(CADENCE)}
OLD = 3 * CADENCE + 1
TOKEN = "f" * 32


class Locks(OnFleet):
    environment = QUICK

    def lock_of(self, name):
        return self.key("locks:" + sha1(name))

    def test_a_lock_is_set_for_ttl_and_renewed_while_the_run_lasts(self):
        self.fleet.define("renewed", "sleep 6", ttl=2)
        self.fleet.trigger("renewed")
        run_id, = self.fleet.wait_for_running("renewed")
        rests = []
        while self.fleet.blob(run_id)["status"] == "running":
            value, rest = self.redis.pipeline([("GET", self.lock_of("renewed")), ("PTTL", self.lock_of("renewed"))])
            if value is None:  # it may have ended between the two questions
                break
            self.assertEqual(value, run_id.encode())
            rests.append(rest)
            time.sleep(0.05)
        self.fleet.wait_for_final("renewed")
        self.assertEqual(self.fleet.blob(run_id)["status"], "success")
        self.assertLessEqual(max(rests), 2000)
        self.assertGreaterEqual(sum(a < b for a, b in zip(rests, rests[1:])), 2, f"renewals in {rests}")

    def test_a_lock_has_the_name_that_the_definition_says(self):
        table = {"own": (True, "own"), "named": ("a name ✓", "a name ✓"), "truth": ("true", "true")}
        for job, (lock, _) in table.items():
            self.fleet.define(job, "sleep 1", lock=lock, reload=False)
        self.fleet.reload()
        for job, (_, name) in table.items():
            with self.subTest(job):
                self.fleet.trigger(job)
                run_id, = self.fleet.wait_for_running(job)
                self.assertEqual(self.redis("GET", self.lock_of(name)), run_id.encode())

    def test_false_and_nothing_are_no_lock(self):
        for number, lock in enumerate((False, "")):
            self.fleet.define(f"free-{number}", "sleep 1", lock=lock, reload=False)
        self.fleet.reload()
        for number in range(2):
            self.fleet.trigger(f"free-{number}")
            self.fleet.wait_for_running(f"free-{number}")
            self.assertEqual(self.redis("GET", self.lock_of(f"free-{number}")), None)
            self.assertEqual(self.redis("GET", self.lock_of("")), None)

    def test_a_ttl_of_0_counts_as_60_seconds(self):
        self.fleet.define("zero", "sleep 1", ttl=0)
        self.fleet.trigger("zero")
        self.fleet.wait_for_running("zero")
        rest = self.redis("PTTL", self.lock_of("zero"))
        self.assertGreater(rest, 30_000)
        self.assertLessEqual(rest, 60_000)

    def test_a_foreign_lock_is_respected_and_recorded_once_for_each_period(self):
        self.redis("SET", self.lock_of("foreign"), TOKEN, "PX", 600_000)
        self.fleet.define("foreign", cron=EVERY_SECOND)
        until(lambda: len(self.fleet.outcomes("foreign")) >= 3, "three outcomes")
        self.fleet.trigger("foreign")
        self.assertEqual(self.redis("GET", self.lock_of("foreign")), TOKEN.encode())
        entries = self.fleet.outcomes("foreign")
        self.assertEqual({(entry["outcome"], entry["reason"]) for entry in entries}, {("skipped", "lock_held")})
        periods = [entry["periodId"] for entry in entries if "periodId" in entry]
        self.assertEqual(len(periods), len(set(periods)))
        self.assertEqual(self.fleet.blobs("foreign"), {})
        self.redis("DEL", self.lock_of("foreign"))
        self.fleet.wait_for_final("foreign")

    def test_jobs_that_share_a_lock_do_not_overlap(self):
        self.fleet.define("first", "sleep 3", lock="shared", ttl=5)
        self.fleet.define("second", "true", lock="shared", ttl=5)
        self.fleet.trigger("first")
        self.fleet.wait_for_running("first")
        self.fleet.trigger("second")
        self.stays(lambda: not self.fleet.blobs("second"), "it runs beside the holder", 1)
        self.fleet.wait_for_final("first")

    def test_a_run_whose_lock_another_has_taken_is_killed(self):
        self.fleet.define("robbed", "sleep 300", ttl=2)
        self.fleet.trigger("robbed")
        run_id, = self.fleet.wait_for_running("robbed")
        self.redis("SET", self.lock_of("robbed"), TOKEN, "PX", 60_000)
        self.fleet.wait_for_final("robbed")
        blob = self.fleet.blob(run_id)
        self.assertEqual((blob["status"], blob["retcode"]), ("fail", -9))
        self.assertEqual(self.redis("GET", self.lock_of("robbed")), TOKEN.encode())

    def test_heartbeats_of_a_run(self):
        self.fleet.define("beating", "sleep 300", ttl=30)
        self.fleet.trigger("beating")
        run_id, = self.fleet.wait_for_running("beating")
        first = float(self.redis("ZSCORE", self.key("rundata:active"), run_id))
        until(lambda: float(self.redis("ZSCORE", self.key("rundata:active"), run_id)) > first, "a heartbeat")
        self.fleet.publish("kill_run", run_id)
        self.fleet.wait_for_final("beating")

    # The reaper

    def foreign_run(self, run_id, job, age, **more):
        start = f"{self.redis.now() - 100:.6f}"
        blob = {"job_name": job, "start_time": start, "host": "elsewhere", "status": "running", **more}
        self.redis("HSET", self.key("rundata"), run_id, json.dumps(blob))
        self.redis("ZADD", self.key("rundata:active"), self.redis.now() - age, run_id)

    def test_the_reaper_freezes_what_no_longer_beats(self):
        stale, number, fresh, empty = ("a" * 31 + digit for digit in "1234")
        self.foreign_run(stale, "gone", OLD, mark="kept")
        self.foreign_run(number, "gone", OLD, start_time=self.redis.now() - 100)
        self.foreign_run(fresh, "there", -600)
        self.redis("ZADD", self.key("rundata:active"), 1, empty)
        until(lambda: set(self.fleet.active()).isdisjoint({stale, number, empty}), "the reaper")
        for run_id in (stale, number):
            blob = self.fleet.blob(run_id)
            self.assertEqual(blob["status"], "frozen")
            self.assertEqual((blob["job_name"], blob["host"]), ("gone", "elsewhere"))
            self.assertEqual("retcode" in blob, self.dialect == "seed")
            self.assertIsNone(blob.get("retcode"))
            self.assertAlmostEqual(blob["duration"], 100, delta=60)
            self.assertEqual(blob["output"], "")
        self.assertEqual(self.fleet.blob(stale)["mark"], "kept")
        self.assertEqual(set(self.redis.ids(self.key("results:gone:fail"))), {stale, number})
        self.assertLessEqual({stale, number}, set(self.redis.ids(self.key("results:fail"))))
        # No result without rundata: cronken's page cannot show one.
        self.assertNotIn(empty, self.redis.ids(self.key("results:fail")))
        self.assertEqual(self.fleet.blob(fresh)["status"], "running")
        self.redis("ZREM", self.key("rundata:active"), fresh)

    def test_the_reaper_waits_for_whoever_has_its_lock(self):
        lock = self.key("locks:__reaper__")
        self.redis("SET", lock, TOKEN, "PX", 60_000)
        self.foreign_run("b" * 32, "waiting", OLD)
        self.stays(lambda: "b" * 32 in self.fleet.active(), "it reaps beside another", 2.5 * CADENCE)
        self.assertEqual(self.redis("GET", lock), TOKEN.encode())
        self.redis("DEL", lock)
        until(lambda: "b" * 32 not in self.fleet.active(), "the reaper")

    def test_instances_are_cronkens_byte_for_byte(self):
        own = b'{"host":"h1","ip":"127.0.0.1"}'
        until(lambda: self.redis("ZSCORE", self.key("instances"), own), "its instance")
        beat = float(self.redis("ZSCORE", self.key("instances"), own))
        self.assertLessEqual(beat, self.redis.now())
        until(lambda: float(self.redis("ZSCORE", self.key("instances"), own)) > beat, "a heartbeat of the instance")
        old = b'{"host":"gone","ip":"127.0.0.2"}'
        self.redis("ZADD", self.key("instances"), self.redis.now() - OLD, old)
        until(lambda: self.redis("ZSCORE", self.key("instances"), old) is None, "the old instance to go")


class LocksInCronkensWay(Locks):
    dialect = "cronken"


class Frozen(unittest.TestCase):
    def test_a_frozen_run_that_comes_back_does_not_become_success(self):
        with fleet_of("h1", "h2", environment=QUICK) as fleet:
            fleet.define("stopped", f"[ $KRON_HOST = h1 ] || exit 0; {fleet.holding()}; echo late", lock=False)
            fleet.trigger("stopped", "0" * 31 + "1")
            until(lambda: "h1" in {blob["host"] for blob in fleet.blobs("stopped").values()}, "its run on h1")
            run_id, = (run_id for run_id, blob in fleet.blobs("stopped").items() if blob["host"] == "h1")
            until(lambda: f" {run_id} " in fleet.effects(), "its first words")
            stopped, = (krond for krond in fleet.kronds if krond.host == "h1")
            stopped.signal(signal.SIGSTOP)
            until(lambda: fleet.blob(run_id)["status"] == "frozen", "the reaper of the other host")
            self.assertIn(run_id, fleet.redis.ids(fleet.key("results:stopped:fail")))
            fleet.hold_no_more()
            until(lambda: f"end {run_id}" in fleet.effects(), "the end of the command itself")
            stopped.signal(signal.SIGCONT)
            stopped.wait_for("run_ended", runId=run_id)
            deadline = time.monotonic() + 1.5
            while time.monotonic() < deadline:
                self.assertEqual(fleet.blob(run_id)["status"], "frozen")
                time.sleep(0.05)
            self.assertNotIn(run_id, fleet.redis.ids(fleet.key("results:stopped:success")))
            self.assertNotIn(run_id, fleet.active())

    def test_a_clean_stop_takes_the_instance_away(self):
        with fleet_of("h1") as fleet:
            until(lambda: fleet.redis("ZCARD", fleet.key("instances")) == 1, "its instance")
            self.assertEqual(fleet.kronds[0].stop(), 0)
            self.assertEqual(fleet.redis("ZCARD", fleet.key("instances")), 0)
            self.assertEqual(fleet.redis("HLEN", fleet.key("kron:hosts")), 0)

    def test_one_host_name_twice_becomes_two_instances(self):
        with fleet_of("h1") as fleet:
            second = fleet.started("h1", state=fleet.root / "another-state")
            self.assertEqual(set(fleet.redis.hash(fleet.key("kron:hosts"))), {"h1", "h1#2"})
            fleet.define("each", lock=False)
            fleet.trigger("each", "0" * 31 + "2")
            ids = fleet.wait_for_final("each", 2)
            self.assertEqual({fleet.blob(run_id)["host"] for run_id in ids}, {"h1"})
            self.assertEqual({line.split()[3] for line in fleet.effects().splitlines() if line.startswith("begin")},
                             {"h1", "h1#2"})
            self.assertEqual(second.stop(), 0)
            # The name is free again, and the same state directory is the same owner.
            fleet.started("h1", state=fleet.root / "another-state")
            self.assertEqual(set(fleet.redis.hash(fleet.key("kron:hosts"))), {"h1", "h1#2"})


if __name__ == "__main__":
    unittest.main()
