#!/usr/bin/env python3
"""What `--version` tells: the one number of CMakeLists.txt, and of a commit that is no release which one it is.

    version_test.py SOURCE_DIRECTORY CMAKE
"""

import os
import re
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE, CMAKE = Path(sys.argv.pop(1)), sys.argv.pop(1)


class Version(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory(prefix="kron-version-")
        self.addCleanup(place.cleanup)
        self.tree = Path(place.name) / "tree"
        self.tree.mkdir()
        self.output = Path(place.name) / "version.cc"

    def git(self, *words, tree=None):
        who = {"GIT_CONFIG_GLOBAL": "/dev/null", "GIT_CONFIG_SYSTEM": "/dev/null", "GIT_AUTHOR_NAME": "a", "GIT_COMMITTER_NAME": "a",
               "GIT_AUTHOR_EMAIL": "a@example.org", "GIT_COMMITTER_EMAIL": "a@example.org"}
        return subprocess.run(["git", "-C", tree or self.tree, *words], check=True, capture_output=True, text=True,
                              env={**os.environ, **who}).stdout.strip()

    def commit(self, text):
        (self.tree / "file").write_text(text, encoding="utf-8")
        self.git("add", "file")
        self.git("commit", "--message", text)

    def told(self, tree=None, path=None):
        environment = dict(os.environ) if path is None else {**os.environ, "PATH": path}
        subprocess.run([CMAKE, f"-DSOURCE={tree or self.tree}", "-DVERSION=1.2.3", f"-DOUTPUT={self.output}", "-P",
                        SOURCE / "apps/version/version.cmake"], check=True, capture_output=True, env=environment)
        return re.search(r'return "(.*)";', self.output.read_text(encoding="utf-8"))[1]

    def test_a_tarball_tells_its_number_wherever_it_lies(self):
        self.assertEqual(self.told(), "1.2.3")
        self.git("init")
        self.commit("of another project")
        inside = self.tree / "kron-1.2.3"
        inside.mkdir()
        self.assertEqual(self.told(inside), "1.2.3")

    def test_a_release_tells_its_number_and_what_follows_its_commit(self):
        self.git("init")
        self.assertEqual(self.told(), "1.2.3", "no commit yet")
        self.commit("one")
        first = self.git("describe", "--always")
        self.assertEqual(self.told(), f"1.2.3 ({first})")
        self.git("tag", "v1.2.3")
        self.assertEqual(self.told(), "1.2.3")
        self.commit("two")
        self.assertRegex(self.told(), r"^1\.2\.3 \(v1\.2\.3-1-g[0-9a-f]+\)$")
        (self.tree / "file").write_text("three", encoding="utf-8")
        self.assertRegex(self.told(), r"-dirty\)$")

    def test_what_has_not_changed_is_not_written(self):
        self.git("init")
        self.commit("one")
        self.told()
        os.utime(self.output, (1, 1))
        self.told()
        self.assertEqual(self.output.stat().st_mtime, 1)
        self.commit("two")
        self.told()
        self.assertNotEqual(self.output.stat().st_mtime, 1)

    def test_nothing_else_knows_the_commit(self):
        found = subprocess.run(["grep", "--recursive", "--files-with-matches", "told_version", SOURCE / "apps", SOURCE / "src"],
                               check=True, capture_output=True, text=True).stdout.split()
        self.assertEqual({str(Path(path).relative_to(SOURCE)) for path in found},
                         {"apps/version/version.h", "apps/version/version.cmake", "apps/kron/command.cc", "apps/krond/main.cc",
                          "apps/kron-operator/main.cc"})


if __name__ == "__main__":
    unittest.main()
