"""Many connections that ask all the time while jobs start: no errors, jobs start in time, memory stays. With
KRON_TEST_SCALE=20: 200 connections for 30 s on 10,000 jobs, 100 runs a second. (bench/ measures; this asserts.)"""

import asyncio
import sys
import time
import unittest
from datetime import datetime, timezone

from api_host import IS_FULL, NEVER, ApiHost, memory_of
from krond_host import EVERY_SECOND, PATIENT, SANITIZERS_KEEP_LITTLE, until

CONNECTIONS = 200 if IS_FULL else 40
SECONDS = 30 if IS_FULL else 4
JOBS = 10_000 if IS_FULL else 1_000
RUNS = 100 if IS_FULL else 5  # a second
ANSWERS = 10  # that each connection gets at least, however slow the machine is
REQUEST = b"GET /api/v1/jobs?limit=100 HTTP/1.1\r\nHost: localhost\r\n\r\n"


async def ask(path, deadline, statuses, waits):
    """One connection that asks until it is time, and has had its answers; `waits` is how long each of them took."""
    reader, writer = await asyncio.open_unix_connection(str(path), limit=1 << 22)
    answers = 0
    try:
        while time.monotonic() < deadline or answers < ANSWERS:
            asked = time.monotonic()
            writer.write(REQUEST)
            head = await reader.readuntil(b"\r\n\r\n")
            fields = dict(line.lower().split(b": ", 1) for line in head.split(b"\r\n")[1:] if line)
            await reader.readexactly(int(fields[b"content-length"]))
            statuses.append(int(head[9:12]))
            waits.append(time.monotonic() - asked)
            answers += 1
    finally:
        writer.close()


def worst_of(values):
    """All but one in a hundred are less."""
    return sorted(values)[len(values) * 99 // 100]


def lateness_of(event):
    started = datetime.strptime(event["ts"], "%Y-%m-%dT%H:%M:%S.%fZ").replace(tzinfo=timezone.utc)
    chosen = datetime.strptime(event["chosenTime"], "%Y-%m-%dT%H:%M:%SZ").replace(tzinfo=timezone.utc)
    return (started - chosen).total_seconds()


class Load(unittest.TestCase):
    def setUp(self):
        self.host = ApiHost()
        self.addCleanup(self.host.close)
        quiet = [{"name": f"quiet-{number}", "schedule": NEVER, "command": "true"} for number in range(JOBS)]
        # With a deadline, because a machine that is busy with other things may let krond wait for more than a second.
        busy = [{"name": f"busy-{number}", "schedule": EVERY_SECOND, "command": "true", "policy": PATIENT}
                for number in range(RUNS)]
        self.host.write_jobs(*quiet, *busy)
        self.krond, self.api = self.host.serve(environment=SANITIZERS_KEEP_LITTLE)

    def test_many_readers_hold_up_no_job_and_cost_no_memory(self):
        statuses, waits = [], []

        async def all_at_once(seconds):
            deadline = time.monotonic() + seconds
            await asyncio.gather(*(ask(self.host.socket, deadline, statuses, waits) for _ in range(CONNECTIONS)))

        asyncio.run(all_at_once(SECONDS / 4))
        warm = memory_of(self.krond.pid)
        first = len(self.krond.all("run_started"))
        asyncio.run(all_at_once(SECONDS))
        self.assertEqual(set(statuses), {200})
        self.assertGreaterEqual(len(statuses), 2 * ANSWERS * CONNECTIONS)
        late = [lateness_of(event) for event in self.krond.all("run_started")[first:]]
        self.assertGreater(len(late), RUNS * (SECONDS - 3))
        # Jobs come first: a reader waits for the readers before it, a job for none of them. Both wait for the machine.
        self.assertLess(worst_of(late), max(2.0, 5 * worst_of(waits)))
        self.assertEqual(self.krond.all("period_ended", outcome="missed"), [])
        # Not at once: a sanitizer forgets what it remembers of memory every half second, and only when it gets to it.
        until(lambda: memory_of(self.krond.pid) - warm < 16 << 20, "memory that is given back")
        print(f"{len(statuses)} requests, {worst_of(waits) * 1000:.0f} ms; {len(late)} runs, "
              f"{worst_of(late) * 1000:.0f} ms late; {(memory_of(self.krond.pid) - warm) >> 10} KiB more",
              file=sys.stderr)


if __name__ == "__main__":
    unittest.main()
