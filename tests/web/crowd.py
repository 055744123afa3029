"""A crowd before a front, as a process of its own that yields to everything: crowd.py PORT COUNT CERTIFICATE.

A third of it connects and says nothing, a third begins to shake hands and stops in the midst of it, a third has shaken
hands and sends a request that never ends. Whoever is shown out comes back. Prints `there` when COUNT of them have
connected, and goes on until its standard input ends."""

import os
import random
import resource
import select
import socket
import ssl
import sys
import time

REQUEST = b"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
MACHINES = 40  # that they come from
AT_ONCE = 50  # connections that are begun between two looks


def hello(context):
    """The first words of a client, by which hands are shaken."""
    incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(incoming, outgoing, server_hostname="localhost").do_handshake()
    except ssl.SSLWantReadError:
        pass
    return outgoing.read()


class Crowd:
    def __init__(self, port, most, context):
        self.port, self.context = port, context
        self.words = hello(context)
        self.most = most
        self.members = []
        self.made = 0
        self.kinds = {"silent": 0, "half a handshake": 0, "half a request": 0}

    def join(self):
        source = f"127.0.1.{random.randint(1, MACHINES)}"
        member = None
        try:
            member = socket.create_connection(("127.0.0.1", self.port), timeout=2, source_address=(source, 0))
            kind = list(self.kinds)[self.made % 3]
            if kind == "half a handshake":
                member.sendall(self.words[:random.randint(1, len(self.words) - 1)])
            elif kind == "half a request":
                member = self.context.wrap_socket(member, server_hostname="localhost")
                member.sendall(REQUEST)
            self.kinds[kind] += 1
            member.setblocking(False)
            self.members.append(member)
            self.made += 1
        except OSError:  # shown out before it was through
            if member is not None:
                member.close()
            self.made += 1

    def leave_those_shown_out(self):
        poll = select.poll()
        by_number = {member.fileno(): member for member in self.members}
        for number in by_number:
            poll.register(number, select.POLLIN | select.POLLRDHUP)
        for number, happened in poll.poll(0):
            if happened & (select.POLLHUP | select.POLLERR | select.POLLRDHUP | select.POLLNVAL):
                by_number.pop(number).close()
        self.members = list(by_number.values())

    def step(self):
        for _ in range(AT_ONCE):
            if len(self.members) < self.most:
                self.join()
        self.leave_those_shown_out()


def main():
    port, count, certificate = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
    os.nice(19)
    hard = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
    wanted = count + 100
    if hard == resource.RLIM_INFINITY or hard >= wanted:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    room = resource.getrlimit(resource.RLIMIT_NOFILE)[0] - 100
    crowd = Crowd(port, min(count, room), ssl.create_default_context(cafile=certificate))
    told = False
    while True:
        crowd.step()
        if not told and crowd.made >= count:
            told = True
            print("there", flush=True)
        if select.select([sys.stdin], [], [], 0)[0]:
            print(f"{crowd.made} {len(crowd.members)} {crowd.kinds}", flush=True)
            return
        time.sleep(0.02)


if __name__ == "__main__":
    main()
