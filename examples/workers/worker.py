#!/usr/bin/env python3
"""A worker for krond's tasks that needs nothing but Python: copy it, and write your own work().

    worker.py [--socket PATH] [--type TYPE]... [--name NAME] [--lease SECONDS] [--once]

It waits at krond for a task, renews its lease while it works, and commits the result, a file and perhaps a follow-up
task in one step. When krond is away, it waits and asks again: leases outlive a restart, and a commit that is repeated
happens once.
"""

import argparse
import http.client
import io
import json
import os
import signal
import socket
import sys
import tarfile
import threading
import time
import uuid


def work(task, data):
    """What this worker is for. Returns the result, files to publish, and tasks to submit with them.

    It may run more than once for a task, on other machines too; what it returns happens once. Raise TryLater when it is
    not the time, and anything else when the attempt has failed.
    """
    result = json.dumps({"task": task["taskId"], "got": data})
    return result, {"result.json": result.encode()}, []


class TryLater(Exception):
    """Another attempt, please; this one does not count."""


class Unreachable(Exception):
    """krond did not answer: what was asked may or may not have happened."""


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout):
        super().__init__("krond", timeout=timeout)
        self.path = path

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.path)


class Krond:
    def __init__(self, path):
        self.path = path

    def ask(self, method, target, body=b"", content_type="application/json", timeout=30):
        """(status, answer). A new connection each time, so that a restart of krond needs no thought."""
        connection = UnixConnection(self.path, timeout)
        try:
            connection.request(method, "/api/v1/" + target, body, {"Content-Type": content_type})
            response = connection.getresponse()
            text = response.read()
        except (OSError, http.client.HTTPException) as error:
            raise Unreachable(str(error)) from error
        finally:
            connection.close()
        if response.status == 503:
            raise Unreachable(text.decode("utf-8", "replace"))
        return response.status, json.loads(text or b"{}")

    def ask_until_answered(self, *request):
        """For what may be repeated: nearly everything, because krond knows a lease by its token."""
        while True:
            try:
                return self.ask(*request)
            except Unreachable:
                time.sleep(1)

    def lease(self, name, types, term, wait):
        request = {"worker": name, "n": 1, "wait": f"{wait}s", "term": f"{term}s", "start": True}
        if types:
            request["types"] = types
        status, answer = self.ask("POST", "leases", json.dumps(request).encode(), timeout=wait + 30)
        if status != 200:
            sys.exit(f"worker: {answer.get('detail', answer)}")
        return answer["leases"]

    def renew(self, lease):
        """Whether the task is still ours."""
        body = json.dumps({"token": lease["token"]}).encode()
        return self.ask("POST", f"leases/{lease['execId']}/renew", body)[0] == 200

    def commit(self, lease, result, files, follow_ups):
        commit = json.dumps({"token": lease["token"], "result": result, "followUps": follow_ups}).encode()
        content_type, body = "application/json", commit
        if files:
            content_type, body = multipart({"commit": ("application/json", commit),
                                            "output": ("application/x-tar", tar_of(files))})
        return self.ask_until_answered("POST", f"leases/{lease['execId']}/commit", body, content_type)

    def fail(self, lease, reason, counts):
        body = json.dumps({"token": lease["token"], "reason": reason[:250], "counts": counts}).encode()
        return self.ask_until_answered("POST", f"leases/{lease['execId']}/fail", body)


def tar_of(files):
    """Published as effects/<taskId>/<name> when the commit is."""
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        for name, content in files.items():
            info = tarfile.TarInfo(name)
            info.size = len(content)
            tar.addfile(info, io.BytesIO(content))
    return whole.getvalue()


def multipart(parts):
    boundary = uuid.uuid4().hex
    body = b""
    for name, (content_type, content) in parts.items():
        head = f'--{boundary}\r\nContent-Disposition: form-data; name="{name}"\r\nContent-Type: {content_type}\r\n\r\n'
        body += head.encode() + content + b"\r\n"
    return f"multipart/form-data; boundary={boundary}", body + f"--{boundary}--\r\n".encode()


class Renewal(threading.Thread):
    """Keeps a lease while its task is worked on."""

    def __init__(self, krond, lease, term):
        super().__init__(daemon=True)
        self.krond, self.lease, self.term = krond, lease, term
        self.over = threading.Event()
        self.is_lost = False

    def run(self):
        pause = self.term / 3
        while not self.over.wait(pause) and not self.is_lost:
            try:
                self.is_lost = not self.krond.renew(self.lease)
                pause = self.term / 3
            except Unreachable:
                pause = 1

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.join()


def handle(krond, lease, term):
    with Renewal(krond, lease, term) as renewal:
        try:
            result, files, follow_ups = work(lease, lease["payload"]["data"])
        except TryLater as reason:
            outcome = krond.fail(lease, str(reason), counts=False)
        except Exception as error:  # pylint: disable=broad-exception-caught
            outcome = krond.fail(lease, f"{type(error).__name__}: {error}", counts=True)
        else:
            # A lease that was lost is told by krond: nothing of this would be committed.
            outcome = krond.commit(lease, result, files, follow_ups)
            if outcome[0] not in (200, 409):
                outcome = krond.fail(lease, outcome[1].get("detail", "the commit was refused"), counts=True)
    lost = " (the lease was lost)" if renewal.is_lost else ""
    print(f"worker: {lease['taskId']}: {outcome[1].get('result', outcome[1])}{lost}", file=sys.stderr, flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--socket", default=os.environ.get("KRON_SOCKET", "/run/krond/krond.sock"))
    parser.add_argument("--type", action="append", default=[], help="only tasks of this type; again for more")
    parser.add_argument("--name", default=f"{socket.gethostname()}:{os.getpid()}")
    parser.add_argument("--lease", type=int, default=60, help="seconds a task is ours without a renewal")
    parser.add_argument("--once", action="store_true", help="end when no task is ready")
    options = parser.parse_args()
    stopped = threading.Event()
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: stopped.set())
    krond = Krond(options.socket)
    while not stopped.is_set():
        try:
            leases = krond.lease(options.name, options.type, options.lease, 0 if options.once else 5)
        except Unreachable as error:
            print(f"worker: krond does not answer ({error}); trying again", file=sys.stderr, flush=True)
            stopped.wait(1)
            continue
        for lease in leases:
            handle(krond, lease, options.lease)
        if options.once and not leases:
            return


if __name__ == "__main__":
    main()
