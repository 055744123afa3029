#!/usr/bin/env python3
"""The packages on a machine with a real systemd: install, run jobs, upgrade while one runs, restart again and again, remove,
purge. The tests are one story, in the order of their names.

    machine_test.py SOURCE_DIRECTORY
"""

import collections
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
from machine import until

# Due every second, and held until a file is there: no test depends on how fast the machine is.
JOBS = r"""
* * * * * * name=tick shell=true command="echo $KRON_PERIOD_ID >> /var/tmp/ticks"
0 0 0 1 1 * 2199 name=held shell=true command="until [ -e /var/tmp/go ]; do sleep 0.1; done; exit 7"
"""
RESTARTS = 100 if machine.REQUIRED or machine.SCALE >= 20 else 5


def setUpModule():
    global MACHINE, WORK
    WORK = tempfile.mkdtemp(prefix="kron-packages-")
    MACHINE = None
    tools = machine.root_of(SOURCE, "build")
    programs = [PACKAGES[name] for name in ("kron", "krond", "kron-operator")]
    MACHINE = machine.Machine(machine.root_of(SOURCE, "machine", *machine.libraries_of(*programs)), tools)
    MACHINE.boot()


def tearDownModule():
    if MACHINE is not None:
        MACHINE.stop()
    shutil.rmtree(WORK, ignore_errors=True)


def runs_of(job):
    lines = MACHINE.run("kron", "runs", "--job", job, "--format", "json", "--limit", "1000").stdout.splitlines()
    return [json.loads(line) for line in lines]


def ticks():
    return MACHINE.shell("cat /var/tmp/ticks 2>/dev/null || true").split()


def held_helpers():
    """The kron-exec of each held run: the parent of its shell."""
    processes = [line.split(maxsplit=3) for line in MACHINE.run("ps", "-e", "-o", "pid=,ppid=,comm=,args=").stdout.splitlines()]
    names = {pid: name for pid, _, name, *_ in processes}
    return [parent for _, parent, name, *words in processes
            if name == "sh" and words and "/var/tmp/go" in words[0] and names.get(parent) == "kron-exec"]


def start_held():
    MACHINE.shell("rm -f /var/tmp/go")
    MACHINE.run("kron", "trigger", "held")
    (helper,) = until(held_helpers, "the run has a helper")
    return helper


def end_held(count):
    """So many runs have ended then."""
    def ended():
        runs = [run for run in runs_of("held") if run.get("exitCode") is not None]
        return runs if len(runs) >= count else None

    MACHINE.shell("touch /var/tmp/go")
    return until(ended, "the run has ended")


class Packages(unittest.TestCase):
    def test_1_install(self):
        MACHINE.run("dpkg", "--install", *MACHINE.bring(PACKAGES["kron"], PACKAGES["krond"], PACKAGES["kron-operator"]))
        self.assertEqual(MACHINE.run("systemctl", "is-active", "krond").stdout.strip(), "active")
        self.assertEqual(MACHINE.run("systemctl", "is-enabled", "krond").stdout.strip(), "enabled")
        self.assertIn("ready", MACHINE.run("kron", "status").stdout)
        for group in ("krond", "krond-web"):
            MACHINE.run("getent", "group", group)
        # The user's unit is for those who want it.
        self.assertEqual(MACHINE.shell("find /etc/systemd/user -name 'krond*'"), "")
        self.assertEqual(MACHINE.shell("ls -A /etc/krond.d"), "")
        log = MACHINE.run("journalctl", "--unit", "krond", "--output", "cat").stdout
        self.assertNotIn("job_file_problem", log)
        self.assertEqual(MACHINE.run("kron", "doctor", check=False).returncode, 0, MACHINE.run("kron", "doctor", check=False).stdout)
        MACHINE.run("kron-operator", "--version")
        MACHINE.run("systemd-analyze", "verify", "--man=no", "krond.service")

    def test_2_a_job_runs(self):
        (MACHINE.root / "etc/krond.d/test.kron").write_text(JOBS, encoding="utf-8")
        MACHINE.run("kron", "reload")
        until(lambda: len(ticks()) >= 3, "three ticks")

    def test_3_flags_of_the_conffile_count(self):
        MACHINE.shell("echo 'KROND_FLAGS=\"--socket-group krond --log-level debug\"' > /etc/default/krond")
        MACHINE.run("systemctl", "restart", "krond")
        until(lambda: MACHINE.run("kron", "status", check=False).returncode == 0, "krond answers")
        self.assertIn("krond", MACHINE.shell("stat --format %G /run/krond/krond.sock"))
        self.assertIn("--log-level", MACHINE.shell("tr '\\0' ' ' < /proc/$(systemctl show --value -p MainPID krond)/cmdline"))

    def test_4_timers_of_a_real_systemd_are_imported(self):
        ran = MACHINE.run("kron", "import", "timers", "--all", "--to", "kron", check=False)
        self.assertIn(ran.returncode, (0, 1), ran.stderr)
        self.assertRegex(ran.stdout, r"name=dpkg-db-backup command=/usr/libexec/dpkg/dpkg-db-backup")
        self.assertRegex(ran.stdout, r'name=apt-daily .*command="systemctl start --wait apt-daily.service"')

    def test_4_web_page_over_tls_with_a_token(self):
        if not (SOURCE / "deploy/kron-web.socket").exists():
            self.skipTest("this source has no service for the page")
        for unit in ("kron-web.socket", "kron-web.service", "kron-web-certificate.path"):
            self.assertNotEqual(MACHINE.run("systemctl", "is-enabled", unit, check=False).stdout.strip(), "enabled")
            self.assertEqual(MACHINE.run("systemctl", "is-active", unit, check=False).stdout.strip(), "inactive")
        # 2.0 of 10: what a sandbox leaves open.
        MACHINE.run("systemd-analyze", "security", "--threshold=20", "--no-pager", "kron-web.service")
        place = MACHINE.root / "etc/kron-web"
        place.mkdir(mode=0o700)
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                        "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", place / "tls.key",
                        "-out", place / "tls.crt"], check=True, capture_output=True)
        MACHINE.shell("echo 'KRON_WEB_FLAGS=\"--public-url https://localhost:8126\"' > /etc/default/kron-web")
        MACHINE.run("systemctl", "start", "kron-web.socket")
        token = MACHINE.run("kron", "token", "create", "tester", "--role", "read").stdout
        token = re.search(r"kron_\S+", token)[0]

        def ask(path, *flags):
            return subprocess.run(
                ["nsenter", "--target", MACHINE.leader, "--net", "curl", "--silent", "--max-time", "60", "--cacert",
                 place / "tls.crt", "--write-out", "\\n%{http_code}", *flags, f"https://localhost:8126{path}"],
                check=False, capture_output=True, text=True).stdout.rpartition("\n")[::2]

        try:
            body, status = ask("/")
            self.assertEqual(status, "200")
            self.assertIn("<!doctype html", body.lower())
            self.assertEqual(ask("/healthz")[1], "200")
            self.assertEqual(ask("/api/v1/status")[1], "401")
            body, status = ask("/api/v1/status", "--header", f"Authorization: Bearer {token}")
            self.assertEqual(status, "200", body)
            self.assertEqual(ask("/api/v1/jobs/tick/trigger", "--request", "POST", "--header", f"Authorization: Bearer {token}")[1], "403")
            log = MACHINE.run("journalctl", "--output", "cat").stdout
            self.assertNotIn(token, log)
            # A certificate that is renewed while the service runs: the one before is trusted no more, the new one is.
            subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
                            "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", place / "tls.key",
                            "-out", place / "tls.crt"], check=True, capture_output=True)
            until(lambda: ask("/healthz")[1] == "200", "the renewed certificate is served")
        except AssertionError:
            print(MACHINE.run("systemctl", "status", "kron-web.service", "--no-pager", "--lines", "30", check=False).stdout)
            raise
        MACHINE.run("systemctl", "stop", "kron-web.socket", "kron-web.service")

    def test_5_upgrade_while_a_job_runs(self):
        helper = start_held()
        newer = [machine.with_version(PACKAGES[name], "+test1", WORK) for name in ("kron", "krond")]
        before = len(ticks())
        MACHINE.run("dpkg", "--install", *MACHINE.bring(*newer))
        self.assertEqual(MACHINE.run("systemctl", "is-active", "krond").stdout.strip(), "active")
        # What was in the conffile stays.
        self.assertIn("--log-level debug", MACHINE.shell("cat /etc/default/krond"))
        self.assertEqual(held_helpers(), [helper])
        self.assertIn("(deleted)", MACHINE.shell(f"readlink /proc/{helper}/exe"))
        log = until(lambda: [line for line in MACHINE.run("journalctl", "--unit", "krond", "--output", "cat").stdout.splitlines()
                             if "run_adopted" in line and "held" in line], "the new krond takes the run up")
        self.assertEqual(len(log), 1)
        (run,) = end_held(1)
        self.assertEqual(run["exitCode"], 7)
        self.assertEqual(len(runs_of("held")), 1)
        until(lambda: len(ticks()) > before, "jobs go on")

    def test_6_restarts_under_load(self):
        done = len(runs_of("held"))
        start_held()
        for _ in range(RESTARTS):
            MACHINE.run("systemctl", "restart", "krond")
        ended = end_held(done + 1)
        self.assertEqual([run["exitCode"] for run in ended], [7] * (done + 1))
        self.assertEqual(len(runs_of("held")), done + 1)
        twice = [period for period, count in collections.Counter(ticks()).items() if count > 1]
        self.assertEqual(twice, [])

    def test_7_a_state_of_the_future_fails_the_service_and_not_the_upgrade(self):
        MACHINE.run("systemctl", "stop", "krond")
        MACHINE.shell("cp -a /var/lib/krond /var/lib/kept; "
                      "for f in $(grep -rl '\"Version\":\"1\"' /var/lib/krond | head -n 1); do "
                      "sed -i 's/\"Version\":\"1\"/\"Version\":\"99\"/' $f; done; grep -rl '\"Version\":\"99\"' /var/lib/krond")
        newer = [machine.with_version(PACKAGES[name], "+test2", WORK) for name in ("kron", "krond")]
        MACHINE.run("dpkg", "--install", *MACHINE.bring(*newer))
        until(lambda: "99" in MACHINE.run("systemctl", "status", "krond", "--no-pager", "--lines", "50", check=False).stdout,
              "the status says why krond does not start")
        MACHINE.run("systemctl", "stop", "krond")
        MACHINE.shell("rm -rf /var/lib/krond && mv /var/lib/kept /var/lib/krond && systemctl start krond")
        until(lambda: MACHINE.run("kron", "status", check=False).returncode == 0, "krond answers")

    def test_7_what_docs_install_md_says_of_backup_and_restore(self):
        page = (SOURCE / "docs/install.md").read_text(encoding="utf-8").partition("## Backup and restore")[2].partition("\n## ")[0]
        backup, restore = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
        until(lambda: ticks(), "ticks")
        MACHINE.shell(backup)
        until(lambda: MACHINE.run("kron", "status", check=False).returncode == 0, "krond answers")
        before = {run["runId"] for run in runs_of("held")}
        self.assertTrue(before)
        MACHINE.shell("echo gone > /var/lib/krond/access.json")
        MACHINE.shell(restore.replace("kron doctor\n", ""))
        until(lambda: MACHINE.run("kron", "status", check=False).returncode == 0, "krond answers")
        self.assertEqual({run["runId"] for run in runs_of("held")}, before)
        self.assertIn("tester", MACHINE.run("kron", "token", "list").stdout)
        self.assertEqual(MACHINE.run("kron", "doctor", check=False).returncode, 0, MACHINE.run("kron", "doctor", check=False).stdout)

    def test_7_what_it_says_of_a_rollback(self):
        helper = start_held()
        done = len([run for run in runs_of("held") if run.get("exitCode") is not None])
        MACHINE.run("dpkg", "--install", *MACHINE.bring(PACKAGES["kron"], PACKAGES["krond"]))
        self.assertEqual(MACHINE.run("systemctl", "is-active", "krond").stdout.strip(), "active")
        self.assertEqual(MACHINE.shell("dpkg-query --show --showformat '${Version}' krond"), machine.field(PACKAGES["krond"], "Version"))
        self.assertEqual(held_helpers(), [helper])
        end_held(done + 1)

    def test_8_remove_leaves_the_state_and_the_runs(self):
        helper = start_held()
        MACHINE.run("dpkg", "--remove", "krond")
        self.assertTrue(MACHINE.shell("ls /var/lib/krond"))
        self.assertTrue(MACHINE.shell("ls /etc/default/krond"))
        self.assertEqual(held_helpers(), [helper])
        self.assertNotEqual(MACHINE.run("systemctl", "is-active", "krond", check=False).stdout.strip(), "active")

    def test_9_purge_clears_the_state_and_names_the_runs(self):
        helpers = held_helpers()
        self.assertEqual(len(helpers), 1)
        ran = MACHINE.run("dpkg", "--purge", "krond")
        for helper in helpers:
            self.assertRegex(ran.stdout + ran.stderr, rf"still going.*\b{helper}\b")
        for place in ("/var/lib/krond", "/etc/default/krond"):
            self.assertNotEqual(MACHINE.run("test", "-e", place, check=False).returncode, 0, place)
        # Not the package's, so not taken away.
        self.assertTrue(MACHINE.shell("ls /etc/krond.d/test.kron"))
        MACHINE.shell("touch /var/tmp/go")
        MACHINE.run("dpkg", "--purge", "kron", "kron-operator")


if __name__ == "__main__":
    SOURCE = Path(sys.argv.pop(1))
    if os.getuid() != 0:
        machine.skip("a machine of its own takes root")
    PACKAGES = machine.packages_of(SOURCE)
    unittest.main(failfast=True)
