"""scripts/demo-cluster, which `make run-cluster` shows: it comes to its end, shows what it promises, and leaves nothing.

    demo_cluster_test.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
import time
import unittest
from pathlib import Path

SOURCE, BUILD = (Path(argument).resolve() for argument in sys.argv[1:3])


def processes_with(text):
    """Command lines of processes that mention the text."""
    found = []
    for path in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            line = path.read_bytes().replace(b"\0", b" ").decode(errors="replace")
        except OSError:
            continue
        if text in line:
            found.append(line)
    return found


class ClusterDemo(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.temporary = directory.name

    def start(self):
        environment = {**os.environ, "TMPDIR": self.temporary, "KRON_DEMO_PAUSE": "0",
                       "ASAN_OPTIONS": "detect_leaks=0"}
        return subprocess.Popen([SOURCE / "scripts/demo-cluster", BUILD], env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def assert_nothing_is_left(self):
        deadline = time.monotonic() + 30
        while processes_with(self.temporary) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(processes_with(self.temporary), [])
        self.assertEqual(os.listdir(self.temporary), [])

    def test_it_shows_what_it_promises_and_leaves_nothing(self):
        with self.start() as demo:
            shown = demo.communicate(timeout=400)[0]
        self.assertEqual(demo.returncode, 0, shown)
        for host in ("slow", "right", "fast"):
            self.assertRegex(shown, rf"(?m)^{host} +up ")
        for words in ("added tick", "paused tick", "periods that ran more than once: 0", "signal 15"):
            self.assertIn(words, shown)
        periods, runs = re.search(r"(\d+) periods, (\d+) runs", shown).groups()
        self.assertEqual(periods, runs, shown)
        self.assertIn("runs in the next three seconds: 0", shown)
        everywhere = shown[shown.index("$ kron cluster trigger everywhere"):shown.index("# 7.")]
        self.assertEqual(everywhere.count("exit 0"), 2, everywhere)
        self.assert_nothing_is_left()

    def test_an_interrupt_leaves_nothing(self):
        with self.start() as demo:
            for line in demo.stdout:
                if line.startswith("added tick"):
                    break
            demo.send_signal(signal.SIGINT)
            demo.communicate(timeout=60)
        self.assertEqual(demo.returncode, 130)
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
