"""A real API server on loopback: etcd, kube-apiserver and, where it is there, kube-controller-manager, of scripts/kube-assets
or $KUBEBUILDER_ASSETS; with certificates of its own, RBAC, and nothing that runs pods."""

import ctypes
import http.client
import json
import os
import re
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

PATIENCE = 120  # seconds for a server to be ready; the machine may be busy
ISSUER = "https://kubernetes.default.svc"


def find_assets(source):
    """The directory of the programs; None: there are none."""
    found = subprocess.run([Path(source) / "scripts/kube-assets", "--find"], capture_output=True, text=True)
    return Path(found.stdout.strip()) if found.returncode == 0 else None


def assets_or_skip(source):
    """Ends the test as skipped (77) where there are no assets, or as failed with KUBE_REQUIRED=1."""
    assets = find_assets(source)
    if assets is None:
        print("SKIPPED: no API server here. scripts/kube-assets builds one, once; KUBEBUILDER_ASSETS names another.")
        raise SystemExit(1 if os.environ.get("KUBE_REQUIRED") == "1" else 77)
    return assets


def die_with_parent():
    """For a child, between fork and exec: a test that is killed leaves no server behind."""
    ctypes.CDLL(None).prctl(1, signal.SIGKILL)  # PR_SET_PDEATHSIG


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def until(condition, what, patience=60.0, pause=0.1):
    """What the condition gave when it was true at last."""
    end = time.monotonic() + patience
    while True:
        found = condition()
        if found:
            return found
        if time.monotonic() > end:
            raise AssertionError(f"not within {patience} s: {what}")
        time.sleep(pause)


class Answer:
    def __init__(self, code, body):
        self.code = code
        self.text = body
        self.json = json.loads(body) if body.startswith("{") else None

    def __repr__(self):
        return f"{self.code} {self.text[:400]}"


class Client:
    """One user's requests, on a connection of its own."""

    def __init__(self, host, port, context, token=None):
        self.connection = http.client.HTTPSConnection(host, port, context=context, timeout=30)
        self.headers = {"Authorization": f"Bearer {token}"} if token else {}

    def call(self, method, path, body=None, **headers):
        sent = {**self.headers, **{name.replace("_", "-"): value for name, value in headers.items()}}
        text = None
        if body is not None:
            text = body if isinstance(body, str) else json.dumps(body)
            sent.setdefault("Content-Type", "application/json")
        for attempt in (1, 2):
            try:
                self.connection.request(method, path, text, sent)
                answer = self.connection.getresponse()
                return Answer(answer.status, answer.read().decode())
            except (http.client.HTTPException, OSError):
                self.connection.close()  # a server that was restarted
                if attempt == 2:
                    raise
        return None

    def close(self):
        self.connection.close()

    def get(self, path, **headers):
        return self.call("GET", path, **headers)

    def post(self, path, body):
        return self.call("POST", path, body)

    def put(self, path, body):
        return self.call("PUT", path, body)

    def patch(self, path, body, kind="json"):
        types = {"json": "application/json-patch+json", "merge": "application/merge-patch+json"}
        return self.call("PATCH", path, body, Content_Type=types[kind])

    def delete(self, path, body=None):
        return self.call("DELETE", path, body)


class KubeHost:
    def __init__(self, assets, with_controllers=False):
        self.assets = Path(assets)
        self.directory = Path(tempfile.mkdtemp(prefix="kron-kube-"))
        self.with_controllers = with_controllers and (self.assets / "kube-controller-manager").exists()
        self.processes = {}
        self._own = None
        self.port = free_port()
        self.etcd_port = free_port()
        text = subprocess.run([self.assets / "kube-apiserver", "--version"], capture_output=True, text=True, check=True).stdout
        self.version = tuple(map(int, re.search(r"v(\d+)\.(\d+)", text).groups()))

    # Certificates

    def openssl(self, *arguments):
        subprocess.run(["openssl", *arguments], cwd=self.directory, check=True, capture_output=True)

    def make_key(self, name):
        self.openssl("ecparam", "-name", "prime256v1", "-genkey", "-noout", "-out", f"{name}.key")

    def make_certificate(self, name, subject, extensions=""):
        self.make_key(name)
        self.openssl("req", "-new", "-key", f"{name}.key", "-subj", subject, "-out", f"{name}.csr")
        (self.directory / f"{name}.ext").write_text(extensions or "basicConstraints=CA:FALSE")
        self.openssl("x509", "-req", "-in", f"{name}.csr", "-CA", "ca.crt", "-CAkey", "ca.key", "-CAcreateserial", "-days", "2",
                     "-extfile", f"{name}.ext", "-out", f"{name}.crt")

    def make_certificates(self):
        self.make_key("ca")
        self.openssl("req", "-x509", "-new", "-key", "ca.key", "-subj", "/CN=kron-test-ca", "-days", "2", "-out", "ca.crt")
        self.make_certificate("server", "/CN=kube-apiserver", "subjectAltName=IP:127.0.0.1,DNS:localhost")
        self.make_certificate("admin", "/O=system:masters/CN=admin")
        self.make_key("accounts")

    # Processes

    def launch(self, name, *arguments):
        log = (self.directory / f"{name}.log").open("ab")
        self.processes[name] = subprocess.Popen(
            [self.assets / name, *arguments], cwd=self.directory, stdin=subprocess.DEVNULL, stdout=log, stderr=log,
            env={**os.environ, "GOMAXPROCS": "1"}, preexec_fn=die_with_parent)
        log.close()

    def start(self):
        try:
            self.make_certificates()
            etcd = f"http://127.0.0.1:{self.etcd_port}"
            peers = f"http://127.0.0.1:{free_port()}"
            self.launch("etcd", "--data-dir", "etcd", "--unsafe-no-fsync", "--listen-client-urls", etcd,
                        "--advertise-client-urls", etcd, "--listen-peer-urls", peers, "--initial-advertise-peer-urls", peers,
                        "--initial-cluster", f"default={peers}", "--log-level", "error")
            self.start_api()
            if self.with_controllers:
                self.start_controllers()
        except BaseException:
            self.stop()
            raise
        return self

    def start_api(self):
        self.launch("kube-apiserver", "--etcd-servers", f"http://127.0.0.1:{self.etcd_port}",
                    "--bind-address", "127.0.0.1", "--advertise-address", "127.0.0.1", "--secure-port", str(self.port),
                    "--tls-cert-file", "server.crt", "--tls-private-key-file", "server.key", "--client-ca-file", "ca.crt",
                    "--service-account-key-file", "accounts.key", "--service-account-signing-key-file", "accounts.key",
                    "--service-account-issuer", ISSUER, "--authorization-mode", "RBAC",
                    "--service-cluster-ip-range", "10.0.0.0/24", "--cert-dir", ".",
                    "--enable-admission-plugins", "OwnerReferencesPermissionEnforcement")
        until(self.is_ready, "the API server is ready", PATIENCE, 0.2)

    def is_ready(self):
        process = self.processes["kube-apiserver"]
        if process.poll() is not None:
            raise AssertionError("the API server ended: " + self.log_of("kube-apiserver"))
        try:
            client = self.own
            return client.get("/readyz").code == 200 and client.get("/api/v1/namespaces/kube-system").code == 200
        except (OSError, http.client.HTTPException):
            return False

    def start_controllers(self):
        # The insecure port, which would be open to all, is gone since 1.24.
        insecure = ["--port", "0"] if self.version < (1, 24) else []
        self.launch("kube-controller-manager", "--kubeconfig", self.kubeconfig("controllers"), "--bind-address", "127.0.0.1",
                    "--secure-port", str(free_port()), *insecure, "--leader-elect=false", "--cert-dir", ".",
                    "--service-account-private-key-file", "accounts.key", "--root-ca-file", "ca.crt",
                    "--use-service-account-credentials=false", "--controllers=garbagecollector,job,namespace")

    def kill(self, name):
        process = self.processes.pop(name)
        process.send_signal(signal.SIGKILL)
        process.wait()

    def log_of(self, name):
        return (self.directory / f"{name}.log").read_text(encoding="utf-8", errors="replace")[-3000:]

    def stop(self):
        for name in reversed(list(self.processes)):
            self.kill(name)
        if self._own is not None:
            self._own.close()
        shutil.rmtree(self.directory, ignore_errors=True)

    # Users

    def context(self, with_certificate):
        context = ssl.create_default_context(cafile=self.directory / "ca.crt")
        if with_certificate:
            context.load_cert_chain(self.directory / "admin.crt", self.directory / "admin.key")
        return context

    def admin(self):
        """A client of the caller's own, who closes it."""
        return Client("127.0.0.1", self.port, self.context(True))

    @property
    def own(self):
        if self._own is None:
            self._own = self.admin()
        return self._own

    def token_of(self, namespace, account):
        answer = self.own.post(f"/api/v1/namespaces/{namespace}/serviceaccounts/{account}/token",
                                   {"apiVersion": "authentication.k8s.io/v1", "kind": "TokenRequest", "spec": {}})
        assert answer.code == 201, answer
        return answer.json["status"]["token"]

    def account(self, namespace, name):
        return Client("127.0.0.1", self.port, self.context(False), self.token_of(namespace, name))

    def make_stranger(self):
        """An authority that has vouched for nobody here."""
        self.make_key("stranger")
        self.openssl("req", "-x509", "-new", "-key", "stranger.key", "-subj", "/CN=stranger", "-days", "2", "-out",
                     "stranger.crt")

    def kubeconfig(self, name, token=None, authority="ca.crt"):
        """The path of a kubeconfig: of an administrator, or of who has the token."""
        admin = {"client-certificate": str(self.directory / "admin.crt"), "client-key": str(self.directory / "admin.key")}
        config = {"apiVersion": "v1", "kind": "Config", "current-context": "test",
                  "clusters": [{"name": "test", "cluster": {"server": f"https://127.0.0.1:{self.port}",
                                                            "certificate-authority": str(self.directory / authority)}}],
                  "users": [{"name": "test", "user": {"token": token} if token else admin}],
                  "contexts": [{"name": "test", "context": {"cluster": "test", "user": "test"}}]}
        path = self.directory / f"{name}.kubeconfig"
        path.write_text(json.dumps(config), encoding="utf-8")
        return str(path)

    # Objects

    def create(self, document):
        """Creates an object of a manifest."""
        return self.own.post(collection_path(document), document)

    def install(self, *documents):
        for document in documents:
            answer = self.create(document)
            assert answer.code == 201, (document["metadata"], answer)
            if document["kind"] == "CustomResourceDefinition":
                self.await_crd(document["metadata"]["name"])

    def await_crd(self, name):
        admin = self.own

        def is_established():
            answer = admin.get(f"/apis/apiextensions.k8s.io/v1/customresourcedefinitions/{name}")
            conditions = {one["type"]: one["status"] for one in answer.json.get("status", {}).get("conditions") or []}
            spec = answer.json["spec"]
            path = f"/apis/{spec['group']}/{spec['versions'][0]['name']}/{spec['names']['plural']}"
            return conditions.get("Established") == "True" and admin.get(path).code == 200

        until(is_established, f"{name} is served")


CLUSTER_WIDE = {"Namespace", "ClusterRole", "ClusterRoleBinding", "CustomResourceDefinition"}


def collection_path(document):
    version = document["apiVersion"]
    kind = document["kind"]
    root = f"/apis/{version}" if "/" in version else f"/api/{version}"
    plural = kind.lower() + "s"
    if kind in CLUSTER_WIDE:
        return f"{root}/{plural}"
    return f"{root}/namespaces/{document['metadata']['namespace']}/{plural}"


def object_path(document):
    return collection_path(document) + "/" + document["metadata"]["name"]
