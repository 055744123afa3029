#!/usr/bin/env python3
"""Tasks in Redis, seen from outside: three krond share them, `kron task` and `kron worker` need none, a scheduled task is
submitted once, and a krond that is killed takes nothing with it."""

import http.client
import json
import os
import socket
import subprocess
import threading
import time
import unittest

from cluster_host import EVERY_SECOND, HERE, KRON, KRON_EXEC, NO_LEAK_SEARCH, PATIENCE, Fleet, OnFleet, at_second, until
from redis_host import SentinelGroup
from shifted_time import ShiftedServer

ENVIRONMENT = {**os.environ, **NO_LEAK_SEARCH}
EXAMPLES = HERE.parents[1] / "examples/workers"


def kron(*arguments, status=0, environment=None, text=None):
    answer = subprocess.run([KRON, *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False,
                            env={**ENVIRONMENT, **(environment or {})}, input=text)
    if answer.returncode != status:
        raise AssertionError(f"kron {arguments}: {answer.returncode}\n{answer.stdout}{answer.stderr}")
    return answer.stdout


def values(text):
    return [json.loads(line) for line in text.splitlines()]


def server_time(fleet):
    seconds, microseconds = fleet.redis("TIME")
    return int(seconds) + int(microseconds) / 1e6


def executed(fleet, job):
    """Periods, once for each run that has ended."""
    return [entry["periodId"] for entry in fleet.outcomes(job)
            if entry["outcome"] == "executed" and entry["state"] == "ended"]


def metric(socket_path, name):
    connection = http.client.HTTPConnection("krond", timeout=PATIENCE)
    connection.sock = socket.socket(socket.AF_UNIX)
    connection.sock.connect(str(socket_path))
    connection.request("GET", "/metrics")
    text = connection.getresponse().read().decode()
    connection.close()
    value, = [line.split()[1] for line in text.splitlines() if line.split()[0] == name]
    return float(value)


class Asked:
    """A request to the API over a krond's socket, under way on a thread of its own."""

    def __init__(self, socket_path, method, path, body):
        self.status = self.answer = self.seconds = None
        self.thread = threading.Thread(target=self._ask, args=(str(socket_path), method, path, json.dumps(body)))
        self.thread.start()

    def _ask(self, socket_path, method, path, body):
        connection = http.client.HTTPConnection("krond", timeout=PATIENCE)
        connection.sock = socket.socket(socket.AF_UNIX)
        connection.sock.settimeout(PATIENCE)
        connection.sock.connect(socket_path)
        begun = time.monotonic()
        connection.request(method, path, body, {"Content-Type": "application/json"})
        response = connection.getresponse()
        self.status, self.answer = response.status, json.loads(response.read() or b"null")
        self.seconds = time.monotonic() - begun
        connection.close()

    def is_over(self):
        return not self.thread.is_alive()

    def wait(self):
        self.thread.join(PATIENCE)
        if self.status is None:
            raise AssertionError("no answer")
        return self


class SharedTasks(OnFleet):
    hosts = ("h1", "h2", "h3")

    def state(self, host):
        return self.fleet.root / f"state-{host}"

    def at(self, host, *arguments, **how):
        return kron(*arguments, "--state-dir", self.state(host), **how)

    def at_redis(self, *arguments, **how):
        return kron(*arguments, "--redis", self.fleet.url(), "--namespace", self.fleet.namespace, **how)

    def task(self, task_id):
        return values(self.at_redis("task", "show", task_id, "--format", "json"))[0]

    def ask(self, host, method, path, body):
        return Asked(self.state(host) / "krond.sock", method, path, body)

    def waiting_leases(self):
        return self.redis("PUBSUB", "NUMSUB", self.key("kron:wake"))[1]

    def test_what_is_submitted_at_one_host_is_leased_at_another_at_once(self):
        until(lambda: self.waiting_leases() == 3, "every krond to listen")
        body = {"worker": "w", "types": ["WOKEN"], "n": 1, "wait": "30s"}
        first = self.ask("h2", "POST", "/api/v1/leases", body)
        second = self.ask("h3", "POST", "/api/v1/leases", body)
        time.sleep(0.5)
        self.assertFalse(first.is_over() or second.is_over())
        begun = time.monotonic()
        self.at("h1", "task", "submit", "--type", "WOKEN", "--id", "woken-1", "1")
        self.at("h1", "task", "submit", "--type", "WOKEN", "--id", "woken-2", "2")
        leased = [lease["taskId"] for asked in (first.wait(), second.wait()) for lease in asked.answer["leases"]]
        self.assertEqual(sorted(leased), ["woken-1", "woken-2"])
        self.assertLess(time.monotonic() - begun, 20, "a wait of 30 s that was not cut short")

    def test_all_hosts_and_redis_itself_show_the_same_tasks(self):
        self.at("h1", "task", "submit", "--type", "SEEN", "--id", "seen", '{"n":1}')
        self.assertIn("already_known", self.at("h2", "task", "submit", "--type", "SEEN", "--id", "seen", '{"n":1}'))
        self.assertIn("conflict", self.at("h3", "task", "submit", "--type", "SEEN", "--id", "seen", "2", status=4))
        shown = [self.at(host, "task", "show", "seen", "--format", "json") for host in self.hosts]
        shown.append(self.at_redis("task", "show", "seen", "--format", "json"))
        self.assertEqual(len(set(shown)), 1, shown)
        listed = self.at_redis("task", "list", "--type", "SEEN", "--format", "json")
        self.assertEqual(self.at("h2", "task", "list", "--type", "SEEN", "--format", "json"), listed)
        self.assertIn("cancelled", self.at("h3", "task", "cancel", "seen"))
        self.assertIn("CANCELLED", self.at("h1", "task", "show", "seen"))
        self.assertIn("retried", self.at_redis("task", "retry", "seen"))
        self.at("h1", "task", "cancel", "seen")

    def test_kron_task_and_worker_need_no_krond(self):
        variables = {"KRON_REDIS": self.fleet.url(), "KRON_NAMESPACE": "{alone}"}
        lines = "".join(json.dumps({"taskId": f"a{n}", "payload": {"type": "ALONE", "data": n}}) + "\n"
                        for n in range(20))
        submitted = kron("task", "submit-batch", "--format", "json", environment=variables, text=lines)
        self.assertEqual({line["outcome"] for line in values(submitted)}, {"accepted"})
        kron("worker", "--type", "ALONE", "--exec", "cat", "--drain", "--concurrency", "4", "--helper", KRON_EXEC,
             "--work-dir", self.fleet.root / "work-alone", environment=variables)
        done = values(kron("task", "list", "--state", "succeeded", "--format", "json", environment=variables))
        self.assertEqual(sorted(task["taskId"] for task in done), sorted(f"a{n}" for n in range(20)))
        self.assertEqual({task["taskId"]: task["result"] for task in done}["a7"], "7")
        removed = []

        def are_removed():  # those that ended in an earlier second
            removed.append(int(kron("task", "prune", "--older-than", "0s", environment=variables).split()[0]))
            return sum(removed) == 20

        until(are_removed, "all to be removed")
        self.assertEqual(kron("task", "list", environment=variables), "")
        # A flag that names a krond goes before the environment.
        self.assertEqual(self.at("h1", "task", "list", "--type", "ALONE", environment=variables), "")

    def test_a_worker_of_redis_hears_of_tasks(self):
        log = open(self.fleet.root / "worker-log", "wb")
        self.addCleanup(log.close)
        worker = subprocess.Popen([KRON, "worker", "--redis", self.fleet.url(), "--type", "HEARD", "--exec", "cat",
                                   "--helper", KRON_EXEC, "--work-dir", str(self.fleet.root / "work-heard")],
                                  stdout=subprocess.DEVNULL, stderr=log, env=ENVIRONMENT)
        self.addCleanup(worker.wait, PATIENCE)
        self.addCleanup(worker.terminate)
        until(lambda: self.waiting_leases() == 4, "the worker to listen")
        self.at("h1", "task", "submit", "--type", "HEARD", "--id", "heard", '"hello"')
        until(lambda: self.task("heard")["state"] == "COMPLETED", "the task to be done")
        self.assertEqual(self.task("heard")["result"], '"hello"')

    def test_the_examples_work_at_any_host(self):
        for n, host in enumerate(self.hosts):
            self.at(host, "task", "submit", "--type", "EXAMPLE", "--id", f"example-{n}", str(n))
        commands = ([EXAMPLES / "worker.py", "--type", "EXAMPLE", "--once"], [EXAMPLES / "worker.sh", "-1", "SHELL", "cat"])
        self.at("h2", "task", "submit", "--type", "SHELL", "--id", "shell", '{"n":1}')
        for host, command in zip(("h3", "h1"), commands):
            subprocess.run(list(map(str, command)), env={**ENVIRONMENT, "KRON_SOCKET": str(self.state(host) / "krond.sock")},
                           stdout=subprocess.DEVNULL, timeout=PATIENCE, check=True)
        for n in range(len(self.hosts)):
            result = self.task(f"example-{n}")["result"]
            self.assertEqual(json.loads(result), {"task": f"example-{n}", "got": n})
            published = self.redis("HGET", self.key(f"kron:q:effects:example-{n}"), "result.json")
            self.assertEqual(published.decode(), result)
        self.assertEqual(self.task("shell")["result"], '{"n":1}')

    def test_a_server_that_has_forgotten_its_scripts_or_a_task_holds_nobody_up(self):
        for name in ("gone", "kept"):
            self.at("h1", "task", "submit", "--type", "FORGOT", "--id", name, "1")
        self.redis("DEL", self.key("kron:q:t:gone"))
        self.redis("SCRIPT", "FLUSH")
        lease, = self.ask("h2", "POST", "/api/v1/leases", {"worker": "w", "types": ["FORGOT"], "n": 2, "start": True}
                          ).wait().answer["leases"]
        self.assertEqual(lease["taskId"], "kept")
        self.redis("SCRIPT", "FLUSH")
        committed = self.ask("h3", "POST", f"/api/v1/leases/{lease['execId']}/commit",
                             {"token": lease["token"], "result": "done"}).wait()
        self.assertEqual((committed.status, committed.answer["result"]), (200, "committed"))
        until(lambda: self.key("kron:q:t:gone") in self.kronds[1].log(), "word of the task that is gone")
        self.assertIn("accepted", self.at("h3", "task", "submit", "--type", "FORGOT", "--id", "gone", "1"))
        self.at("h1", "task", "cancel", "gone")

    def test_limits_hold_over_all_hosts(self):
        self.assertEqual(self.at_redis("cluster", "limit"), "no type of tasks has a limit\n")
        self.assertEqual(self.at_redis("cluster", "limit", "NARROW", 1), "NARROW  at most 1, 0 running\n")
        for n in range(3):
            self.at("h1", "task", "submit", "--type", "NARROW", "--id", f"narrow-{n}", str(n))
        body = {"worker": "w", "types": ["NARROW"], "n": 3, "wait": "0s"}
        taken = [self.ask(host, "POST", "/api/v1/leases", body).wait().answer["leases"] for host in self.hosts]
        self.assertEqual(sum(map(len, taken)), 1, taken)
        shown, = values(self.at_redis("cluster", "limit", "NARROW", "--format", "json"))
        self.assertEqual(shown, {"type": "NARROW", "limit": 1, "running": 1})
        waiting = self.ask("h3", "POST", "/api/v1/leases", {**body, "wait": "30s"})
        time.sleep(0.3)
        # The lease that waits hears of it at once, and may be sooner than the count.
        self.assertRegex(self.at_redis("cluster", "limit", "NARROW", "--remove"), r"^NARROW  no limit, [13] running\n$")
        self.assertEqual(len(waiting.wait().answer["leases"]), 2, "there is room again")
        self.assertIn("invalid", self.at_redis("cluster", "limit", "no type", 1, "--format", "json", status=1))

    def test_a_scheduled_task_is_submitted_once_for_each_period(self):
        self.fleet.write("ticks", json.dumps({"cron_args": EVERY_SECOND, "job_args": {"lock": True, "ttl": 5},
                                              "kron": {"task": "TICK", "stdin": '{"from":"ticks"}'}}))
        self.fleet.reload()

        def ticks():
            return [task for task in values(self.at_redis("task", "list", "--type", "TICK", "--format", "json"))]

        until(lambda: len(ticks()) >= 4, "four periods")
        self.fleet.redis("HDEL", self.key("jobs"), "ticks")
        self.fleet.reload()
        executed = {}

        def are_settled():
            runs = [entry for entry in self.fleet.outcomes("ticks")
                    if entry["outcome"] == "executed" and entry["state"] == "ended"]
            executed.clear()
            for entry in runs:
                executed.setdefault(entry["periodId"], []).append(entry)
            return len(executed) == len(ticks())

        until(are_settled, "as many tasks as periods that were executed")
        for period, entries in executed.items():
            self.assertEqual(len(entries), 1, f"{period} was executed more than once")
            self.assertEqual(entries[0]["exitCode"], 0)
        for task in ticks():
            self.assertRegex(task["taskId"], r"^ticks-[0-9a-f]{20}$")
            self.assertEqual(task["payload"], {"type": "TICK", "data": {"from": "ticks"}})
        self.assertFalse(self.fleet.active())
        runs = values(self.at("h1", "runs", "--job", "ticks", "--format", "json"))
        self.assertTrue(runs)
        self.assertEqual({run.get("exitCode") for run in runs if run["state"] == "ended"}, {0})

    def test_a_task_by_hand(self):
        self.fleet.write("by-hand", json.dumps({"cron_args": {"cronstring": "@never"},
                                                "job_args": {"cmd": "", "lock": True, "ttl": 5},
                                                "kron": {"task": "HAND"}}))
        self.fleet.reload()
        until(lambda: all("by-hand" in self.at(host, "jobs") for host in self.hosts), "the job")
        self.at_redis("cluster", "trigger", "by-hand", "--wait", "--id", "once")
        self.at_redis("cluster", "trigger", "by-hand", "--wait", "--id", "once")
        task, = values(self.at_redis("task", "list", "--type", "HAND", "--format", "json"))
        self.assertRegex(task["taskId"], r"^by-hand-[0-9a-f]{20}$")

    def test_a_worker_whose_krond_is_killed_goes_on_with_another(self):
        """Work that was leased through a krond is committed through any: leases are Redis's, not krond's."""
        krond = self.fleet.started("h4")
        try:
            self.at("h4", "task", "submit", "--type", "MOVED", "--id", "moved", "1")
            lease, = self.ask("h4", "POST", "/api/v1/leases", {"worker": "w", "types": ["MOVED"], "n": 1, "start": True}
                              ).wait().answer["leases"]
        finally:
            krond.kill()
        path = f"/api/v1/leases/{lease['execId']}/"
        renewed = self.ask("h2", "POST", path + "renew", {"token": lease["token"]}).wait()
        self.assertEqual(renewed.status, 200, renewed.answer)
        committed = self.ask("h1", "POST", path + "commit", {"token": lease["token"], "result": "done"}).wait()
        self.assertEqual((committed.status, committed.answer["result"]), (200, "committed"))
        again = self.ask("h3", "POST", path + "commit", {"token": lease["token"], "result": "twice"}).wait()
        self.assertEqual((again.status, again.answer["result"]), (409, "duplicate"))
        self.assertEqual(self.task("moved")["result"], "done")

    def test_a_lease_that_nobody_renews_runs_out_at_any_krond(self):
        self.at("h1", "task", "submit", "--type", "LEFT", "--id", "left", "--backoff", "0s", "1")
        lease, = self.ask("h1", "POST", "/api/v1/leases", {"worker": "gone", "types": ["LEFT"], "n": 1, "term": "1s",
                                                           "start": True}).wait().answer["leases"]
        next_one = self.ask("h2", "POST", "/api/v1/leases", {"worker": "next", "types": ["LEFT"], "n": 1,
                                                             "wait": "60s", "start": True}).wait()
        taken, = next_one.answer["leases"]
        self.assertEqual((taken["taskId"], taken["attempt"]), ("left", 2))
        late = self.ask("h3", "POST", f"/api/v1/leases/{lease['execId']}/commit",
                        {"token": lease["token"], "result": "late"}).wait()
        self.assertEqual((late.status, late.answer["result"]), (409, "lease_lost"))


class AddedByCommand(unittest.TestCase):
    def test_each_period_of_a_job_that_was_added_with_a_task_submits_one(self):
        """A schedule of five fields is due by the minute: the server's clock is set to a few seconds before one."""
        with ShiftedServer() as server, Fleet(server=server) as fleet:
            at = ("--redis", fleet.url(), "--namespace", fleet.namespace)
            kronds = [fleet.start(host) for host in ("h1", "h2", "h3")]
            for krond in kronds:
                fleet.wait_until_joined(krond)
            self.assertEqual(kron("cluster", "add", "minutely", "--cron", "* * * * *", "--task", "MINUTE", "--data",
                                  '{"kind": "minutely"}', *at), "added minutely\n")
            until(lambda: all("minutely" in kron("jobs", "--state-dir", fleet.root / f"state-{krond.host}")
                              for krond in kronds), "the job at every host")
            server.step((55 - server_time(fleet)) % 60)
            # A minute is missed where the machine was too busy; the next one is due soon enough.
            until(lambda: executed(fleet, "minutely"), "a period", patience=3 * PATIENCE)
            kron("cluster", "remove", "minutely", *at)
            until(lambda: not any("minutely" in kron("jobs", "--state-dir", fleet.root / f"state-{krond.host}")
                                  for krond in kronds), "the end of the job")
            periods = executed(fleet, "minutely")
            self.assertEqual(len(set(periods)), len(periods), "a period was executed twice")
            tasks = values(kron("task", "list", "--type", "MINUTE", "--format", "json", *at))
            self.assertEqual(len(tasks), len(periods))
            for task in tasks:
                self.assertRegex(task["taskId"], r"^minutely-[0-9a-f]{20}$")
                self.assertEqual(task["payload"], {"type": "MINUTE", "data": {"kind": "minutely"}})
            self.assertIn('"state":"PENDING"', json.dumps(tasks[0], separators=(",", ":")))
            scraped = [metric(fleet.root / f"state-{krond.host}/krond.sock", "kron_tasks_shared") for krond in kronds]
            self.assertEqual(scraped, [1, 1, 1])


class KrondIsKilled(unittest.TestCase):
    def test_tasks_and_workers_of_three_hosts_survive_the_death_of_one(self):
        """Workers at every host; one krond is killed in the middle and comes back. Every task is done, and its effect is
        there once."""
        effects = 60
        with Fleet() as fleet:
            kronds = {host: fleet.started(host) for host in ("h1", "h2", "h3")}
            work = "id=$(cat); mkdir -p %s/done; echo $id >> %s/done/$id" % (fleet.root, fleet.root)
            workers = [subprocess.Popen(
                [KRON, "worker", "--state-dir", str(fleet.root / f"state-{host}"), "--type", "W", "--exec", work,
                 "--shell", "--concurrency", "2", "--lease", "5s", "--helper", KRON_EXEC,
                 "--work-dir", str(fleet.root / f"work-{host}")],
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT) for host in kronds]
            try:
                lines = "".join(json.dumps({"taskId": f"w{n}", "payload": {"type": "W", "data": n}, "backoff": "0s"}) + "\n"
                                for n in range(effects))
                kron("task", "submit-batch", "--state-dir", fleet.root / "state-h1", text=lines)

                def succeeded():
                    return values(kron("task", "list", "--redis", fleet.url(), "--state", "succeeded", "--limit", "1000",
                                       "--format", "json"))

                until(lambda: len(succeeded()) >= 5, "some to be done")
                kronds["h2"].kill()
                until(lambda: len(succeeded()) >= 15, "more to be done")
                fleet.started("h2")
                until(lambda: len(succeeded()) == effects, "all to be done")
                for task in succeeded():
                    ends = [one["status"] for one in task["executions"]]
                    self.assertEqual(ends.count("DONE"), 1, task)
            finally:
                for worker in workers:
                    worker.terminate()
                for worker in workers:
                    worker.wait(PATIENCE)

    def test_a_period_that_was_due_while_its_krond_was_killed_has_one_task(self):
        with Fleet() as fleet:
            due = int(time.time()) + 12
            fleet.write("once", json.dumps({"cron_args": at_second(due), "job_args": {"lock": True, "ttl": 5},
                                            "kron": {"task": "ONCE", "policy": {"deadline": "1h"}}}))
            krond = fleet.started("h1")
            until(lambda: time.time() >= due - 0.05, "the moment before")
            krond.kill()
            fleet.started("h1")
            until(lambda: fleet.redis("HLEN", fleet.key("rundata")) == 1, "its run")
            self.assertEqual(len(values(kron("task", "list", "--redis", fleet.url(), "--format", "json"))), 1)


class Failover(unittest.TestCase):
    def test_tasks_are_done_once_on_record_whatever_a_new_master_has_missed(self):
        """The master is killed while workers are at work, one at a krond and one at Redis itself."""
        count = 40
        with SentinelGroup(replicas=1) as group, Fleet(server=group.master) as fleet:
            for krond in [fleet.start(host, url=group.url()) for host in ("h1", "h2")]:
                fleet.wait_until_joined(krond)
            lines = "".join(json.dumps({"taskId": f"f{n}", "payload": {"type": "F", "data": n}, "backoff": "0s"}) + "\n"
                            for n in range(count))
            kron("task", "submit-batch", "--state-dir", fleet.root / "state-h1", text=lines)
            self.assertGreaterEqual(group.master.cli("WAIT", 1, 60_000, timeout=PATIENCE), 1)
            places = (("--state-dir", fleet.root / "state-h2"), ("--redis", group.url()))
            workers = [subprocess.Popen(
                list(map(str, [KRON, "worker", *place, "--type", "F", "--exec", "sleep 0.2; cat", "--shell", "--concurrency",
                               2, "--lease", "5s", "--helper", KRON_EXEC, "--work-dir", fleet.root / f"work-{n}"])),
                stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, env=ENVIRONMENT) for n, place in enumerate(places)]

            def succeeded():
                return values(kron("task", "list", "--redis", group.url(), "--state", "succeeded", "--limit", "1000",
                                   "--format", "json"))

            def are_done(number):
                try:
                    return len(succeeded()) >= number
                except AssertionError:  # the new master is not there yet
                    return False

            try:
                until(lambda: are_done(5), "some to be done")
                group.fail_over()
                until(lambda: are_done(count), "all to be done")
                self.assertEqual(len(succeeded()), count)
                for task in succeeded():
                    self.assertEqual([one["status"] for one in task["executions"]].count("DONE"), 1, task)
                    self.assertEqual(task["result"], str(task["payload"]["data"]))
            finally:
                for worker in workers:
                    worker.terminate()
                for worker in workers:
                    worker.wait(PATIENCE)


class TasksInFiles(unittest.TestCase):
    def test_each_host_keeps_its_own_and_jobs_of_the_cluster_cannot_submit(self):
        with Fleet() as fleet:
            fleet.write("refused", json.dumps({"cron_args": EVERY_SECOND, "job_args": {"lock": True, "ttl": 5},
                                               "kron": {"task": "T"}}))
            fleet.started("h1", "--tasks", "file")
            state = fleet.root / "state-h1"
            until(lambda: "--tasks file" in fleet.written("refused").decode(), "the reason at the job")
            kron("task", "submit", "--state-dir", state, "--type", "OWN", "--id", "own", "1")
            self.assertTrue((state / "data/tasks/pending/own.json").exists())
            self.assertEqual(fleet.redis("EXISTS", fleet.key("kron:q:t:own")), 0)
            doctor = subprocess.run([KRON, "doctor", "--state-dir", str(state)], capture_output=True, text=True,
                                    timeout=PATIENCE, check=False, env=ENVIRONMENT)
            self.assertIn("--tasks file", doctor.stdout)


if __name__ == "__main__":
    unittest.main(verbosity=2)
