#!/usr/bin/env python3
"""The packages once more: built at another place and from nothing they are the same bytes (make reproducible, and
KRON_TEST_SCALE of 20 and more, for it takes as long as the first time without a cache), and piuparts installs and purges them in a Debian without anything else.

    again_test.py SOURCE_DIRECTORY
"""

import hashlib
import os
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import machine


REPRODUCIBLE = machine.SCALE >= 20 or os.environ.get("KRON_DEB_REPRODUCIBLE") == "1"


class Again(unittest.TestCase):
    @unittest.skipUnless(REPRODUCIBLE, "a second build is for make reproducible, and for KRON_TEST_SCALE=20")
    def test_another_place_gives_the_same_bytes(self):
        directory = SOURCE / "build/deb"
        with tempfile.TemporaryDirectory(prefix="kron-again-", dir="/var/tmp") as work:
            subprocess.run(["nice", SOURCE / "scripts/deb", Path(work) / "result"], check=True, stdout=subprocess.DEVNULL,
                           env={**os.environ, "KRON_DEB_PLACE": f"{work}/another/place", "KRON_DEB_CCACHE": "",
                                "SOURCE_DATE_EPOCH": (directory / ".epoch").read_text().strip()})
            packages = sorted(directory.glob("*.deb"))
            self.assertGreaterEqual(len(packages), len(PACKAGES))
            for package in packages:
                other = Path(work) / "result" / package.name
                self.assertEqual(hashlib.sha256(package.read_bytes()).hexdigest(), hashlib.sha256(other.read_bytes()).hexdigest(),
                                 package.name)

    @unittest.skipUnless(machine.REQUIRED, "make test-deb runs piuparts, which asks a mirror")
    def test_piuparts(self):
        tools = machine.root_of(SOURCE, "build")
        base = machine.root_of(SOURCE, "machine", *machine.libraries_of(*[PACKAGES[name] for name in ("kron", "krond", "kron-operator")]))
        with tempfile.TemporaryDirectory(prefix="kron-piuparts-", dir="/var/tmp") as work:
            packages = [Path("/work") / PACKAGES[name].name for name in ("kron", "krond", "kron-operator")]
            for name in ("kron", "krond", "kron-operator"):
                subprocess.run(["cp", PACKAGES[name], work], check=True)
            with open(Path(work) / "base.tar.gz", "wb") as packed:
                subprocess.run(["gzip", "-1", "--stdout", base], check=True, stdout=packed)
            ran = machine.inside(tools, {work: "/work", "/etc/resolv.conf": "/etc/resolv.conf"}, "piuparts",
                                 "--basetgz=/work/base.tar.gz", "--distribution=bookworm", "--no-eatmydata", "--tmpdir=/work",
                                 "--warn-on-usr-move=disabled", "--skip-logrotatefiles-test", *packages)
        self.assertEqual(ran.returncode, 0, ran.stdout[-4000:])
        self.assertIn("PASS: All tests.", ran.stdout)


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    if os.getuid() != 0:
        machine.skip("packages are built and tried by root")
    if not REPRODUCIBLE and not machine.REQUIRED:
        machine.skip("make test-deb runs piuparts; make reproducible builds the packages a second time")
    PACKAGES = machine.packages_of(SOURCE)
    unittest.main()
