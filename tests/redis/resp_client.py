"""A small client of Redis for tests, without packages: one connection, RESP2, a limit on every wait."""

import socket


class RespError(Exception):
    """Redis refused a command; the text begins with a code such as WRONGTYPE."""


def encoded(arguments):
    parts = [b"*%d\r\n" % len(arguments)]
    for argument in arguments:
        if not isinstance(argument, bytes):
            argument = str(argument).encode()
        parts.append(b"$%d\r\n%s\r\n" % (len(argument), argument))
    return b"".join(parts)


class RespClient:
    """Answers are text (str), unless `raw`: then bytes. A refusal is raised as RespError, or returned by pipeline()."""

    def __init__(self, port, host="127.0.0.1", *, user=None, password=None, tls=None, timeout=10.0, raw=False):
        """tls: an ssl.SSLContext"""
        self._raw = raw
        self._socket = socket.create_connection((host, port), timeout=timeout)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        if tls is not None:
            self._socket = tls.wrap_socket(self._socket, server_hostname=host)
        self._file = self._socket.makefile("rb")
        try:
            if password is not None:
                self.call("AUTH", *([user] if user else []), password)
        except BaseException:
            self.close()
            raise

    def close(self):
        self._file.close()
        self._socket.close()

    def interrupt(self):
        """From another thread: whoever reads is told that the connection is over."""
        self._socket.shutdown(socket.SHUT_RDWR)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def call(self, *arguments):
        answer = self.pipeline([arguments])[0]
        if isinstance(answer, RespError):
            raise answer
        return answer

    def pipeline(self, commands):
        """The answer of each command; a refusal as a RespError in its place."""
        self._socket.sendall(b"".join(encoded(command) for command in commands))
        return [self.read() for _ in commands]

    def send(self, *arguments):
        """Only sends; read() gives what comes."""
        self._socket.sendall(encoded(arguments))

    def set_timeout(self, seconds):
        self._socket.settimeout(seconds)

    def read(self):
        line = self._file.readline()
        if not line.endswith(b"\r\n"):
            raise ConnectionError("Redis closed the connection")
        kind, rest = line[:1], line[1:-2]
        if kind == b"+":
            return self._text(rest)
        if kind == b"-":
            return RespError(rest.decode(errors="surrogateescape"))
        if kind == b":":
            return int(rest)
        count = int(rest)
        if kind == b"$":
            if count < 0:
                return None
            body = self._file.read(count + 2)
            if len(body) != count + 2:
                raise ConnectionError("Redis closed the connection")
            return self._text(body[:-2])
        if kind == b"*":
            return None if count < 0 else [self.read() for _ in range(count)]
        raise ConnectionError(f"not RESP2: {line!r}")

    def _text(self, body):
        return body if self._raw else body.decode(errors="surrogateescape")
