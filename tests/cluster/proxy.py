"""A TCP proxy between krond and Redis that understands enough of the protocol to spoil one command."""

import collections
import contextlib
import socket
import threading

# What becomes of a command.
PASS = "pass"
LOSE_REQUEST = "lose the request"  # it never reaches Redis, and the connection ends
LOSE_REPLY = "lose the reply"  # Redis has done it, and nobody is told
CUT = "cut the connection"  # in the middle of the command
STALL = "stall"  # nothing of this connection goes on, and nobody is told


def whole_value(data, at=0):
    """Where the RESP2 value that begins at `at` ends, and its words if it is an array; None while it is not whole."""
    end = data.find(b"\r\n", at)
    if end < 0:
        return None
    kind, rest = data[at:at + 1], data[at + 1:end]
    end += 2
    if kind in b"+-:":
        return end, bytes(rest)
    size = int(rest)
    if size < 0:
        return end, None
    if kind == b"$":
        return (end + size + 2, bytes(data[end:end + size])) if len(data) >= end + size + 2 else None
    words = []
    for _ in range(size):
        part = whole_value(data, end)
        if part is None:
            return None
        end, word = part
        words.append(word)
    return end, words


class Connection:
    """Two threads, one for each direction."""

    def __init__(self, proxy, client, server):
        self._proxy = proxy
        self._client, self._server = client, server
        self._fates = collections.deque()  # of the commands whose replies are still to come
        self._is_subscribed = False
        self._lock = threading.Lock()
        self.threads = [threading.Thread(target=self._guarded, args=(step,), daemon=True)
                        for step in (self._requests, self._replies)]
        for thread in self.threads:
            thread.start()

    def _guarded(self, step):
        with contextlib.suppress(OSError, ValueError):
            step()
        self.cut()

    def cut(self):
        for end in (self._client, self._server):
            with contextlib.suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)
            end.close()

    def _requests(self):
        data = bytearray()
        while chunk := self._client.recv(1 << 16):
            data += chunk
            while found := whole_value(data):
                end, words = found
                raw = bytes(data[:end])
                del data[:end]
                fate = self._proxy.fate_of(words)
                if words and words[0].upper() == b"SUBSCRIBE":
                    self._is_subscribed = True
                if fate == LOSE_REQUEST:
                    return
                if fate == CUT:
                    self._server.sendall(raw[:len(raw) // 2])
                    return
                if fate == STALL:
                    self._proxy.stalled.wait()
                    return
                with self._lock:
                    self._fates.append(fate)
                self._server.sendall(raw)

    def _replies(self):
        data = bytearray()
        while chunk := self._server.recv(1 << 16):
            data += chunk
            while found := whole_value(data):
                end, words = found
                raw = bytes(data[:end])
                del data[:end]
                if self._is_subscribed:
                    if self._proxy.is_muted and isinstance(words, list) and words[0] == b"message":
                        continue
                else:
                    with self._lock:
                        fate = self._fates.popleft()
                    if fate == LOSE_REPLY:
                        return
                self._client.sendall(raw)


class Proxy:
    def __init__(self, target):
        self.target = target
        self.is_muted = False
        self.stalled = threading.Event()
        self.commands = []  # all that came by, when it is kept
        self._rule = None
        self._is_refusing = False
        self._lock = threading.Lock()
        self._connections = []
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self._listener.accept()
                client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                try:
                    if self._is_refusing:
                        raise ConnectionRefusedError
                    server = socket.create_connection(("127.0.0.1", self.target), timeout=30)
                except OSError:
                    client.close()
                    continue
                server.settimeout(None)
                server.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                self._connections.append(Connection(self, client, server))

    def close(self):
        self.stalled.set()
        with contextlib.suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self.cut_all()

    def cut_all(self):
        for connection in self._connections:
            connection.cut()
        self._connections.clear()

    def refuse(self, is_refusing):
        """Nobody is let in, and whoever is in is thrown out: Redis is away."""
        self._is_refusing = is_refusing
        if is_refusing:
            self.cut_all()

    def mute_messages(self, is_muted):
        """What is published does not arrive, and nobody is told."""
        self.is_muted = is_muted

    def spoil(self, rule):
        """rule(words) is asked for the fate of every command; None: all pass."""
        with self._lock:
            self._rule = rule

    def fate_of(self, words):
        with self._lock:
            return (self._rule(words) if self._rule else None) or PASS
