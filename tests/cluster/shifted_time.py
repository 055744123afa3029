"""A redis-server whose own clock is stepped and runs fast, while it runs (shifted_time.cc)."""

import os
import struct
import time
from pathlib import Path

from redis_host import RedisServer

LIBRARY = os.environ.get("KRON_SHIFTED_TIME_LIBRARY", "")


class ShiftedServer(RedisServer):
    def __init__(self, **options):
        super().__init__(**options)
        self._path = Path(self.directory) / "shift"
        self._path.write_bytes(bytes(24))
        self._parts = [0, 0, 0]

    def step(self, seconds):
        """From now on its TIME is this much later than it would have been."""
        self._parts[0] += int(seconds * 1e9)
        self._write()

    def run_fast(self, per_million):
        self._parts[1:] = [per_million, time.time_ns()]
        self._write()

    def _write(self):
        with open(self._path, "r+b") as file:
            file.write(struct.pack("<3q", *self._parts))

    def _spawn(self):
        before = {name: os.environ.get(name) for name in ("LD_PRELOAD", "KRON_SHIFTED_TIME")}
        os.environ.update({"LD_PRELOAD": LIBRARY, "KRON_SHIFTED_TIME": str(self._path)})
        try:
            super()._spawn()
        finally:
            for name, value in before.items():
                if value is None:
                    del os.environ[name]
                else:
                    os.environ[name] = value
