"""`kron cluster` against a real redis-server. Where a verb waits for hosts, a stand-in listens and does what a host
would: so every answer can be tried, also those that no krond gives."""

import json
import os
import pty
import subprocess
import sys
import tempfile
import threading
import time
import unittest
from datetime import datetime, timezone
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "redis"))

# pylint: disable=wrong-import-position
from kron_command import KRON, answers, run
from redis_host import RedisCluster, RedisServer, wait_until

NS = "{cronken}"
RUN = "0123456789abcdef0123456789abcdef"
OTHER_RUN = "f" * 32
DEFINITION = {"cron_args": {"second": "*/2"}, "job_args": {"cmd": "echo hello", "lock": True, "ttl": 10}}
BAD = {"cron_args": {"second": "99"}, "job_args": {"cmd": "x", "lock": True, "ttl": 1}}
KEY = "a key that is long enough for everybody"
NO_VARIABLES = {"KRON_REDIS": "", "KRON_REDIS_FILE": "", "CRONKEN_REDIS_INFO": "", "KRON_NAMESPACE": "", "CRONKEN_NAMESPACE": "",
                "KRON_JOBS_HMAC_KEY": ""}
WAIT = 60


def blob(status="success", job="job", host="h1", **more):
    given = {"job_name": job, "start_time": "1794768882.500000", "host": host, "status": status, "retcode": 0,
             "output": "last\n", "duration": 1.5}
    return json.dumps({**given, **more})


class StandIn(threading.Thread):
    """Listens to the cluster's events and hands each to `act(event)`."""

    def __init__(self, server, act):
        super().__init__(daemon=True)
        self._client = server.client(timeout=WAIT)
        self._act = act
        self.events = []
        self._client.send("SUBSCRIBE", f"{NS}:__events__")
        self._client.read()
        self.start()

    def run(self):
        try:
            while True:
                event = json.loads(self._client.read()[2])
                self.events.append(event)
                self._act(event)
        except (OSError, ValueError, TypeError):
            pass

    def close(self):
        self._client.interrupt()
        self.join(WAIT)
        self._client.close()


class ClusterCase(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.server = RedisServer().start()
        cls.redis = cls.server.client(timeout=WAIT)

    @classmethod
    def tearDownClass(cls):
        cls.redis.close()
        cls.server.close()

    def setUp(self):
        self.redis.call("FLUSHALL")
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = Path(directory.name)

    def kron(self, *arguments, status=0, text=None, **environment):
        result = run("cluster", *arguments, text=text,
                     **{**NO_VARIABLES, "KRON_REDIS": self.server.url(), **environment})
        self.assertEqual(result.returncode, status, f"{arguments}\n{result.stdout}\n{result.stderr}")
        return result

    def json(self, *arguments, status=0, **environment):
        return answers(self.kron(*arguments, "--format", "json", status=status, **environment))

    def hear(self, act=lambda event: None):
        listener = StandIn(self.server, act)
        self.addCleanup(listener.close)
        return listener

    def put(self, name="job", definition=None):
        text = definition if isinstance(definition, (str, bytes)) else json.dumps(definition or DEFINITION)
        self.redis.call("HSET", f"{NS}:jobs", name, text)
        return text

    def definition(self, name="job"):
        return self.redis.call("HGET", f"{NS}:jobs", name)

    def put_run(self, run_id=RUN, at=1794768884.0, **fields):
        job = fields.get("job", "job")
        self.redis.call("HSET", f"{NS}:rundata", run_id, blob(**fields))
        if fields.get("status") == "running":
            self.redis.call("ZADD", f"{NS}:rundata:active", at, run_id)
            return
        kind = "success" if fields.get("status", "success") == "success" else "fail"
        for key in (f"{NS}:results:{kind}", f"{NS}:results:{job}:{kind}"):
            self.redis.call("ZADD", key, at, run_id)

    def put_host(self, instance="h1", beat=None, **more):
        now = float(".".join(self.redis.call("TIME")))
        entry = {"owner": "0" * 32, "host": instance.split("#")[0], "ip": "10.0.0.1", "version": "1.2.3", "mode": "seed",
                 "clock_offset": 0.25, "draining": False, "runs": 2, **more}
        text = json.dumps(entry, separators=(",", ":"))[:-1] + f',"beat":{now if beat is None else beat:.6f}}}'
        self.redis.call("HSET", f"{NS}:kron:hosts", instance, text)

    def file(self, name, text):
        path = self.directory / name
        path.write_text(text if isinstance(text, str) else json.dumps(text))
        path.chmod(0o600)
        return path


class Reaching(ClusterCase):
    def test_without_a_redis_the_flag_is_named(self):
        result = self.kron("jobs", status=2, KRON_REDIS="")
        self.assertIn("--redis", result.stderr)

    def test_cronkens_variable_names_it_too(self):
        self.put()
        found = self.json("jobs", KRON_REDIS="", CRONKEN_REDIS_INFO=f"127.0.0.1:{self.server.port}")
        self.assertEqual([job["name"] for job in found], ["job"])

    def test_the_flag_goes_first(self):
        self.put()
        found = self.json("jobs", "--redis", self.server.url(), KRON_REDIS="redis://127.0.0.1:1")
        self.assertEqual(len(found), 1)

    def test_a_file_may_hold_the_url(self):
        self.put()
        path = self.file("url", self.server.url() + "\nwhatever\n")
        self.assertEqual(len(self.json("jobs", "--redis-file", path, KRON_REDIS="")), 1)
        self.assertEqual(len(self.json("jobs", KRON_REDIS="", KRON_REDIS_FILE=str(path))), 1)
        self.kron("jobs", "--redis-file", self.directory / "missing", status=2)
        self.kron("jobs", "--redis-file", path, "--redis", self.server.url(), status=2)

    def test_nobody_there_is_exit_status_three(self):
        result = self.kron("status", "--redis", "redis://127.0.0.1:1", status=3)
        self.assertIn("kron cluster status:", result.stderr)
        self.assertIn("error", self.json("jobs", "--redis", "redis://127.0.0.1:1", status=3)[0])

    def test_a_redis_that_hangs_is_given_up(self):
        self.server.suspend()
        try:
            began = time.monotonic()
            self.kron("jobs", status=3)
            self.assertLess(time.monotonic() - began, WAIT)
        finally:
            self.server.resume()

    def test_what_is_no_url_is_wrong_usage_and_its_password_is_not_shown(self):
        for url in ("http://x", "redis://", "redis://u:s3cret@[::1", "x" * 10_000):
            result = self.kron("jobs", "--redis", url, status=2)
            self.assertNotIn("s3cret", result.stderr)

    def test_a_namespace_is_text_without_control_characters(self):
        for bad in ("a b", "a\nb", "x" * 201):
            self.kron("jobs", "--namespace", bad, status=2)
        self.redis.call("HSET", "{mine}:jobs", "its", json.dumps(DEFINITION))
        self.assertEqual([job["name"] for job in self.json("jobs", "--namespace", "{mine}")], ["its"])
        self.assertEqual([job["name"] for job in self.json("jobs", KRON_NAMESPACE="{mine}")], ["its"])

    def test_in_a_redis_cluster_everything_is_where_the_namespace_is(self):
        with RedisCluster() as nodes:
            for node in range(3):
                place = {"KRON_REDIS": nodes.url(node)}
                self.kron("add", f"job-{node}", "--cron", "* * * * *", "--command", "x", **place)
                self.kron("pause", "--all", **place)
                self.assertEqual([job["paused"] for job in self.json("jobs", **place)], [True] * (node + 1))
                self.assertEqual(self.json("status", **place)[0]["jobs"], node + 1)
            owner = nodes.owner(nodes.slot_of(f"{NS}:jobs"))
            owner.cli("ZADD", f"{NS}:results:gone:success", 1, RUN)
            self.assertEqual([left["job"] for left in self.json("prune", "--yes", **place)], ["gone"])
            self.assertEqual(owner.cli("EXISTS", f"{NS}:results:gone:success"), 0)

    def test_unknown_words_are_answered_with_the_nearest(self):
        self.assertIn("did you mean status?", self.kron("statsu", status=2).stderr)
        self.assertIn("no command", self.kron(status=2).stderr)
        self.assertIn("--limit", self.kron("jobs", "--limt", "3", status=2).stderr)

    def test_rights_that_are_missing_are_exit_status_four(self):
        with RedisServer(password="admin", acl=["poor on >pw ~* &* +ping +hello +auth +select"]) as server:
            result = self.kron("jobs", "--redis", server.url(user="poor", password="pw"), status=4)
            self.assertIn("NOPERM", result.stderr)
            self.kron("jobs", "--redis", server.url(password="wrong"), status=4)


    def test_the_rights_that_the_page_names_are_enough(self):
        page = (Path(__file__).resolve().parents[2] / "docs/cluster.md").read_text()
        line = next(line for line in page.splitlines() if line.startswith("ACL SETUSER "))
        rights = line.removeprefix("ACL SETUSER ").replace("PASSWORD", "pw")
        with RedisServer(password="admin", acl=[rights]) as server:
            place = {"KRON_REDIS": server.url(user="kron", password="pw")}
            self.kron("add", "job", "--cron", "* * * * *", "--command", "x", **place)
            self.kron("pause", "job", **place)
            self.assertEqual([job["paused"] for job in self.json("jobs", **place)], [True])
            self.assertNotIn("NOPERM", self.kron("status", **place).stdout)
            for verb in (["runs"], ["reload"], ["timezone", "UTC"], ["prune", "--yes"], ["remove", "job", "--prune"]):
                self.kron(*verb, **place)


class Looking(ClusterCase):
    def test_an_empty_cluster_is_no_error(self):
        self.assertEqual(self.kron("jobs").stdout, "no jobs\n")
        self.assertEqual(self.kron("runs").stdout, "no runs\n")
        self.assertIn("jobs          0", self.kron("status").stdout)

    def test_jobs_show_schedule_lock_state_and_last_run(self):
        self.put("b", {**DEFINITION, "job_args": {"cmd": "x", "lock": False, "ttl": 1}})
        self.put("a", {**DEFINITION, "job_state": {"paused": True}})
        self.put("c", {**DEFINITION, "job_state": {"validation_errors": "no good"}})
        self.put_run(job="a", status="fail", retcode=3)
        found = {job["name"]: job for job in self.json("jobs")}
        self.assertEqual(list(found), ["a", "b", "c"])
        self.assertEqual((found["a"]["paused"], found["a"]["last"]["exitCode"]), (True, 3))
        self.assertEqual((found["b"]["lock"], found["b"]["schedule"]), ("none", "second=*/2"))
        self.assertEqual(found["c"]["problem"], "no good")
        self.assertEqual([job["name"] for job in self.json("jobs", "--paused")], ["a"])
        self.assertEqual([job["name"] for job in self.json("jobs", "--invalid")], ["c"])
        self.assertEqual([job["name"] for job in self.json("jobs", "--prefix", "b")], ["b"])
        text = self.kron("jobs", "--limit", "1")
        self.assertIn("exit 3 h1", text.stdout)
        self.assertIn("there are more", text.stderr)

    def test_runs_of_all_hosts_the_active_ones_first(self):
        self.put_run("1" * 32, at=10, host="h1")
        self.put_run("2" * 32, at=20, host="h2", status="frozen", retcode=None)
        self.put_run("3" * 32, at=5, host="h3", status="running", retcode=None, duration=None)
        self.assertEqual([(r["host"], r["status"]) for r in self.json("runs")],
                         [("h3", "running"), ("h2", "frozen"), ("h1", "success")])
        self.assertEqual([r["host"] for r in self.json("runs", "--result", "fail")], ["h2"])
        self.assertEqual([r["host"] for r in self.json("runs", "--job", "job", "--limit", "1")], ["h3"])
        self.kron("runs", "--job", "nobody", status=1)
        self.assertIn("HOST", self.kron("runs").stdout)

    def test_status_counts_and_warns(self):
        self.put()
        self.put_host("h1")
        self.put_host("h1#2", clock_offset=-60.5, draining=True)
        self.put_host("gone", beat=1000.0)
        self.redis.call("ZADD", f"{NS}:instances", time.time(), '{"host":"old","ip":"10.0.0.9"}')
        self.redis.call("HSET", f"{NS}:kron:cluster", "timezone", "Europe/Paris")
        self.redis.call("XADD", f"{NS}:kron:outcomes", "*", "o", '{"event":"lost_writes","host":"h1","seen":7}')
        status = self.json("status")[0]
        self.assertEqual(status["timezone"], "Europe/Paris")
        self.assertEqual([(h["instance"], h["state"]) for h in status["hosts"]],
                         [("gone", "away"), ("h1", "up"), ("h1#2", "draining")])
        self.assertEqual([f["host"] for f in status["foreign"]], ["old"])
        self.assertEqual((status["jobs"], status["lostWrites"]), (1, 1))
        self.assertGreater(status["memory"], 0)
        warnings = " ".join(status["warnings"])
        for words in ("append-only", "gone has said nothing", "the clock of h1#2 is off", "cronken", "lost writes"):
            self.assertIn(words, warnings)
        text = self.kron("status").stdout
        self.assertIn("h1#2", text)
        self.assertIn("warning", text)

    def test_a_safe_redis_is_not_warned_of(self):
        with RedisServer(appendonly=True, appendfsync="always") as server:
            self.assertEqual(self.json("status", "--redis", server.url())[0]["warnings"], [])
        with RedisServer(options=["maxmemory-policy allkeys-lru"]) as server:
            self.assertIn("allkeys-lru", " ".join(self.json("status", "--redis", server.url())[0]["warnings"]))


class Output(ClusterCase):
    def test_lines_of_a_sorted_set_come_in_order_and_without_their_numbers(self):
        self.put_run()
        lines = [f"line {n}" for n in range(1200)]
        self.redis.pipeline([("ZADD", f"{NS}:rundata:output:{RUN}", n, line) for n, line in enumerate(lines)])
        self.redis.call("ZADD", f"{NS}:rundata:output:{RUN}", 1200, "line 1\x001201")
        self.assertEqual(self.kron("logs", RUN).stdout.splitlines(), [*lines, "line 1"])
        self.assertEqual(self.kron("logs", "job", "--tail", "2").stdout, "line 1199\nline 1\n")
        self.assertEqual(self.json("logs", RUN, "--tail", "1"), [{"runId": RUN, "text": "line 1\n"}])

    def test_lines_of_a_list_are_as_they_stand(self):
        self.put_run()
        self.redis.call("RPUSH", f"{NS}:rundata:output:{RUN}", "a\n", "b\n", "no newline")
        self.assertEqual(self.kron("logs", RUN).stdout, "a\nb\nno newline")

    def test_what_has_expired_leaves_the_last_lines(self):
        self.put_run()
        result = self.kron("logs", RUN)
        self.assertEqual(result.stdout, "last\n")
        self.assertIn("no longer kept", result.stderr)

    def test_who_does_not_exist_is_told_so(self):
        self.put()
        self.assertIn("no run of job", self.kron("logs", "job", status=1).stderr)
        self.assertIn("did you mean 'job'?", self.kron("logs", "jop", status=1).stderr)
        self.kron("logs", RUN, status=1)

    def test_an_output_of_another_type_is_a_conflict(self):
        self.put_run()
        self.redis.call("SET", f"{NS}:rundata:output:{RUN}", "x")
        self.kron("logs", RUN, status=4)

    def test_a_terminal_is_not_told_what_to_do_and_a_pipe_gets_every_byte(self):
        self.put_run()
        self.redis.call("ZADD", f"{NS}:rundata:output:{RUN}", 1, b"\x1b[2J\xff\ttext")
        environment = {**os.environ, **NO_VARIABLES, "KRON_REDIS": self.server.url()}
        command = [KRON, "cluster", "logs", RUN]
        piped = subprocess.run(command, env=environment, capture_output=True, timeout=WAIT, check=True)
        self.assertEqual(piped.stdout, b"\x1b[2J\xff\ttext\n")
        reader, writer = pty.openpty()
        try:
            subprocess.run(command, env=environment, stdout=writer, timeout=WAIT, check=True)
            self.assertEqual(os.read(reader, 1000).rstrip().expandtabs(), b"\\x1b[2J\\xff\ttext".expandtabs())
        finally:
            os.close(reader)
            os.close(writer)

    def test_following_ends_with_the_run(self):
        self.put_run(status="running", retcode=None, duration=None, output=None)
        key = f"{NS}:rundata:output:{RUN}"
        self.redis.call("ZADD", key, 1, "first")

        def go_on():
            client = self.server.client()
            time.sleep(1)
            client.call("ZADD", key, 2, "second")
            client.call("ZADD", key, 3, "third")
            client.call("HSET", f"{NS}:rundata", RUN, blob())
            client.close()

        writer = threading.Thread(target=go_on)
        writer.start()
        self.assertEqual(self.kron("logs", "-f", RUN).stdout, "first\nsecond\nthird\n")
        writer.join()


class Defining(ClusterCase):
    def test_add_writes_the_hash_and_tells_the_hosts(self):
        listener = self.hear()
        self.assertEqual(self.kron("add", "hello", "--cron", "*/5 * * * *", "--command", "echo hi").stdout,
                         "added hello\n")
        text = self.definition("hello")
        self.assertEqual(json.loads(text), {"cron_args": {"cronstring": "*/5 * * * *"},
                                            "job_args": {"cmd": "echo hi", "lock": True, "ttl": 60}})
        wait_until(lambda: listener.events, "the event arrived", WAIT)
        self.assertEqual(listener.events, [{"action": "add", "args": {"job_name": "hello", "job_def": json.loads(text)}}])

    def test_add_keeps_unknown_keys_and_the_spelling_of_numbers(self):
        text = '{"cron_args":{"second":"5"},"job_args":{"cmd":"x","lock":false,"ttl":10},"mine":{"n":1.50,"a":[]}}'
        self.kron("add", "hello", "--file", self.file("d.json", text))
        self.assertEqual(self.definition("hello"), text)
        self.kron("add", "other", "--file", "-", text=text + "\n")
        self.assertEqual(self.definition("other"), text)

    def test_a_job_is_replaced_only_when_asked_and_stays_paused(self):
        listener = self.hear()
        self.put("job", {**DEFINITION, "job_state": {"paused": True}})
        self.redis.call("SADD", f"{NS}:jobs:paused", "job")
        before = self.definition()
        self.kron("add", "job", "--cron", "* * * * *", "--command", "new", status=4)
        self.assertEqual(self.definition(), before)
        self.kron("add", "job", "--cron", "* * * * *", "--command", "new", "--replace")
        after = json.loads(self.definition())
        self.assertEqual((after["job_args"]["cmd"], after["job_state"]["paused"]), ("new", True))
        self.assertEqual(self.redis.call("SISMEMBER", f"{NS}:jobs:paused", "job"), 1)
        wait_until(lambda: listener.events, "the event arrived", WAIT)
        self.assertEqual(listener.events[0]["action"], "reload")

    def test_a_new_job_is_not_paused_by_what_an_older_one_left(self):
        self.redis.call("SADD", f"{NS}:jobs:paused", "hello")
        self.kron("add", "hello", "--cron", "* * * * *", "--command", "x")
        self.assertEqual(self.redis.call("SISMEMBER", f"{NS}:jobs:paused", "hello"), 0)

    def test_what_no_host_would_run_is_refused_and_nothing_is_written(self):
        for name, text in (("bad", json.dumps(BAD)), ("bad", "{"), ("bad", "[]"), ("all", json.dumps(DEFINITION)),
                           ("a\nb", json.dumps(DEFINITION)), ("x" * 600, json.dumps(DEFINITION))):
            self.kron("add", name, "--file", "-", text=text, status=1)
        self.kron("add", "x", "--cron", "bad", "--command", "x", status=1)
        self.kron("add", "x", status=2)
        self.kron("add", "x", "--file", self.directory / "missing", status=2)
        self.assertEqual(self.redis.call("EXISTS", f"{NS}:jobs"), 0)

    def test_nobody_listening_is_said(self):
        self.assertIn("no host", self.kron("add", "x", "--cron", "* * * * *", "--command", "x").stderr)
        self.assertIn("no host", self.kron("reload").stderr)

    def test_remove_keeps_what_is_known_unless_told_otherwise(self):
        listener = self.hear()
        for name in ("a", "b"):
            self.put(name)
            self.redis.call("HSET", f"{NS}:kron:state", name, "{}")
            self.redis.call("HSET", f"{NS}:kron:state", f"{name}\nh1", "{}")
        self.put_run("1" * 32, job="a")
        self.put_run("2" * 32, job="b")
        self.kron("remove", "a")
        self.kron("remove", "b", "--prune")
        self.assertEqual(self.redis.call("EXISTS", f"{NS}:jobs"), 0)
        self.assertEqual(sorted(self.redis.call("HKEYS", f"{NS}:kron:state")), ["a", "a\nh1"])
        self.assertEqual(self.redis.call("HKEYS", f"{NS}:rundata"), ["1" * 32])
        self.assertEqual(self.redis.call("EXISTS", f"{NS}:results:b:success"), 0)
        self.assertEqual(self.redis.call("ZRANGE", f"{NS}:results:success", 0, -1), ["1" * 32])
        wait_until(lambda: len(listener.events) == 2, "both events arrived", WAIT)
        self.assertEqual(listener.events, [{"action": "remove", "args": "a"}, {"action": "remove", "args": "b"}])
        self.kron("remove", "a", status=1)

    def test_pause_writes_set_and_definition_and_the_rest_stays_byte_for_byte(self):
        listener = self.hear()
        text = '{ "zzz":1.50 ,"cron_args":{"second":"5"},"job_args":{"cmd":"x","lock":true,"ttl":10}}'
        self.put("job", text)
        self.assertEqual(self.kron("pause", "job").stdout, "paused job\n")
        paused = self.definition()
        self.assertTrue(paused.startswith(text[:-1]), paused)
        self.assertTrue(json.loads(paused)["job_state"]["paused"])
        self.assertEqual(self.redis.call("SMEMBERS", f"{NS}:jobs:paused"), ["job"])
        self.assertIn("it was already", self.kron("pause", "job").stdout)
        self.assertEqual(self.json("resume", "job"), [{"job": "job", "paused": False, "changed": True}])
        self.assertFalse(json.loads(self.definition())["job_state"]["paused"])
        self.assertEqual(self.redis.call("EXISTS", f"{NS}:jobs:paused"), 0)
        wait_until(lambda: len(listener.events) == 3, "the events arrived", WAIT)
        self.assertEqual([event["action"] for event in listener.events], ["pause", "pause", "resume"])

    def test_pause_all_is_one_event(self):
        listener = self.hear()
        for n in range(450):
            self.put(f"job-{n}")
        self.put("junk", "no JSON")
        self.assertEqual(len(self.json("pause", "--all")), 451)
        self.assertEqual(self.redis.call("SCARD", f"{NS}:jobs:paused"), 451)
        self.assertTrue(json.loads(self.definition("job-449"))["job_state"]["paused"])
        self.assertEqual(self.definition("junk"), "no JSON")
        wait_until(lambda: listener.events, "the event arrived", WAIT)
        event, = listener.events
        self.assertEqual((event["action"], event["args"]), ("pause", "all"))
        # All hosts tell of one beginning, and who it was.
        told = json.loads(self.definition("job-449"))["job_state"]["kron_pause"]
        self.assertEqual(event["by"], told["by"])
        self.assertEqual(datetime.fromtimestamp(event["at"], timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"), told["since"])

    def test_who_is_to_be_paused_must_be_said_and_exist(self):
        self.kron("pause", status=2)
        self.kron("pause", "all", status=2)
        self.put("job")
        self.kron("pause", "job", "--all", status=2)
        self.assertIn("did you mean", self.kron("pause", "jobb", status=1).stderr)

    def test_the_time_zone_is_shown_and_set(self):
        listener = self.hear()
        self.assertIn("none yet", self.kron("timezone").stdout)
        self.assertEqual(self.kron("timezone", "Europe/Paris").stdout, "Europe/Paris\n")
        self.assertEqual(self.redis.call("HGET", f"{NS}:kron:cluster", "timezone"), "Europe/Paris")
        self.assertEqual(self.json("timezone"), [{"timezone": "Europe/Paris"}])
        self.kron("timezone", "Nowhere/Town", status=1)
        wait_until(lambda: listener.events, "the event arrived", WAIT)
        self.assertEqual(listener.events[0]["action"], "reload")


class Commanding(ClusterCase):
    def end_run(self, **fields):
        client = self.server.client()
        client.call("HSET", f"{NS}:rundata", RUN, blob(**fields))
        client.close()

    def test_terminate_and_kill_wait_for_the_end(self):
        for verb, action, code in (("terminate", "terminate_run", -15), ("kill", "kill_run", -9)):
            self.put_run(status="running", retcode=None, duration=None)

            def act(event, action=action, code=code):
                if event == {"action": action, "args": RUN}:
                    self.end_run(status="fail", retcode=code)

            listener = self.hear(act)
            self.assertIn(f"signal {-code}", self.kron(verb, RUN).stdout)
            self.assertEqual(listener.events[0], {"action": action, "args": RUN})

    def test_an_event_that_is_lost_is_sent_again(self):
        self.put_run(status="running", retcode=None, duration=None)
        count = []

        def act(_):
            count.append(1)
            if len(count) == 2:
                self.end_run(status="fail", retcode=-9)

        self.hear(act)
        self.kron("kill", RUN)
        self.assertEqual(len(count), 2)

    def test_a_run_that_does_not_end_is_a_conflict(self):
        self.put_run(status="running", retcode=None, duration=None)
        self.assertIn("15 s", self.kron("terminate", RUN, status=4).stderr)

    def test_a_run_that_is_over_or_unknown_is_said(self):
        self.put_run()
        self.assertIn("has ended: exit 0", self.kron("kill", RUN, status=4).stderr)
        self.kron("kill", OTHER_RUN, status=1)
        self.kron("kill", "x\x1b[31m", status=1)

    def test_a_trigger_has_an_id_and_a_time(self):
        self.put()
        listener = self.hear()
        first = self.json("trigger", "job", "--id", "mine")[0]
        again = self.json("trigger", "job", "--id", "mine")[0]
        other = self.json("trigger", "job")[0]
        self.assertEqual(first["runIds"], again["runIds"])
        self.assertNotEqual(first["runIds"], other["runIds"])
        wait_until(lambda: len(listener.events) == 3, "the events arrived", WAIT)
        event = listener.events[0]
        self.assertEqual((event["action"], event["args"], event["id"]), ("trigger", "job", "mine"))
        self.assertIn("at", event)

    def test_a_trigger_that_nobody_hears_is_exit_status_three(self):
        self.put()
        self.kron("trigger", "job", status=3)
        self.kron("trigger", "nobody", status=1)

    def test_waiting_for_a_trigger_shows_the_end(self):
        self.put()
        run_id = []
        self.put_host("h1")
        listener = self.hear()
        run_id = self.json("trigger", "job", "--id", "mine")[0]["runIds"][0]
        self.redis.call("HSET", f"{NS}:rundata", run_id, blob())
        self.assertIn("exit 0", self.kron("trigger", "job", "--id", "mine", "--wait").stdout)
        self.redis.call("HSET", f"{NS}:rundata", run_id, blob("fail", retcode=7))
        self.assertIn("exit 7", self.kron("trigger", "job", "--id", "mine", "--wait", status=1).stdout)
        self.redis.call("HSET", f"{NS}:rundata", run_id, blob("running", retcode=None, duration=None))
        self.kron("trigger", "job", "--id", "mine", "--wait", "--timeout", "1s", status=4)
        self.kron("trigger", "job", "--wait", "--timeout", "soon", status=1)
        self.assertTrue(listener.events)

    def test_without_a_lock_there_is_a_run_on_each_host(self):
        self.put("job", {**DEFINITION, "job_args": {"cmd": "x", "lock": False, "ttl": 1}})
        self.put_host("h1")
        self.put_host("h2")
        self.hear()
        ids = self.json("trigger", "job", "--id", "mine")[0]["runIds"]
        self.assertEqual(len(set(ids)), 2)

    def test_validate_waits_for_what_the_hosts_write(self):
        self.put("good")
        self.put("bad", BAD)
        self.put("mended", {**DEFINITION, "job_state": {"validation_errors": "old"}})
        self.kron("validate", status=3)
        self.put_host("h1")

        def act(event):
            if event["action"] == "validate":
                client = self.server.client()
                client.call("HSET", f"{NS}:jobs", "bad", json.dumps({**BAD, "job_state": {"validation_errors": "second"}}))
                client.call("HSET", f"{NS}:jobs", "mended", json.dumps(DEFINITION))
                client.close()

        listener = self.hear(act)
        found = {answer["job"]: answer["errors"] for answer in self.json("validate", status=1)}
        self.assertEqual(found, {"bad": "second", "good": None, "mended": None})
        self.assertEqual(listener.events[0], {"action": "validate", "args": []})
        self.kron("validate", "good")
        self.assertEqual(listener.events[-1]["args"], ["good"])

    def test_drain_waits_until_the_host_says_so(self):
        self.put_host("h1")
        self.kron("drain", "nobody", status=1)

        def act(event):
            if event == {"action": "drain_nodes", "args": ["h1"]}:
                self.drain()

        self.hear(act)
        self.assertIn("h1 starts nothing more", self.kron("drain", "h1").stdout)
        self.assertEqual(self.json("status")[0]["hosts"][0]["state"], "draining")

    def drain(self):
        client = self.server.client()
        text = client.call("HGET", f"{NS}:kron:hosts", "h1").replace('"draining":false', '"draining":true')
        client.call("HSET", f"{NS}:kron:hosts", "h1", text)
        client.close()


class Moving(ClusterCase):
    def test_import_says_what_it_would_do_and_then_does_it(self):
        files = [self.file("a.kron", '0 3 * * 1 @tz(Europe/Paris) name=backup command="/usr/bin/backup --all"\n'),
                 self.file("b.yaml", "jobs:\n- name: hello\n  schedule: '*/5 * * * *'\n  command: echo hi\n  shell: true\n"),
                 self.file("c.json", {"old": {**DEFINITION, "mine": 1}})]
        result = self.kron("import", *files)
        self.assertIn("would add backup", result.stdout)
        self.assertIn("nothing was written", result.stdout)
        self.assertEqual(self.redis.call("EXISTS", f"{NS}:jobs"), 0)
        listener = self.hear()
        self.assertEqual({a["job"]: a["result"] for a in self.json("import", *files, "--yes")},
                         {"backup": "added", "hello": "added", "old": "added"})
        backup = json.loads(self.definition("backup"))
        self.assertEqual(backup["cron_args"]["day_of_week"], "mon")
        self.assertEqual(backup["cron_args"]["timezone"], "Europe/Paris")
        self.assertEqual(backup["job_args"], {"cmd": "exec /usr/bin/backup --all", "lock": True, "ttl": 60})
        self.assertEqual(json.loads(self.definition("old")), {**DEFINITION, "mine": 1})
        wait_until(lambda: listener.events, "the event arrived", WAIT)
        self.assertEqual([event["action"] for event in listener.events], ["reload"])
        self.assertIn("is there", self.kron("import", *files, "--yes", status=4).stdout)
        self.assertIn("replaced", self.kron("import", *files, "--yes", "--replace").stdout)

    def test_what_a_cluster_cannot_say_is_left_out_and_named(self):
        path = self.file("a.kron", "0 0 13 * 5 name=odd command=true\n* * * * * name=good command=true\n"
                                   "* * * * * name=queue task=mail\n@reboot name=boot command=true\n")
        result = self.kron("import", path, "--yes", status=1)
        self.assertEqual(result.stdout.count("refused"), 2, result.stdout)
        self.assertEqual(sorted(self.redis.call("HKEYS", f"{NS}:jobs")), ["good", "queue"])
        self.assertEqual(json.loads(self.definition("queue"))["kron"]["task"], "mail")
        self.kron("import", self.directory / "missing", status=2)

    def test_a_crontab_is_imported_with_its_zone_and_numbers(self):
        path = self.file("mine", "CRON_TZ=America/New_York\n30 2 * * 0 echo hi\n")
        self.kron("import", path, "--source", "cron", "--yes")
        name = self.redis.call("HKEYS", f"{NS}:jobs")[0]
        args = json.loads(self.definition(name))["cron_args"]
        self.assertEqual((args["day_of_week"], args["hour"], args["timezone"]), ("sun", "2", "America/New_York"))

    def test_signatures_are_added_and_survive_a_pause(self):
        key = self.file("key", KEY)
        self.put("job", '{"cron_args":{"second":"5"},"job_args":{"cmd":"x","lock":true,"ttl":10.0}}')
        self.kron("sign", "--all", status=2)
        self.kron("sign", "job", "--jobs-hmac-key", key)
        first = json.loads(self.definition())["kron_sig"]
        self.assertRegex(first, "^[0-9a-f]{64}$")
        self.kron("pause", "job")
        self.assertIn("it was already", self.kron("sign", "--all", KRON_JOBS_HMAC_KEY=str(key)).stdout)
        self.assertEqual(json.loads(self.definition())["kron_sig"], first)
        self.kron("add", "other", "--cron", "* * * * *", "--command", "x", "--jobs-hmac-key", key)
        self.assertIn("kron_sig", json.loads(self.definition("other")))
        self.put("junk", "no JSON")
        self.kron("sign", "--all", "--jobs-hmac-key", key, status=1)

    def test_a_file_is_signed_without_any_redis(self):
        key = self.file("key", KEY)
        path = self.file("jobs.json", {"job": DEFINITION})
        result = self.kron("sign", "--file", path, "--jobs-hmac-key", key, KRON_REDIS="")
        signed = json.loads(result.stdout)["job"]
        self.put()
        self.kron("sign", "job", "--jobs-hmac-key", key)
        self.assertEqual(json.loads(self.definition()), signed)
        other = self.kron("sign", "--file", path, "--jobs-hmac-key", key, "--namespace", "{mine}", KRON_REDIS="")
        self.assertNotEqual(json.loads(other.stdout)["job"]["kron_sig"], signed["kron_sig"])

    def test_a_key_that_others_can_read_is_refused(self):
        key = self.file("key", KEY)
        self.put()
        self.kron("sign", "job", "--jobs-hmac-key", os.path.relpath(key))
        os.chmod(key, 0o644)
        self.kron("sign", "job", "--jobs-hmac-key", key, status=4)
        self.kron("sign", "job", "--jobs-hmac-key", self.directory / "missing", status=1)

    def test_prune_removes_what_is_left_of_jobs_that_are_gone(self):
        self.put("kept")
        for name in ("kept", "gone", "gone\nh1", "corrupt\ngone"):
            self.redis.call("HSET", f"{NS}:kron:state", name, "{}")
        self.redis.call("SADD", f"{NS}:jobs:paused", "gone")
        self.put_run("1" * 32, job="kept")
        self.put_run("2" * 32, job="gone")
        self.put_run("3" * 32, job="gone:with:colons", status="fail")
        self.put_run("4" * 32, job="gone", status="running")
        self.redis.call("ZADD", "{cronken}x:results:not-ours:success", 1, "x")
        found = self.json("prune")
        self.assertEqual([(a["job"], a["removed"]) for a in found], [("gone", False), ("gone:with:colons", False)])
        self.assertEqual(self.redis.call("HLEN", f"{NS}:kron:state"), 4)
        self.kron("prune", "--yes")
        self.assertEqual(self.redis.call("HKEYS", f"{NS}:kron:state"), ["kept"])
        self.assertEqual(sorted(self.redis.call("HKEYS", f"{NS}:rundata")), ["1" * 32, "4" * 32])
        self.assertEqual(self.redis.call("EXISTS", f"{NS}:jobs:paused", f"{NS}:results:gone:success"), 0)
        self.assertEqual(self.redis.call("ZRANGE", f"{NS}:results:success", 0, -1), ["1" * 32])
        self.assertEqual(self.redis.call("EXISTS", "{cronken}x:results:not-ours:success"), 1)
        self.assertIn("nothing is left", self.kron("prune").stdout)


class Hostile(ClusterCase):
    def test_keys_of_another_type_are_a_conflict_and_no_crash(self):
        for key in ("jobs", "jobs:paused", "rundata", "rundata:active", "results:success", "kron:hosts", "kron:state",
                    "kron:outcomes", "kron:cluster", "instances"):
            self.redis.call("FLUSHALL")
            self.put()
            self.put_run()
            self.redis.call("DEL", f"{NS}:{key}")
            self.redis.call("RPUSH" if key != "x" else "SET", f"{NS}:{key}", "junk")
            for verb in (["status"], ["jobs"], ["runs"], ["logs", "job"], ["pause", "--all"], ["prune"], ["timezone"]):
                result = run("cluster", *verb, **{**NO_VARIABLES, "KRON_REDIS": self.server.url()})
                self.assertIn(result.returncode, (0, 1, 4), f"{key} {verb}: {result.stderr}")
            self.assertIn("WRONGTYPE", self.kron("status").stdout + "WRONGTYPE" * (key in ("instances", "kron:cluster",
                          "kron:hosts", "results:success", "kron:outcomes")))

    def test_junk_is_shown_safely(self):
        junk = ["", "{", "[]", "null", '{"cron_args":[]}', '{"job_args":{"cmd":7}}', "\x00\x1b[2J", "[" * 100_000,
                '{"cron_args":{"cronstring":"\\u001b[31m"},"job_args":{"cmd":"x","lock":true,"ttl":1}}', "x" * 2_000_000]
        for number, text in enumerate(junk):
            self.put(f"name\x1b[31m{number}", text)
        self.redis.call("HSET", f"{NS}:jobs", b"\xff\xfe", b"\xff")
        self.redis.call("HSET", f"{NS}:jobs", "", "empty name")
        for number, text in enumerate(junk):
            run_id = f"{number:032x}"
            self.redis.call("HSET", f"{NS}:rundata", run_id, text)
            self.redis.call("ZADD", f"{NS}:rundata:active", number, run_id)
            self.redis.call("HSET", f"{NS}:kron:hosts", f"h\x1b{number}", text)
            self.redis.call("ZADD", f"{NS}:instances", time.time(), text + "i")
        self.redis.call("ZADD", f"{NS}:rundata:active", 99, "no rundata")
        for verb in ("jobs", "runs", "status", "prune"):
            shown = self.kron(verb).stdout
            self.assertNotIn("\x1b", shown, verb)
            for line in self.kron(verb, "--format", "json").stdout.splitlines():
                json.loads(line)
        self.assertEqual(len(self.json("jobs", "--invalid")), 9)

    def test_a_hundred_thousand_jobs_are_listed(self):
        text = json.dumps(DEFINITION)
        for first in range(0, 100_000, 5_000):
            fields = [part for n in range(first, first + 5_000) for part in (f"job-{n:06}", text)]
            self.redis.call("HSET", f"{NS}:jobs", *fields)
        began = time.monotonic()
        self.assertEqual(len(self.json("jobs", "--limit", "10")), 10)
        self.assertEqual(self.json("status")[0]["jobs"], 100_000)
        self.kron("runs", "--job", "job-000001")
        self.assertIn("no job", self.kron("pause", "nobody", status=1).stderr)
        self.assertLess(time.monotonic() - began, WAIT)


if __name__ == "__main__":
    unittest.main()
