#!/usr/bin/env python3
"""The image of the operator, made from Debian packages, and run under chroot as it would be in a pod: as nobody in
particular, with the account that a pod is given. It becomes the leader on the model of an API server, and opens a Job.

    image_test.py SOURCE_DIRECTORY KRON_OPERATOR MODEL_API_SERVER
"""

import http.client
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path
from urllib.parse import urlsplit

import yaml

from kube_host import die_with_parent, until

ACCOUNT = "var/run/secrets/kubernetes.io/serviceaccount"
PATIENCE = 120


def blob(layout, digest):
    return layout / "blobs" / digest.replace(":", "/")


def setUpModule():
    global WORK, ROOT, CONFIG
    WORK = Path(tempfile.mkdtemp(prefix="kron-image-"))
    layout = WORK / "image"
    subprocess.run([SOURCE / "scripts/image", PROGRAM, f"{layout}:test"], check=True)
    index = json.loads((layout / "index.json").read_text(encoding="utf-8"))
    manifest = json.loads(blob(layout, index["manifests"][0]["digest"]).read_text(encoding="utf-8"))
    CONFIG = json.loads(blob(layout, manifest["config"]["digest"]).read_text(encoding="utf-8"))
    ROOT = WORK / "root"
    for layer in manifest["layers"]:
        ROOT.mkdir(exist_ok=True)
        subprocess.run(["tar", "--extract", "--gzip", "--file", blob(layout, layer["digest"]), "--directory", ROOT], check=True)


def tearDownModule():
    shutil.rmtree(WORK, ignore_errors=True)


class Image(unittest.TestCase):
    def test_runs_as_the_deployment_says(self):
        pod = yaml.safe_load((SOURCE / "deploy/kubernetes/deployment.yaml").read_text(encoding="utf-8"))
        context = pod["spec"]["template"]["spec"]["securityContext"]
        self.assertEqual(CONFIG["config"]["User"], f"{context['runAsUser']}:{context['runAsGroup']}")
        self.assertEqual(CONFIG["config"]["Entrypoint"], ["/usr/bin/kron-operator"])

    def test_has_one_program_and_nothing_of_this_machine(self):
        programs = [path for path in ROOT.rglob("*") if path.is_file() and not path.is_symlink() and os.access(path, os.X_OK)
                    and ".so" not in path.name]
        self.assertEqual(programs, [ROOT / "usr/bin/kron-operator"])
        for name in ("etc/hostname", "etc/resolv.conf", "etc/machine-id", "bin/sh", "usr/bin/sh"):
            self.assertFalse((ROOT / name).exists(), name)
        for path in ROOT.rglob("*"):
            self.assertFalse(path.lstat().st_mode & 0o6000, path)
            self.assertEqual(path.lstat().st_uid, 0, path)
            self.assertFalse(not path.is_symlink() and path.name != "tmp" and path.lstat().st_mode & 0o002, path)

    def test_the_dockerfile_has_the_same_libraries_user_and_program(self):
        text = (SOURCE / "deploy/kubernetes/Dockerfile").read_text(encoding="utf-8")
        self.assertIn(f"USER {CONFIG['config']['User']}\n", text)
        self.assertIn(f"ENTRYPOINT {json.dumps(CONFIG['config']['Entrypoint'])}\n", text)
        installed = set(re.search(r"--no-install-recommends \\\n([^&]*)", text)[1].replace("\\", "").split())
        needed = subprocess.run(["readelf", "--dynamic", PROGRAM], check=True, capture_output=True, text=True).stdout
        libraries = [name for name in re.findall(r"\(NEEDED\).*\[(.*)\]", needed) if not re.match(r"lib(asan|ubsan|tsan)", name)]
        self.assertIn("libcurl.so.4", libraries)
        loaded = dict(re.findall(r"(\S+) => (/\S+)", subprocess.run(["ldd", PROGRAM], capture_output=True, text=True).stdout))
        base = {"libc6", "libgcc-s1", "zlib1g"}  # of every Debian
        for library in libraries:
            if library not in loaded:
                continue  # the loader itself
            place = loaded[library].removeprefix(str(SOURCE.resolve() / "build/packages"))  # or unpacked by scripts/deps
            places = [place, "/usr" + place, place.removeprefix("/usr")]
            found = subprocess.run(["dpkg-query", "--search", *places], capture_output=True, text=True).stdout
            self.assertIn(found.split(":")[0], installed | base, library)
        self.assertLessEqual({"ca-certificates", "tzdata"}, installed)

    def test_becomes_the_leader_and_opens_a_job(self):
        self.assertEqual(os.getuid(), 0)
        model_directory = WORK / "model"
        model_directory.mkdir()
        with subprocess.Popen([MODEL, "--dir", model_directory, "--user", "operator"], stdout=subprocess.PIPE, text=True,
                              preexec_fn=die_with_parent) as model:
            try:
                addresses = json.loads(model.stdout.readline())
                self.operate(addresses, model_directory)
            finally:
                model.kill()

    def operate(self, addresses, model_directory):
        account = ROOT / ACCOUNT
        account.mkdir(parents=True)
        shutil.copy(model_directory / "ca.crt", account)
        (account / "token").write_text("token-of-operator", encoding="utf-8")
        (account / "namespace").write_text("kron-system", encoding="utf-8")
        server = urlsplit(addresses["url"])
        control = http.client.HTTPConnection(addresses["control"].removeprefix("http://"), timeout=PATIENCE)

        def ask(method, path, body=None):
            control.request(method, path, json.dumps(body) if body is not None else None)
            answer = control.getresponse()
            return json.loads(answer.read())

        user, _, group = CONFIG["config"]["User"].partition(":")
        environment = {"KUBERNETES_SERVICE_HOST": server.hostname, "KUBERNETES_SERVICE_PORT": str(server.port),
                       "ASAN_OPTIONS": "detect_leaks=0"}
        template = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}
        with (WORK / "log").open("wb") as log:
            operator = subprocess.Popen(
                ["/usr/sbin/chroot", f"--userspec={user}:{group}", ROOT, *CONFIG["config"]["Entrypoint"],
                 "--metrics-listen=none"], env=environment, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                preexec_fn=die_with_parent)
        try:
            ask("POST", "/apis/kron.io/v1alpha1/namespaces/shop/kronjobs",
                {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "metadata": {"name": "report", "namespace": "shop"},
                 "spec": {"schedule": "* * * * * *", "timezone": "Europe/Paris", "jobTemplate": template,
                          "policy": {"concurrency": "allow", "deadline": "1m"}}})
            until(lambda: ask("GET", "/state")["started"], "a Job is opened", PATIENCE)
            lease = ask("GET", "/apis/coordination.k8s.io/v1/namespaces/kron-system/leases/kron-operator")
            self.assertTrue(lease["spec"]["holderIdentity"])
            self.assertEqual(Path(f"/proc/{operator.pid}").stat().st_uid, int(user))
        except BaseException:
            print((WORK / "log").read_text(encoding="utf-8", errors="replace")[-4000:])
            raise
        finally:
            operator.kill()
            operator.wait()
            control.close()


if __name__ == "__main__":
    MODEL = sys.argv.pop(3)
    PROGRAM = sys.argv.pop(2)
    SOURCE = Path(sys.argv.pop(1))
    # Packages are fetched from a mirror: not in every run of the suite.
    if os.environ.get("KUBE_REQUIRED") != "1":
        print("SKIPPED: make test-kube makes the image and runs it")
        sys.exit(77)
    if os.getuid() != 0 or not shutil.which("mmdebstrap") or not shutil.which("umoci"):
        sys.exit("the image takes root, mmdebstrap and umoci (scripts/deps kube)")
    unittest.main()
