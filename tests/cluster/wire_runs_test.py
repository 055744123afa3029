"""What one run leaves in Redis, key by key, as cronken's specification has it and as cronken 0.1.20 writes it."""

import re
import unittest

from cluster_host import OnFleet, sha1, until

RUN_ID = re.compile(r"^[0-9a-f]{32}$")
STAMP = re.compile(r"^[0-9]{10,}\.[0-9]{6}$")
DAY = 86400
ALWAYS = {"job_name", "start_time", "host", "status"}
LATER = {"retcode", "output", "duration"}


class Runs(OnFleet):
    environment = {"CRONKEN_OUTPUT_CADENCE": "1"}

    def test_a_run_that_goes_on(self):
        before = self.redis.now()
        self.fleet.define("lasting", f"echo one; {self.fleet.holding()}; echo two", ttl=7)
        self.fleet.trigger("lasting")
        run_id, = self.fleet.wait_for_running("lasting")
        self.assertRegex(run_id, RUN_ID)
        blob = self.fleet.blob(run_id)
        self.assertEqual(set(blob), ALWAYS if self.dialect == "cronken" else ALWAYS | LATER)
        self.assertEqual([blob.get(name) for name in sorted(LATER)], [None] * 3)
        self.assertEqual((blob["job_name"], blob["host"], blob["status"]), ("lasting", "h1", "running"))
        self.assertRegex(blob["start_time"], STAMP)
        self.assertLessEqual(before, float(blob["start_time"]))
        self.assertLessEqual(float(blob["start_time"]), self.redis.now())

        self.assertEqual(self.redis.zset(self.key("rundata:active")),
                         [(run_id.encode(), float(blob["start_time"]))])
        lock = self.key("locks:" + sha1("lasting"))
        self.assertEqual(self.redis("GET", lock), run_id.encode())
        self.assertLessEqual(self.redis("PTTL", lock), 7000)
        self.assertGreater(self.redis("PTTL", lock), 0)
        self.assertIn(run_id, self.redis.hash(self.key("kron:claims")))

        output = self.key(f"rundata:output:{run_id}")
        until(lambda: self.redis("EXISTS", output), "its first line")
        self.assertEqual(self.redis.kind(output), "list" if self.dialect == "cronken" else "zset")

        self.fleet.hold_no_more()
        self.assertEqual(self.fleet.wait_for_final("lasting"), [run_id])
        final = self.fleet.blob(run_id)
        self.assertEqual(set(final), ALWAYS | LATER)
        self.assertEqual({name: final[name] for name in ALWAYS},
                         {name: blob[name] for name in ALWAYS} | {"status": "success"})
        self.assertEqual((final["retcode"], final["output"]), (0, "one\ntwo\n"))
        self.assertGreaterEqual(final["duration"], 0)
        self.assertLessEqual(final["duration"], self.redis.now() - before)
        self.assertNotIn(run_id, self.fleet.active())
        self.assertNotIn(run_id, self.redis.hash(self.key("kron:claims")))
        until(lambda: not self.redis("EXISTS", lock), "the release of its lock")

        finish = float(final["start_time"]) + final["duration"]
        for name in ("results:success", "results:lasting:success"):
            scores = {member.decode(): score for member, score in self.redis.zset(self.key(name))}
            self.assertAlmostEqual(scores[run_id], finish, delta=0.01)
        for name in ("results:fail", "results:lasting:fail"):
            self.assertNotIn(run_id, self.redis.ids(self.key(name)))

    def test_types_of_all_keys(self):
        self.fleet.define("typed", "echo x")
        self.fleet.run("typed")
        kinds = {"jobs": "hash", "rundata": "hash", "results:success": "zset", "results:typed:success": "zset",
                 "instances": "zset", "kron:state": "hash", "kron:fence": "string", "kron:outcomes": "stream",
                 "kron:hosts": "hash", "kron:cluster": "hash"}
        self.assertEqual({name: self.redis.kind(self.key(name)) for name in kinds}, kinds)
        strange = [key for key in self.redis("KEYS", "*") if not key.startswith(self.fleet.namespace.encode() + b":")]
        self.assertEqual(strange, [])

    def test_ends(self):
        table = {  # command: status, retcode
            "true": ("success", 0),
            "exit 3": ("fail", 3),
            "exit 255": ("fail", 255),
            "exit 143": ("fail", 143),
            "kill -9 $$": ("fail", -9),
            "kill -TERM $$": ("fail", -15),
            "no-such-command": ("fail", 127),
        }
        for number, command in enumerate(table):
            self.fleet.define(f"end-{number}", command, reload=False)
        self.fleet.reload()
        for number, (command, (status, retcode)) in enumerate(table.items()):
            with self.subTest(command):
                run_id, blob = self.fleet.run(f"end-{number}")
                self.assertEqual((blob["status"], blob["retcode"]), (status, retcode))
                self.assertEqual(self.redis.ids(self.key(f"results:end-{number}:{status}")), [run_id])
                self.assertIn(run_id, self.redis.ids(self.key(f"results:{status}")))
                other = {"success": "fail", "fail": "success"}[status]
                self.assertEqual(self.redis("EXISTS", self.key(f"results:end-{number}:{other}")), 0)

    def test_terminate_and_kill_reach_the_whole_group(self):
        for action, retcode in (("terminate_run", -15), ("kill_run", -9)):
            with self.subTest(action):
                pids = self.fleet.root / f"pids-{action}"
                self.fleet.define(action, f"sleep 300 & echo $! $$ > {pids}; wait", is_noted=False)
                self.fleet.trigger(action)
                run_id, = self.fleet.wait_for_running(action)
                until(lambda: pids.exists() and len(pids.read_text().split()) == 2, "its processes")
                self.fleet.publish(action, run_id)
                self.fleet.wait_for_final(action)
                blob = self.fleet.blob(run_id)
                self.assertEqual((blob["status"], blob["retcode"]), ("fail", retcode))
                for pid in map(int, pids.read_text().split()):
                    until(lambda: not is_alive(pid), f"the end of {pid}")

    def test_stderr_is_output_too(self):
        self.fleet.define("both", "echo out; echo err >&2")
        _, blob = self.fleet.run("both")
        self.assertEqual(blob["output"], "out\nerr\n")

    def test_the_last_ten_lines_are_in_the_blob(self):
        self.fleet.define("many", "seq 1 25")
        run_id, blob = self.fleet.run("many")
        self.assertEqual(blob["output"], "".join(f"{number}\n" for number in range(16, 26)))
        self.assertEqual(self.text(run_id), "".join(f"{number}\n" for number in range(1, 26)).encode())

    def test_no_output_at_all(self):
        self.fleet.define("silent", "true")
        run_id, blob = self.fleet.run("silent")
        self.assertEqual(blob["output"], "")
        self.assertEqual(self.redis("EXISTS", self.key(f"rundata:output:{run_id}")), 0)

    def test_output_lives_for_a_day_after_its_last_line(self):
        self.fleet.define("day", "echo x")
        run_id, _ = self.fleet.run("day")
        ttl = self.redis("TTL", self.key(f"rundata:output:{run_id}"))
        self.assertLessEqual(ttl, DAY)
        self.assertGreater(ttl, DAY - 600)

    def test_odd_lines_come_complete_and_in_order(self):
        table = {
            "repeated": (rb"a\na\nb\na\n", b"a\na\nb\na\n"),
            "empty": (rb"\n\nx\n\n", b"\n\nx\n\n"),
            "unfinished": (rb"one\ntwo", b"one\ntwo"),
            "quotes": (rb'\\"\x27/\t\x7f\x01\n', b'\\"\'/\t\x7f\x01\n'),
            "utf8": ("schön ✓ 🙂\\n".encode(), "schön ✓ 🙂\n".encode()),
            "invalid": (rb"a\xff\xfeb\n\xc3\n", b"a\xff\xfeb\n\xc3\n"),
            "nul": (rb"a\x001\na\na\n\x00\nx\x007\nx\x007\n", b"a\x001\na\na\n\x00\nx\x007\nx\x007\n"),
            "carriage": (rb"a\r\nb\rc\n", b"a\r\nb\rc\n"),
        }
        for name, (spelled, _) in table.items():
            self.fleet.define(f"odd-{name}", "printf '%b' '" + spelled.decode().replace("'", "\\x27") + "'",
                              reload=False)
        self.fleet.reload()
        for name, (_, written) in table.items():
            with self.subTest(name):
                run_id, blob = self.fleet.run(f"odd-{name}")
                self.assert_text(run_id, written)
                expected = written.decode("utf-8", errors="replace")
                self.assertEqual(normal(blob["output"]), normal(expected))

    def test_a_line_above_64_kib_comes_in_pieces(self):
        self.fleet.define("long", "head -c 200000 /dev/zero | tr '\\0' x; echo; echo end")
        run_id, _ = self.fleet.run("long")
        lines = self.fleet.lines(run_id)
        self.assertTrue(all(len(line) <= 65537 for line in lines), [len(line) for line in lines])
        self.assertEqual(b"".join(line.rstrip(b"\n") for line in lines), b"x" * 200000 + b"end")

    def test_100000_lines_come_complete_and_in_order(self):
        self.fleet.define("flood", "seq 1 50000; for i in 1 2 3 4 5; do seq 1 10000; done")
        run_id, blob = self.fleet.run("flood")
        expected = b"".join(b"%d\n" % number for number in
                            [*range(1, 50001), *(number for _ in range(5) for number in range(1, 10001))])
        self.assert_text(run_id, expected)
        self.assertEqual(blob["output"], "".join(f"{number}\n" for number in range(9991, 10001)))

    # What was written, byte for byte; a zset has no newlines, and so no way to say that the last one is missing.

    def text(self, run_id):
        lines = self.fleet.lines(run_id)
        return b"".join(lines) if self.dialect == "cronken" else b"".join(line + b"\n" for line in lines)

    def assert_text(self, run_id, written):
        text = self.text(run_id)
        if self.dialect == "seed":
            if not written.endswith(b"\n"):
                written += b"\n"
            scores = [score for _, score in self.redis.zset(self.key(f"rundata:output:{run_id}"))]
            self.assertTrue(all(a < b for a, b in zip(scores, scores[1:])), "scores grow strictly")
        if text != written:  # not assertEqual: the difference of 100,000 lines takes minutes to print
            at = next((i for i, (a, b) in enumerate(zip(text, written)) if a != b), min(len(text), len(written)))
            self.fail(f"{len(text)} bytes instead of {len(written)}; from byte {at}: "
                      f"{text[at - 20:at + 60]!r} instead of {written[at - 20:at + 60]!r}")


class RunsAsCronkenWritesThem(Runs):
    dialect = "cronken"


def normal(text):
    """A decoder may write one U+FFFD for several bad bytes or one for each; a final newline may be added."""
    return re.sub("\N{REPLACEMENT CHARACTER}+", "\N{REPLACEMENT CHARACTER}", text).rstrip("\n")


def is_alive(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="utf-8") as file:
            return file.read().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


class Caps(OnFleet):
    """cronken's own names of the options."""

    environment = {"CRONKEN_PERJOB_RESULTS_LIMIT": "3", "CRONKEN_GENERAL_RESULTS_LIMIT": "5",
                   "CRONKEN_MAX_FINALIZED_OUTPUT_LINES": "2"}

    def test_the_oldest_results_go(self):
        for name, command in (("good", "seq 1 9"), ("bad", "exit 1"), ("other", "true")):
            self.fleet.define(name, command, lock=False, reload=False)
        self.fleet.reload()
        good = [self.fleet.run("good")[0] for _ in range(5)]
        bad = [self.fleet.run("bad")[0] for _ in range(4)]
        other = [self.fleet.run("other")[0] for _ in range(3)]
        self.assertEqual(self.redis.ids(self.key("results:good:success")), good[2:])
        self.assertEqual(self.redis.ids(self.key("results:bad:fail")), bad[1:])
        self.assertEqual(self.redis.ids(self.key("results:success")), good[3:] + other)
        self.assertEqual(self.redis.ids(self.key("results:fail")), bad[1:])
        # A run that its own job's set has dropped is forgotten; one that only the general set dropped is not.
        self.assertEqual(set(self.fleet.blobs()), {*good[2:], *bad[1:], *other})
        self.assertEqual(self.fleet.blob(good[4])["output"], "8\n9\n")


class CapsAsCronkenHasThem(Caps):
    dialect = "cronken"


if __name__ == "__main__":
    unittest.main()
