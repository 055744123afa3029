"""The events of krond through `kron web --service`: many readers, few streams of krond, and nobody reads who may not."""

import socket
import time
import unittest

from service_host import PATIENCE, OnServiceHost, hang_up, until
from api_host import SCALE

READERS = min(450, 90 * SCALE)


class Reader:
    """One browser that reads events."""

    def __init__(self, front, query="", **headers):
        self.response = front.send("GET", f"/api/v1/events{query}", headers)
        self.status = self.response.status
        self.text = b""

    @property
    def begun_behind(self):
        return int(self.response.headers["Last-Event-ID"])

    def until(self, words):
        end = time.monotonic() + PATIENCE
        while words not in self.text:
            piece = self.response.read1(65536)
            assert piece, f"the stream ended before {words}: {self.text[-500:]}"
            assert time.monotonic() < end, f"no {words}: {self.text[-500:]}"
            self.text += piece
        return self.text

    def rest(self):
        """All there is until the stream ends, in whichever way."""
        try:
            while piece := self.response.read1(65536):
                self.text += piece
        except OSError:
            pass
        except Exception as error:  # pylint: disable=broad-exception-caught
            assert type(error).__name__ == "IncompleteRead", error
        return self.text

    def ids(self):
        return [int(line[4:]) for line in self.text.decode().split("\n") if line.startswith("id: ")]

    def close(self):
        hang_up(self.response)


class Events(OnServiceHost):
    def reader(self, token, query="", **headers):
        reader = Reader(self.front.as_(token), query, **headers)
        self.addCleanup(reader.close)
        self.assertEqual(reader.status, 200)
        return reader

    def streams(self):
        return self.api.get("status")["eventStreams"]

    def happen(self, name="hello"):
        """A run, from its start to its end; its id."""
        run_id = self.api.expect(200, "POST", "jobs", name, "trigger")["runId"]
        self.ended(run_id)
        return run_id.encode()

    def kept_by_krond(self, after):
        """What krond itself says to a reader, up to its greeting."""
        with socket.socket(socket.AF_UNIX) as client:
            client.settimeout(PATIENCE)
            client.connect(str(self.host.socket))
            client.sendall(f"GET /api/v1/events HTTP/1.0\r\nHost: localhost\r\nLast-Event-ID: {after}\r\n\r\n".encode())
            text = b""
            while b": krond\n\n" not in text:
                text += client.recv(65536)
            return text.partition(b"\r\n\r\n")[2]

    def test_hundreds_of_readers_are_as_many_streams_as_roles(self):
        tokens = [self.new_token(role, role)[0] for role in ("read", "operate", "admin")]
        readers = [self.reader(tokens[number % 3]) for number in range(READERS)]
        for reader in readers:
            reader.until(b": krond")
        self.assertEqual(self.streams(), 3)
        run_id = self.happen()
        for reader in readers:
            self.assertIn(run_id, reader.until(b"event: run_ended"))
            self.assertEqual(reader.ids(), sorted(set(reader.ids())))
        for reader in readers:
            reader.close()
        until(lambda: self.streams() == 0, "no reader, no stream")

    def test_a_reader_gets_what_krond_would_send_him(self):
        token, _ = self.new_token("ada")
        first = self.reader(token)
        first.until(b": krond")
        self.happen()
        ids = self.reader(token, "?after=0")
        ids.until(b": krond")
        known = ids.ids()
        for after in (0, 1, known[0] - 1, known[len(known) // 2], known[-2], known[-1], known[-1] + 10_000_000):
            reader = self.reader(token, **{"Last-Event-ID": str(after)})
            reader.until(b": krond\n\n")
            self.assertEqual(reader.text.partition(b": krond\n\n")[0], self.kept_by_krond(after).partition(b": krond\n\n")[0], after)
        self.assertGreaterEqual(first.begun_behind, known[0])
        brief = self.reader(token, "?fields=brief&after=0")
        self.assertNotIn(b"seedHash", brief.until(b": krond\n\n"))
        for query in ("?after=x", "?fields=none", "?nonsense=1"):
            answer = self.front.as_(token).ask("GET", f"/api/v1/events{query}")
            self.assertEqual(answer.status, 400, query)
            self.assertTrue(answer.json["detail"], query)

    def test_nothing_is_lost_or_told_twice_while_readers_come_and_go(self):
        token, _ = self.new_token("ada")
        other, other_id = self.new_token("bob")
        reader = self.reader(other)  # by whom krond's stream is opened
        steady = self.reader(token, "?after=0")
        steady.until(b": krond")
        for number in range(5):
            self.happen()
            come = self.reader(token)
            come.until(b": krond")
            come.close()
            if number == 2:
                self.api.expect(200, "DELETE", "tokens", other_id)
                reader.rest()
        run_id = self.happen()
        while run_id not in steady.text or b"run_ended" not in steady.text.partition(run_id)[2]:
            steady.text += steady.response.read1(65536)
        self.assertEqual(steady.ids(), list(range(steady.ids()[0], steady.ids()[-1] + 1)))

    def test_a_revoked_token_and_a_logout_end_their_streams_and_no_others(self):
        gone, gone_id = self.new_token("gone")
        stays, _ = self.new_token("stays")
        session = self.front.ask("POST", "/api/v1/session", body={"token": stays}).json["token"]
        readers = {"gone": self.reader(gone), "stays": self.reader(stays), "session": self.reader(session)}
        for reader in readers.values():
            reader.until(b": krond")
        self.assertEqual(self.streams(), 1)
        self.api.expect(200, "DELETE", "tokens", gone_id)
        readers["gone"].rest()
        self.assertEqual(self.front.as_(session).ask("DELETE", "/api/v1/session").status, 204)
        readers["session"].rest()
        run_id = self.happen()
        self.assertIn(run_id, readers["stays"].until(b"event: run_ended"))
        second = self.front.ask("POST", "/api/v1/session", body={"token": stays}).json["token"]
        reader = self.reader(second)
        reader.until(b": krond")
        self.api.expect(204, "DELETE", "sessions")
        reader.rest()
        self.happen("other")
        readers["stays"].until(b'"other"')

    def test_when_krond_restarts_readers_come_back_where_they_were(self):
        token, _ = self.new_token("ada")
        reader = self.reader(token)
        reader.until(b": krond")
        self.happen()
        reader.until(b"event: run_ended")
        last = reader.ids()[-1]
        self.krond.stop()
        reader.rest()
        self.assertEqual(self.front.as_(token).ask("GET", "/api/v1/events").status, 503)
        self.krond, self.api = self.host.serve("--web-socket", str(self.web_socket))
        back = self.reader(token, **{"Last-Event-ID": str(last)})
        self.assertIn(b'"reason":"restarted"', back.until(b": krond"))
        self.happen()
        back.until(b"event: run_ended")

    def test_nobody_waits_for_a_reader_who_does_not_read(self):
        # That he is cut off in the end is for a test beside the code, which can say megabytes in a moment.
        token, _ = self.new_token("ada", "operate")
        slow = socket.create_connection(("127.0.0.1", self.front.port), timeout=PATIENCE)
        self.addCleanup(slow.close)
        slow.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        slow.sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n\r\n".encode())
        quick = self.reader(token)
        quick.until(b": krond")
        for number in range(100):
            self.api.expect(200, "POST", "jobs", "hello", "pause", body={"note": f"{number:04}" + "x" * 490})
            self.api.expect(200, "POST", "jobs", "hello", "resume", body={})
            quick.until(f'"note":"{number:04}'.encode())
            quick.text = b""
        self.assertEqual(self.streams(), 1)


if __name__ == "__main__":
    unittest.main()
