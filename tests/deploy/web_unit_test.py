#!/usr/bin/env python3
"""kron-web.service: it starts what there is, and its sandbox is as tight as it can be.

    web_unit_test.py SOURCE_DIRECTORY
"""

import re
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

MOST_EXPOSURE = 2.0
REQUIRED = {
    "DynamicUser": "yes", "SupplementaryGroups": "krond-web", "PrivateNetwork": "yes", "NoNewPrivileges": "yes",
    "RestrictAddressFamilies": "AF_UNIX", "ProtectSystem": "strict", "MemoryDenyWriteExecute": "yes",
    "CapabilityBoundingSet": "", "LimitCORE": "0",
}


def keys_of(text):
    """Of a key that is there several times, all values."""
    keys = {}
    for key, value in re.findall(r"^([A-Za-z]+)=(.*)$", text, re.MULTILINE):
        keys.setdefault(key, []).append(value)
    return keys


class WebUnit(unittest.TestCase):
    def setUp(self):
        self.service = SOURCE / "deploy/kron-web.service"
        self.keys = keys_of(self.service.read_text(encoding="utf-8"))

    def test_it_may_connect_to_krond_and_nothing_else(self):
        for key, value in REQUIRED.items():
            self.assertEqual(self.keys.get(key), [value], key)

    def test_the_certificate_is_handed_over_and_not_read_by_name(self):
        loaded = {value.split(":")[0] for value in self.keys["LoadCredential"]}
        used = set(re.findall(r"\$\{CREDENTIALS_DIRECTORY\}/(\S+)", self.keys["ExecStart"][0]))
        self.assertEqual(used, loaded)

    def test_nobody_enables_it_by_installing_it(self):
        self.assertNotIn("WantedBy", self.keys)
        self.assertEqual(self.keys["Requires"], ["kron-web.socket"])

    def test_its_flags_are_those_of_kron_web(self):
        flags = (SOURCE / "apps/kron/operate_flags.cc").read_text(encoding="utf-8")
        for flag in re.findall(r"--[a-z-]+", self.keys["ExecStart"][0]):
            self.assertIn(f'"{flag}"', flags)

    @unittest.skipIf(shutil.which("systemd-analyze") is None, "there is no systemd-analyze")
    def test_the_exposure_that_systemd_sees(self):
        run = subprocess.run(["systemd-analyze", "security", "--offline=yes", "--no-pager", str(self.service)],
                             check=False, capture_output=True, text=True, timeout=60)
        found = re.search(r"Overall exposure level for kron-web\.service: ([0-9.]+)", run.stdout)
        if found is None:
            self.skipTest(f"this systemd-analyze cannot: {run.stderr}")
        self.assertLessEqual(float(found[1]), MOST_EXPOSURE)


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
