"""scripts/demo-cluster, which `make run-cluster` shows: it comes to its end, shows what it promises, and leaves nothing.

    demo_cluster_test.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""

import re
import sys
import unittest

from demo_case import DemoCase


class ClusterDemo(DemoCase):
    script = "demo-cluster"
    half_way = "added tick"
    environment = {"ASAN_OPTIONS": "detect_leaks=0"}

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
        self.assert_an_interrupt_leaves_nothing()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
