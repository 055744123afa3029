"""scripts/deps on made-up machines: it installs what is missing and upgrades nothing.

    deps_test.py SOURCE_DIRECTORY
"""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(sys.argv[1]).resolve()

# The package manager of a machine: $MISSING are not installed, and whoever installs one of $GREEDY upgrades curl.
STUBS = {
    "dpkg-query": """
        for package in "$@"; do
          case " $MISSING " in *" $package "*) ;; *) echo "installed $package" ;; esac
        done""",
    "dpkg": """
        mkdir -p "$3/usr/lib/machine"
        ln -sf libthing.so.1 "$3/usr/lib/machine/libthing.so" """,
    "sudo": """exec "$@" """,
    "apt-get": """
        echo "$*" >> "$CALLS"
        packages=${*##*install}
        packages=${packages##*download}
        case " $* " in
          *" --simulate "*)
            for package in $packages; do
              echo "Inst $package (1.0 Debian:12/stable [amd64])"
              case " $GREEDY " in
                *" $package "*) echo "Inst curl [7.88.1] (7.88.2 Debian:12/stable [amd64])" ;;
              esac
            done ;;
          *" download "*) for package in $packages; do touch "$package.deb"; done ;;
        esac""",
}


class Deps(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.tree = Path(directory.name)
        (self.tree / "scripts").mkdir()
        (self.tree / "bin").mkdir()
        shutil.copy(SOURCE / "scripts/deps", self.tree / "scripts/deps")
        for name, body in STUBS.items():
            stub = self.tree / "bin" / name
            stub.write_text("#!/bin/sh\n" + body + "\n")
            stub.chmod(0o755)

    def run_deps(self, missing="", greedy=""):
        """(status, what it said, its calls of apt-get that are more than a question)"""
        calls = self.tree / "calls"
        calls.unlink(missing_ok=True)
        environment = {**os.environ, "PATH": f"{self.tree}/bin:{os.environ['PATH']}", "MISSING": missing,
                       "GREEDY": greedy, "CALLS": str(calls)}
        run = subprocess.run([self.tree / "scripts/deps", "build"], env=environment, stdout=subprocess.PIPE,
                             stderr=subprocess.STDOUT, text=True, timeout=60, check=False)
        lines = calls.read_text().splitlines() if calls.exists() else []
        return run.returncode, run.stdout, [line for line in lines if "--simulate" not in line]

    def test_a_machine_with_everything_is_left_alone(self):
        self.assertEqual(self.run_deps(), (0, "", []))

    def test_what_is_missing_is_installed_and_nothing_is_upgraded_or_removed(self):
        status, said, calls = self.run_deps(missing="mold ccache")
        self.assertEqual(status, 0, said)
        self.assertEqual(len(calls), 2, calls)
        self.assertRegex(calls[1], "--no-upgrade .*--no-remove .*install .*ccache mold$")

    def test_a_library_that_would_upgrade_another_is_unpacked_beside_the_system(self):
        status, said, calls = self.run_deps(missing="mold libssl-dev", greedy="libssl-dev")
        self.assertEqual(status, 0, said)
        self.assertIn("curl", said)
        self.assertEqual([call.split()[-2:] for call in calls[1:]], [["download", "libssl-dev"], ["install", "mold"]])
        link = self.tree / "build/packages/usr/lib/machine/libthing.so"
        self.assertEqual(os.readlink(link), "/usr/lib/machine/libthing.so.1")
        self.assertEqual((self.tree / "build/packages/.list/libssl-dev").read_text(), "/usr/lib/machine/libthing.so\n",
                         "scripts/image asks what is of which package")
        self.assertEqual(self.run_deps(missing="libssl-dev", greedy="libssl-dev"), (0, "", []))

    def test_a_program_that_would_upgrade_another_package_is_refused_by_name(self):
        status, said, calls = self.run_deps(missing="mold cmake", greedy="cmake")
        self.assertEqual(status, 1)
        self.assertIn("cmake cannot be installed without an upgrade of curl", said)
        self.assertEqual([call for call in calls if "update" not in call], [])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
