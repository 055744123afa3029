"""The stream of events: ids that only grow, going on where one was, and readers that do not read."""

import resource
import time
import unittest

from api_client import UnixConnection
from api_host import SCALE, OnApiHost, memory_of, until

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
