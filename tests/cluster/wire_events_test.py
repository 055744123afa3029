"""cronken's command channel: every event, junk, and what pause and validate write."""

import json
import unittest

from cluster_host import EVERY_SECOND, NEVER, OnFleet, fleet_of, until

# Nothing of this may be lost or written otherwise: order, spacing, unknown keys, spelling of numbers, escapes.
ODD = ('{ "zeta":1.50e1,"cron_args":{"second":"*","note":"caf\\u00e9"},\n  "job_args" : {"cmd":"true\\/\\u0000x",'
       '"lock":true,"ttl":10,"extra":[1, 2.0,-0]}, "big":12345678901234567890%s}')


class Events(OnFleet):
    def paused(self):
        return {name.decode() for name in self.redis("SMEMBERS", self.key("jobs:paused"))}

    def state(self, name):
        return json.loads(self.fleet.written(name)).get("job_state", {})

    def count(self, job):
        return len([line for line in self.fleet.effects().splitlines() if line.startswith(f"begin {job} ")])

    def assert_still(self, job, seconds=2.5):
        """It does not run: what has begun already may show up a moment later."""
        self.fleet.wait_for_final(job)
        until(lambda: not self.fleet.active(), "its last run to end")
        before = self.count(job)
        self.stays(lambda: self.count(job) == before, f"{job} runs", seconds)

    def assert_runs(self, job, count=2):
        before = self.count(job)
        until(lambda: self.count(job) >= before + count, f"{job} to run")

    def test_pause_and_resume_are_written_and_obeyed(self):
        self.fleet.define("tick", cron=EVERY_SECOND)
        self.assert_runs("tick")
        self.fleet.publish("pause", "tick")
        until(lambda: "tick" in self.paused(), "the paused set")
        self.assertIs(self.state("tick")["paused"], True)
        self.assert_still("tick")
        # Triggers work on paused jobs.
        self.fleet.run("tick")
        self.fleet.publish("resume", "tick")
        until(lambda: "tick" not in self.paused(), "the paused set")
        self.assertIs(self.state("tick")["paused"], False)
        self.assert_runs("tick")
        self.fleet.publish("remove", "tick")

    def test_unknown_keys_survive_a_pause_byte_for_byte(self):
        for number, (before, after) in enumerate((
                ("", ',"job_state":{"paused":true}'),
                (',"job_state":{}', None),
                (', "job_state" : { "paused" :false, "mine":[1.0] }', None),
                (',"job_state":null', None))):
            with self.subTest(before):
                name = f"odd-{number}"
                self.fleet.write(name, ODD % before)
                self.fleet.reload()
                self.fleet.publish("pause", name)
                until(lambda: name in self.paused(), "the paused set")
                text = self.fleet.written(name).decode()
                head = ODD.partition("%s")[0]
                self.assertTrue(text.startswith(head), text)
                self.assertIs(json.loads(text)["job_state"]["paused"], True)
                if "mine" in before:
                    self.assertIn('"mine":[1.0]', text)
                self.fleet.publish("resume", name)
                until(lambda: name not in self.paused(), "the paused set")
                text = self.fleet.written(name).decode()
                self.assertTrue(text.startswith(head), text)
                self.assertIs(json.loads(text)["job_state"]["paused"], False)
                self.redis("HDEL", self.key("jobs"), name)

    def test_all_is_all_jobs(self):
        names = {"all-1", "all-2"}
        for name in names:
            self.fleet.define(name)
        self.fleet.publish("pause", "all")
        until(lambda: names <= self.paused(), "all to be paused")
        self.fleet.publish("resume", "all")
        until(lambda: not self.paused(), "all to be resumed")
        self.assertEqual([self.state(name)["paused"] for name in sorted(names)], [False, False])

    def test_add_and_remove_change_what_runs_and_not_what_is_written(self):
        definition = self.fleet.definition(cron=EVERY_SECOND)
        self.fleet.publish("add", {"job_name": "guest", "job_def": definition})
        self.assert_runs("guest")
        self.assertIsNone(self.fleet.written("guest"))
        self.fleet.publish("remove", "guest")
        self.assert_still("guest")
        self.fleet.publish("add", {"job_name": "guest", "job_def": definition})
        self.assert_runs("guest")
        self.fleet.reload()
        self.assert_still("guest")

        self.fleet.define("native", cron=EVERY_SECOND)
        self.assert_runs("native")
        self.fleet.publish("remove", "native")
        self.assert_still("native")
        self.assertIsNotNone(self.fleet.written("native"))
        self.fleet.reload()
        self.assert_runs("native")
        self.redis("HDEL", self.key("jobs"), "native")
        self.fleet.reload()
        self.assert_still("native")

    def test_a_changed_definition_holds_after_a_reload(self):
        self.fleet.define("changing", "echo old")
        self.assertEqual(self.fleet.run("changing")[1]["output"], "old\n")
        self.fleet.define("changing", "echo new")
        until(lambda: self.fleet.run("changing")[1]["output"] == "new\n", "the new command")

    def test_a_trigger_with_an_id_runs_once_however_often_it_comes(self):
        self.fleet.define("by-id", lock=False)
        for _ in range(5):
            self.fleet.trigger("by-id", "0123456789abcdef0123456789abcdef")
        self.fleet.wait_for_final("by-id")
        self.stays(lambda: self.count("by-id") == 1, "a second run")
        self.fleet.run("by-id", "1123456789abcdef0123456789abcdef")
        self.assertEqual(self.count("by-id"), 2)

    def test_junk_is_survived(self):
        channel = self.key("__events__")
        for junk in (b"", b"{", b"[]", b"7", b"null", b'"pause"', b"\xff\xfe", b'{"action":"pause"}', b'{"args":1}',
                     b'{"action":7,"args":7}', b'{"action":"fly","args":"me"}', b'{"action":"pause","args":{"a":[]}}',
                     b'{"action":"terminate_run","args":"no-such-run"}', b'{"action":"kill_run","args":null}',
                     b'{"action":"kill_run","args":"../../x"}', b'{"action":"trigger","args":"no-such-job"}',
                     b'{"action":"remove","args":["x"]}', b'{"action":"add","args":{"job_name":"x"}}',
                     b'{"action":"add","args":{"job_name":"","job_def":{}}}', b'{"action":"validate","args":7}',
                     b'{"action":"drain_nodes","args":"h"}', b'{"action":"reload"' + b" " * 100000 + b"}",
                     b"[" * 100000, b'{"action":"pause","args":"' + b"x" * 100000 + b'"}'):
            self.redis("PUBLISH", channel, junk)
        self.fleet.define("after-junk", "echo alive")
        self.assertEqual(self.fleet.run("after-junk")[1]["output"], "alive\n")
        self.assertIsNone(self.kronds[0].process.poll())

    def test_validate_says_what_is_wrong_and_takes_it_back(self):
        broken = '{"cron_args":{"second":"99"},"job_args":{"cmd":"true","lock":true,"ttl":10},"keep":1.0}'
        self.fleet.write("broken-1", broken)
        self.fleet.write("broken-2", broken)
        self.fleet.publish("validate", ["broken-1"])
        until(lambda: self.state("broken-1").get("validation_errors"), "validation_errors")
        self.assertIn("second", self.state("broken-1")["validation_errors"])
        self.assertIn('"keep":1.0', self.fleet.written("broken-1").decode())
        self.assertEqual(self.fleet.written("broken-2").decode(), broken)
        self.fleet.publish("validate", [])
        until(lambda: self.state("broken-2").get("validation_errors"), "validation_errors of all")
        # Mended by hand, with what was said of it left in place.
        mended = self.fleet.written("broken-1").decode().replace('"99"', '"9"')
        self.fleet.write("broken-1", mended)
        self.fleet.publish("validate", [])
        until(lambda: not self.state("broken-1").get("validation_errors"), "the errors to go")
        self.redis("HDEL", self.key("jobs"), "broken-1", "broken-2")

    def test_validate_waits_for_whoever_has_its_lock(self):
        lock = self.key("locks:__validation__")
        self.redis("SET", lock, "f" * 32, "PX", 60_000)
        self.fleet.write("unlocked", '{"cron_args":{"second":"99"},"job_args":{"cmd":"true","lock":true,"ttl":10}}')
        self.fleet.publish("validate", ["unlocked"])
        self.stays(lambda: "validation_errors" not in self.state("unlocked"), "it validates beside another", 1)
        self.redis("DEL", lock)
        self.redis("HDEL", self.key("jobs"), "unlocked")


class EventsInCronkensWay(Events):
    dialect = "cronken"


class Restarts(unittest.TestCase):
    def test_a_paused_job_is_paused_after_a_restart_and_the_definition_wins(self):
        with fleet_of("h1") as fleet:
            fleet.define("paused", cron=EVERY_SECOND, reload=False, job_state={"paused": True})
            fleet.define("running", cron=EVERY_SECOND, reload=False)
            fleet.redis("SADD", fleet.key("jobs:paused"), "running")
            fleet.restarted(fleet.kronds[0])
            fleet.wait_for_final("running", 3)
            self.assertEqual(fleet.redis("SMEMBERS", fleet.key("jobs:paused")), [b"paused"])
            self.assertEqual(fleet.blobs("paused"), {})

    def test_a_drained_host_starts_nothing_and_the_other_goes_on(self):
        with fleet_of("h1", "h2") as fleet:
            fleet.define("tick", cron=EVERY_SECOND)
            fleet.wait_for_final("tick", 2)
            fleet.publish("drain_nodes", ["h1"])

            def drained():
                entry = fleet.redis("HGET", fleet.key("kron:hosts"), "h1")
                return entry is not None and json.loads(entry).get("draining")

            until(drained, "h1 to say that it drains")
            until(lambda: not fleet.active(), "its runs to end")
            before = len(fleet.blobs("tick"))
            fleet.wait_for_final("tick", before + 3)
            last = sorted(fleet.blobs("tick").values(), key=lambda blob: float(blob["start_time"]))[before:]
            self.assertEqual({blob["host"] for blob in last}, {"h2"})

    def test_an_empty_list_is_applied_only_when_asked_for(self):
        with fleet_of("h1") as fleet:
            fleet.define("kept", cron=EVERY_SECOND)
            fleet.wait_for_final("kept")
            fleet.redis("DEL", fleet.key("jobs"))
            # A new subscription reads the list again, but nobody has asked for it.
            fleet.redis("CLIENT", "KILL", "TYPE", "pubsub")
            before = len(fleet.blobs("kept"))
            fleet.wait_for_final("kept", before + 3)
            until(lambda: fleet.publish("reload", {}) == 1, "the subscription")
            until(lambda: not fleet.active(), "its last run to end")
            after = len(fleet.blobs("kept"))
            before = fleet.redis.now()
            until(lambda: fleet.redis.now() > before + 3, "three seconds")
            self.assertLessEqual(len(fleet.blobs("kept")), after + 1)

    def test_jobs_are_found_when_krond_starts(self):
        with fleet_of() as fleet:
            fleet.define("there", cron=EVERY_SECOND, reload=False)
            fleet.define("never", cron=NEVER, reload=False)
            fleet.started("h1")
            fleet.wait_for_final("there", 2)
            self.assertEqual(fleet.blobs("never"), {})


if __name__ == "__main__":
    unittest.main()
