"""scripts/demo, which `make run` shows: it comes to its end, shows what it promises, and leaves nothing behind.

    demo_test.py SOURCE_DIRECTORY BUILD_DIRECTORY
"""

import sys
import unittest

from demo_case import BUILD, DemoCase


class Demo(DemoCase):
    script = "demo"
    half_way = "$ kill -9"

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
        self.assert_an_interrupt_leaves_nothing()


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
