#!/usr/bin/env python3
"""Runs a benchmark briefly and checks that what it prints is JSON: for function, never for speed."""

import json
import os
import subprocess
import sys


def main():
    program = sys.argv[1]
    run = subprocess.run([program], env={**os.environ, "BRIEF": "1"}, capture_output=True, text=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{program} ended with status {run.returncode}\n{run.stderr}")
    try:
        document = json.loads(run.stdout)
    except json.JSONDecodeError as error:
        sys.exit(f"{program} did not print one JSON document: {error}\n{run.stdout}")
    if not document:
        sys.exit(f"{program} printed an empty document")


if __name__ == "__main__":
    main()
