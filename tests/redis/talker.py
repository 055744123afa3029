"""Our C++ connection to Redis, driven from a test (redis_talk.cc)."""

import json
import os
import queue
import subprocess
import threading
import time

from redis_host import PATIENCE

REDIS_TALK = os.environ.get("KRON_REDIS_TALK", "")
LONG = 60_000  # milliseconds; never reached


class Talker:
    def __init__(self, url, route_key="", ping_after=10_000):
        self.process = subprocess.Popen([REDIS_TALK, url, route_key, str(ping_after)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        self._answers = queue.Queue()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        for line in self.process.stdout:
            self._answers.put(json.loads(line))
        self._answers.put(None)

    def begin(self, **question):
        """Asks; answer() waits for what comes."""
        self.process.stdin.write(json.dumps(question) + "\n")
        self.process.stdin.flush()

    def answer(self):
        answer = self._answers.get(timeout=PATIENCE)
        assert answer is not None, "redis_talk has ended"
        return answer

    def ask(self, **question):
        self.begin(**question)
        return self.answer()

    def connect(self, timeout=LONG):
        """The address, or the error as {"code", "message"}."""
        answer = self.ask(connect=timeout)
        return answer.get("peer", answer)

    def connect_until_it_works(self):
        deadline = time.monotonic() + PATIENCE
        while True:
            answer = self.connect(2000)
            if isinstance(answer, str):
                return answer
            assert time.monotonic() < deadline, answer
            time.sleep(0.05)

    def call(self, *commands, timeout=LONG):
        return self.ask(call=[[str(word) for word in command] for command in commands], timeout=timeout)["replies"]

    def values(self, *commands, timeout=LONG):
        """The answers, all of which must be replies."""
        replies = self.call(*commands, timeout=timeout)
        assert all(reply["how"] == "reply" for reply in replies), replies
        return [reply["value"] for reply in replies]

    def hows(self, *commands, timeout=LONG):
        return [reply["how"] for reply in self.call(*commands, timeout=timeout)]

    def subscribe(self, *channels, timeout=LONG):
        return self.ask(subscribe=channels, timeout=timeout)

    def next(self, timeout=LONG):
        return self.ask(next=timeout)

    def close(self):
        self.process.stdin.close()
        self.process.wait(PATIENCE)
        self.process.stdout.close()
        return self.process.returncode

    def __enter__(self):
        return self

    def __exit__(self, kind, *_):
        if kind is not None:
            self.process.kill()
        status = self.close()
        assert kind is not None or status == 0, f"redis_talk ended with {status}"
