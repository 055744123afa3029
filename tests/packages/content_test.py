#!/usr/bin/env python3
"""What is in the packages that scripts/deb has built, with which modes, and what lintian has to say.

    content_test.py SOURCE_DIRECTORY
"""

import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import machine

PROGRAMS = {"kron": ["usr/bin/kron"], "krond": ["usr/sbin/krond", "usr/libexec/kron/kron-exec"],
            "kron-operator": ["usr/sbin/kron-operator"]}
FILES = {
    "kron": ["usr/share/bash-completion/completions/kron", "usr/share/zsh/vendor-completions/_kron",
             "usr/share/fish/vendor_completions.d/kron.fish", "usr/share/man/man1/kron.1.gz", "usr/share/man/man5/kron-jobs.5.gz",
             "usr/share/doc/kron/README.md", "usr/share/doc/kron/docs/quick-start.md", "usr/share/doc/kron/LICENSES.txt",
             "usr/share/doc/kron/examples/jobs/backup.kron", "usr/share/doc/kron/examples/workers/worker.py"],
    "krond": ["lib/systemd/system/krond.service", "usr/lib/systemd/user/krond.service", "usr/lib/sysusers.d/krond.conf",
              "etc/default/krond", "etc/krond.d/", "usr/share/man/man8/krond.8.gz", "usr/share/doc/krond/NEWS.Debian.gz",
              "usr/share/kron/prometheus/kron-alerts.yml", "usr/share/kron/grafana/kron-dashboard.json",
              "usr/share/zsh/vendor-completions/_krond"],
    "kron-operator": ["usr/share/man/man8/kron-operator.8.gz", "usr/share/kron/kubernetes/crd.yaml",
                      "usr/share/kron/kubernetes/chart/Chart.yaml", "usr/share/kron/prometheus/kron-operator-alerts.yml"],
    "libkron-dev": ["usr/include/kron/core/decision.h", "usr/lib/x86_64-linux-gnu/libkron_core.a",
                    "usr/lib/x86_64-linux-gnu/cmake/kron/kron-config.cmake"],
}


def setUpModule():
    global WORK, ROOTS
    WORK = Path(tempfile.mkdtemp(prefix="kron-content-"))
    ROOTS = {}
    for name, package in PACKAGES.items():
        ROOTS[name] = WORK / name
        subprocess.run(["dpkg-deb", "--raw-extract", package, ROOTS[name]], check=True)


def tearDownModule():
    shutil.rmtree(WORK, ignore_errors=True)


class Content(unittest.TestCase):
    def test_the_four_packages_have_the_version_of_the_project(self):
        self.assertEqual(set(PACKAGES), {"kron", "krond", "kron-operator", "libkron-dev"})
        version = re.search(r"^project\(kron VERSION ([0-9.]+) ", (SOURCE / "CMakeLists.txt").read_text(encoding="utf-8"),
                            re.MULTILINE)[1]
        for package in PACKAGES.values():
            self.assertEqual(machine.field(package, "Version").rpartition("-")[0], version)
        self.assertIn(version, subprocess.run([ROOTS["kron"] / "usr/bin/kron", "--version"], check=True, capture_output=True,
                                              text=True).stdout if shutil.which("ldd") and self.loads("kron") else version)

    def loads(self, name):
        found = subprocess.run(["ldd", ROOTS[name] / PROGRAMS[name][0]], check=False, capture_output=True, text=True).stdout
        return "not found" not in found

    def test_each_package_has_its_files(self):
        for name, files in FILES.items():
            for file in files + PROGRAMS.get(name, []):
                self.assertTrue((ROOTS[name] / file).exists(), f"{name}: {file}")
        self.assertEqual(list((ROOTS["krond"] / "etc/krond.d").iterdir()), [])

    def test_no_file_is_in_two_packages(self):
        seen = {}
        for name, root in ROOTS.items():
            for path in root.rglob("*"):
                if path.is_file() and "DEBIAN" not in path.relative_to(root).parts:
                    file = path.relative_to(root)
                    self.assertNotIn(file, seen, f"{name} and {seen.get(file)}")
                    seen[file] = name

    def test_modes_and_owners(self):
        for name, package in PACKAGES.items():
            listing = subprocess.run(["dpkg-deb", "--contents", package], check=True, capture_output=True, text=True).stdout
            for line in listing.splitlines():
                mode, owner, rest = line.split(maxsplit=2)
                self.assertEqual(owner, "root/root", line)
                self.assertNotRegex(mode, "[sStT]", line)
                self.assertEqual(mode[5] + mode[8], "--" if mode[0] != "l" else "ww", line)
                is_program = any(rest.endswith(f"./{program}") for program in PROGRAMS.get(name, []))
                if is_program:
                    self.assertEqual(mode, "-rwxr-xr-x", line)

    def test_the_only_conffile_is_that_of_the_flags(self):
        for name, root in ROOTS.items():
            conffiles = root / "DEBIAN/conffiles"
            self.assertEqual(conffiles.read_text().split() if conffiles.exists() else [],
                             ["/etc/default/krond"] if name == "krond" else [], name)

    def test_the_unit_starts_the_installed_program_with_the_flags_of_the_conffile(self):
        unit = (ROOTS["krond"] / "lib/systemd/system/krond.service").read_text(encoding="utf-8")
        self.assertIn("\nExecStart=/usr/sbin/krond $KROND_FLAGS\n", unit)
        self.assertIn("\nEnvironmentFile=-/etc/default/krond\n", unit)
        self.assertIn("ExecStart=/usr/sbin/krond\n",
                      (ROOTS["krond"] / "usr/lib/systemd/user/krond.service").read_text(encoding="utf-8"))

    def test_the_pages_service_is_for_those_who_enable_it(self):
        units = ROOTS["krond"] / "lib/systemd/system"
        self.assertEqual({path.name for path in units.iterdir()}, {path.name for path in (SOURCE / "deploy").glob("kron*.*")} -
                         {"krond-user.service"})
        postinst = (ROOTS["krond"] / "DEBIAN/postinst").read_text(encoding="utf-8")
        # Only what an administrator has enabled is enabled anew: not at the first installation, of which nothing is known.
        self.assertRegex(postinst, r"if deb-systemd-helper debian-installed 'kron-web\.socket'; then(.|\n)*"
                                   r"was-enabled 'kron-web\.socket'; then\n.*\n\s*deb-systemd-helper enable 'kron-web\.socket'")
        self.assertEqual(len(re.findall(r"deb-systemd-helper (?:--quiet )?(?:was-enabled|enable) 'kron-web", postinst)), 2)
        self.assertNotRegex(postinst, r"_dh_action=start\n\s*fi\n\s*deb-systemd-invoke \$_dh_action .*kron-web")
        for path in units.iterdir():
            self.assertNotIn("/usr/local", path.read_text(encoding="utf-8").replace("# ", ""), path.name)

    def test_the_scripts_do_what_they_should_and_no_more(self):
        scripts = {name: (ROOTS["krond"] / "DEBIAN" / name).read_text(encoding="utf-8") for name in ("postinst", "prerm", "postrm")}
        self.assertIn("systemd-sysusers", scripts["postinst"])
        self.assertIn("rm -rf /var/lib/krond\n", scripts["postrm"])
        # One restart after the upgrade; no stop before the unpacking, which would take longer.
        self.assertNotRegex(scripts["prerm"], r'upgrade.*stop')
        # Not for every user of the machine: only what an administrator has enabled is enabled anew.
        self.assertRegex(scripts["postinst"], r"--user debian-installed 'krond\.service' ; then(.|\n)*--user was-enabled 'krond\.service' ;"
                                              r" then\n.*\n\s*deb-systemd-helper --user enable 'krond\.service'")
        for name in ("kron", "libkron-dev", "kron-operator"):
            self.assertFalse((ROOTS[name] / "DEBIAN/postrm").exists(), name)

    def test_dependencies(self):
        version = machine.field(PACKAGES["krond"], "Version")
        depends = machine.field(PACKAGES["krond"], "Depends")
        self.assertIn(f"kron (= {version})", depends)
        self.assertIn("tzdata", depends)
        for package in PACKAGES.values():
            for word in ("Conflicts", "Provides", "Replaces"):
                self.assertEqual(machine.field(package, word), "", f"{package.name}: {word}")

    def test_programs_are_hardened(self):
        for name in ("kron", "krond", "kron-operator"):
            program = ROOTS[name] / PROGRAMS[name][0]
            headers = subprocess.run(["readelf", "--wide", "--file-header", "--program-headers", "--dynamic", program], check=True,
                                     capture_output=True, text=True).stdout
            self.assertRegex(headers, r"Type:\s+DYN", name)
            self.assertIn("GNU_RELRO", headers, name)
            self.assertRegex(headers, r"\(FLAGS(_1)?\).*NOW", name)
            self.assertRegex(headers, r"GNU_STACK .* RW ", name)
            self.assertNotIn("RPATH", headers)
            self.assertNotIn("RUNPATH", headers)
            symbols = subprocess.run(["readelf", "--wide", "--dyn-syms", program], check=True, capture_output=True, text=True).stdout
            self.assertIn("__stack_chk_fail", symbols, name)
            self.assertRegex(symbols, r"__(snprintf|memcpy|read|vsnprintf|memmove)_chk", name)
        helper = subprocess.run(["readelf", "--wide", "--program-headers", "--dynamic", ROOTS["krond"] / PROGRAMS["krond"][1]],
                                check=True, capture_output=True, text=True).stdout
        self.assertNotIn("INTERP", helper)

    def test_nothing_names_the_place_of_the_build(self):
        for name, files in PROGRAMS.items():
            for file in files:
                self.assertNotIn(b"/.cache/kron/deb/", (ROOTS[name] / file).read_bytes(), file)

    def test_lintian_finds_nothing_but_what_is_explained(self):
        found = (SOURCE / "build/deb/lintian.txt").read_text(encoding="utf-8").splitlines()
        tags = [line for line in found if re.match(r"[EWIPXO]: ", line)]
        overridden = [line for line in tags if line.startswith("O: ")]
        self.assertEqual([line for line in tags if line[0] in "EWI"], [])
        # Both are explained in debian/krond.lintian-overrides.
        self.assertEqual(sorted(overridden),
                         ["O: krond: statically-linked-binary [usr/libexec/kron/kron-exec]",
                          "O: krond: systemd-service-file-missing-install-key [lib/systemd/system/kron-web.service]"])


class Sbom(unittest.TestCase):
    def test_it_is_spdx_and_names_what_is_linked_and_what_is_in_the_page(self):
        (path,) = (SOURCE / "build/deb").glob("*.spdx.json")
        document = json.loads(path.read_text(encoding="utf-8"))
        import sbom_check
        self.assertEqual(sbom_check.problems_of(document), [])
        names = {package["name"] for package in document["packages"]}
        self.assertLessEqual({"kron", "krond", "libssl3", "libcctz2", "libboost1.81-dev", "preact", "@preact/signals-core"}, names)
        self.assertNotIn("typescript", names)


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    PACKAGES = machine.packages_of(SOURCE)
    unittest.main()
