"""A cluster of one test: the model of an API server, and real kron-operators on it. What the model has stored, and which
Jobs its controller has started, is all that a test looks at."""

import contextlib
import http.client
import json
import os
import shutil
import signal
import socket
import subprocess
import tempfile
import threading
import time
from pathlib import Path

import yaml

ROOT = Path(__file__).resolve().parents[2]
MODEL = os.environ["KRON_MODEL_API_SERVER"]
OPERATOR = os.environ["KRON_OPERATOR"]
SCALE = int(os.environ.get("KRON_TEST_SCALE", "1"))
PATIENCE = 120  # longer than anything takes on a busy machine; only a test that fails waits for it
NAMESPACE = "shop"
KRON_JOBS = f"/apis/kron.io/v1alpha1/namespaces/{NAMESPACE}/kronjobs"
JOBS = f"/apis/batch/v1/namespaces/{NAMESPACE}/jobs"
LEASES = "/apis/coordination.k8s.io/v1/namespaces/kron/leases"
LEASE = "kron-operator"
EVERY_SECOND = "* * * * * *"
EVERY_FIVE = "*/5 * * * * *"
NEVER = "0 0 1 1 *"
TEMPLATE = {"spec": {"template": {"spec": {"restartPolicy": "Never", "containers": [{"name": "c", "image": "i"}]}}}}


def shipped_rules():
    """What deploy/kubernetes/rbac.yaml lets the operator do."""
    text = (ROOT / "deploy/kubernetes/rbac.yaml").read_text(encoding="utf-8")
    return [
        {"verbs": rule["verbs"], "resources": rule["resources"]}
        for document in yaml.safe_load_all(text)
        if document["kind"] in ("ClusterRole", "Role") and document["metadata"]["name"].startswith("kron-operator")
        for rule in document["rules"]
    ]


def at_second(seconds):
    """The schedule of one second, in UTC, of one year."""
    now = time.gmtime(seconds)
    return f"{now.tm_sec} {now.tm_min} {now.tm_hour} {now.tm_mday} {now.tm_mon} * {now.tm_year}"


def until(is_so, what, patience=PATIENCE, pause=0.05):
    """Waits until it is so, and gives what it was."""
    end = time.monotonic() + patience
    while True:
        found = is_so()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(pause)


class Stalls:
    """How long the machine kept us waiting for our turn, in all: promises in seconds hold for one that is not busy."""

    def __enter__(self):
        self.seconds = 0.0
        self.is_over = threading.Event()
        self.thread = threading.Thread(target=self._watch)
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.is_over.set()
        self.thread.join()

    def _watch(self):
        while True:
            begin = time.monotonic()
            if self.is_over.wait(0.02):
                return
            self.seconds += max(0.0, time.monotonic() - begin - 0.025)


def free_port():
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Cluster:
    """`users`: what operators log in as; each may have a role of its own."""

    def __init__(self, users=("operator",), plain=False):
        self.root = Path(tempfile.mkdtemp(prefix="kron-cluster-"))
        self.operators = []
        command = [MODEL, "--dir", str(self.root)] + (["--plain"] if plain else [])
        for user in users:
            command += ["--user", user]
        # pylint: disable-next=consider-using-with
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        addresses = json.loads(self.process.stdout.readline())
        self.url = addresses["url"]
        self.control = addresses["control"].removeprefix("http://")
        self.connection = http.client.HTTPConnection(self.control, timeout=PATIENCE)

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        for operator in self.operators:
            operator.end()
            if kind is not None:
                print(f"--- {operator.log}\n{operator.text()[-4000:]}")
        self.connection.close()
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()
        shutil.rmtree(self.root, ignore_errors=True)

    def ask(self, method, path, body=None):
        """The code and the document."""
        self.connection.request(method, path, json.dumps(body) if body is not None else None)
        response = self.connection.getresponse()
        text = response.read().decode()
        return response.status, json.loads(text) if text.startswith(("{", "[")) else text

    def tell(self, what, body=None):
        code, answer = self.ask("POST", "/" + what, {} if body is None else body)
        assert code == 200, (what, code, answer)

    def state(self):
        return self.ask("GET", "/state")[1]

    def started(self):
        return self.state()["started"]

    def calls(self, **wanted):
        """How many calls there were of this verb, resource, user, code."""
        return sum(
            call["count"] for call in self.state()["calls"] if all(call[key] == value for key, value in wanted.items())
        )

    def add(self, name, schedule=EVERY_FIVE, deadline="1m", concurrency="allow", template=None, **spec):
        policy = {"deadline": deadline, "concurrency": concurrency, "suspend": spec.pop("suspend", False)}
        body = {
            "apiVersion": "kron.io/v1alpha1",
            "kind": "KronJob",
            "metadata": {"name": name, "namespace": NAMESPACE},
            "spec": {"schedule": schedule, "policy": policy, "jobTemplate": template or TEMPLATE, **spec},
        }
        code, answer = self.ask("POST", KRON_JOBS, body)
        assert code == 201, answer
        return answer

    def kron_job(self, name):
        return self.ask("GET", f"{KRON_JOBS}/{name}")[1]

    def status(self, name):
        return self.kron_job(name).get("status", {})

    def condition(self, name, kind):
        for condition in self.status(name).get("conditions", []):
            if condition["type"] == kind:
                return condition
        return {}

    def jobs(self):
        return self.ask("GET", JOBS)[1]["items"]

    def patch(self, path, *operations):
        return self.ask("PATCH", path, list(operations))

    def lease(self):
        code, answer = self.ask("GET", f"{LEASES}/{LEASE}")
        return answer["spec"] if code == 200 else {}

    def holder(self):
        return self.lease().get("holderIdentity", "")

    def operator(self, user="operator", *flags):
        one = Operator(self, user, flags)
        self.operators.append(one)
        return one

    def leader(self):
        """The operator that holds the lease, once there is one."""
        found = until(lambda: [one for one in self.operators if one.is_alive() and one.leads()], "there is a leader")
        return found[0]

    def doubled(self):
        """Periods that were started more than once."""
        counts = {}
        for start in self.started():
            key = (start["identity"], start["period"] or start["name"])
            counts[key] = counts.get(key, 0) + 1
        return {key: count for key, count in counts.items() if count > 1}


class Operator:
    def __init__(self, cluster, user, flags):
        self.cluster = cluster
        self.port = free_port()
        self.log = cluster.root / f"operator-{len(cluster.operators)}.log"
        self.command = [
            OPERATOR,
            "--kubeconfig",
            str(cluster.root / f"{user}.kubeconfig"),
            "--leader-elect",
            "--lease-name",
            LEASE,
            "--lease-namespace",
            "kron",
            "--metrics-listen",
            f"127.0.0.1:{self.port}",
            *flags,
        ]
        environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0", "TZ": "UTC"}
        with open(self.log, "wb") as log:
            # pylint: disable-next=consider-using-with
            self.process = subprocess.Popen(
                self.command, stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=environment
            )

    def text(self):
        return self.log.read_text(encoding="utf-8", errors="replace")

    def is_alive(self):
        return self.process.poll() is None

    def page(self, path):
        """The code and the text; 0: nobody answers."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
        try:
            connection.request("GET", path)
            response = connection.getresponse()
            return response.status, response.read().decode()
        except (OSError, http.client.HTTPException):
            return 0, ""
        finally:
            connection.close()

    def leads(self):
        """As it says itself."""
        code, text = self.page("/metrics")
        return code == 200 and any(
            line.startswith("kron_leader") and float(line.split()[-1]) == 1 for line in text.splitlines()
        )

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def stop(self):
        """Its exit status, after a TERM."""
        self.signal(signal.SIGTERM)
        return self.process.wait(PATIENCE)

    def end(self):
        self.signal(signal.SIGCONT)
        self.signal(signal.SIGKILL)
        self.process.wait()
