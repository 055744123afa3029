"""krond dies or stands still between its claim and the end of its run: nothing runs twice, and no two hold one lock."""

import concurrent.futures
import json
import os
import signal
import time
import unittest
from pathlib import Path

import witness
from cluster_host import PATIENCE, SCALE, Fleet, at_second, fleet_of, until
from krond_host import KILL_AT_CALL
from proxy import PASS, Proxy
from redis_host import RedisServer

# Of the changing system calls after the claim was sent; the gate opens well before the last of them.
LAST_CALL = 24
CALLS = range(1, LAST_CALL + 1, 4 if SCALE == 1 else 1)
QUICK = {"CRONKEN_HEARTBEAT_CADENCE": "2"}
PATIENT = {"policy": {"deadline": "2m"}}


class Point:
    """A krond that is killed at one call, and the one that comes after it."""

    def __init__(self, server, call):
        self.call = call
        self.fleet = Fleet(namespace="{" + f"call-{call}" + "}", server=server, environment=QUICK)
        self.mark = self.fleet.root / "claimed"

    def saw(self, words):
        """Counting begins before the claim leaves."""
        if words[0].upper() == b"EVALSHA" and any(b'"job_name":"job"' in word.replace(b" ", b"") for word in words):
            self.mark.touch()
        return PASS

    def run(self):
        proxy = Proxy(self.fleet.server.port)
        proxy.spoil(self.saw)
        try:
            return self.judged(proxy)
        finally:
            self.fleet.close()
            proxy.close()

    def judged(self, proxy):
        fleet = self.fleet
        fleet.define("job", "sleep 0.2; echo done", reload=False, cron=at_second(fleet.redis.now() + 8), kron=PATIENT,
                     ttl=4)
        krond = fleet.start("h1", port=proxy.port, environment={"KRON_COUNT_AFTER": str(self.mark)},
                            prefix=(KILL_AT_CALL, str(self.call), "--"))
        ended = krond.ended()
        if ended != 0:
            return f"call {self.call}: the tracer ended with {ended}: {krond.log()[-2000:]}", ""
        killed_at = json.loads(krond.answer)["killed_at"]
        had_begun = bool(fleet.effects())
        fleet.started("h1")
        run_id, = fleet.wait_for_final("job")
        fleet.wait_until_idle()
        runs, blob = witness.runs_in(fleet.effects()), fleet.blob(run_id)
        facts = {
            "at most one run": len(runs) <= 1,
            "one blob": len(fleet.blobs("job")) == 1,
            "success only if it ran": blob["status"] != "success" or len(runs) == 1,
            "an end that is known": not runs or runs[0].end is None or blob["status"] == "frozen" or
                                    (blob["status"], blob["retcode"]) == ("success", 0),
            "one outcome": len(witness.outcomes_in(fleet.outcomes("job"))) == 1,
        }
        wrong = [name for name, is_true in facts.items() if not is_true]
        where = f"call {self.call} ({killed_at}, {'after' if had_begun else 'before'} its first word)"
        return (f"{where}: not {wrong}: {runs}, {blob}, {fleet.outcomes('job')}" if wrong else "",
                f"{where}: {len(runs)} runs, {blob['status']}")


class Kills(unittest.TestCase):
    def test_at_every_call_between_claim_and_gate(self):
        server = RedisServer().start()
        self.addCleanup(server.close)
        with concurrent.futures.ThreadPoolExecutor(3) as pool:
            answers = list(pool.map(lambda call: Point(server, call).run(), CALLS))
        self.assertEqual([problem for problem, _ in answers if problem], [])
        if os.environ.get("KRON_TEST_TELL"):
            print("\n".join(told for _, told in answers))
        self.assertTrue(any("before its first word" in told for _, told in answers), answers)

    def test_a_krond_that_comes_back_knows_how_its_run_ended(self):
        for is_over in (False, True):
            with self.subTest(is_over=is_over), fleet_of("h1") as fleet:
                fleet.define("kept", f"{fleet.holding()}; seq 1 30; (exit 4)", ttl=20)
                fleet.trigger("kept")
                run_id, = fleet.wait_for_running("kept")
                until(lambda: f" {run_id} " in fleet.effects(), "its first words")
                fleet.kronds[0].kill()
                if is_over:
                    fleet.hold_no_more()
                    until(lambda: f"end {run_id}" in fleet.effects(), "its last words")
                fleet.started("h1")
                fleet.hold_no_more()
                fleet.wait_for_final("kept")
                blob = fleet.blob(run_id)
                self.assertEqual((blob["status"], blob["retcode"]), ("fail", 4))
                self.assertEqual(fleet.lines(run_id), [str(line).encode() for line in range(1, 31)])
                fleet.wait_until_idle()


class Standstill(unittest.TestCase):
    """The runs tell every moment that they are alive."""

    ALIVE = 'while :; do echo "alive $KRON_RUN_ID $EPOCHREALTIME" >> {path}; sleep 0.05; done'
    TTL = 2

    def fleet(self):
        fleet = fleet_of("h1", "h2", environment=QUICK)
        self.addCleanup(fleet.close)
        fleet.define("alive", self.ALIVE.format(path=fleet.effects_path), cron={"second": "*"}, ttl=self.TTL,
                     kron=PATIENT)
        first, = fleet.wait_for_running("alive")
        until(lambda: f"alive {first}" in fleet.effects(), "its first words")
        holder, = (krond for krond in fleet.kronds if krond.host == fleet.blob(first)["host"])
        return fleet, first, holder

    @staticmethod
    def times(fleet, run_id):
        return [float(line.split()[2]) for line in fleet.effects().splitlines() if line.startswith(f"alive {run_id} ")]

    def test_a_stopped_krond_does_not_keep_its_run_past_the_lock(self):
        fleet, first, holder = self.fleet()
        holder.signal(signal.SIGSTOP)
        second, = until_other(fleet, first)
        holder.signal(signal.SIGCONT)
        until(lambda: fleet.blob(first)["status"] != "running", "the end of the first")
        self.assertLess(max(self.times(fleet, first)), min(self.times(fleet, second)))
        self.assertIn(fleet.blob(first)["status"], ("fail", "frozen"))
        for krond in fleet.kronds:
            self.assertIsNone(krond.process.poll())

    def test_a_machine_that_stood_still_ends_its_run_when_it_wakes(self):
        fleet, first, holder = self.fleet()
        group = processes_of(fleet, first)
        for pid in (holder.pid, *group):
            os.kill(pid, signal.SIGSTOP)
        second, = until_other(fleet, first)
        woken = time.time()
        for pid in (*group, holder.pid):
            os.kill(pid, signal.SIGCONT)
        until(lambda: fleet.blob(first)["status"] != "running", "the end of the first")
        until(lambda: max(self.times(fleet, second)) > woken + 3, "the second to go on")
        # The helper is awake and looks at its lease; how soon is a matter of the machine.
        self.assertLess(max(self.times(fleet, first)), woken + 1.5)

    def test_a_host_that_is_cut_off_ends_its_run_before_another_begins(self):
        fleet = fleet_of("h2", environment=QUICK)
        self.addCleanup(fleet.close)
        proxy = Proxy(fleet.server.port)
        self.addCleanup(proxy.close)
        fleet.kronds[0].signal(signal.SIGSTOP)
        fleet.started("h1", port=proxy.port)
        fleet.define("alive", self.ALIVE.format(path=fleet.effects_path), cron={"second": "*"}, ttl=self.TTL,
                     kron=PATIENT)
        first, = fleet.wait_for_running("alive")
        until(lambda: f"alive {first}" in fleet.effects(), "its first words")
        proxy.refuse(True)
        fleet.kronds[0].signal(signal.SIGCONT)
        second, = until_other(fleet, first)
        self.assertLess(max(self.times(fleet, first)), min(self.times(fleet, second)))
        proxy.refuse(False)
        until(lambda: fleet.blob(first)["status"] != "running", "the end of the first")


def until_other(fleet, first):
    """The run that comes after the first, when it has said something."""
    found = []

    def is_there():
        found[:] = {line.split()[1] for line in fleet.effects().splitlines() if line.startswith("alive ")} - {first}
        return bool(found)

    until(is_there, f"a run beside {first}", PATIENCE)
    return found


def processes_of(fleet, run_id):
    """Its helper and its command, by the directory of the run and by the environment."""
    found = []
    for entry in Path("/proc").iterdir():
        if not entry.name.isdigit():
            continue
        try:
            if f"KRON_RUN_ID={run_id}".encode() in (entry / "environ").read_bytes().split(b"\0"):
                found.append(int(entry.name))
        except OSError:
            continue
    parents = set()
    for pid in found:
        text = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8")
        parents.add(int(text.rpartition(")")[2].split()[1]))
    helpers = {pid for pid in parents - set(found)
               if "kron-exec" in Path(f"/proc/{pid}/comm").read_text(encoding="utf-8")}
    assert helpers, f"no helper of {run_id} in {found}, {fleet.effects()[-200:]}"
    return [*found, *helpers]


if __name__ == "__main__":
    unittest.main()
