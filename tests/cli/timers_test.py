#!/usr/bin/env python3
"""kron import timers on what a real systemd showed, and its schedules beside those of systemd itself, where there is
systemd-analyze."""

import os
import random
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

KRON = os.environ["KRON"]
DATA = Path(os.environ["KRON_TEST_DATA"])
SCALE = int(os.environ.get("KRON_TEST_SCALE") or 1)
FROM = "2026-01-01T00:00:00Z"
PERIODS = 8
SERVICE = "\n\nId=x.service\nType=oneshot\nExecStart={ path=/x ; argv[]=/x ; ignore_errors=no }\n"


def kron(*words):
    return subprocess.run([KRON, *map(str, words)], check=False, capture_output=True, text=True, stdin=subprocess.DEVNULL,
                          env={**os.environ, "TZ": "UTC"})


def some(low, high):
    """A component as systemd prints it: a star, a value, a list, a range, steps."""
    kind = random.randrange(5)
    first = random.randint(low, high)
    last = random.randint(first, high)
    if kind == 0:
        return "*"
    if kind == 1:
        return f"{first:02}"
    if kind == 2:
        return ",".join(f"{value:02}" for value in sorted({first, last}))
    if kind == 3:
        return f"{first:02}..{last:02}" if last > first else f"{first:02}"
    return f"{first:02}/{random.randint(1, high - first)}" if first < high else f"{first:02}"


def random_calendar():
    days = random.choice(["", "", "Mon..Fri ", "Sat,Sun ", "Tue ", "Mon,Wed..Fri "])
    date = f"*-{some(1, 12)}-" + (random.choice(["*", "*", "01..07", "15..21"]) if days else some(1, 31))
    if random.random() < 0.15:
        date = f"*-{some(1, 12)}~" + random.choice(["07/1", "01..07"] if days else ["01", "03", "01..03", "01,03", "07/2", "07/1"])
    return f"{days}{date} {some(0, 23)}:{some(0, 59)}:{random.choice(['00', '00', '30', some(0, 59)])} UTC"


def of_systemd(calendar):
    printed = subprocess.run(["systemd-analyze", "calendar", "--base-time=2026-01-01 00:00:00 UTC", f"--iterations={PERIODS}", calendar],
                             check=True, capture_output=True, text=True, env={**os.environ, "TZ": "UTC"}).stdout
    return [f"{date}T{time}Z" for date, time in re.findall(r"(?:Next elapse|Iter\. #\d+): \w+ ([0-9-]+) ([0-9:]+) UTC", printed)]


def timers(calendars):
    return "".join(f"Id=t{number}.timer\nUnit=x.service\nActiveState=active\n"
                   f"TimersCalendar={{ OnCalendar={calendar} ; next_elapse=x }}\n\n" for number, calendar in enumerate(calendars))


class Timers(unittest.TestCase):
    def test_those_of_a_debian(self):
        ran = kron("import", "timers", "--all", "--from", DATA / "timers/debian-12.txt", "--to", "kron")
        self.assertEqual(ran.returncode, 0, ran.stderr)
        lines = ran.stdout.splitlines()
        self.assertEqual(sorted(re.search(r"name=(\S+)", line)[1] for line in lines),
                         ["apt-daily", "dpkg-db-backup", "odd", "odd-2", "odd-3", "odd-4", "systemd-tmpfiles-clean",
                          "systemd-tmpfiles-clean-2"])
        odd = next(line for line in lines if "name=odd " in line)
        self.assertIn("0 12 L * * @tz(Europe/Paris) @win(after,1h40m)", odd)
        self.assertIn("deadline=4w3d", odd)
        self.assertIn(r"""command="/bin/sh -c 'echo \"a b\"; echo $A'" user=daemon cwd=~""", odd)
        self.assertIn("timeout=2h", odd)
        self.assertIn('"C=its \\"x\\""', odd)
        self.assertIn('command="systemctl start --wait apt-daily.service"', next(line for line in lines if "name=apt-daily " in line))
        self.assertIn("keeps: ExecStartPre=", ran.stderr)
        # What is written can be read.
        with tempfile.NamedTemporaryFile("w", suffix=".kron") as file:
            file.write(ran.stdout)
            file.flush()
            self.assertEqual(kron("lint", file.name).returncode, 0)

    @unittest.skipUnless(shutil.which("systemd-analyze"), "there is no systemd-analyze to compare with")
    def test_the_times_are_those_of_systemd(self):
        random.seed(19)
        calendars = ["daily UTC", "weekly UTC", "quarterly UTC", "*-*~01 12:00 UTC", "Mon *-05~07/1 UTC", "Sun *-*-22..28 03:00 UTC",
                     *(random_calendar() for _ in range(30 * SCALE))]
        times_of = {calendar: of_systemd(calendar) for calendar in calendars}
        calendars = [calendar for calendar in calendars if times_of[calendar]]  # kron refuses dates that never come
        expected = {f"t{number}": times_of[calendar] for number, calendar in enumerate(calendars)}
        with tempfile.TemporaryDirectory() as work:
            saved = Path(work) / "saved"
            saved.write_text(timers(calendars) + SERVICE, encoding="utf-8")
            jobs = Path(work) / "jobs.yaml"
            ran = kron("import", "timers", "--from", saved)
            self.assertEqual(ran.returncode, 0, ran.stderr)
            jobs.write_text(ran.stdout, encoding="utf-8")
            for number, calendar in enumerate(calendars):
                shown = kron("next", f"t{number}", "--file", jobs, "--from", FROM, "--count", PERIODS).stdout
                times = re.findall(r"^([0-9-]+T[0-9:]+Z)", shown, re.MULTILINE)
                # systemd's base is its "now", and what is due then is past; kron's --from is not.
                times = [time for time in times if time > FROM]
                self.assertEqual(times[:PERIODS - 1], expected[f"t{number}"][:PERIODS - 1], calendar)
        self.assertGreater(len(calendars), 20)


if __name__ == "__main__":
    unittest.main()
