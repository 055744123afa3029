"""Redis servers of one test: real processes on ports and in directories of their own, never on 6379.

    with RedisServer() as redis:
        redis.cli("SET", "key", "value")
        start_something_with(redis.url())

Servers die with the thread that started them, so that a test that is killed leaves none behind.
"""

import os
import random
import shutil
import signal
import socket
import ssl
import subprocess
import tempfile
import time
from pathlib import Path

from resp_client import RespClient, RespError

# How many seconds to wait for what must happen: never reached unless it does not.
PATIENCE = float(os.environ.get("KRON_TEST_PATIENCE", 120))


def wait_until(condition, what, patience=PATIENCE):
    """The first true answer of condition(); errors of the connection count as no."""
    deadline = time.monotonic() + patience
    seen = None
    while time.monotonic() < deadline:
        try:
            if answer := condition():
                return answer
        except (OSError, RespError) as error:
            seen = error
        time.sleep(0.02)
    raise AssertionError(f"waited {patience} s in vain: {what} (last error: {seen})")


def free_port():
    """A port below those the kernel hands out, of which the one 10,000 above, a cluster's bus, is free too."""
    for _ in range(1000):
        port = random.SystemRandom().randrange(11000, 22000)
        try:
            for candidate in (port, port + 10000):
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", candidate))
        except OSError:
            continue
        return port
    raise AssertionError("no free port")


def server_program(directory):
    """redis-server; where only redis-tools is installed, that is the same program under another name (scripts/deps)."""
    if found := shutil.which("redis-server"):
        return found
    other = shutil.which("redis-check-rdb")
    if other is None:
        raise AssertionError("no redis-server here; run scripts/deps test")
    link = Path(directory) / "redis-server"
    if not link.exists():
        link.symlink_to(other)
    return str(link)


class Process:
    """A redis-server or a Sentinel: its process, its directory, its port."""

    def __init__(self, *, user=None, password=None, authority=None):
        self.directory = Path(tempfile.mkdtemp(prefix="kron-redis-"))
        self.port = None
        self.process = None
        self.user = user
        self.password = password
        self.authority = authority

    def config(self):
        """The lines of its configuration file."""
        raise NotImplementedError

    arguments = ()

    def start(self):
        """Starts it, on the same port as before, and waits until it answers."""
        assert self.process is None, "it runs already"
        for _ in range(10 if self.port is None else 1):
            is_new = self.port is None
            if is_new:
                self.port = free_port()
                self._write_config()
            self._spawn()
            if self._comes_up():
                return self
            self.process = None
            if is_new:
                self.port = None  # somebody else was quicker
        raise AssertionError(f"redis-server does not start:\n{self.log()}")

    def _write_config(self):
        # Sentinel and CONFIG REWRITE change the file, and a restart must see that.
        (self.directory / "redis.conf").write_text("\n".join(self.config()) + "\n")

    def _spawn(self):
        command = ["setpriv", "--pdeathsig", "KILL", server_program(self.directory), str(self.directory / "redis.conf"),
                   *self.arguments]
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                        stderr=subprocess.DEVNULL, cwd=self.directory)

    def _comes_up(self):
        def is_up_or_over():
            return self.process.poll() is not None or self.cli("PING") == "PONG"
        wait_until(is_up_or_over, "redis-server answers")
        return self.process.poll() is None

    def log(self):
        try:
            return (self.directory / "log").read_text(errors="replace")
        except FileNotFoundError:
            return ""

    def client(self, **options):
        """A connection as its administrator."""
        tls = self.authority.context() if self.authority else None
        return RespClient(self.port, **{"user": self.user, "password": self.password, "tls": tls, **options})

    def cli(self, *arguments, **options):
        """One command on a connection of its own."""
        with self.client(**options) as client:
            return client.call(*arguments)

    @property
    def is_running(self):
        return self.process is not None and self.process.poll() is None

    def stop(self):
        """In order: it saves what it is configured to save."""
        self._end(signal.SIGTERM)

    def kill(self):
        self._end(signal.SIGKILL)

    def _end(self, number):
        if self.process is None:
            return
        self.process.send_signal(signal.SIGCONT)
        self.process.send_signal(number)
        try:
            self.process.wait(30)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait(30)
        self.process = None

    def suspend(self):
        """As a machine that hangs: connections stay open, nothing is answered."""
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def close(self):
        if self.process is not None:
            self._end(signal.SIGKILL)
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self if self.process else self.start()

    def __exit__(self, *_):
        self.close()


class RedisServer(Process):
    """Options:
    appendonly, appendfsync  True and "always": what was answered survives kill()
    password                 of the default user
    acl                      lines such as "kron on >secret ~{cronken}:* &* +@all"
    authority                an Authority: the server speaks TLS, and only TLS
    replica_of               another RedisServer
    cluster                  a node of a Redis Cluster (see RedisCluster)
    unix_socket              also listens on .socket_path
    options                  more lines of redis.conf
    """

    def __init__(self, *, appendonly=False, appendfsync="everysec", password=None, acl=(), authority=None,
                 replica_of=None, cluster=False, unix_socket=False, options=()):
        super().__init__(password=password, authority=authority)
        self._appendonly = appendonly
        self._appendfsync = appendfsync
        self._acl = acl
        self._replica_of = replica_of
        self._cluster = cluster
        self._options = options
        self.socket_path = self.directory / "socket" if unix_socket else None

    def config(self):
        lines = ["bind 127.0.0.1", "protected-mode yes", f"dir {self.directory}", 'save ""',
                 f"logfile {self.directory / 'log'}", f"appendonly {'yes' if self._appendonly else 'no'}",
                 f"appendfsync {self._appendfsync}", "repl-diskless-sync yes", "repl-diskless-sync-delay 0",
                 "repl-ping-replica-period 1"]
        if self.authority:
            certificate = self.authority.certificate()
            lines += ["port 0", f"tls-port {self.port}", f"tls-ca-cert-file {self.authority.ca_file}",
                      f"tls-cert-file {certificate.cert_file}", f"tls-key-file {certificate.key_file}",
                      "tls-auth-clients no", "tls-replication yes"]
        else:
            lines += [f"port {self.port}"]
        if self.password is not None:
            lines += [f"requirepass {self.password}", f"masterauth {self.password}"]
        if self._replica_of is not None:
            lines += [f"replicaof 127.0.0.1 {self._replica_of.port}"]
        if self._cluster:
            lines += ["cluster-enabled yes", "cluster-config-file nodes.conf", "cluster-node-timeout 3000"]
        if self.socket_path:
            lines += [f"unixsocket {self.socket_path}"]
        return lines + [f"user {line}" for line in self._acl] + list(self._options)

    def url(self, *, user=None, password=None, db=None, host="127.0.0.1"):
        """As Kron takes it; with the default user's password unless told otherwise."""
        password = self.password if password is None else password
        login = f"{user or ''}:{password}@" if password is not None else ""
        where = f"{login}{host}:{self.port}" + (f"/{db}" if db is not None else "")
        if self.authority:
            return f"rediss://{where}?ca_file={self.authority.ca_file}"
        return f"redis://{where}"

    def restart(self, *, kill=False, keep_data=True):
        """keep_data False: as after the loss of its disk. What kill() loses depends on appendonly."""
        self._end(signal.SIGKILL if kill else signal.SIGTERM)
        if not keep_data:
            self.lose_data()
        return self.start()

    def lose_data(self):
        """Removes what a stopped server has saved."""
        assert self.process is None
        shutil.rmtree(self.directory / "appendonlydir", ignore_errors=True)
        for name in ("dump.rdb", "appendonly.aof"):
            (self.directory / name).unlink(missing_ok=True)

    def role(self):
        return self.cli("ROLE")[0]

    def wait_for_replicas(self, count):
        wait_until(lambda: len([replica for replica in self.cli("ROLE")[2]]) >= count, f"{count} replicas are connected")


class Certificate:
    def __init__(self, cert_file, key_file):
        self.cert_file = cert_file
        self.key_file = key_file


class Authority:
    """A certificate authority of its own, for TLS. Made by openssl."""

    def __init__(self, names=("DNS:localhost", "IP:127.0.0.1")):
        """names: what the servers' certificates are for."""
        self.directory = Path(tempfile.mkdtemp(prefix="kron-redis-ca-"))
        self._names = names
        self._count = 0
        self._own = None
        self.ca_file = self.directory / "ca.crt"
        self._openssl("req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                      "-subj", "/CN=Kron test authority", "-keyout", self.directory / "ca.key", "-out", self.ca_file)

    def certificate(self, names=None, subject="redis"):
        """A new one, for a server or a client."""
        self._count += 1
        base = self.directory / str(self._count)
        extensions = base.with_suffix(".ext")
        extensions.write_text("subjectAltName=" + ",".join(names or self._names) + "\n")
        self._openssl("req", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-subj",
                      f"/CN={subject}", "-keyout", base.with_suffix(".key"), "-out", base.with_suffix(".csr"))
        self._openssl("x509", "-req", "-in", base.with_suffix(".csr"), "-CA", self.ca_file, "-CAkey",
                      self.directory / "ca.key", "-set_serial", str(self._count), "-days", "2", "-extfile", extensions,
                      "-out", base.with_suffix(".crt"))
        return Certificate(base.with_suffix(".crt"), base.with_suffix(".key"))

    def context(self):
        """For a Python client that trusts it whatever the server's name is."""
        context = ssl.create_default_context(cafile=str(self.ca_file))
        context.check_hostname = False
        if self._own is None:
            self._own = self.certificate(subject="test")
        context.load_cert_chain(self._own.cert_file, self._own.key_file)
        return context

    @staticmethod
    def _openssl(*arguments):
        run = subprocess.run(["openssl", *map(str, arguments)], capture_output=True, text=True, timeout=60, check=False)
        assert run.returncode == 0, run.stderr

    def close(self):
        shutil.rmtree(self.directory, ignore_errors=True)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


class Sentinel(Process):
    arguments = ("--sentinel",)

    def __init__(self, master, name, quorum, down_after):
        super().__init__()
        self._master = master
        self._name = name
        self._quorum = quorum
        self._down_after = down_after

    def config(self):
        lines = ["bind 127.0.0.1", f"port {self.port}", f"dir {self.directory}", f"logfile {self.directory / 'log'}",
                 f"sentinel monitor {self._name} 127.0.0.1 {self._master.port} {self._quorum}",
                 f"sentinel down-after-milliseconds {self._name} {self._down_after}",
                 f"sentinel failover-timeout {self._name} 3000"]
        if self._master.password is not None:
            lines += [f"sentinel auth-pass {self._name} {self._master.password}"]
        return lines


class SentinelGroup:
    """A master, replicas, and Sentinels that fail over within a few seconds."""

    def __init__(self, *, replicas=1, sentinels=3, name="mymaster", down_after=500, **server_options):
        """down_after: milliseconds without an answer until a Sentinel calls a server down."""
        self.name = name
        self.master = RedisServer(**server_options)
        self.replicas = [RedisServer(replica_of=self.master, **server_options) for _ in range(replicas)]
        quorum = sentinels // 2 + 1
        self.sentinels = [Sentinel(self.master, name, quorum, down_after) for _ in range(sentinels)]

    @property
    def servers(self):
        return [self.master, *self.replicas]

    def start(self):
        self.master.start()
        for replica in self.replicas:
            replica.start()
        self.master.wait_for_replicas(len(self.replicas))
        for sentinel in self.sentinels:
            sentinel.start()
        wait_until(self._know_each_other, "the Sentinels know each other and the replicas")
        return self

    def _know_each_other(self):
        for sentinel in self.sentinels:
            answer = sentinel.cli("SENTINEL", "MASTER", self.name)
            fields = dict(zip(answer[::2], answer[1::2]))
            if (int(fields["num-other-sentinels"]), int(fields["num-slaves"])) != (
                    len(self.sentinels) - 1, len(self.replicas)):
                return False
        return True

    def url(self, db=None):
        hosts = ",".join(f"127.0.0.1:{sentinel.port}" for sentinel in self.sentinels)
        password = self.master.password
        login = f":{password}@" if password is not None else ""
        return f"redis+sentinel://{login}{hosts}/{self.name}" + (f"/{db}" if db is not None else "")

    def current_master(self):
        """The running server that is master now, by its own word; None while there is none."""
        for server in self.servers:
            try:
                if server.is_running and server.role() == "master":
                    return server
            except OSError:
                pass
        return None

    def fail_over(self):
        """Kills the master and waits until a replica has taken over and every Sentinel says so; that one. The old
        master may come back then; that it becomes a replica can take a minute on a busy machine."""
        old = self.current_master()
        old.kill()
        new = wait_until(self.current_master, "a replica has become master")
        wait_until(lambda: all(self.named_by(sentinel) == new.port for sentinel in self.sentinels if sentinel.is_running),
                   "the Sentinels agree on the new master")
        return new

    def named_by(self, sentinel):
        """The port of the master, as one Sentinel knows it."""
        return int(sentinel.cli("SENTINEL", "get-master-addr-by-name", self.name)[1])

    def close(self):
        for process in [*self.sentinels, *self.servers]:
            process.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()


SLOTS = 16384


class RedisCluster:
    """A Redis Cluster of masters that share the slots evenly."""

    def __init__(self, nodes=3, **server_options):
        self.nodes = [RedisServer(cluster=True, **server_options) for _ in range(nodes)]

    def start(self):
        for node in self.nodes:
            node.start()
        count = len(self.nodes)
        for index, node in enumerate(self.nodes):
            node.cli("CLUSTER", "SET-CONFIG-EPOCH", index + 1)
            node.cli("CLUSTER", "ADDSLOTS", *range(SLOTS * index // count, SLOTS * (index + 1) // count))
            self.nodes[0].cli("CLUSTER", "MEET", "127.0.0.1", node.port)
        wait_until(lambda: all(self._is_complete(node) for node in self.nodes), "the cluster is complete")
        return self

    def _is_complete(self, node):
        info = node.cli("CLUSTER", "INFO")
        return "cluster_state:ok" in info and f"cluster_known_nodes:{len(self.nodes)}" in info

    def url(self, node=0):
        """Any node will do."""
        return self.nodes[node].url()

    def slot_of(self, key):
        return self.nodes[0].cli("CLUSTER", "KEYSLOT", key)

    def owner(self, slot):
        """The node that has the slot, as itself says."""
        for node in self.nodes:
            for first, last, *_ in self._own_slots(node):
                if first <= slot <= last:
                    return node
        raise AssertionError(f"nobody has slot {slot}")

    def _own_slots(self, node):
        own = self.id_of(node)
        return [entry for entry in node.cli("CLUSTER", "SLOTS") if entry[2][2] == own]

    @staticmethod
    def id_of(node):
        return node.cli("CLUSTER", "MYID")

    def begin_move(self, slot, target):
        """From now on the owner answers ASK for keys of the slot that it has not."""
        source = self.owner(slot)
        target.cli("CLUSTER", "SETSLOT", slot, "IMPORTING", self.id_of(source))
        source.cli("CLUSTER", "SETSLOT", slot, "MIGRATING", self.id_of(target))
        return source

    def move_keys(self, slot, source, target, count=1000):
        """Moves up to count keys; how many it moved."""
        keys = source.cli("CLUSTER", "GETKEYSINSLOT", slot, count)
        if keys:
            login = ["AUTH", target.password] if target.password is not None else []
            source.cli("MIGRATE", "127.0.0.1", target.port, "", 0, 5000, *login, "KEYS", *keys)
        return len(keys)

    def finish_move(self, slot, target):
        """From now on the former owner answers MOVED."""
        target_id = self.id_of(target)
        for node in [target, *(node for node in self.nodes if node is not target)]:
            node.cli("CLUSTER", "SETSLOT", slot, "NODE", target_id)

    def move_slot(self, slot, target):
        source = self.begin_move(slot, target)
        while self.move_keys(slot, source, target):
            pass
        self.finish_move(slot, target)

    def close(self):
        for node in self.nodes:
            node.close()

    def __enter__(self):
        return self.start()

    def __exit__(self, *_):
        self.close()
