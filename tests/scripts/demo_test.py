"""scripts/demo, which `make run` shows: it comes to its end, shows what it promises, and leaves nothing behind.

    demo_test.py SOURCE_DIRECTORY BUILD_DIRECTORY
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


class Demo(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.temporary = directory.name

    def start(self):
        environment = {**os.environ, "TMPDIR": self.temporary, "KRON_DEMO_PAUSE": "0"}
        return subprocess.Popen([SOURCE / "scripts/demo", BUILD], env=environment, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)

    def assert_nothing_is_left(self):
        deadline = time.monotonic() + 30
        while processes_with(self.temporary) and time.monotonic() < deadline:
            time.sleep(0.1)
        self.assertEqual(processes_with(self.temporary), [])
        self.assertEqual(os.listdir(self.temporary), [])

    def test_it_shows_what_it_promises_and_leaves_only_the_page(self):
        page = BUILD / "load.html"
        page.unlink(missing_ok=True)
        with self.start() as demo:
            shown = demo.communicate(timeout=240)[0]
        self.assertEqual(demo.returncode, 0, shown)
        for words in ("peak           200        11", "accepted invoice-42", "already_known invoice-42",
                      "attempt 1\nattempt 2\nreceipt\n", "state       SUCCEEDED", ", ready", str(page)):
            self.assertIn(words, shown)
        billing = shown[shown.index("$ kron runs --job billing"):shown.index("# 5.")]
        self.assertEqual(billing.count("exit 0"), 1, billing)
        self.assertIn("$ wc -l < charged\n1\n", billing)
        heartbeat = shown[shown.index("$ kron runs --job heartbeat"):shown.index("# 6.")]
        self.assertRegex(heartbeat, "missed|passed over")
        self.assertIn("</html>", page.read_text())
        self.assert_nothing_is_left()

    def test_an_interrupt_leaves_nothing(self):
        with self.start() as demo:
            for line in demo.stdout:
                if line.startswith("$ kill -9"):
                    break
            demo.send_signal(signal.SIGINT)
            demo.communicate(timeout=60)
        self.assertEqual(demo.returncode, 130)
        self.assert_nothing_is_left()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
