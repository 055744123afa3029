"""What kron-operator promises, as cases for any API server: the model (tests/operator/behaviour_test.py) and a real one
(operator_test.py), each time with the rights of the shipped roles and no other.

Who derives from them says how the server is reached: operator, operators, until, stalls, add, kron_job, edit, run_now,
remove_kron_job, job_list, delete_job, end_job, event_reasons, opened, broken, worked_again_at (when the leader that came
after a moment began, as closely as it can be seen), without_status_writes, restart_server, and collect_garbage where
nobody does that by itself."""

import calendar
import signal
import time

EVERY_SECOND = "* * * * * *"
EVERY_FIVE = "*/5 * * * * *"
NEVER = "0 0 1 1 *"
LOST = 3  # the exit status of an operator that has lost its Lease


def at_second(seconds):
    """The schedule of one second, in UTC, of one year."""
    now = time.gmtime(seconds)
    return f"{now.tm_sec} {now.tm_min} {now.tm_hour} {now.tm_mday} {now.tm_mon} * {now.tm_year}"


class Behaviour:
    def status(self, name):
        return self.kron_job(name).get("status", {})

    def condition(self, name, kind):
        return next((one for one in self.status(name).get("conditions", []) if one["type"] == kind), {})

    def looked_at(self, name):
        self.until(lambda: self.status(name).get("next"), "it is looked at")

    def started(self):
        """How many periods and runs by hand."""
        return len(self.opened())

    def keeps_its_promises(self):
        """Nothing ran twice, and nothing before its record."""
        self.assertEqual(self.broken(), {})

    def goes_on(self, more=2):
        before = self.started()
        self.until(lambda: self.started() > before + more, "it goes on")
        self.keeps_its_promises()

    def leader(self):
        return self.until(lambda: [one for one in self.operators if one.process.poll() is None and one.leads()],
                          "there is a leader")[0]

    def leads_but(self, leader):
        return any(one is not leader and one.process.poll() is None and one.leads() for one in self.operators)

    def pair(self):
        """The leader of two."""
        self.operator()
        first = self.leader()
        second = self.operator()
        self.until(lambda: second.page("/readyz")[0] == 200, "the second stands by")
        self.assertTrue(first.leads())
        return first

    def add_once(self, count, due):
        """KronJobs of one period, and the identities of those that a busy machine has made before it."""
        expected = set()
        for i in range(count):
            made = self.add(f"once-{i}", at_second(due), deadline="5m")["metadata"]
            if calendar.timegm(time.strptime(made["creationTimestamp"], "%Y-%m-%dT%H:%M:%SZ")) + 1 < due:
                expected.add(f"{made['namespace']}/{made['name']}")
        return expected


class PeriodCases(Behaviour):
    def test_a_period_is_created_recorded_opened_and_told(self):
        operator = self.operator()
        self.leader()
        stored = self.add("report", at_second(time.time() + 5), deadline="2m")
        self.until(lambda: self.started() == 1, "it is opened")
        status = self.until(lambda: (self.status("report").get("last") or {}).get("outcome") and self.status("report"),
                            "it is recorded")
        [job] = self.job_list()
        last = status["last"]
        self.assertEqual((last["outcome"], last["jobName"]), ("executed", job["metadata"]["name"]))
        self.assertEqual(job["metadata"]["annotations"]["kron.io/period-id"], last["periodID"])
        self.assertNotIn("kron.io/gate", job["metadata"]["annotations"])
        self.assertFalse(job["spec"]["suspend"])
        self.assertEqual(job["metadata"]["labels"]["kron.io/name"], "report")
        self.assertEqual(job["metadata"]["ownerReferences"][0]["uid"], stored["metadata"]["uid"])
        self.assertEqual((status["handled"]["through"], status["observedGeneration"]), (last["periodID"], 1))
        conditions = {one["type"]: one["status"] for one in status["conditions"]}
        self.assertEqual(set(conditions), {"Ready", "InvalidSpec", "SchedulingError", "Unschedulable", "Suspended"})
        self.assertEqual(conditions["InvalidSpec"], "False")
        self.until(lambda: ("Executed", "report") in self.event_reasons(), "an event tells of it")
        self.end_job(job["metadata"]["name"])
        self.until(lambda: self.status("report").get("lastSuccessfulTime"), "its end is seen")
        self.assertEqual(self.status("report")["activeCount"], 0)
        self.assertNotIn("orbidden", operator.text())
        self.keeps_its_promises()

    def test_a_user_who_deletes_each_job_makes_nothing_run_twice(self):
        self.operator()
        self.leader()
        self.add("report", EVERY_SECOND)
        end = time.monotonic() + 15
        deleted = 0
        while time.monotonic() < end or deleted < 4:
            for job in self.job_list():
                deleted += self.delete_job(job["metadata"]["name"])
        self.keeps_its_promises()

    def test_nothing_starts_while_no_status_can_be_written(self):
        self.operator()
        self.leader()
        self.add("report", NEVER)
        self.looked_at("report")
        with self.without_status_writes():
            self.edit("report", {"schedule": EVERY_FIVE})
            time.sleep(15)
            self.assertEqual(self.started(), 0)
        self.goes_on(0)

    def test_a_run_by_hand_goes_through_the_same_gate_and_a_suspension_holds_the_others(self):
        self.operator()
        self.add("report", NEVER)
        self.looked_at("report")
        self.edit("report", {"schedule": EVERY_SECOND, "policy": {"suspend": True}})
        self.until(lambda: self.condition("report", "Suspended").get("status") == "True", "it is suspended")
        for token in ("one", "one", "two"):
            self.run_now("report", token)
            self.until(lambda: (self.status("report").get("lastManual") or {}).get("token") == token, "it is taken")
        self.until(lambda: self.started() == 2, "both are opened")
        time.sleep(2)
        self.assertEqual((self.started(), self.status("report")["lastManual"]["outcome"]), (2, "executed"))
        self.edit("report", {"policy": {"suspend": False}})
        self.goes_on()

    def test_replace_waits_until_the_run_before_is_gone(self):
        self.operator()
        self.leader()
        self.add("report", EVERY_FIVE, concurrency="replace", deadline="1m")
        most = 0

        def replaced():
            nonlocal most
            self.collect_garbage()
            most = max(most, sum("kron.io/gate" not in job["metadata"]["annotations"] for job in self.job_list()))
            return self.started() >= 3

        self.until(replaced, "each replaces the one before")
        self.assertEqual(most, 1)
        self.keeps_its_promises()

    def test_the_jobs_of_a_deleted_kron_job_go_with_it(self):
        self.operator()
        self.add("report", EVERY_FIVE)
        self.until(self.started, "it runs")
        self.remove_kron_job("report")

        def are_gone():
            self.collect_garbage()
            return not self.job_list()

        self.until(are_gone, "its Jobs are gone")


class LeaderCases(Behaviour):
    def test_another_takes_over_within_twenty_seconds_when_the_leader_is_killed(self):
        leader = self.pair()
        self.add("often", EVERY_SECOND)
        self.until(self.started, "it runs")
        # Due while nobody leads, and in time by their deadline.
        expected = self.add_once(30, int(time.time()) + 10)
        killed = time.time()
        with self.stalls() as stalls:
            leader.signal(signal.SIGKILL)
            leader.process.wait()
            self.until(lambda: self.leads_but(leader) and self.worked_again_at(killed + 1), "another works")
        self.assertLess(self.worked_again_at(killed + 1) - killed, 20 + stalls.seconds)
        self.until(lambda: expected <= {identity for identity, _ in self.opened()}, "nothing is lost")
        self.goes_on()

    def test_a_leader_that_sleeps_and_wakes_starts_nothing_twice(self):
        leader = self.pair()
        self.add("often", EVERY_SECOND)
        self.until(self.started, "it runs")
        stopped = time.time()
        with self.stalls() as stalls:
            leader.signal(signal.SIGSTOP)
            self.until(lambda: self.leads_but(leader) and self.worked_again_at(stopped + 1), "another works")
        self.assertLess(self.worked_again_at(stopped + 1) - stopped, 20 + stalls.seconds)
        self.goes_on()
        leader.signal(signal.SIGCONT)
        # It has lost the Lease: a fresh process is its clean slate.
        self.assertEqual(leader.process.wait(180), LOST)
        self.goes_on()

    def test_a_leader_that_is_asked_to_end_hands_over_at_once(self):
        leader = self.pair()
        self.add("often", EVERY_SECOND, deadline="10s")
        self.until(self.started, "it runs")
        asked = time.time()
        with self.stalls() as stalls:
            leader.signal(signal.SIGTERM)
            self.assertEqual(leader.process.wait(180), 0)
            self.until(lambda: self.leads_but(leader) and self.worked_again_at(asked + 1), "another works")
        self.assertLess(self.worked_again_at(asked + 1) - asked, 10 + stalls.seconds)
        self.goes_on()

    def test_two_that_both_lead_and_a_user_who_deletes_jobs_start_nothing_twice(self):
        """No Lease keeps these two apart, and at most once does not need it."""
        for _ in range(2):
            self.operator("--leader-elect=false")
        self.add("often", EVERY_SECOND)
        self.add("other", EVERY_FIVE, concurrency="forbid")
        self.until(lambda: self.started() > 6, "they work")
        end = time.monotonic() + 8
        while time.monotonic() < end:
            for job in self.job_list():
                self.delete_job(job["metadata"]["name"])
            time.sleep(0.3)
        self.goes_on(5)

    def test_a_server_that_is_killed_and_started_again_costs_nothing_twice(self):
        self.operator()
        self.leader()
        self.add("often", EVERY_SECOND, deadline="2m")
        self.until(self.started, "it runs")
        self.restart_server()
        self.goes_on()
