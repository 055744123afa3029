"""Many runs leave krond as they found it: its descriptors, memory, threads and processes."""

import json
import os
import sys
import unittest
from pathlib import Path

from krond_host import EVERY_SECOND, IS_FULL, PATIENCE, SANITIZERS_KEEP_LITTLE, SCALE, Host, until

RUNS = 100_000 if IS_FULL else 400 * SCALE
JOBS = 200 if IS_FULL else 40
# Caches fill, and memory that was freed is not given back at once.
MEMORY_MAY_GROW = 8 << 20


def serves(pid):
    """Whether this is the one kron-exec that stays, to fork itself for each run."""
    try:
        return b"--serve" in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
    except OSError:
        return False


def facts(krond):
    """What the kernel knows of the process."""
    with open(f"/proc/{krond.pid}/status", encoding="utf-8") as file:
        status = dict(line.split(":", 1) for line in file)
    with open(f"/proc/{krond.pid}/task/{krond.pid}/children", encoding="utf-8") as file:
        children = sum(not serves(pid) for pid in file.read().split())
    return {"descriptors": len(os.listdir(f"/proc/{krond.pid}/fd")), "threads": int(status["Threads"]),
            "memory": int(status["VmRSS"].split()[0]) * 1024, "children": children}


class Flat(unittest.TestCase):
    def test_many_runs_leave_nothing_behind(self):
        with Host() as host:
            tally = host.root / "tally"
            tally.touch()
            job = {"schedule": EVERY_SECOND, "shell": True, "command": f"printf x >> {tally}; echo said",
                   "policy": {"deadline": "5s"}}
            host.write_jobs(*[{**job, "name": f"job-{i}"} for i in range(JOBS)])
            krond = host.start("--log-level", "warning", environment=SANITIZERS_KEEP_LITTLE)

            def settle(runs):
                """So many runs later, the least of each over some moments: threads come and go with a write."""
                until(lambda: tally.stat().st_size >= runs, f"{runs} runs", patience=PATIENCE + runs / 20)
                quiet = []

                def look():
                    quiet.extend(found for found in [facts(krond)] if found["children"] == 0)
                    return len(quiet) >= 20

                until(look, "quiet moments")
                return {name: min(found[name] for found in quiet) for name in quiet[0]}

            before = settle(RUNS // 10)
            after = settle(RUNS)
            print(json.dumps({"runs": tally.stat().st_size, "before": before, "after": after}), file=sys.stderr)
            self.assertLessEqual(after["descriptors"], before["descriptors"] + 2)
            self.assertLessEqual(after["threads"], before["threads"])
            self.assertLess(after["memory"], before["memory"] + MEMORY_MAY_GROW)
            self.assertEqual(krond.stop(), 0)


if __name__ == "__main__":
    unittest.main()
