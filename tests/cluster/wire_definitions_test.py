"""Definitions that are wrong disable only themselves; names, zones and signatures."""

import hashlib
import hmac
import json
import subprocess
import time
import unittest

from cluster_host import EVERY_SECOND, KRON, NEVER, OnFleet, fleet_of, until
from redis_host import RedisServer

GOOD = {"cron_args": {"second": "*"}, "job_args": {"cmd": "true", "lock": True, "ttl": 10}}


def changed(**changes):
    """GOOD with other cron_args or job_args; a value of None takes a key away."""
    definition = json.loads(json.dumps(GOOD))
    for part, members in changes.items():
        definition.setdefault(part, {})
        for key, value in members.items():
            definition[part][key] = value
            if value is None:
                del definition[part][key]
    return json.dumps(definition)


# Objects that are no definitions: they get validation_errors.
BAD = {
    "no-cron-args": '{"job_args":{"cmd":"true","lock":true,"ttl":10}}',
    "no-job-args": '{"cron_args":{"second":"*"}}',
    "no-cmd": changed(job_args={"cmd": None}),
    "no-ttl": changed(job_args={"ttl": None}),
    "negative-ttl": changed(job_args={"ttl": -1}),
    "lock-null": '{"cron_args":{"second":"*"},"job_args":{"cmd":"true","lock":null,"ttl":10}}',
    "second-99": changed(cron_args={"second": "99"}),
    "step-60": changed(cron_args={"second": "*/60"}),
    "weekday-7": changed(cron_args={"day_of_week": "7"}),
    "bad-zone": changed(cron_args={"timezone": "Mars/Olympus"}),
    "empty-cronstring": changed(cron_args={"cronstring": ""}),
    "six-fields": changed(cron_args={"cronstring": "* * * * * *"}),
    "reboot": changed(cron_args={"cronstring": "@reboot"}),
    "nothing-due": '{"cron_args":{},"job_args":{"cmd":"true","lock":true,"ttl":10}}',
    "replace-with-lock": changed(kron={"policy": {"concurrency": "replace"}}),
    "bad-window": changed(kron={"window": "soon"}),
    "task": changed(kron={"task": {"type": "T", "data": {}}}),
}
# No objects: there is no place for validation_errors in them.
UNREADABLE = {"not-json": "{", "array": "[]", "number": "7", "null": "null", "bytes": b"\xff\xfe", "nothing": ""}
BAD_NAMES = ("", "all", "__reaper__", "a\nb", "a\x01b", "x" * 513)
GOOD_NAMES = ("with space", "schön ✓", "a/b.c:d", "{braces}", "-dash", "%s", "x" * 512, "$(touch x)")
# cronken's coercions and what it ignores.
GOOD_DEFINITIONS = {
    "ttl-text": changed(job_args={"ttl": "10"}),
    "ttl-float": changed(job_args={"ttl": 10.0}),
    "lock-one": changed(job_args={"lock": 1}),
    "lock-zero": changed(job_args={"lock": 0}),
    "unknown-keys": changed(job_args={"user": "nobody"}, cron_args={"note": "x"}, other={"a": 1}),
    "null-fields": '{"cron_args":{"second":"*","hour":null},"job_args":{"cmd":"true","lock":true,"ttl":10}}',
    "state-null": '{"cron_args":{"second":"*"},"job_args":{"cmd":"true","lock":true,"ttl":10},"job_state":null}',
    "jitter": changed(cron_args={"jitter": 1}),
}


class Definitions(OnFleet):
    @classmethod
    def prepare(cls):
        for table in (BAD, UNREADABLE, GOOD_DEFINITIONS):
            for name, text in table.items():
                cls.fleet.write(name, text)
        for name in (*BAD_NAMES, *GOOD_NAMES):
            cls.fleet.write(name, json.dumps(GOOD))

    def errors_of(self, name):
        return json.loads(self.fleet.written(name)).get("job_state", {}).get("validation_errors")

    def test_only_the_bad_ones_are_disabled(self):
        for name in (*GOOD_NAMES, *GOOD_DEFINITIONS):
            with self.subTest(name):
                self.fleet.wait_for_final(name)
        ran = {blob["job_name"] for blob in self.fleet.blobs().values()}
        self.assertEqual(ran & {*BAD, *UNREADABLE, *BAD_NAMES}, set())

    def test_bad_ones_say_why(self):
        for name in (*BAD, *BAD_NAMES):
            with self.subTest(name):
                until(lambda: self.errors_of(name), f"validation_errors of {name!r}", 20)
                self.assertIsInstance(self.errors_of(name), str)
                rest = json.loads(self.fleet.written(name))
                rest.pop("job_state")
                self.assertEqual(rest, json.loads(BAD.get(name, json.dumps(GOOD))))

    def test_what_is_no_object_stays_as_it_is(self):
        for name, text in UNREADABLE.items():
            self.assertEqual(self.fleet.written(name), text if isinstance(text, bytes) else text.encode())

    def test_good_ones_are_left_alone(self):
        for name, text in GOOD_DEFINITIONS.items():
            self.assertEqual(self.fleet.written(name).decode(), text)


class Zones(unittest.TestCase):
    def test_the_first_host_sets_the_zone_and_another_zone_is_refused(self):
        with fleet_of("h1") as fleet:
            self.assertEqual(fleet.redis("HGET", fleet.key("kron:cluster"), "timezone"), b"UTC")
            other = fleet.start("h2", timezone="Europe/Berlin")
            self.assertNotEqual(other.ended(), 0)
            self.assertIn("Europe/Berlin", other.log())
            self.assertEqual(fleet.redis("HGET", fleet.key("kron:cluster"), "timezone"), b"UTC")
            self.assertNotIn("h2", fleet.redis.hash(fleet.key("kron:hosts")))


class Signatures(unittest.TestCase):
    """Whoever writes :jobs runs commands on every host, unless definitions must be signed."""

    KEY = b"0123456789abcdef0123456789abcdef"

    def setUp(self):
        self.fleet = fleet_of()
        self.addCleanup(self.fleet.close)
        self.key_file = self.fleet.root / "hmac-key"
        self.key_file.write_bytes(self.KEY)
        self.key_file.chmod(0o600)

    def test_a_signed_definition_runs_and_a_change_of_it_does_not(self):
        fleet = self.fleet
        fleet.define("signed", cron=EVERY_SECOND, reload=False)
        subprocess.run([KRON, "cluster", "sign", "signed", "--redis", fleet.url(), "--namespace", fleet.namespace,
                        "--jobs-hmac-key", str(self.key_file)], check=True, capture_output=True, timeout=60)
        signed = json.loads(fleet.written("signed"))
        changed_later = {**signed, "job_args": {**signed["job_args"], "cmd": "echo changed"}}
        fleet.write("copied", json.dumps(signed))
        fleet.write("changed", json.dumps(changed_later))
        fleet.started("h1", "--jobs-hmac-key", str(self.key_file), "--require-signed")
        until(lambda: any(blob["status"] == "success" for blob in fleet.blobs().values()), "the signed job to run")
        self.assertEqual({blob["job_name"] for blob in fleet.blobs().values()}, {"signed"})

    def test_unsigned_and_changed_definitions_do_not_run(self):
        fleet = self.fleet
        krond = fleet.started("h1", "--jobs-hmac-key", str(self.key_file), "--require-signed")
        fleet.define("unsigned", cron=EVERY_SECOND)
        fleet.write("forged", json.dumps({**GOOD, "kron_sig": hmac.new(b"x", b"y", hashlib.sha256).hexdigest()}))
        fleet.reload()
        fleet.publish("add", {"job_name": "added", "job_def": GOOD})
        for name in ("unsigned", "forged"):
            until(lambda: json.loads(fleet.written(name)).get("job_state", {}).get("validation_errors"), name)
        time.sleep(2)
        self.assertEqual(fleet.blobs(), {})
        self.assertIsNone(krond.process.poll())


class Away(unittest.TestCase):
    def test_redis_may_come_after_krond(self):
        server = RedisServer().start()
        self.addCleanup(server.close)
        with fleet_of(server=server) as fleet:
            server.stop()
            krond = fleet.start("h1")
            krond.wait_for("redis_unreachable")
            time.sleep(1)
            self.assertIsNone(krond.process.poll())
            server.start()
            fleet.define("late", cron=EVERY_SECOND)
            fleet.wait_until_joined(krond)
            fleet.reload()
            fleet.wait_for_final("late")

    def test_job_files_beside_redis_are_refused(self):
        with fleet_of() as fleet:
            krond = fleet.start("h1", "--config", str(fleet.root))
            self.assertEqual(krond.ended(), 2)

    def test_never_is_loaded_and_can_be_triggered(self):
        with fleet_of("h1") as fleet:
            fleet.define("never", cron=NEVER)
            self.assertEqual(fleet.run("never")[1]["status"], "success")


if __name__ == "__main__":
    unittest.main()
