#!/usr/bin/env python3
"""Where scripts/kube-assets finds a server; that it can build one is shown by those tests that use it.

    assets_test.py SOURCE_DIRECTORY
"""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path


class Assets(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.place = Path(directory.name)

    def put(self, name):
        directory = self.place / name
        directory.mkdir(parents=True)
        for program in ("etcd", "kube-apiserver"):
            (directory / program).touch(0o755)
        return str(directory)

    def find(self, *arguments, **variables):
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.place / "home"), **variables}
        return subprocess.run([SCRIPT, *(arguments or ["--find"])], env=environment, capture_output=True, text=True)

    def test_none(self):
        found = self.find()
        self.assertEqual((found.returncode, found.stdout), (1, ""))

    def test_what_was_built_before(self):
        built = self.put("home/.cache/kron/kube-assets/1.20.2")
        self.assertEqual(self.find().stdout.strip(), built)
        self.assertEqual(self.find(KUBEBUILDER_ASSETS="/nowhere").stdout.strip(), built)

    def test_others_come_first(self):
        self.put("home/.cache/kron/kube-assets/1.20.2")
        other = self.put("other")
        self.assertEqual(self.find(KUBEBUILDER_ASSETS=other).stdout.strip(), other)
        cached = self.put("cache/1.20.2")
        self.assertEqual(self.find(KRON_KUBE_CACHE=str(self.place / "cache")).stdout.strip(), cached)

    def test_half_a_server_is_none(self):
        Path(self.put("half"), "etcd").unlink()
        self.assertEqual(self.find(KUBEBUILDER_ASSETS=str(self.place / "half")).returncode, 1)

    def test_an_unknown_argument(self):
        self.assertEqual(self.find("--fnid").returncode, 2)


if __name__ == "__main__":
    SCRIPT = Path(sys.argv.pop(1)) / "scripts/kube-assets"
    unittest.main()
