"""The stream of events: ids that only grow, going on where one was, and readers that do not read."""

import json
import resource
import select
import time
import unittest

from api_client import UnixConnection
from api_host import PATIENCE, SCALE, OnApiHost, memory_of, until

STREAMS = 200 if SCALE > 1 else 60


class EventStreams(OnApiHost):
    def test_ids_grow_and_a_reader_goes_on_where_it_was(self):
        with self.api.events() as events:
            first = self.trigger("hello")
            start, _ = events.wait_for("run_started", runId=first)
            end, _ = events.wait_for("run_ended", runId=first)
        self.assertGreater(int(end), int(start))
        second = self.trigger("hello")
        with self.api.events(after=start) as events:
            seen = []
            for number, name, data in events:
                seen.append((number, name, data.get("runId")))
                if data.get("runId") == second and name == "run_ended":
                    break
        self.assertEqual(seen[0], (end, "run_ended", first))
        numbers = [int(number) for number, _, _ in seen]
        self.assertEqual(numbers, list(range(numbers[0], numbers[0] + len(numbers))))

    def test_an_id_of_an_earlier_krond_is_told_that_there_is_a_gap_or_all_there_is(self):
        self.krond.stop()
        self.krond, self.api = self.host.serve()
        with self.api.events(after=0) as events:
            run_id = self.trigger("hello")
            events.wait_for("run_ended", runId=run_id)

    def listen(self):
        listening = self.host.start_kron("events", "--format", "json")
        until(lambda: self.api.get("status")["eventStreams"] == 1, "a listener")
        return listening

    def names_up_to(self, listening, last):
        """The events that a listener prints, up to one of this name."""
        names = []
        while last not in names:
            ready, _, _ = select.select([listening.stdout], [], [], PATIENCE)
            self.assertTrue(ready, f"only {names}")
            names.append(json.loads(listening.stdout.readline())["event"])
        return names

    def test_a_listener_that_has_seen_nothing_misses_nothing_over_a_restart(self):
        listening = self.listen()
        self.krond.stop()
        self.krond, self.api = self.host.serve()
        names = self.names_up_to(listening, "daemon_started")
        self.assertEqual(names[:2], ["daemon_stopping", "daemon_ended"])
        listening.terminate()
        self.assertEqual(listening.stderr.read(), "")

    def test_a_listener_is_told_what_it_may_have_missed_when_krond_was_killed(self):
        listening = self.listen()
        self.krond.kill()
        self.krond, self.api = self.host.serve()
        self.names_up_to(listening, "daemon_started")
        listening.terminate()
        self.assertIn("krond was started again", listening.stderr.read())

    def test_a_gap_is_only_where_something_is_missing(self):
        everything = self.host.kron("events", "--after", 0, "--limit", 1)
        self.assertEqual((everything.returncode, everything.stderr), (0, ""))
        of_an_earlier_krond = self.host.kron("events", "--after", 7, "--limit", 1)
        self.assertIn("krond was started again", of_an_earlier_krond.stderr)

    def test_streams_end_when_krond_does(self):
        with self.api.events() as events:
            self.krond.stop()
            for _ in events:
                pass

    def test_readers_that_do_not_read_hold_nobody_up(self):
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(hard, max(soft, 4096)), hard))
        slow = []
        for _ in range(STREAMS):
            connection = UnixConnection(self.host.socket)
            self.addCleanup(connection.close)
            connection.request("GET", "/api/v1/events")
            slow.append(connection)
        until(lambda: self.api.get("status")["eventStreams"] == STREAMS, "all streams")
        before = memory_of(self.krond.pid)
        with self.api.events() as events:
            for _ in range(10 * SCALE):
                began = time.monotonic()
                run_id = self.api.post("jobs", "hello", "trigger")["runId"]
                events.wait_for("run_ended", runId=run_id)
                self.assertLess(time.monotonic() - began, 10)
        # At most what a stream may have waiting, for each.
        self.assertLess(memory_of(self.krond.pid) - before, STREAMS * (2 << 20))
        self.assertEqual(self.api.get("/healthz"), b"ok\n")
        for connection in slow:
            connection.close()
        until(lambda: self.api.get("status")["eventStreams"] == 0, "the streams to be gone")


if __name__ == "__main__":
    unittest.main()
