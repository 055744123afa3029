#!/usr/bin/env python3
"""What debian/, scripts/dist and scripts/sbom say can be checked without building packages.

    sources_test.py SOURCE_DIRECTORY
"""

import copy
import importlib.machinery
import importlib.util
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest
from pathlib import Path

import sbom_check


def stanzas():
    control = (SOURCE / "debian/control").read_text(encoding="utf-8")
    return [dict(re.findall(r"^([A-Z][A-Za-z-]+):((?:.*)(?:\n .*)*)", stanza, re.MULTILINE)) for stanza in control.split("\n\n")]


class Control(unittest.TestCase):
    def test_the_version_has_one_place(self):
        check = SOURCE / "debian/check-version"
        self.assertEqual(subprocess.run([check], cwd=SOURCE, check=False).returncode, 0)
        with tempfile.TemporaryDirectory() as work:
            shutil.copytree(SOURCE / "debian", Path(work) / "debian")
            (Path(work) / "CMakeLists.txt").write_text("project(kron VERSION 9.9.9 LANGUAGES CXX)\n", encoding="utf-8")
            ran = subprocess.run([check], cwd=work, check=False, capture_output=True, text=True)
        self.assertEqual(ran.returncode, 1)
        self.assertIn("9.9.9", ran.stderr)

    def test_the_packages_need_what_the_project_needs(self):
        """scripts/deps is the list that people use; what only makes builds faster is no dependency of a package."""
        listed = re.search(r"^build=\(([^)]*)\)", (SOURCE / "scripts/deps").read_text(encoding="utf-8"), re.MULTILINE)[1].split()
        needed = {re.match(r"\s*([a-z0-9.+-]+)", one)[1] for one in stanzas()[0]["Build-Depends"].split(",") if one.strip()}
        self.assertEqual(needed - {"debhelper-compat"}, set(listed) - {"ccache", "g++", "make", "mold"})

    def test_what_is_installed_has_a_package(self):
        """dh_missing would fail the build; here it is known in a second."""
        patterns = []
        for path in (SOURCE / "debian").glob("*.install"):
            patterns += [line.split()[0] for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        with tempfile.TemporaryDirectory() as work:
            subprocess.run(["cmake", "--install", BUILD, "--prefix", "/usr"], check=True,
                           env={**os.environ, "DESTDIR": work, "CMAKE_INSTALL_MODE": "ABS_SYMLINK"},
                           stdout=subprocess.DEVNULL)
            files = [path.relative_to(work) for path in Path(work).rglob("*") if path.is_file()]
        self.assertTrue(files)
        # The libraries are in lib itself where no architecture is asked for.
        patterns += [pattern.replace("lib/*/", "lib/") for pattern in patterns]
        for file in files:
            self.assertTrue(any(file.match(pattern) or any(parent.match(pattern) for parent in file.parents) for pattern in patterns),
                            f"no debian/*.install has {file}")

    def test_no_readme_among_the_job_files(self):
        for path in (SOURCE / "debian").glob("krond.*"):
            if path.suffix in (".install", ".dirs"):
                self.assertNotRegex(path.read_text(encoding="utf-8"), r"etc/krond\.d/.", path.name)

    def test_notices_of_the_page_are_in_the_copyright_file(self):
        text = (SOURCE / "debian/copyright").read_text(encoding="utf-8")
        for notice in set(re.findall(r"^Copyright \(c\) (.*)$", (SOURCE / "web/dist/LICENSES.txt").read_text(encoding="utf-8"),
                                     re.MULTILINE)):
            self.assertIn(notice, text)


class Purge(unittest.TestCase):
    def test_only_a_purge_takes_the_state_away(self):
        script = (SOURCE / "debian/krond.postrm").read_text(encoding="utf-8")
        with tempfile.TemporaryDirectory() as work:
            state = Path(work) / "krond"
            local = Path(work) / "postrm"
            self.assertIn("rm -rf /var/lib/krond\n", script)
            local.write_text(script.replace("/var/lib/krond", str(state)), encoding="utf-8")
            for word, stays in (("remove", True), ("upgrade", True), ("disappear", True), ("purge", False)):
                state.mkdir(exist_ok=True)
                subprocess.run(["sh", local, word], check=True, stderr=subprocess.DEVNULL)
                self.assertEqual(state.exists(), stays, word)


class Dist(unittest.TestCase):
    def test_the_same_commit_is_the_same_bytes(self):
        with tempfile.TemporaryDirectory() as work:
            sums = []
            for name in ("a", "b"):
                subprocess.run([SOURCE / "scripts/dist", Path(work) / name], check=True, stdout=subprocess.DEVNULL,
                               env={**os.environ, "XZ_LEVEL": "0", "TZ": "Asia/Tokyo" if name == "b" else "UTC"})
                sums.append((Path(work) / name / "SHA256SUMS").read_text())
            self.assertEqual(*sums)
            subprocess.run(["sha256sum", "--check", "--status", "SHA256SUMS"], cwd=Path(work) / "a", check=True)
            (path,) = (Path(work) / "a").glob("kron-*.tar.xz")
            with tarfile.open(path) as archive:
                names = archive.getnames()
                self.assertEqual({entry.mtime for entry in archive}.__len__(), 1)
        top = path.name.removesuffix(".tar.xz")
        self.assertLessEqual({f"{top}/CMakeLists.txt", f"{top}/debian/rules", f"{top}/web/dist/kron.js"}, set(names))
        self.assertTrue(all(name == top or name.startswith(top + "/") for name in names))
        self.assertFalse([name for name in names if "/build/" in name or "node_modules" in name])


class Sbom(unittest.TestCase):
    def setUp(self):
        loader = importlib.machinery.SourceFileLoader("sbom", str(SOURCE / "scripts/sbom"))
        self.sbom = importlib.util.module_from_spec(importlib.util.spec_from_loader("sbom", loader))
        loader.exec_module(self.sbom)
        self.sbom.field = lambda path, name: {"Package": path.stem, "Version": "1-1", "Depends": "libc6 (>= 2), kron (= 1-1)" if path.stem == "krond" else "libc6"}[name]
        self.work = tempfile.TemporaryDirectory()
        self.addCleanup(self.work.cleanup)
        self.paths = [Path(self.work.name) / f"{name}.deb" for name in ("krond", "kron")]
        for path in self.paths:
            path.write_bytes(b"x")

    def test_it_is_valid_and_the_same_each_time(self):
        document = self.sbom.document_of(self.paths)
        self.assertEqual(sbom_check.problems_of(document), [])
        self.assertEqual(document, self.sbom.document_of(self.paths))
        names = [package["name"] for package in document["packages"]]
        self.assertIn("preact", names)
        self.assertIn("libc6", names)
        self.assertNotIn("esbuild", names)
        self.assertIn({"spdxElementId": "SPDXRef-Package-krond", "relationshipType": "DEPENDS_ON",
                       "relatedSpdxElement": "SPDXRef-Package-kron"}, document["relationships"])

    def test_the_check_notices_what_is_wrong(self):
        good = self.sbom.document_of(self.paths)
        for change in (lambda d: d.update(spdxVersion="SPDX-2.2"), lambda d: d["packages"].append(d["packages"][0]),
                       lambda d: d["packages"][0].pop("downloadLocation"), lambda d: d["packages"][0].update(SPDXID="x y"),
                       lambda d: d["relationships"][0].update(relatedSpdxElement="SPDXRef-none"),
                       lambda d: d["packages"][0].update(checksums=[{"algorithm": "SHA256", "checksumValue": "00"}]),
                       lambda d: d["creationInfo"].update(created="today"), lambda d: d.update(relationships=[])):
            bad = copy.deepcopy(good)
            change(bad)
            self.assertNotEqual(sbom_check.problems_of(bad), [])


if __name__ == "__main__":
    BUILD = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    unittest.main()
