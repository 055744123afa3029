#!/usr/bin/env python3
"""Runs the ```console blocks of a page and compares what they print with what the page shows.

    run_examples.py [--path DIRECTORY]... PAGE

A block is one shell session in the present directory, with the given directories first in PATH. All blocks of a page
share a home directory that is empty at first, and removed afterwards: `cd` leads there. A line `$ command`
(continued by lines `> …`) is followed by its output, standard error included. A line that is only `…` stands for any
number of lines, and `…` within a line for any text.
"""

import argparse
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

BLOCK = re.compile(r"^```console\n(.*?)^```\s*$", re.MULTILINE | re.DOTALL)
MARK = "\x1e"


def examples_of(block):
    """[(command, expected output lines)] of a block."""
    examples = []
    continued = False
    for line in block.splitlines():
        if line.startswith("$ "):
            examples.append((line[2:], []))
            continued = True
        elif not examples:
            raise ValueError(f"a console block begins with '$ command', not with '{line}'")
        elif line.startswith("> ") and continued:
            examples[-1] = (examples[-1][0] + "\n" + line[2:], [])
        else:
            examples[-1][1].append(line)
            continued = False
    return examples


def outputs_of(commands, directories, home):
    """What each command prints, all run by one shell; `$?` is that of the command before."""
    script = "".join(f"{command}\nstatus=$?; printf '{MARK}'; (exit $status)\n" for command in commands)
    path = os.pathsep.join([*map(str, directories), os.environ["PATH"]])
    environment = {**os.environ, "PATH": path, "HOME": home, "LC_ALL": "C.UTF-8", "TZ": "UTC"}
    environment.pop("COLUMNS", None)
    run = subprocess.run(
        ["bash", "-c", script], env=environment,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=240, check=False,
        umask=0o022)
    outputs = run.stdout.decode("utf-8", "replace").split(MARK)[: len(commands)]
    return outputs + [""] * (len(commands) - len(outputs))


def matches(expected, actual):
    pattern = ""
    for line in expected:
        if line.strip() == "…":
            pattern += r"(?:.*\n)*"
        else:
            pattern += ".*".join(re.escape(part) for part in line.split("…")) + r"\n"
    return re.fullmatch(pattern, actual) is not None


def problems_of(page, directories):
    with tempfile.TemporaryDirectory() as home:
        return problems_at_home(page, directories, home)


def problems_at_home(page, directories, home):
    text = Path(page).read_text(encoding="utf-8")
    problems = []
    for block in BLOCK.finditer(text):
        line = text.count("\n", 0, block.start()) + 1
        examples = examples_of(block.group(1))
        outputs = outputs_of([command for command, _ in examples], directories, home)
        for (command, expected), actual in zip(examples, outputs):
            actual = actual if not actual or actual.endswith("\n") else actual + "\n"
            if not matches(expected, actual):
                shown = "".join(f"  {row}\n" for row in expected)
                got = "".join(f"  {row}\n" for row in actual.splitlines())
                problems.append(f"{page}:{line}: $ {command}\nshown:\n{shown}printed:\n{got}")
    return problems


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--path", action="append", default=[])
    parser.add_argument("page")
    arguments = parser.parse_args()
    problems = problems_of(arguments.page, arguments.path)
    print("\n".join(problems), end="")
    sys.exit(1 if problems else 0)


if __name__ == "__main__":
    main()
