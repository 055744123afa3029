"""The witness complains of what it should complain of: a fleet that behaves, and the same with one thing wrong."""

import copy
import dataclasses
import time
import unittest

import witness
from witness import Terms

JOBS = {"own": Terms(1, "own", runs_always=True), "a": Terms(1, "shared"), "b": Terms(1, "shared"), "free": Terms(1)}
AT = 1794900000


def stamp(second, fraction=""):
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(second)) + fraction + "Z"


class Story:
    """Effects and a stream, as a fleet of two would leave them."""

    def __init__(self):
        self.effects, self.entries, self.fence = [], [], 0
        for second in range(AT, AT + 5):
            self.run("own", second, "h1", 0.01, 0.05)
            self.run("a", second, "h2", 0.02, 0.4)
            self.say("b", second, "h1", outcome="skipped", reason="lock_held")
            self.run("free", second, "h1", 0.01, 0.02)
            self.run("free", second, "h2", 0.01, 0.02)

    def run(self, job, second, host, after, lasts):
        self.fence += 1
        run_id = f"{job}-{second}-{host}"
        self.effects.append([f"begin {job} {stamp(second)} {host} {run_id} {self.fence} {second + after:.6f}",
                             f"end {run_id} {second + after + lasts:.6f}"])
        self.say(job, second, host, outcome="executed", runId=run_id, chosenTime=stamp(second))
        self.say(job, second, host, outcome="executed", runId=run_id)

    def say(self, job, second, host, **more):
        self.entries.append({"job": job, "periodId": stamp(second), "host": host, **more})

    def complaints(self):
        runs = witness.runs_in("\n".join(line for pair in self.effects for line in pair))
        return witness.all_complaints(runs, witness.outcomes_in(self.entries), JOBS)


class Witness(unittest.TestCase):
    def test_a_fleet_that_behaves(self):
        self.assertEqual(Story().complaints(), [])

    def broken(self, name, change):
        story = copy.deepcopy(Story())
        change(story)
        found = {complaint.split(":")[0] for complaint in story.complaints()}
        self.assertIn(name, found)

    def test_each_thing_that_can_be_wrong(self):
        def twice(story):
            story.run("own", AT, "h2", 0.5, 0.01)

        def same_again(story):
            story.effects.append(story.effects[0])

        def free_twice(story):
            story.run("free", AT, "h1", 0.5, 0.01)
            story.effects[-1][0] = story.effects[-1][0].replace("free-", "again-")

        def two_outcomes(story):
            story.say("own", AT, "h2", outcome="skipped", reason="lock_held")

        def skipped_twice(story):
            story.entries.append(dict(next(entry for entry in story.entries if entry["outcome"] == "skipped")))

        def forgotten(story):
            story.entries = [entry for entry in story.entries
                             if (entry["job"], entry["periodId"]) != ("b", stamp(AT + 2))]

        def did_not_run(story):
            del story.effects[0]

        def not_told(story):
            story.entries = [entry for entry in story.entries if entry.get("runId") != f"own-{AT + 4}-h1"]

        def early(story):
            story.effects[0][0] = story.effects[0][0].rsplit(" ", 1)[0] + f" {AT - 0.001:.6f}"

        def late(story):
            story.say("b", AT + 5, "h1", outcome="missed")

        def together(story):
            story.run("b", AT + 6, "h1", 0.1, 0.1)
            story.run("a", AT + 6, "h2", 0.15, 0.1)

        def never_ended(story):
            del next(pair for pair in story.effects if pair[0].startswith("begin a "))[1]

        def no_reason(story):
            story.say("own", AT + 9, "h1", outcome="skipped", reason="lock_held")

        def old_token(story):
            story.fence = 0
            story.run("a", AT + 8, "h1", 0.1, 0.1)

        for name, change in (("doubled_runs", twice), ("doubled_runs", same_again), ("doubled_runs", free_twice),
                             ("doubled_outcomes", two_outcomes), ("doubled_outcomes", skipped_twice),
                             ("periods_without_outcome", forgotten), ("disagreements", did_not_run),
                             ("disagreements", not_told), ("early_starts", early), ("missed", late),
                             ("overlaps", together), ("overlaps", never_ended), ("unexcused", no_reason),
                             ("fences_out_of_order", old_token)):
            with self.subTest(change.__name__):
                self.broken(name, change)

    def test_values_are_values(self):
        run, = witness.runs_in("begin j p h r 7 1.5\nend r 2.5\n")
        self.assertEqual(dataclasses.astuple(run), ("j", "p", "h", "r", 7, 1.5, 2.5))


if __name__ == "__main__":
    unittest.main()
