"""What the operator makes of objects (kube_probe.cc)."""

import json
import subprocess


def probed(program, what, objects):
    lines = "".join(json.dumps(one) + "\n" for one in objects)
    run = subprocess.run([program, what], input=lines, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in run.stdout.splitlines()]
