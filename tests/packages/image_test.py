#!/usr/bin/env python3
"""The image of krond, made from the packages without a registry, and run as a container would: krond is PID 1, and not root.

    image_test.py SOURCE_DIRECTORY
"""

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import machine
from machine import until

JOBS = r"""
* * * * * * name=tick shell=true command="echo $KRON_PERIOD_ID $$ $(id -u)"
0 0 0 1 1 * 2199 name=held shell=true command="trap 'exit 9' TERM; while :; do sleep 0.1; done"
"""


def setUpModule():
    global WORK, ROOT, CONFIG
    WORK = Path(tempfile.mkdtemp(prefix="kron-image-", dir="/var/tmp"))
    layout = WORK / "image"
    subprocess.run([SOURCE / "scripts/image", PACKAGES["kron"], PACKAGES["krond"], f"{layout}:test"], check=True)
    index = json.loads((layout / "index.json").read_text(encoding="utf-8"))

    def blob(digest):
        return layout / "blobs" / digest.replace(":", "/")

    manifest = json.loads(blob(index["manifests"][0]["digest"]).read_text(encoding="utf-8"))
    CONFIG = json.loads(blob(manifest["config"]["digest"]).read_text(encoding="utf-8"))["config"]
    ROOT = WORK / "root"
    ROOT.mkdir()
    for layer in manifest["layers"]:
        subprocess.run(["tar", "--extract", "--gzip", "--file", blob(layer["digest"]), "--directory", ROOT, "--numeric-owner",
                        "--preserve-permissions"], check=True)


def tearDownModule():
    subprocess.run(["rm", "-rf", "--one-file-system", WORK], check=False)


class Image(unittest.TestCase):
    def test_the_dockerfile_says_the_same(self):
        text = (SOURCE / "deploy/Dockerfile").read_text(encoding="utf-8")
        self.assertIn(f"\nUSER {CONFIG['User']}\n", text)
        self.assertIn(f"\nENTRYPOINT {json.dumps(CONFIG['Entrypoint'])}\n", text)
        self.assertEqual([f"VOLUME {place}" for place in CONFIG["Volumes"]], re.findall(r"^VOLUME .*$", text, re.MULTILINE))
        for variable in CONFIG["Env"]:
            if not variable.startswith("PATH="):
                self.assertIn(variable, re.search(r"^ENV (.*)$", text, re.MULTILINE)[1].split())
        self.assertIn('HEALTHCHECK CMD ["kron", "status"]', text)

    def test_the_user_is_there_and_the_group_of_the_front_is_not(self):
        user = CONFIG["User"].split(":")[0]
        self.assertRegex((ROOT / "etc/passwd").read_text(), rf"(?m)^kron:x:{user}:{user}:")
        groups = (ROOT / "etc/group").read_text()
        self.assertRegex(groups, rf"(?m)^kron:x:{user}:")
        # krond would give its web socket to it, which takes root.
        self.assertNotIn("krond-web", groups)

    def test_nobody_becomes_somebody_else(self):
        for path in ROOT.rglob("*"):
            self.assertFalse(path.lstat().st_mode & 0o6000, path)

    def test_krond_is_process_1_and_not_root_and_ends_when_told(self):
        (ROOT / "etc/krond.d/jobs.kron").write_text(JOBS, encoding="utf-8")
        user, group = CONFIG["User"].split(":")
        as_user = ["/usr/sbin/chroot", f"--userspec={user}:{group}", ROOT, "/usr/bin/env", "-i", *CONFIG["Env"]]
        script = 'mount --make-rprivate /; mount -t proc proc "$0/proc"; mount --rbind /dev "$0/dev"; exec "$@"'
        with (WORK / "log").open("wb") as log:
            container = subprocess.Popen(["unshare", "--mount", "--pid", "--fork", "sh", "-ec", script, ROOT, *as_user,
                                          *CONFIG["Entrypoint"]], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                         preexec_fn=machine.die_with_parent)
        try:
            self.look_at(container, as_user, int(user))
        except BaseException:
            print((WORK / "log").read_text(encoding="utf-8", errors="replace")[-4000:])
            raise
        finally:
            if container.poll() is None:
                for child in Path(f"/proc/{container.pid}/task/{container.pid}/children").read_text().split():
                    os.kill(int(child), signal.SIGKILL)
                container.wait(machine.PATIENCE)

    def look_at(self, container, as_user, user):
        children = Path(f"/proc/{container.pid}/task/{container.pid}/children")
        krond = until(lambda: [child for child in children.read_text().split()
                               if Path(f"/proc/{child}/comm").read_text().strip() == "krond"], "krond runs")[0]
        status = Path(f"/proc/{krond}/status").read_text()
        self.assertRegex(status, r"NSpid:.*\t1\n")
        self.assertRegex(status, rf"Uid:\t{user}\t{user}\t{user}\t{user}\n")

        def kron(*words):
            return subprocess.run(["nsenter", "--target", krond, "--mount", "--pid", "--", *as_user, "kron", *words], check=False,
                                  capture_output=True, text=True, timeout=machine.PATIENCE)

        def runs_of(job):
            return [json.loads(line) for line in kron("runs", "--job", job, "--format", "json").stdout.splitlines()]

        # The health check.
        until(lambda: kron("status").returncode == 0, "kron status")
        until(lambda: len([run for run in runs_of("tick") if run.get("exitCode") == 0]) >= 2, "two runs")
        self.assertIn(f" {user}", kron("logs", "tick").stdout)
        self.assertTrue((ROOT / "var/lib/krond/runs").is_dir())
        self.assertEqual(kron("trigger", "held").returncode, 0)
        until(lambda: runs_of("held"), "it runs")
        os.kill(int(krond), signal.SIGTERM)
        self.assertEqual(container.wait(machine.PATIENCE), 0)
        log = (WORK / "log").read_text(encoding="utf-8")
        self.assertIn("daemon_ended", log)
        ended = [json.loads(line) for line in log.splitlines() if "run_ended" in line and '"held"' in line]
        self.assertEqual([line.get("exitCode") for line in ended], [9], log[-2000:])


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    # Packages are fetched from a mirror: not in every run of the suite.
    if not machine.REQUIRED:
        machine.skip("make test-deb makes krond's image and runs it")
    PACKAGES = machine.packages_of(SOURCE)
    if os.getuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("umoci"):
        machine.skip("the image takes root, mmdebstrap and umoci (scripts/deps kube)")
    unittest.main()
