#!/usr/bin/env python3
"""kron-web.service: it starts what there is, and its sandbox is as tight as it can be.

    web_unit_test.py SOURCE_DIRECTORY
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
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

    def test_a_renewed_certificate_is_handed_over_while_it_runs(self):
        self.assertEqual(self.keys["Wants"], ["kron-web-certificate.path"])
        path = keys_of((SOURCE / "deploy/kron-web-certificate.path").read_text(encoding="utf-8"))
        self.assertEqual(set(path["PathChanged"]), {value.split(":")[1] for value in self.keys["LoadCredential"]})
        # It is there as long as the service is, and nobody enables it.
        self.assertEqual((path["BindsTo"], path["After"]), (["kron-web.service"], ["kron-web.service"]))
        hands_over = keys_of((SOURCE / "deploy/kron-web-certificate.service").read_text(encoding="utf-8"))
        self.assertTrue(hands_over["ExecStart"][0].endswith("systemctl try-restart kron-web.service"))
        for keys in (path, hands_over):
            self.assertNotIn("WantedBy", keys)

    @unittest.skipIf(shutil.which("systemd-analyze") is None, "there is no systemd-analyze")
    def test_systemd_takes_the_units_as_they_are(self):
        with tempfile.TemporaryDirectory() as directory:
            for name in ("kron-web.service", "kron-web.socket", "kron-web-certificate.path", "kron-web-certificate.service"):
                text = (SOURCE / "deploy" / name).read_text(encoding="utf-8")
                # No program needs to be installed for this.
                (Path(directory) / name).write_text(text.replace("/usr/local/bin/kron ", "/bin/true "), encoding="utf-8")
            run = subprocess.run(["systemd-analyze", "verify", "--man=no", *sorted(map(str, Path(directory).iterdir()))],
                                 check=False, capture_output=True, text=True, timeout=60,
                                 env={**os.environ, "SYSTEMD_UNIT_PATH": f"{directory}:"})
        ours = [line for line in (run.stdout + run.stderr).splitlines() if "kron-web" in line]
        self.assertEqual(ours, [], run.stderr)

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
