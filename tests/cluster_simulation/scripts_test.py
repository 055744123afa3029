"""Every script of the cluster (src/kron/cluster/scripts) on a real Redis: its answers, in the order of its checks."""

import re
import sys
import time
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/redis"))

from redis_host import RedisServer  # noqa: E402
from resp_client import RespError  # noqa: E402

SCRIPTS = ROOT / "src/kron/cluster/scripts"
# A run id as cronken makes them.
FOREIGN = "0123456789ab4def8123456789abcdef"


def key(name):
    return "{cronken}:" + name


class Scripts(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer().start()

    @classmethod
    def tearDownClass(cls):
        cls.server.close()

    def setUp(self):
        self.redis = self.server.client()
        self.redis.call("FLUSHALL")
        self.addCleanup(self.redis.close)

    def run_script(self, name, keys, arguments):
        text = re.sub(r"--include (\S+)", lambda part: (SCRIPTS / part.group(1)).read_text(encoding="utf-8"),
                      (SCRIPTS / f"{name}.lua").read_text(encoding="utf-8"))
        return self.redis.call("EVAL", text, str(len(keys)), *keys, *[str(a) for a in arguments])

    def now(self):
        return int(self.redis.call("TIME")[0])

    def make(self, first_seen=None, field="job"):
        # A second may begin between the question and the script, and on a busy machine more than one.
        seen = self.now() + 60 if first_seen is None else first_seen
        return self.run_script("make", [key("kron:state"), key("kron:fence")], [field, ',"V":0}', seen])

    def step(self, run="", revision="", *, chosen="", until="", missed="", paused="job", lock=None, closing=0,
             foreign="", outcomes=(), field="job", owner="me", task=None, hold=0):
        keys = [key(k) for k in ("kron:state", "rundata", "rundata:active", "kron:claims", "kron:fence",
                                 "kron:outcomes", "jobs:paused")]
        keys += [key("locks:" + lock)] if lock else []
        keys += [key("results:job:success"), key("results:job:fail")] if foreign != "" else []
        keys += [key("results:success"), key("results:job:success")] if task else []
        arguments = [field, owner, revision, ',"V":1}', chosen, until, missed, paused, 1 if lock else 0, 10000,
                     closing, foreign, 1000, 9 if task else 0, hold, 100, 100, key("kron:q:"), 60, 1 if run else 0]
        arguments += [run, '{"start_time":"', '"}'] if run else []
        arguments += [task, "MAIL", "null", 0, "", 5, "10 3600", "", ""] if task else []
        return self.run_script("step", keys, arguments + list(outcomes))

    def end(self, run, start="0", *, lock=None, hold=0, older="", lines=(), there=0, kind="zset", caps=(3, 3)):
        keys = [key(k) for k in ("rundata", "rundata:active", "kron:claims", "kron:fence", "kron:outcomes",
                                 "results:fail", "results:job:fail", "rundata:output:" + run)]
        keys += [key("locks:" + lock)] if lock else []
        return self.run_script("end", keys, [run, start, '{"d":', "}", *caps, run, hold, older, "", 1000, 86400, kind,
                                             there, *lines])

    def restore(self, field, above, expect, expected="", move_to=""):
        return self.run_script("restore", [key("kron:state"), key("kron:fence")],
                               [field, ',"V":9}', above, expect, expected, move_to])

    def test_a_record_is_made_once_and_counts_from_a_second_to_come(self):
        self.assertEqual(self.make(self.now())[0], "early")
        made = self.make()
        self.assertEqual(made[0], "made")
        self.assertLess(abs(int(made[4]) / 1e6 - self.now()), 60)
        self.assertEqual(self.make()[0], "there")

    def test_no_revision_of_a_record_comes_again_when_it_is_made_anew(self):
        seen = [int(self.make()[4])]
        for _ in range(3):
            seen.append(int(self.step("", str(seen[-1]))[4]))
            self.redis.call("DEL", key("kron:state"))
            seen.append(int(self.make()[4]))
            self.redis.call("DEL", key("kron:state"))
            seen.append(int(self.restore("job", seen[-1], "absent")[4]))
        self.assertEqual(seen, sorted(set(seen)))

    def test_a_step_is_refused_for_one_reason_after_the_other(self):
        revision = self.make()[4]
        self.assertEqual(self.step("r", "1")[0], "newer")
        self.assertEqual(self.step("r", "1", field="other")[0], "gone")
        self.redis.call("HSET", key("kron:state"), "bad", "rubbish")
        self.assertEqual(self.step("r", "1", field="bad")[0], "corrupt")
        self.assertEqual(self.step("r", revision, chosen=self.now() + 60)[0], "early")
        self.assertEqual(self.step("", revision, missed=self.now() + 60)[0], "early")
        self.assertEqual(self.step("r", revision, until=self.now() - 1)[0], "late")
        self.redis.call("SADD", key("jobs:paused"), "job")
        self.assertEqual(self.step("r", revision)[0], "paused")
        self.assertEqual(self.step("", revision, outcomes=["o"])[0], "paused")
        self.assertEqual(self.redis.call("XLEN", key("kron:outcomes")), 0)
        self.redis.call("DEL", key("jobs:paused"))
        self.redis.call("HSET", key("rundata"), "r", "{}")
        self.assertEqual(self.step("r", revision)[0], "known")

    def test_a_step_is_taken_once_and_repeated_it_says_so(self):
        revision = self.make()[4]
        taken = self.step("r", revision, lock="L", outcomes=["o"])
        self.assertEqual(taken[0], "ok")
        self.assertGreater(int(taken[4]), int(revision))
        again = self.step("r", revision, lock="L")
        self.assertEqual((again[0], again[5:]), ("again", taken[5:]))
        self.assertEqual(self.step("r", taken[4], lock="L", owner="other")[0], "known")
        held = self.step("r2", taken[4], lock="L")
        self.assertEqual(held[:1] + held[4:5], ["held", "r"])
        self.assertEqual(self.redis.call("XLEN", key("kron:outcomes")), 1)

    def test_a_run_that_submits_a_task_is_over_when_it_is_granted(self):
        revision = self.make()[4]
        taken = self.step("r", revision, lock="L", outcomes=["o"], task="t1")
        self.assertEqual((taken[0], taken[7]), ("ok", "accepted"))
        self.assertEqual(self.redis.call("ZCARD", key("rundata:active")), 0)
        self.assertEqual(self.redis.call("HLEN", key("kron:claims")), 0)
        self.assertIsNone(self.redis.call("GET", key("locks:L")))
        self.assertEqual(self.redis.call("ZRANGE", key("results:job:success"), "0", "-1"), ["r"])
        self.assertEqual(self.redis.call("HGET", key("kron:q:t:t1"), "s"), "P")
        self.assertEqual(self.step("r", revision, lock="L", task="t1")[0], "newer")
        again = self.step("r2", taken[4], lock="L", task="t1", hold=60000)
        self.assertEqual((again[0], again[7]), ("ok", "already_known"))
        self.assertEqual(self.redis.call("GET", key("locks:L")), "closing:r2")

    def test_a_key_of_another_type_is_told_of_before_anything_is_written(self):
        revision = self.make()[4]
        self.redis.call("SET", key("kron:q:ready:MAIL"), "rubbish")
        with self.assertRaises(RespError) as refused:
            self.step("r", revision, task="t1")
        self.assertIn("WRONGKEY", str(refused.exception))
        self.assertEqual(self.redis.call("EXISTS", key("rundata"), key("kron:fence"), key("kron:q:t:t1")), 0)
        self.redis.call("DEL", key("kron:q:ready:MAIL"))
        self.assertEqual(self.step("r", revision, task="t1")[0], "ok")

    def test_a_trigger_neither_compares_nor_writes_the_record(self):
        revision = self.make()[4]
        self.assertEqual(self.step("t", paused="")[0], "ok")
        self.assertEqual(self.step("t2", revision)[0], "ok")

    def test_a_closing_lock_stops_only_triggers_without_a_name(self):
        revision = self.make()[4]
        start = self.step("r", revision, lock="L")
        self.assertEqual(self.end("r", start[6], lock="L", hold=60000)[0], "ended")
        self.assertEqual(self.redis.call("GET", key("locks:L")), "closing:r")
        self.assertEqual(self.step("t", lock="L", closing=1, paused="")[0], "held")
        self.assertEqual(self.step("r2", start[4], lock="L")[0], "ok")
        self.assertEqual(self.end("r2", lock="L")[0], "ended")
        self.assertIsNone(self.redis.call("GET", key("locks:L")))
        self.assertEqual(self.end("r2", lock="L")[0], "over")

    def test_a_run_of_cronken_since_the_chosen_time_is_the_periods_own(self):
        revision = self.make()[4]
        now = self.now()
        self.redis.call("HSET", key("rundata"), FOREIGN, '{"start_time":"%d.5"}' % now)
        self.redis.call("ZADD", key("results:job:success"), str(now), FOREIGN)
        self.assertEqual(self.step("f", revision, foreign=now - 0.5)[0], "known")
        self.assertEqual(self.step("f", revision, foreign=now + 60.5)[0], "ok")

    def test_lines_that_repeat_or_look_numbered_get_their_number(self):
        self.make()
        self.step("r", paused="")
        self.end("r", lines=["a", "a", "a\0" + "2", ""])
        self.assertEqual(self.redis.call("ZRANGE", key("rundata:output:r"), "0", "-1"),
                         ["a", "a\0" + "2", "a\0" + "2\0" + "3", ""])

    def test_lines_that_arrive_again_are_skipped_and_lines_that_vanished_are_noticed(self):
        for kind, read in (("zset", "ZRANGE"), ("list", "LRANGE")):
            def push(there, *lines, to=kind):
                return self.run_script("push", [key("rundata:output:" + to)], [there, 100, to, *lines])
            self.assertEqual(push(0, "x", "y")[4], "2")
            self.assertEqual(push(0, "x", "y")[4], "2")
            self.assertEqual(push(1, "y", "z")[4], "3")
            self.assertEqual(self.redis.call(read, key("rundata:output:" + kind), "0", "-1"), ["x", "y", "z"])
            self.assertEqual(push(9, "x")[0::4], ["gap", "3"])

    def test_results_are_capped_and_the_rundata_goes_with_the_jobs(self):
        revision = self.make()[4]
        for i in range(6):
            start = self.step(f"c{i}", revision)
            revision = start[4]
            self.end(f"c{i}", start[6])
        self.assertEqual(self.redis.call("ZCARD", key("results:fail")), 3)
        self.assertEqual(self.redis.call("ZRANGE", key("results:job:fail"), "0", "-1"), ["c3", "c4", "c5"])
        self.assertEqual(self.redis.call("HEXISTS", key("rundata"), "c1"), 0)

    def test_keep_renews_what_is_ours_and_resurrects_nothing(self):
        self.make()
        self.step("r", lock="L", paused="")
        kept = self.run_script("keep", [key("rundata:active"), key("kron:fence"), key("locks:L"), key("locks:M")],
                               [2, "r", "gone", "r", 5000, "other", 5000])
        self.assertEqual(kept[:1] + kept[4:], ["kept", ["gone"], ["other"]])

    def test_the_reaper_sees_old_runs_and_ends_only_those(self):
        self.make()
        self.step("r", paused="")
        self.assertEqual(self.end("r", older=45)[0], "alive")
        self.redis.call("ZADD", key("rundata:active"), "5", "r", "5", "without-data")
        stale = self.run_script("stale_runs", [key("rundata"), key("rundata:active"), key("instances"),
                                               key("kron:fence")], [45, 10])
        self.assertEqual((stale[0], stale[4], len(stale)), ("stale", "r", 6))
        self.assertEqual(self.redis.call("ZRANGE", key("rundata:active"), "0", "-1"), ["r"])
        self.assertEqual(self.end("r", older=45)[0], "ended")
        self.redis.call("HSET", key("kron:claims"), "dead", "me 1 2")
        swept = self.run_script("sweep", [key("kron:claims"), key("rundata:active")], [0, 100])
        self.assertEqual(swept[4:], ["0", "1"])

    def test_the_fence_is_raised_when_writes_were_lost(self):
        def raise_(seen):
            return self.run_script("raise", [key("kron:fence"), key("kron:outcomes")], [seen, 1000000, 100, "lost"])
        self.redis.call("SET", key("kron:fence"), "40")
        self.assertEqual(raise_(40)[0], "ok")
        lost = raise_(47)
        self.assertEqual((lost[0], lost[4]), ("lost", "40"))
        self.assertEqual(lost[3], lost[1] + lost[2].rjust(6, "0"), "the microsecond of now")
        self.assertEqual(raise_(47)[0], "ok")
        self.assertEqual(self.redis.call("XLEN", key("kron:outcomes")), 1)
        ahead = int(lost[3]) + 10**12
        self.assertEqual(raise_(ahead)[3], str(ahead + 1000000))

    def test_a_record_is_put_back_only_where_it_is_as_expected(self):
        first = self.restore("job", 0, "absent")
        self.assertEqual(first[0], "done")
        self.assertEqual(self.restore("job", 0, "absent")[0], "newer")
        above = int(first[4]) + 10**12
        self.assertEqual(self.restore("job", above, "revision", first[4])[4], str(above + 1))
        self.assertEqual(self.restore("job", 0, "revision", first[4])[0], "newer")
        self.assertEqual(self.restore("none", 0, "revision", "5")[0], "gone")
        self.redis.call("HSET", key("kron:state"), "bad", "rubbish")
        self.assertEqual(self.restore("bad", 0, "absent")[0], "corrupt")
        self.assertEqual(self.restore("bad", 0, "text", "rubbish", "corrupt\nbad")[0], "done")
        self.assertEqual(self.redis.call("HGET", key("kron:state"), "corrupt\nbad"), "rubbish")

    def test_a_definition_changes_with_the_paused_set(self):
        def define(read, wanted, paused):
            return self.run_script("define", [key("jobs"), key("jobs:paused")], ["job", read, wanted, paused])[0]
        self.assertEqual(define("a", "b", "1"), "gone")
        self.redis.call("HSET", key("jobs"), "job", "a")
        self.assertEqual(define("x", "y", "1"), "changed")
        self.assertEqual(define("a", "b", "1"), "ok")
        self.assertEqual(self.redis.call("SISMEMBER", key("jobs:paused"), "job"), 1)
        self.assertEqual(define("a", "b", ""), "same")
        self.assertEqual(define("a", "b", "0"), "same")
        self.assertEqual(self.redis.call("SISMEMBER", key("jobs:paused"), "job"), 0)

    def test_hosts_of_one_name_are_told_apart(self):
        def join(owner, instance="", free_after=45):
            return self.run_script("join", [key("kron:hosts"), key("instances")],
                                   ["h", owner, instance, free_after, '{"owner":"%s","beat":' % owner, "}", "m"])[4]

        def leave(owner, instance):
            return self.run_script("leave", [key("kron:hosts"), key("instances")], ["h", owner, instance, "m"])[0]
        self.assertEqual([join(o) for o in "abcb"], ["h", "h#2", "h#3", "h#2"])
        self.assertEqual(leave("x", "h"), "not_ours")
        self.assertEqual(leave("a", "h"), "left")
        self.assertEqual([join("b"), join("b", "h#2"), join("d")], ["h#2", "h#2", "h"])
        time.sleep(2.1)
        self.assertEqual(join("e", free_after=1), "h")
        self.assertEqual([leave("e", "h"), leave("b", "h#2")], ["left", "left"])
        self.assertEqual(self.redis.call("ZCARD", key("instances")), 1)
        self.assertEqual(leave("c", "h#3"), "left")
        self.assertEqual(self.redis.call("ZCARD", key("instances")), 0)

    def test_a_run_is_asserted_unless_it_is_over_or_its_lock_taken(self):
        def assert_(blob):
            return self.run_script("assert", [key("rundata"), key("rundata:active"), key("kron:claims"),
                                              key("kron:fence"), key("locks:L")], ["r", "me", 5, "1.5", blob, 1000])[0]
        self.assertEqual([assert_("B"), assert_("B"), assert_("C")], ["ok", "ok", "over"])
        self.redis.call("SET", key("locks:L"), "other")
        self.assertEqual(assert_("B"), "taken")

    def test_short_of_memory_no_step_happens_and_runs_end(self):
        revision = self.make()[4]
        start = self.step("r", revision, lock="L")
        before = sorted(self.redis.call("KEYS", "*"))
        self.redis.call("CONFIG", "SET", "maxmemory", "100kb")
        self.addCleanup(self.server.cli, "CONFIG", "SET", "maxmemory", "0")
        for step in (dict(run="x", revision=start[4]), dict(run="x", revision=start[4], lock="M"),
                     dict(revision=start[4]), dict(run="t", paused="")):
            with self.assertRaisesRegex(RespError, "OOM"):
                self.step(**step)
        self.assertEqual(sorted(self.redis.call("KEYS", "*")), before)
        self.assertEqual(self.end("r", start[6], lock="L", lines=["last"])[0], "ended")


if __name__ == "__main__":
    unittest.main()
