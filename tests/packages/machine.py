"""The packages that scripts/deb has built, and a Debian of its own that boots, to install them in."""

import ctypes
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 180
REQUIRED = os.environ.get("KRON_DEB_REQUIRED") == "1"
SCALE = int(os.environ.get("KRON_TEST_SCALE") or 1)


def skip(why):
    """Ends the test as skipped (77), or as failed where `make test-deb` has prepared everything."""
    print(f"SKIPPED: {why}")
    raise SystemExit(1 if REQUIRED else 77)


def packages_of(source):
    """The packages by their names, if they are those of this commit."""
    directory = source / "build/deb"
    if subprocess.run([source / "scripts/deb", "--is-fresh"], check=False).returncode != 0:
        skip("the packages of this commit are not built. make test-deb builds them, and runs this.")
    found = {path.name.split("_")[0]: path for path in sorted(directory.glob("*.deb")) if "dbgsym" not in path.name}
    return found


def field(package, name):
    return subprocess.run(["dpkg-deb", "--field", package, name], check=True, capture_output=True, text=True).stdout.strip()


def libraries_of(*packages):
    """What they depend on, but for each other."""
    names = set()
    for package in packages:
        for one in field(package, "Depends").split(","):
            names.add(re.match(r"\s*([a-z0-9.+-]+)", one)[1])
    return sorted(name for name in names if not name.startswith("kron"))


def root_of(source, *arguments):
    """A root of the cache; made when it is missing and this is `make test-deb`."""
    find = [] if REQUIRED else ["--find"]
    made = subprocess.run([source / "scripts/debian-root", *find, *arguments], check=False, stdout=subprocess.PIPE, text=True)
    if made.returncode != 0:
        skip("there is no Debian to boot in the cache. make test-deb makes one, and runs this.")
    return Path(made.stdout.strip())


def die_with_parent():
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)


def until(condition, what, patience=PATIENCE):
    end = time.monotonic() + patience
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(0.1)


class Machine:
    """A booted systemd of its own, by systemd-nspawn; without a network."""

    def __init__(self, tarball, tools):
        self.work = Path(tempfile.mkdtemp(prefix="kron-machine-", dir="/var/tmp"))
        self.root = self.work / "root"
        self.tools = tools
        self.root.mkdir()
        subprocess.run(["tar", "--extract", "--file", tarball, "--directory", self.root, "--numeric-owner",
                        "--preserve-permissions"], check=True)
        (self.root / "etc/hostname").write_text("kron-test\n", encoding="utf-8")
        self.nspawn = None
        self.leader = None

    def boot(self):
        libraries = f"{self.tools}/usr/lib/x86_64-linux-gnu"
        environment = {**os.environ, "LD_LIBRARY_PATH": f"{libraries}/systemd:{libraries}"}
        with (self.work / "log").open("wb") as log:
            self.nspawn = subprocess.Popen(
                [self.tools / "usr/bin/systemd-nspawn", "--quiet", "--boot", "--directory", self.root, "--register=no",
                 "--keep-unit", "--private-network"], env=environment, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, preexec_fn=die_with_parent)
        children = Path(f"/proc/{self.nspawn.pid}/task/{self.nspawn.pid}/children")

        def is_up():
            if self.nspawn.poll() is not None:
                log = (self.work / "log").read_text(encoding="utf-8", errors="replace")
                skip(f"systemd-nspawn cannot run here: {log.strip()[-300:]}")
            for child in children.read_text().split():
                self.leader = child
                if self.run("systemctl", "is-system-running", check=False).stdout.strip() in ("running", "degraded"):
                    return True
            return False

        until(is_up, "the machine has booted")
        return self

    def run(self, *command, check=True, patience=PATIENCE):
        ran = subprocess.run(
            ["nsenter", "--target", self.leader, "--mount", "--uts", "--ipc", "--net", "--pid", "--", "/usr/bin/env", "-i",
             "PATH=/usr/sbin:/usr/bin:/sbin:/bin", "DEBIAN_FRONTEND=noninteractive", "LC_ALL=C.UTF-8", *map(str, command)],
            check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=patience)
        if check and ran.returncode != 0:
            raise AssertionError(f"{command}: status {ran.returncode}\n{ran.stdout[-2000:]}\n{ran.stderr[-2000:]}")
        return ran

    def shell(self, script, **options):
        return self.run("sh", "-ec", script, **options).stdout

    def bring(self, *packages):
        (self.root / "packages").mkdir(exist_ok=True)
        for package in packages:
            shutil.copy(package, self.root / "packages")
        return [f"/packages/{package.name}" for package in packages]

    def stop(self):
        if self.nspawn is not None and self.nspawn.poll() is None:
            self.nspawn.kill()
            if self.leader is not None:
                try:
                    os.kill(int(self.leader), signal.SIGKILL)
                except ProcessLookupError:
                    pass
            self.nspawn.wait(PATIENCE)
        # What it mounted went with it; nothing else is below.
        subprocess.run(["rm", "-rf", "--one-file-system", self.work], check=False)


def with_version(package, suffix, directory):
    """The same package with a higher version."""
    unpacked = Path(directory) / (package.stem + suffix)
    subprocess.run(["dpkg-deb", "--raw-extract", package, unpacked], check=True)
    control = unpacked / "DEBIAN/control"
    version = field(package, "Version")
    control.write_text(control.read_text(encoding="utf-8").replace(version, version + suffix), encoding="utf-8")
    made = Path(directory) / package.name.replace(version, version + suffix)
    subprocess.run(["dpkg-deb", "-Zgzip", "-z1", "--root-owner-group", "--build", unpacked, made], check=True, stdout=subprocess.DEVNULL)
    return made


def inside(root, binds, *command):
    """A command in a root of the cache, with other places bound into it; its mounts end with it."""
    script = ('root=$0; count=$1; shift; mount --make-rprivate /; mount --bind "$root" "$root"; '
              'while [ "$count" -gt 0 ]; do '
              'if [ -d "$1" ]; then mkdir -p "$root$2"; else touch "$root$2"; fi; '
              'mount --bind "$1" "$root$2"; shift 2; count=$((count - 1)); done; '
              'mount -t proc proc "$root/proc"; mount --rbind /dev "$root/dev"; exec chroot "$root" "$@"')
    words = [str(word) for bind in binds.items() for word in bind]
    return subprocess.run(["unshare", "--mount", "--pid", "--fork", "sh", "-ec", script, str(root), str(len(binds)), *words,
                           *map(str, command)], check=False, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
