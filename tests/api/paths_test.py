"""Every path of the document, with a success and with an error, against a live krond; every answer is held against its
schema. A path that nobody calls here fails the last test."""

import io
import json
import tarfile
import unittest
from concurrent.futures import ThreadPoolExecutor

from api_client import DOCUMENT
from api_host import NEVER, PATIENCE, OnApiHost, until


def multipart(**parts):
    """(headers, body) of a form."""
    body = b""
    for name, (content_type, content) in parts.items():
        body += (f'--edge\r\nContent-Disposition: form-data; name="{name}"\r\nContent-Type: {content_type}\r\n\r\n'
                 .encode() + content + b"\r\n")
    return {"Content-Type": "multipart/form-data; boundary=edge"}, body + b"--edge--\r\n"


def tar_with(name, content=b"", **facts):
    whole = io.BytesIO()
    with tarfile.open(fileobj=whole, mode="w") as tar:
        info = tarfile.TarInfo(name)
        info.size = len(content)
        for fact, value in facts.items():
            setattr(info, fact, value)
        tar.addfile(info, io.BytesIO(content))
    return whole.getvalue()


SEEN = set()


class Paths(OnApiHost):
    def tearDown(self):
        SEEN.update(self.api.seen)

    def refuse(self, status, *request, **how):
        problem = self.api.expect(status, *request, **how)
        self.assertNotEqual(problem["detail"], "")
        return problem

    def test_status_health_readiness_metrics_and_the_document(self):
        status = self.api.get("status")
        self.assertEqual((status["pid"], status["jobs"], status["ready"]), (self.krond.pid, 4, True))
        self.assertEqual(status["stateDirectory"], str(self.host.state))
        self.assertEqual(self.api.get("/healthz"), b"ok\n")
        self.assertEqual(self.api.get("/readyz"), b"ready\n")
        self.assertIn(b"\nkron_jobs 4\n", self.api.get("/metrics"))
        self.assertEqual(self.api.get("openapi.json"), DOCUMENT)
        for path in (("status",), ("/healthz",), ("/readyz",), ("/metrics",), ("openapi.json",)):
            self.refuse(400, "GET", *path, nonsense=1)

    def test_jobs(self):
        page = self.api.get("jobs")
        self.assertEqual({job["identity"] for job in page["jobs"]}, {"failing", "hello", "lasting", "team/a.b"})
        first = self.api.get("jobs", limit=3)
        rest = self.api.get("jobs", limit=3, after=first["next"])
        self.assertEqual([job["identity"] for job in first["jobs"] + rest["jobs"]],
                         [job["identity"] for job in page["jobs"]])
        self.assertNotIn("next", rest)
        self.assertEqual([job["identity"] for job in self.api.get("jobs", prefix="team/")["jobs"]], ["team/a.b"])
        self.assertEqual([job["identity"] for job in self.api.get("jobs", match="stin")["jobs"]], ["lasting"])
        self.assertEqual(self.api.get("jobs", state="running")["jobs"], [])
        for parameters in ({"limit": 0}, {"limit": "x"}, {"limit": 1001}, {"state": "asleep"}, {"lmit": 1}):
            self.refuse(400, "GET", "jobs", **parameters)

    def test_one_job_whatever_its_name(self):
        job = self.api.get("jobs", "team/a.b")
        self.assertEqual((job["identity"], job["schedule"], job["running"], job["last"]), ("team/a.b", NEVER, 0, None))
        self.assertEqual(self.refuse(404, "GET", "jobs", "nobody")["type"], "urn:kron:problem:not_found")
        self.refuse(404, "GET", "jobs", "team", "a.b")

    def test_decisions(self):
        decisions = self.api.get("jobs", "hello", "decisions", from_="2031-06-01T00:00:00Z", count=2)["decisions"]
        self.assertEqual([decision["periodId"] for decision in decisions], ["2032-01-01T00:00:00Z", "2033-01-01T00:00:00Z"])
        self.refuse(400, "GET", "jobs", "hello", "decisions", from_="tomorrow")
        self.refuse(400, "GET", "jobs", "hello", "decisions", count=1001)
        self.refuse(404, "GET", "jobs", "nobody", "decisions")

    def test_trigger_and_its_key(self):
        first = self.api.post("jobs", "hello", "trigger", headers={"Idempotency-Key": "k1"})
        again = self.api.post("jobs", "hello", "trigger", headers={"Idempotency-Key": "k1"})
        self.assertEqual((first["outcome"], again), ("started", {"runId": first["runId"], "outcome": "already_known"}))
        self.ended(first["runId"])
        self.assertEqual(len(self.host.effects("hello")), 1)
        self.refuse(404, "POST", "jobs", "nobody", "trigger")
        self.refuse(400, "POST", "jobs", "hello", "trigger", headers={"Idempotency-Key": "k" * 201})
        for empty in ("", " "):
            self.refuse(400, "POST", "jobs", "hello", "trigger", headers={"Idempotency-Key": empty})
        self.assertEqual(len(self.host.effects("hello")), 1)

    def test_a_run_is_waited_for(self):
        run_id = self.running("lasting")
        until(lambda: self.api.ask("GET", "runs", run_id).status == 200, "the run")
        self.assertEqual(self.api.get("runs", run_id, wait="10ms")["state"], "running")
        self.refuse(400, "GET", "runs", run_id, wait="61s")
        self.refuse(400, "GET", "runs", run_id, wait="long")
        with ThreadPoolExecutor() as pool:
            waiting = pool.submit(self.api.get, "runs", run_id, wait="60s")
            self.host.let_go()
            self.assertEqual(waiting.result(PATIENCE)["exitCode"], 0)

    def test_a_body_with_a_byte_order_mark_is_refused(self):
        for task in ({"type": "T"}, {"type": "T", "data": {"n": 1}}):
            body = b"\xef\xbb\xbf" + json.dumps({"taskId": "t", "payload": task}).encode()
            self.refuse(400, "POST", "tasks", body=body, headers={"Content-Type": "application/json"})
        for path in (("jobs", "hello", "pause"), ("jobs", "hello", "resume"), ("state", "prune")):
            self.refuse(400, "POST", *path, body=b"\xef\xbb\xbf{}", headers={"Content-Type": "application/json"})

    def test_a_pause_and_a_resume_may_skip_what_is_missed(self):
        paused = self.api.post("jobs", "hello", "pause", body={"skipMissed": True})["paused"]
        self.assertEqual(paused["skipMissed"], True)
        self.refuse(400, "POST", "jobs", "hello", "resume", body={"until": "2099-01-01T00:00:00Z"})
        self.refuse(400, "POST", "jobs", "hello", "resume", body={"skipMissed": "yes"})
        resumed = self.api.post("jobs", "hello", "resume", body={"skipMissed": True})
        self.assertEqual(resumed, {"identity": "hello", "paused": None})

    def test_many_are_paused_and_resumed(self):
        for verb in ("pause", "resume"):
            answer = self.api.post("jobs", verb, body={"jobs": ["hello", "nobody"], "note": "a move"})["jobs"]
            self.assertEqual((answer[0]["identity"], answer[0]["paused"] is None), ("hello", verb == "resume"))
            self.assertEqual((answer[1]["identity"], answer[1]["problem"]["status"]), ("nobody", 404))
            for body in ({}, {"jobs": []}, {"jobs": "hello"}, {"jobs": ["hello"] * 1001}, {"jobs": ["hello"], "x": 1}):
                self.refuse(400, "POST", "jobs", verb, body=body)

    def test_pause_and_resume(self):
        self.assertIn("since", self.api.post("jobs", "hello", "pause")["paused"])
        until_then = self.api.post("jobs", "hello", "pause", body={"until": "2099-01-01T00:00:00Z"})
        self.assertEqual(until_then["paused"]["until"], "2099-01-01T00:00:00Z")
        self.assertEqual([job["identity"] for job in self.api.get("jobs", state="paused")["jobs"]], ["hello"])
        self.assertEqual(self.api.post("jobs", "hello", "resume"), {"identity": "hello", "paused": None})
        self.refuse(404, "POST", "jobs", "nobody", "pause")
        self.refuse(404, "POST", "jobs", "nobody", "resume")
        for body in ({"until": "soon"}, {"until": "2001-01-01T00:00:00Z"}, {"til": "2099-01-01T00:00:00Z"}, [1]):
            self.refuse(400, "POST", "jobs", "hello", "pause", body=body)

    def test_records(self):
        self.trigger("hello")
        self.trigger("team/a.b")
        self.trigger("failing")
        first = self.api.get("state", limit=2)
        rest = self.api.get("state", after=first["next"])
        self.assertEqual(sorted(record["identity"] for record in first["records"] + rest["records"]),
                         ["failing", "hello", "team/a.b"])
        self.assertNotIn("next", rest)
        self.assertEqual(self.api.get("state", "team/a.b")["record"]["Identity"], "team/a.b")
        self.refuse(400, "GET", "state", limit=0)
        self.refuse(404, "GET", "state", "nobody")
        reset = self.api.post("state", "hello", "reset")
        self.assertEqual(self.api.get("state", "hello")["firstSeen"], reset["firstSeen"])
        self.assertEqual(len(self.api.get("state", "hello")["record"]["History"]), 1)
        self.refuse(404, "POST", "state", "nobody", "reset")
        self.running("lasting")
        self.refuse(409, "POST", "state", "lasting", "reset")
        self.assertEqual(self.api.post("state", "prune", body={"dryRun": True}),
                         {"count": 0, "dryRun": True, "records": []})
        self.host.write_jobs(self.host.job("hello", NEVER))
        self.api.post("reload")
        pruned = self.api.post("state", "prune")
        self.assertEqual(sorted(record["identity"] for record in pruned["records"]), ["failing", "team/a.b"])
        self.assertEqual(self.api.get("state", "lasting")["active"], 1)
        for body in ({"dryrun": True}, {"dryRun": 1}, [1]):
            self.refuse(400, "POST", "state", "prune", body=body)

    def test_runs_and_their_output(self):
        run_id = self.trigger("hello")
        failed = self.trigger("failing")
        run = self.api.get("runs", run_id)
        self.assertEqual((run["job"], run["exitCode"], run["trigger"]), ("hello", 0, "manual"))
        self.assertEqual([run["runId"] for run in self.api.get("runs")["runs"]], [failed, run_id])
        self.assertEqual([run["runId"] for run in self.api.get("runs", result="failed")["runs"]], [failed])
        page = self.api.get("runs", limit=1)
        self.assertEqual([run["runId"] for run in self.api.get("runs", before=page["next"])["runs"]], [run_id])
        self.assertEqual(self.api.get("runs", from_="2099-01-01T00:00:00Z")["runs"], [])
        self.assertEqual(self.api.get("runs", run_id, "output"), b"hello\nworld\n")
        self.assertEqual(self.api.get("runs", run_id, "output", follow="true"), b"hello\nworld\n")
        for asked, given in (("bytes=0-4", b"hello"), ("bytes=6-", b"world\n"), ("bytes=-3", b"ld\n")):
            answer = self.api.ask("GET", "runs", run_id, "output", headers={"Range": asked})
            self.assertEqual((answer.status, answer.body), (206, given))
        self.refuse(416, "GET", "runs", run_id, "output", headers={"Range": "bytes=12-"})
        self.refuse(400, "GET", "runs", outcome="lost")
        self.refuse(404, "GET", "runs", "nobody")
        self.refuse(404, "GET", "runs", "nobody", "output")

    def test_runs_are_ended(self):
        for verb, signal, code in (("terminate", "TERM", 143), ("kill", "KILL", 137)):
            run_id = self.running("lasting")
            self.assertEqual(self.api.post("runs", run_id, verb), {"runId": run_id, "signal": signal})
            self.assertEqual(self.ended(run_id)["exitCode"], code)
            self.refuse(404, "POST", "runs", run_id, verb)
            self.refuse(404, "POST", "runs", "nobody", verb)

    def test_what_people_ask(self):
        self.assertEqual(self.api.get("attention")["jobs"], 4)
        self.refuse(400, "GET", "attention", of="all")
        self.assertIn("verdict", self.api.get("jobs", "hello", "why"))
        self.refuse(404, "GET", "jobs", "nobody", "why")
        self.assertEqual(self.api.get("jobs", "hello", "days")["job"], "hello")
        self.refuse(400, "GET", "jobs", "hello", "days", from_="sometime")
        self.assertEqual(self.api.get("series", for_="1h", step="1m")["points"], 60)
        self.refuse(400, "GET", "series", names="nonsense")

    def test_timeline_and_explain(self):
        timeline = self.api.get("timeline", columns=288, order="name")
        self.assertEqual([len(timeline[side]) for side in ("before", "after", "actual")], [288] * 3)
        self.assertEqual(timeline["more"], 0)
        run_id = self.trigger("hello")
        until(lambda: self.api.get("runs", run_id).get("endedAt"), "the end of the run")
        lane, = (lane for lane in self.api.get("timeline", match="hello")["lanes"] if lane["name"] == "hello")
        self.assertEqual([run[3:] for run in lane["runs"]], [["ok", run_id]])
        self.assertEqual(sum(self.api.get("timeline", match="hello")["actual"]), 1)
        self.refuse(400, "GET", "timeline", columns=0)
        explained = self.api.get("jobs", "hello", "explain")
        self.assertEqual(len(explained["buckets"]), 60)
        for which in ({"period": explained["periodId"]}, {"at": explained["chosenTime"]}):
            self.assertEqual(self.api.get("jobs", "hello", "explain", **which)["draws"], explained["draws"])
        self.refuse(404, "GET", "jobs", "nobody", "explain")

    def test_upcoming_calendar(self):
        calendar = self.api.get("upcoming.ics", for_="366d", prefix="team/")
        self.assertRegex(calendar, rb"\r\nUID:team/a.b@\d{4}-01-01T00:00:00Z\r\n")
        self.assertNotIn(b"SUMMARY:hello", calendar)
        self.assertIn(b"SUMMARY:hello", self.api.get("upcoming.ics", for_="366d"))
        self.refuse(400, "GET", "upcoming.ics", for_="367d")

    def test_try(self):
        tried = self.api.post("try", body={"text": "0 3 * * * name=new command=true\n61 * * * * name=bad command=x\n"})
        self.assertEqual([job["identity"] for job in tried["jobs"]], ["new"])
        self.assertEqual([(found["line"], found["column"]) for found in tried["problems"]
                          if found["severity"] == "error"], [(2, 1)])
        self.assertEqual(len(tried["jobs"][0]["next"]), 20)
        self.assertRegex(tried["text"], r"^adds 1 to the busiest minute \(")
        self.refuse(404, "GET", "jobs", "new")
        self.refuse(400, "POST", "try", body={"path": "/etc/crontab"})

    def test_parts_of_an_output(self):
        run_id = self.trigger("hello")
        until(lambda: self.api.get("runs", run_id).get("endedAt"), "the end of the run")
        whole = self.api.get("runs", run_id, "output")
        self.assertGreater(len(whole), 3)
        part = self.api.ask("GET", "runs", run_id, "output", tail=3, follow="true")
        self.assertEqual((part.body, part.headers["kron-output-first"]), (whole[-3:], str(len(whole) - 3)))
        self.assertEqual(self.api.get("runs", run_id, "output", from_=2), whole[2:])
        self.refuse(400, "GET", "runs", run_id, "output", tail="some")

    def test_load_and_reload(self):
        load = self.api.get("load", for_="1d", step="1h")
        self.assertEqual((load["jobs"], load["steps"]), (4, 24))
        self.refuse(400, "GET", "load", for_="long")
        self.host.write_jobs(self.host.job("other", NEVER))
        self.assertEqual(self.api.post("reload"), {
            "jobs": 1, "keptFiles": [], "problems": [], "added": ["other"], "addedCount": 1, "changed": [],
            "changedCount": 0, "removed": ["failing", "hello", "lasting", "team/a.b"], "removedCount": 4,
            "dryRun": False})
        self.assertEqual(self.api.expect(200, "POST", "reload", dryRun="true")["addedCount"], 0)
        self.refuse(400, "POST", "reload", dryRun="perhaps")
        path = self.host.write_jobs(text='{"jobs":[{"name":"x"}]}')
        reloaded = self.api.post("reload")
        self.assertEqual((reloaded["jobs"], reloaded["keptFiles"]), (1, [str(path)]))
        self.assertEqual(reloaded["problems"][0]["severity"], "error")
        self.refuse(405, "GET", "reload")
        self.refuse(400, "POST", "reload", quickly="true")

    def test_events(self):
        with self.api.events() as events:
            run_id = self.trigger("hello")
            number, data = events.wait_for("run_ended", runId=run_id)
            self.assertEqual(data["exitCode"], "0" if isinstance(data["exitCode"], str) else 0)
            self.assertGreater(int(number), 0)
        self.api.seen.add(("GET", "/api/v1/events", True))
        self.refuse(400, "GET", "events", after="x")

    def test_tokens_and_sessions(self):
        made = self.api.expect(201, "POST", "tokens", body={"name": "ci", "role": "read"})
        listed = self.api.get("tokens")["tokens"]
        self.assertEqual([(token["id"], token["lastUsedAt"]) for token in listed], [(made["id"], None)])
        self.refuse(409, "POST", "tokens", body={"name": "ci", "role": "read"})
        self.refuse(400, "GET", "tokens", nonsense=1)
        opened = self.api.post("session", body={"token": made["token"]})
        self.assertEqual((opened["name"], opened["role"]), ("ci", "read"))
        self.refuse(401, "POST", "session", body={"token": "nonsense"})
        self.assertEqual(self.api.get("session")["role"], "admin")
        self.refuse(400, "GET", "session", nonsense=1)
        self.refuse(404, "DELETE", "session")
        self.api.seen.add(("DELETE", "/api/v1/session", True))  # on the web socket: tests/web/service_test.py
        self.api.expect(204, "DELETE", "sessions")
        self.refuse(400, "DELETE", "sessions", nonsense=1)
        self.assertEqual(self.api.expect(200, "DELETE", "tokens", made["id"])["name"], "ci")
        self.refuse(404, "DELETE", "tokens", made["id"])

    def test_tasks(self):
        answer = self.api.post("tasks", body={"taskId": "a", "payload": {"type": "T", "data": [1.50, None]}})
        self.assertEqual(answer, {"answers": [{"taskId": "a", "outcome": "accepted"}]})
        self.assertEqual([one["outcome"] for one in self.submit("a", "b")], ["conflict", "accepted"])
        self.assertEqual(self.api.get("tasks", "a")["payload"]["data"], [1.5, None])
        self.assertEqual([task["taskId"] for task in self.api.get("tasks")["tasks"]], ["a", "b"])
        page = self.api.get("tasks", limit=1, state="PENDING", type="T")
        self.assertEqual([task["taskId"] for task in self.api.get("tasks", after=page["next"])["tasks"]], ["b"])
        self.assertEqual(self.api.post("tasks", "a", "cancel"), {"taskId": "a", "outcome": "cancelled"})
        self.assertEqual(self.api.expect(409, "POST", "tasks", "a", "cancel")["outcome"], "already_over")
        self.assertEqual(self.api.post("tasks", "a", "retry", body={"attempts": 2})["outcome"], "retried")
        self.assertEqual(self.api.expect(409, "POST", "tasks", "a", "retry")["outcome"], "not_failed")
        self.assertEqual(self.api.post("tasks", "prune", body={"olderThan": "0s"}), {"removed": 0})
        for verb in ((), ("cancel",), ("retry",)):
            self.refuse(404, "POST" if verb else "GET", "tasks", "nobody", *verb)
        self.refuse(400, "POST", "tasks", body={"payload": {}})
        self.refuse(400, "POST", "tasks", body={"tasks": []})
        self.refuse(400, "GET", "tasks", state="LOST")
        self.refuse(400, "POST", "tasks", "prune", body={"olderThan": "old"})

    def test_one_bad_task_among_many_is_answered_in_its_place(self):
        answers = self.api.post("tasks", body={"tasks": [{"taskId": "a", "payload": {"type": "T"}},
                                                         {"taskId": "../b", "payload": {"type": "T"}}]})["answers"]
        self.assertEqual((answers[0]["outcome"], answers[1]["error"]["type"]),
                         ("accepted", "urn:kron:problem:invalid"))

    def test_leases(self):
        self.submit("a", "b", "c")
        self.assertEqual(self.api.post("leases", body={"worker": "w", "types": ["other"]}), {"leases": []})
        self.refuse(400, "POST", "leases", body={"worker": "w", "types": []})
        lease, = self.api.post("leases", body={"worker": "w", "n": 1})["leases"]
        held = ("leases", lease["execId"])
        token = {"token": lease["token"]}
        self.assertEqual(self.api.post(*held, "start", body=token), {"result": "accepted"})
        self.assertEqual(self.api.post(*held, "renew", body=token), {"result": "accepted"})
        self.assertEqual(self.api.expect(409, "POST", *held, "renew", body={"token": 0})["result"], "lease_lost")
        follow_up = {"taskId": "next", "payload": {"type": "N"}}
        headers, body = multipart(commit=("application/json", b'{"token":%d,"result":"r","followUps":[%s]}' % (
            lease["token"], b'{"taskId":"next","payload":{"type":"N"}}')), output=("application/x-tar",
                                                                                   tar_with("sub/out", b"bytes")))
        committed = self.api.post(*held, "commit", body=body, headers=headers)
        self.assertEqual(committed["result"], "committed")
        self.assertEqual(committed["followUps"], [{"taskId": "next", "outcome": "accepted"}])
        self.assertEqual(self.api.expect(409, "POST", *held, "commit", body={**token, "followUps": [follow_up]}),
                         {"result": "duplicate"})
        self.assertEqual((self.host.data / "effects" / lease["taskId"] / "sub/out").read_bytes(), b"bytes")
        until(lambda: self.api.get("tasks", lease["taskId"]).get("outcome") == "SUCCEEDED", "the end of the commit")
        failed, = self.lease(types=["T"])
        request = {"token": failed["token"], "reason": "no"}
        self.assertEqual(self.api.post("leases", failed["execId"], "fail", body=request),
                         {"result": "accepted", "state": "PENDING"})
        self.assertEqual(self.api.expect(409, "POST", "leases", failed["execId"], "fail", body=request)["result"],
                         "lease_lost")
        for verb in ("start", "renew", "commit", "fail"):
            self.refuse(404, "POST", "leases", "nobody.1", verb, body={"token": 1})
            self.refuse(400, "POST", *held, verb, body={})
        self.refuse(400, "POST", "leases", body={})

    def test_output_that_leads_elsewhere_is_refused(self):
        self.submit("a")
        lease, = self.lease()
        for name, facts in (("../out", {}), ("/etc/out", {}), ("a/../../out", {}), ("x", {"type": tarfile.SYMTYPE,
                            "linkname": "/etc/passwd"}), ("x", {"type": tarfile.LNKTYPE, "linkname": "y"}),
                            ("x", {"type": tarfile.CHRTYPE})):
            headers, body = multipart(commit=("application/json", b'{"token":%d}' % lease["token"]),
                                      output=("application/x-tar", tar_with(name, **facts)))
            self.refuse(400, "POST", "leases", lease["execId"], "commit", body=body, headers=headers)
        self.assertEqual(list((self.host.data / "effects").glob("*")), [])
        self.assertEqual(self.api.post("leases", lease["execId"], "commit", body={"token": lease["token"]})["result"],
                         "committed")


class ZCoverage(unittest.TestCase):
    """Last by its name."""

    def test_every_path_was_called_with_success_and_with_an_error(self):
        wanted = {(method.upper(), path, is_good) for path, operations in DOCUMENT["paths"].items()
                  for method in operations if method != "parameters" for is_good in (True, False)}
        self.assertEqual(sorted(wanted - SEEN), [])


if __name__ == "__main__":
    unittest.main()
