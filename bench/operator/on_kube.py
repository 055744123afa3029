#!/usr/bin/env python3
"""bench/operator on a real API server: that of scripts/kube-assets, or of $KUBEBUILDER_ASSETS, started for it.

    bench/operator/on_kube.py [OPERATOR_BENCH]    build/release/bench/operator_bench; BRIEF=1: only that it works
"""

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests" / "kube"))
sys.dont_write_bytecode = True
import crd  # noqa: E402
import kube_host  # noqa: E402


def main():
    program = sys.argv[1] if len(sys.argv) > 1 else str(ROOT / "build/release/bench/operator_bench")
    host = kube_host.KubeHost(kube_host.assets_or_skip(ROOT)).start()
    try:
        name = "crd-1.24.yaml" if host.version < (1, 25) else "crd.yaml"
        host.install(*crd.load_all(ROOT / "deploy/kubernetes" / name))
        return subprocess.run([program, "kube", host.kubeconfig("bench")], check=False).returncode
    finally:
        host.stop()


if __name__ == "__main__":
    sys.exit(main())
