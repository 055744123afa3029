"""krond's API as a program meets it: HTTP over the Unix socket, and every answer held against the document that krond
serves."""

import http.client
import json
import re
import socket
from datetime import datetime
from pathlib import Path
from urllib.parse import quote, urlencode

import jsonschema

DOCUMENT = json.loads((Path(__file__).resolve().parents[2] / "src/kron/api/openapi.json").read_text(encoding="utf-8"))
FORMATS = jsonschema.FormatChecker(formats=())


@FORMATS.checks("date-time", raises=ValueError)
def is_date_time(text):
    return not isinstance(text, str) or bool(datetime.strptime(text, "%Y-%m-%dT%H:%M:%SZ"))


def pattern_of(path):
    return re.compile("/".join("[^/]+" if part.startswith("{") else re.escape(part) for part in path.split("/")))


# Those without names first: /tasks/prune is no task.
PATTERNS = sorted(((path, pattern_of(path)) for path in DOCUMENT["paths"]), key=lambda entry: entry[0].count("{"))


def path_of(target):
    """The path of the document that a target belongs to, or None."""
    plain = target.partition("?")[0]
    return next((path for path, pattern in PATTERNS if pattern.fullmatch(plain)), None)


class UnixConnection(http.client.HTTPConnection):
    def __init__(self, path, timeout=60):
        super().__init__("localhost", timeout=timeout)
        self.socket_path = str(path)

    def connect(self):
        self.sock = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.sock.settimeout(self.timeout)
        self.sock.connect(self.socket_path)


class Answer:
    def __init__(self, response, body):
        self.status = response.status
        self.headers = {name.lower(): value for name, value in response.getheaders()}
        self.body = body

    @property
    def content_type(self):
        return self.headers.get("content-type", "").partition(";")[0]

    @property
    def json(self):
        return json.loads(self.body)


def check(method, target, answer):
    """Fails when the document does not describe this answer."""
    path = path_of(target)
    operation = DOCUMENT["paths"].get(path, {}).get("get" if method == "HEAD" else method.lower())
    if operation is None:
        # A path or a method that there is not: the problem is all there can be.
        described = {"application/problem+json": {"schema": {"$ref": "#/components/schemas/Problem"}}}
    else:
        responses = operation["responses"]
        described = responses.get(str(answer.status), responses["default"]).get("content", {})
        if answer.status < 400 and str(answer.status) not in responses:
            raise AssertionError(f"{method} {target}: status {answer.status} is not in the document")
    if method == "HEAD" or (answer.status == 204 and answer.body == b"" and not described):
        return path
    if answer.content_type not in described:
        raise AssertionError(f"{method} {target}: {answer.status} {answer.content_type!r} is none of {list(described)}")
    if answer.content_type.endswith("json"):
        schema = {**described[answer.content_type]["schema"], "components": DOCUMENT["components"]}
        jsonschema.Draft202012Validator(schema, format_checker=FORMATS).validate(answer.json)
        if answer.content_type == "application/problem+json" and answer.json["status"] != answer.status:
            raise AssertionError(f"{method} {target}: a problem of another status: {answer.json}")
    return path


class Api:
    """Asks, and checks each answer. `seen` gathers (method, path of the document, whether it was a success)."""

    def __init__(self, socket_path):
        self.socket_path = socket_path
        self.seen = set()

    def ask(self, method, *segments, body=None, headers=None, timeout=60, **parameters):
        """An Answer; segments are encoded, and a leading one with a slash is taken as it is."""
        first, *rest = segments
        target = first if first.startswith("/") else "/api/v1/" + quote(first, safe="")
        target += "".join("/" + quote(str(segment), safe="") for segment in rest)
        if parameters:
            target += "?" + urlencode({name.rstrip("_"): value for name, value in parameters.items()})
        if isinstance(body, (dict, list)):
            body = json.dumps(body).encode()
            headers = {"Content-Type": "application/json", **(headers or {})}
        connection = UnixConnection(self.socket_path, timeout)
        try:
            connection.request(method, target, body, headers or {})
            response = connection.getresponse()
            answer = Answer(response, response.read())
        finally:
            connection.close()
        path = check(method, target, answer)
        if path is not None:
            self.seen.add((method, path, answer.status < 400))
        return answer

    def get(self, *segments, **how):
        return self.expect(200, "GET", *segments, **how)

    def post(self, *segments, **how):
        return self.expect(200, "POST", *segments, **how)

    def expect(self, status, method, *segments, **how):
        """What was answered: a document, or the bytes of what is none."""
        answer = self.ask(method, *segments, **how)
        if answer.status != status:
            raise AssertionError(f"{method} {segments}: {answer.status}, not {status}: {answer.body[:500]!r}")
        return answer.json if answer.content_type.endswith("json") else answer.body

    def events(self, after=None, timeout=60):
        return Events(self.socket_path, after, timeout)


class Events:
    """A stream of events: iterate over (id, name, data)."""

    def __init__(self, socket_path, after=None, timeout=60):
        self.connection = UnixConnection(socket_path, timeout)
        headers = {} if after is None else {"Last-Event-ID": str(after)}
        self.connection.request("GET", "/api/v1/events", headers=headers)
        self.response = self.connection.getresponse()
        if self.response.status != 200:
            raise AssertionError(self.response.read())
        # The stream greets as soon as it is there: nothing that happens from now on is missed. What is asked for from
        # before comes first.
        self.greeting = self.response.readline() if after is None else b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.connection.close()

    def __iter__(self):
        event = {}
        for raw in self.response:
            line = raw.decode().rstrip("\n")
            if line:
                name, _, value = line.partition(": ")
                event[name] = value
            elif "data" in event:
                yield event.get("id"), event.get("event"), json.loads(event["data"])
                event = {}

    def wait_for(self, name, **fields):
        for number, event, data in self:
            if event == name and all(data.get(key) == value for key, value in fields.items()):
                return number, data
        raise AssertionError(f"the stream ended without {name} {fields}")
