#!/usr/bin/env python3
"""Checks the systemd units below an installed prefix, by their keys and, where there is one, by systemd-analyze.

    check_units.py PREFIX
"""

import configparser
import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# What krond relies on; a unit that says otherwise loses runs or never gets ready.
REQUIRED = {
    ("Service", "Type"): "notify",
    ("Service", "KillMode"): "process",
    ("Service", "Restart"): "on-failure",
    ("Service", "OOMPolicy"): "continue",
    ("Service", "ExecReload"): "/bin/kill -HUP $MAINPID",
}
OF_THE_SYSTEM = {
    ("Service", "StateDirectory"): "krond",
    ("Service", "StateDirectoryMode"): "0700",
    ("Service", "ConfigurationDirectory"): "krond.d",
    ("Install", "WantedBy"): "multi-user.target",
}
OF_A_USER = {
    ("Service", "ConfigurationDirectory"): "krond",
    ("Install", "WantedBy"): "default.target",
}


def keys_of(path):
    """Strict: a key or a section that is there twice is an error."""
    unit = configparser.ConfigParser(delimiters=("=",), comment_prefixes=("#",), interpolation=None)
    unit.optionxform = str
    unit.read_string(path.read_text(encoding="utf-8"))
    return {(section, key): value for section in unit.sections() for key, value in unit[section].items()}


def problems_of(keys, required, krond, known_flags):
    problems = [f"{key} is {keys.get((section, key))!r}, not {value!r}"
                for (section, key), value in required.items() if keys.get((section, key)) != value]
    words = keys.get(("Service", "ExecStart"), "").split() or [""]
    if words[0] != krond:
        problems.append(f"ExecStart starts {words[0]!r}, and {krond!r} is installed")
    problems += [f"krond has no flag {word!r}"
                 for word in words[1:] if word.startswith("-") and word.partition("=")[0] not in known_flags]
    return problems


def verdict_of_systemd(path, scope):
    """What systemd-analyze has to say; nothing when it is content, or not there."""
    if shutil.which("systemd-analyze") is None:
        return []
    with tempfile.TemporaryDirectory() as runtime:
        run = subprocess.run(["systemd-analyze", f"--{scope}", "--man=no", "verify", str(path)],
                             env={**os.environ, "XDG_RUNTIME_DIR": runtime}, check=False,
                             stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    # Other units of this machine are not our business.
    return [line for line in run.stdout.splitlines() if "krond" in line]


def main():
    prefix = Path(sys.argv[1])
    krond = str(prefix / "sbin" / "krond")
    usage = subprocess.run([krond, "--help"], check=True, stdout=subprocess.PIPE, text=True).stdout
    known_flags = set(re.findall(r"--[a-z-]+", usage))
    problems = []
    for scope, required in (("system", OF_THE_SYSTEM), ("user", OF_A_USER)):
        path = prefix / "lib" / "systemd" / scope / "krond.service"
        found = problems_of(keys_of(path), {**REQUIRED, **required}, krond, known_flags) + verdict_of_systemd(path, scope)
        problems += [f"{path}: {problem}" for problem in found]
    print("\n".join(problems), end="\n" if problems else "")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
