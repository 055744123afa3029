"""What the tests of the demonstrations share.

    demo_…_test.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""

import os
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


class DemoCase(unittest.TestCase):
    script = ""  # below scripts
    environment = {}
    half_way = ""  # how a line begins that it shows when much is going on

    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.temporary = directory.name

    def start(self):
        environment = {**os.environ, "TMPDIR": self.temporary, "KRON_DEMO_PAUSE": "0", **self.environment}
        return subprocess.Popen([SOURCE / "scripts" / self.script, BUILD], env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def assert_nothing_is_left(self):
        deadline = time.monotonic() + 30
        while processes_with(self.temporary) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(processes_with(self.temporary), [])
        self.assertEqual(os.listdir(self.temporary), [])

    def assert_an_interrupt_leaves_nothing(self):
        with self.start() as demo:
            for line in demo.stdout:
                if line.startswith(self.half_way):
                    break
            demo.send_signal(signal.SIGINT)
            demo.communicate(timeout=60)
        self.assertEqual(demo.returncode, 130)
        self.assert_nothing_is_left()
