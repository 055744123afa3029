"""Runs the kron command for the tests beside this file."""

import json
import os
import subprocess
from pathlib import Path

KRON = os.environ["KRON"]
EXAMPLES = Path(__file__).resolve().parents[2] / "examples/jobs"
CRONTABS = Path(__file__).resolve().parents[1] / "data/jobs"


def run(*arguments, lines=None, text=None, **environment):
    """Runs kron; `lines` are its standard input, one JSON value or text each, or `text` is."""
    if lines is not None:
        text = "".join((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return subprocess.run([KRON, *map(str, arguments)], input=text, capture_output=True, text=True, check=False,
                          env={**os.environ, "TZ": "UTC", **environment})


def answers(result):
    return [json.loads(line) for line in result.stdout.splitlines()]
