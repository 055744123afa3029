"""One user of the socket's group who takes all he can get: root is served, workers keep their leases, and krond's memory
stays where it was."""

import grp
import json
import os
import subprocess
import sys
import unittest

from api_host import KRON, PATIENCE, OnApiHost, memory_of
from krond_host import SANITIZERS_KEEP_LITTLE

NOBODY = 65534
MEBIBYTE = 1 << 20
COMMIT_BODY = 71 * MEBIBYTE

# Opens connections, sends the head and as much of a body as is taken, and says what became of each: a status, `reset`,
# or `held` when all was taken and nothing was said. Then holds them until its input ends.
HOLD = """
import json, resource, select, socket, sys

path, count, head, size = sys.argv[1], int(sys.argv[2]), sys.argv[3].replace('|', '\\r\\n').encode(), int(sys.argv[4])
resource.setrlimit(resource.RLIMIT_NOFILE, (4096, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
piece = b'x' * (1 << 20)


def asked():
    connection = socket.socket(socket.AF_UNIX)
    connection.settimeout(60)
    connection.connect(path)
    left = size
    try:
        connection.sendall(head)
        while left > 0:
            left -= connection.send(piece[:left])
    except OSError:
        pass  # an answer may come before everything was sent
    if size > 0 and left == 0 and not select.select([connection], [], [], 1)[0]:
        return connection, 'held'
    try:
        return connection, connection.recv(64)[9:12].decode()
    except ConnectionResetError:
        return connection, 'reset'


held, seen = [], {}
for _ in range(count):
    connection, answer = asked()
    held.append(connection)
    seen[answer] = seen.get(answer, 0) + 1
print(json.dumps(seen), flush=True)
sys.stdin.read()
"""
COMMIT = f"POST /api/v1/leases/x.1/commit HTTP/1.1|Host: a|Content-Length: {COMMIT_BODY}||"


@unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
class Readers(OnApiHost):
    def serve(self, *flags):
        self.krond.stop()
        # What lies before the socket is opened, so that the socket's own guard is what is met.
        for path in (self.host.root, self.host.state):
            path.chmod(0o755)
        self.krond, self.api = self.host.serve("--socket-group", "users", *flags,
                                               environment=SANITIZERS_KEEP_LITTLE)

    def as_member(self, *command):
        """The command as a user of the socket's group."""
        group = grp.getgrnam("users").gr_gid
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", f"--groups={group}", *command]

    def hold(self, count, head, size=0, is_root=False):
        """How many got which status, and the connections are kept."""
        command = [sys.executable, "-c", HOLD, str(self.host.socket), str(count), head, str(size)]
        command = command if is_root else self.as_member(*command)
        # pylint: disable-next=consider-using-with
        holder = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.addCleanup(holder.wait, PATIENCE)
        self.addCleanup(holder.stdout.close)
        self.addCleanup(holder.stdin.close)
        return json.loads(holder.stdout.readline())

    def check_that_root_works(self):
        """Twenty answers of twenty, an event stream, and a lease from its start to its commit."""
        for _ in range(20):
            self.assertEqual(self.api.ask("GET", "status", timeout=PATIENCE).status, 200)
        self.assertEqual(self.host.kron("status").returncode, 0)
        with self.api.events() as events:
            run_id = self.api.post("jobs", "hello", "trigger")["runId"]
            events.wait_for("run_ended", runId=run_id)
        self.submit(f"task-{run_id}")
        lease, = self.lease()
        for _ in range(20):
            self.api.post("leases", lease["execId"], "renew", body={"token": lease["token"]})
        self.api.post("leases", lease["execId"], "commit", body={"token": lease["token"], "result": "ok"})

    def test_connections_that_ask_nothing_more(self):
        for count in (512, 700):
            with self.subTest(count=count):
                self.serve()
                seen = self.hold(count, "GET /healthz HTTP/1.1|Host: a||")
                self.assertEqual(seen, {"200": 128, "503": count - 128}, "each one is told")
                self.check_that_root_works()

    def test_event_streams(self):
        for count in (512, 700):
            with self.subTest(count=count):
                self.serve()
                seen = self.hold(count, "GET /api/v1/events HTTP/1.1|Host: a||")
                # Each stream beyond the cap is refused on a connection, until those are at their cap too.
                self.assertEqual(seen, {"200": 64, "503": count - 64})
                self.assertEqual(self.api.get("status")["eventStreams"], 64)
                self.check_that_root_works()

    def test_bodies_of_one_who_may_only_look_are_not_read(self):
        self.serve()
        before = memory_of(self.krond.pid)
        self.assertEqual(self.hold(100, COMMIT, COMMIT_BODY), {"403": 100})
        self.assertLess(memory_of(self.krond.pid) - before, 32 * MEBIBYTE)
        self.check_that_root_works()

    def test_bodies_are_read_within_the_limit_of_a_user_and_of_all(self):
        for is_root, most in ((False, 96 * MEBIBYTE), (True, 256 * MEBIBYTE)):
            with self.subTest(is_root=is_root):
                self.serve("--socket-group-may", "operate")
                before = memory_of(self.krond.pid)
                sent = COMMIT_BODY - MEBIBYTE
                seen = self.hold(20, COMMIT, sent, is_root)
                self.assertEqual(set(seen), {"held", "503"})
                self.assertEqual(seen["held"], most // sent)
                self.assertLess(memory_of(self.krond.pid) - before, most + 64 * MEBIBYTE)
                self.check_that_root_works()

    def test_values_of_the_environment_are_for_root_and_for_the_user_of_krond(self):
        self.host.write_jobs(self.host.job("secret", "0 0 1 1 *", "true", env={"DB_PASSWORD": "hunter2", "LANG": "C"},
                                           stdin="hunter2"))
        for flags in ((), ("--socket-group-may", "operate")):
            self.serve(*flags)
            said = subprocess.run(self.as_member(KRON, "show", "secret", "--format", "json"), check=True,
                                  capture_output=True, text=True, timeout=PATIENCE,
                                  env={**os.environ, "KRON_SOCKET": str(self.host.socket)}).stdout
            self.assertEqual(json.loads(said)["definition"]["env"], {"DB_PASSWORD": None, "LANG": None})
            self.assertNotIn("hunter2", said)
        secret = self.api.get("jobs", "secret")["definition"]
        self.assertEqual((secret["env"]["DB_PASSWORD"], secret["stdin"]), ("hunter2", "hunter2"))

    def test_a_group_that_operates_does_not_make_records_forget(self):
        self.serve("--socket-group-may", "operate")
        for verb, status in ((("pause", "hello"), 0), (("resume", "hello"), 0), (("reload",), 0),
                             (("state", "reset", "hello"), 4), (("state", "prune", "--yes"), 4),
                             (("task", "prune", "--older-than", "1d"), 4)):
            done = subprocess.run(self.as_member(KRON, *verb), check=False, capture_output=True, text=True,
                                  timeout=PATIENCE, env={**os.environ, "KRON_SOCKET": str(self.host.socket)})
            self.assertEqual(done.returncode, status, f"{verb}: {done.stderr}")
            if status:
                self.assertIn("this user may operate; root and krond's own user may do this", done.stderr)


if __name__ == "__main__":
    unittest.main()
