"""A host whose job tells when it goes bad and when it is well again, for the tests of notifications beside this file."""

import contextlib
import json
import os
import re
import signal
import subprocess
from pathlib import Path

from krond_host import EVERY_SECOND, PATIENCE, OnHost, until
from notify_receivers import MailServer, Receiver

KRON = os.environ["KRON"]


def called_for(history):
    """(kind, first period) of each message that these outcomes call for, by the words of the contract."""
    messages = []
    first = None
    for entry in history:
        if entry.get("Trigger") == "manual" or entry["Outcome"] in ("skipped", "passed over"):
            continue
        is_good = entry["Outcome"] == "executed" and entry["ExitCode"] == 0
        if is_good and first:
            messages.append(("recovered", first))
            first = None
        elif not is_good and not first:
            first = entry["PeriodID"]
            messages.append(("failed" if entry["Outcome"] == "executed" else entry["Outcome"], first))
    return messages


def field(mail, name):
    return re.search(rf"^{name}: (.*)$", mail, re.MULTILINE)[1].strip()


class OnNotifyHost(OnHost):
    def setUp(self):
        super().setUp()
        self.addCleanup(self.end_processes)
        self.receiver = self.receive()
        self.file = self.host.root / "notify.yaml"

    def end_processes(self):
        """A worker that has lost its krond looks for the next one for a minute, and has the log that Host waits for."""
        for entry in Path("/proc").iterdir():
            with contextlib.suppress(OSError):
                if entry.name.isdigit() and str(self.host.root).encode() in (entry / "cmdline").read_bytes():
                    os.kill(int(entry.name), signal.SIGKILL)

    def receive(self, **how):
        receiver = Receiver(**how)
        self.addCleanup(receiver.close)
        return receiver

    def destinations(self, **destinations):
        self.file.write_text(json.dumps(destinations), encoding="utf-8")
        self.file.chmod(0o600)

    def webhook(self, **keys):
        self.destinations(ops={"webhook": {"url": self.receiver.url, **keys}})

    def job(self, schedule=EVERY_SECOND, then="", to="ops", notify=(), **keys):
        """Fails while there is a file `bad`."""
        bad = f"[ ! -e {self.host.root}/bad ]"
        self.host.write_jobs(self.host.job("job", schedule, then or bad, history=1000, **keys,
                                           notify={"to": to, **dict(notify)}))

    def make(self, is_bad):
        bad = self.host.root / "bad"
        if is_bad:
            bad.touch()
        else:
            bad.unlink(missing_ok=True)

    def start(self, *flags, **how):
        return self.host.start("--notify-file", str(self.file), *flags, **how)

    def kill(self, krond):
        """Its worker may live for a while, and what the worker has started: the next krond comes upon both."""
        krond.process.kill()
        krond.process.wait(PATIENCE)

    def stop(self, krond):
        """As kill(): its worker is not waited for."""
        krond.process.terminate()
        self.assertEqual(krond.process.wait(PATIENCE), 0)

    def notify(self, *words, status=0):
        done = subprocess.run([KRON, "notify", *words, "--notify-file", str(self.file)], capture_output=True, text=True,
                              timeout=2 * PATIENCE, check=False)
        self.assertEqual(done.returncode, status, done.stderr)
        return done.stdout + done.stderr

    def destinations_of_each_kind(self):
        """A webhook, mail through a real server, and a command: names, and how to ask each for the ids that it has."""
        mail = MailServer()
        self.addCleanup(mail.close)
        out = self.host.root / "told"
        take = f'read -r line; printf "%s %s\\n" "$KRON_TASK_ID" "$line" >> {out}'
        self.destinations(
            ops={"webhook": {"url": self.receiver.url}},
            team={"mail": {"to": ["ops@example.org"], "from": "kron@example.org",
                           "sendmail": str(mail.sendmail(self.host.root / "sendmail"))}},
            pager={"command": ["/bin/sh", "-c", take]})
        return {"ops": lambda: {key: body["kind"] for key, body in self.receiver.bodies().items()},
                "team": lambda: {field(text, "X-Kron-Message"): field(text, "kind") for _, text in list(mail.mails)},
                "pager": lambda: {line.split(" ", 1)[0]: json.loads(line.split(" ", 1)[1])["kind"]
                                  for line in (out.read_text() if out.exists() else "").splitlines()}}

    def tasks(self):
        """Every message that krond has put into its queue, whatever became of it."""
        self.host.kronds[-1].wait_for("daemon_started")
        done = subprocess.run([KRON, "task", "list", "--type", "kron.notify", "--format", "json", "--limit", "1000000",
                               "--state-dir", str(self.host.state)],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def task(self):
        task, = self.tasks()
        return task

    def under_way(self):
        """How many messages the queue has still to bring to somebody, or has not got yet."""
        owed = "Owed" in json.dumps(self.host.record("job"))  # until the queue has it
        places = self.host.state / "data/tasks"
        # A task that goes back while we look is seen there.
        tasks = {path.name for place in ("pending", "running", "pending") for path in (places / place).glob("*.json")
                 if not path.name.startswith(".")}
        return len(tasks) + owed

    def attention(self):
        done = subprocess.run([KRON, "status", "--format", "json", "--state-dir", str(self.host.state)],
                              capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertIn('"attention"', done.stdout, done.stderr)
        return done.stdout

    def told(self):
        return [(body["kind"], body["firstPeriod"]) for body in self.receiver.bodies().values()]

    def wait_until_told(self, count):
        until(lambda: len(self.receiver.bodies()) >= count, f"{count} messages: {self.receiver.messages}")
