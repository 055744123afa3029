"""Redis as the tests look at it: bytes, connected again when the server comes back, and a few shapes that all need."""

import time

from resp_client import RespClient, RespError


class Redis:
    def __init__(self, server):
        self._server = server
        self._client = None

    def close(self):
        if self._client is not None:
            self._client.close()
            self._client = None

    def __call__(self, *words):
        answer, = self.pipeline([words])
        if isinstance(answer, RespError):
            raise answer
        return answer

    def pipeline(self, commands):
        """Answers that are refusals stand in their place. A server that was restarted meanwhile is asked again."""
        was_open = self._client is not None
        if not was_open:
            self._client = self._server.client(raw=True, timeout=60)
        try:
            return self._client.pipeline(commands)
        except OSError:
            self.close()
            if not was_open:
                raise
        return self.pipeline(commands)

    def now(self):
        seconds, micros = self("TIME")
        return int(seconds) + int(micros) / 1e6

    def hash(self, key):
        flat = self("HGETALL", key)
        return {flat[i].decode(): flat[i + 1] for i in range(0, len(flat), 2)}

    def zset(self, key):
        """Pairs of member and score, in order."""
        flat = self("ZRANGE", key, 0, -1, "WITHSCORES")
        return [(flat[i], float(flat[i + 1])) for i in range(0, len(flat), 2)]

    def ids(self, key):
        return [member.decode() for member in self("ZRANGE", key, 0, -1)]

    def kind(self, key):
        return self("TYPE", key).decode()

    def stream(self, key):
        """Of every entry its fields."""
        entries = self("XRANGE", key, "-", "+")
        return [{fields[i].decode(): fields[i + 1] for i in range(0, len(fields), 2)} for _, fields in entries]

    def cpu_seconds(self):
        """What the server has used of its processors."""
        text = self("INFO", "cpu").decode()
        return sum(float(line.split(":")[1]) for line in text.split()
                   if line.startswith(("used_cpu_sys:", "used_cpu_user:")))

    def calls(self):
        """How often each command was called."""
        text = self("INFO", "commandstats").decode()
        lines = [line.split(":", 1) for line in text.splitlines() if line.startswith("cmdstat_")]
        return {name[8:]: int(rest.split(",")[0].split("=")[1]) for name, rest in lines}


class Watcher:
    """Collects every command that the server executes, those of scripts too, from now until stop()."""

    def __init__(self, server):
        self._client = RespClient(server.port, timeout=60)
        self._client.send("MONITOR")
        self._client.read()
        self._stop = f"end-{time.monotonic_ns()}"

    def stop(self, redis):
        redis("ECHO", self._stop)
        lines = []
        while True:
            line = self._client.read()
            if self._stop in line:
                self._client.close()
                return lines
            lines.append(line)
