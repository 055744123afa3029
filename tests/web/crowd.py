"""A crowd before a front, as a process of its own that yields to everything: crowd.py PORT COUNT CERTIFICATE.

A quarter of it connects and says nothing, a quarter begins to shake hands and stops in the midst of it, a quarter has
shaken hands and sends a request that never ends, a quarter asks on a connection that it keeps for what is for everybody,
with a token of its own making. Whoever is shown out comes back. Prints `there` when COUNT of them have connected, and goes
on until its standard input ends; then it prints, as JSON, how many have `come` in all, how many are `there`, and of each
kind how many came through to where they stop (`kinds`)."""

import json
import os
import random
import resource
import select
import socket
import ssl
import sys
import time

REQUEST = b"GET /api/v1/jobs HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
OPEN = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer kron_abcdefgh_%049d\r\n\r\n"
MACHINES = 200  # that they come from
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
        self.kinds = {"silent": 0, "half a handshake": 0, "half a request": 0, "made-up token": 0}

    def join(self):
        source = f"127.0.1.{random.randint(1, MACHINES)}"
        member = None
        try:
            member = socket.create_connection(("127.0.0.1", self.port), timeout=2, source_address=(source, 0))
            kind = list(self.kinds)[self.made % len(self.kinds)]
            if kind == "half a handshake":
                member.sendall(self.words[:random.randint(1, len(self.words) - 1)])
            elif kind == "half a request":
                member = self.context.wrap_socket(member, server_hostname="localhost")
                member.sendall(REQUEST)
            elif kind == "made-up token":
                member = self.context.wrap_socket(member, server_hostname="localhost")
                # By the second request the front would know him, if it took the first answer for a word about him.
                for _ in range(2):
                    member.sendall(OPEN % self.made)
                    answer = b""
                    while not answer.endswith(b"ok\n"):
                        piece = member.recv(4096)
                        if not piece:
                            raise OSError("shown out")
                        answer += piece
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
    if resource.getrlimit(resource.RLIMIT_NOFILE)[0] < wanted:
        try:  # root may have more than it was given
            resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard if hard == resource.RLIM_INFINITY else max(hard, wanted)))
        except (OSError, ValueError):
            print(f"only {hard} open files", flush=True)
            return
    crowd = Crowd(port, count, ssl.create_default_context(cafile=certificate))
    told = False
    while True:
        crowd.step()
        if not told and crowd.made >= count:
            told = True
            print("there", flush=True)
        if select.select([sys.stdin], [], [], 0)[0]:
            print(json.dumps({"come": crowd.made, "there": len(crowd.members), "kinds": crowd.kinds}), flush=True)
            return
        time.sleep(0.02)


if __name__ == "__main__":
    main()
