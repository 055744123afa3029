"""What must be true of a fleet, judged by what the jobs themselves wrote and by the stream of outcomes. Every question
answers with complaints, so that tests of the witness can see it complain (witness_test.py)."""

import collections
import dataclasses
import datetime


@dataclasses.dataclass(frozen=True)
class Run:
    """A run that really was there, as its own command has it."""
    job: str
    period: str  # "-": it was triggered
    host: str
    run_id: str
    fence: int
    begin: float
    end: float | None = None


@dataclasses.dataclass(frozen=True)
class Outcome:
    """What the stream says of a period; a run's start and end are one."""
    job: str
    period: str
    host: str
    outcome: str
    reason: str = ""
    chosen: str = ""
    run_id: str = ""


@dataclasses.dataclass(frozen=True)
class Terms:
    """What the test knows of a job."""
    interval: int = 1
    lock: str = ""  # "": on every host
    window: int = 0  # seconds; a period counts if its chosen time is after first sight, and before the test ends
    runs_always: bool = False  # shorter than its interval, alone with its lock


def seconds_of(text):
    if "." not in text:
        text = text.replace("Z", ".0Z")
    return datetime.datetime.strptime(text, "%Y-%m-%dT%H:%M:%S.%fZ").replace(
        tzinfo=datetime.timezone.utc).timestamp()


def runs_in(text):
    """Every begin, also of one run that began twice."""
    ends, begins = {}, []
    for line in text.splitlines():
        words = line.split(" ")
        if words[0] == "begin" and len(words) == 7:
            begins.append(words[1:])
        elif words[0] == "end" and len(words) == 3:
            ends[words[1]] = float(words[2])
    return [Run(job, period, host, run_id, int(fence) if fence.isdigit() else 0, float(begin), ends.get(run_id))
            for job, period, host, run_id, fence, begin in begins]


def outcomes_in(entries):
    """One for each run, whose start and end may both be there, and for each period that did not run."""
    found = {}
    for entry in entries:
        if not entry.get("periodId") or "passedOver" in entry:
            continue
        outcome = Outcome(entry["job"], entry["periodId"], entry.get("host", ""), entry.get("outcome", "executed"),
                          entry.get("reason", ""), entry.get("chosenTime", ""), entry.get("runId", ""))
        key = outcome.run_id or len(found)  # two that did not run are two, be they equal or not
        known = found.get(key)
        found[key] = dataclasses.replace(outcome, chosen=outcome.chosen or known.chosen) if known else outcome
    return list(found.values())


def passed_over_in(entries):
    """Of each report the job, the host, and the first and last second it tells of."""
    return [(entry["job"], entry.get("host", ""), seconds_of(entry["passedOver"]["first"]),
             seconds_of(entry["passedOver"]["last"])) for entry in entries if "passedOver" in entry]


def field_of(entry, jobs):
    """What has periods of its own: a job, or with no lock a job on one host."""
    return (entry.job,) if jobs[entry.job].lock else (entry.job, entry.host)


def doubled_runs(runs, jobs):
    by_period = collections.Counter((*field_of(run, jobs), run.period) for run in runs if run.period != "-")
    return [f"{key} ran {count} times" for key, count in by_period.items() if count > 1] + \
           [f"run {run_id} began {count} times" for run_id, count in
            collections.Counter(run.run_id for run in runs).items() if count > 1]


def doubled_outcomes(outcomes, jobs):
    by_period = collections.defaultdict(list)
    for outcome in outcomes:
        by_period[(*field_of(outcome, jobs), outcome.period)].append(outcome)
    return [f"{key} has {len(them)} outcomes: {them}" for key, them in by_period.items() if len(them) > 1]


def periods_without_outcome(outcomes, jobs, passed_over=()):
    """Between the first and the last of each field. Of periods that are due together the last one runs, and the others
    are reported: with windows that is usual."""
    by_field = collections.defaultdict(dict)
    for outcome in outcomes:
        by_field[field_of(outcome, jobs)][int(seconds_of(outcome.period))] = outcome.chosen
    complaints = []
    for field, seconds in by_field.items():
        terms = jobs[field[0]]
        # A period that was due before the first sight does not count; one that came later may have begun before it.
        margin = -(-terms.window // terms.interval) * terms.interval
        for second in range(min(seconds) + margin, max(seconds) - margin, terms.interval):
            is_told = terms.window and any(job == field[0] and first <= second <= last
                                           for job, _, first, last in passed_over)
            if second not in seconds and not is_told:
                near = {at: seconds[at] for at in sorted(seconds) if abs(at - second) <= 10}
                complaints.append(f"{field} has no outcome for {second}; chosen times around it: {near}")
    return complaints


def disagreements(runs, outcomes):
    """The stream says executed, and nothing ran; or something ran that it does not tell of."""
    told = {outcome.run_id for outcome in outcomes if outcome.outcome == "executed"}
    ran = {run.run_id for run in runs if run.period != "-"}
    return [f"{run_id} is told of and did not run" for run_id in told - ran] + \
           [f"{run_id} ran and is not told of" for run_id in ran - told]


def early_starts(runs, outcomes):
    """By the machine's clock, which is Redis's too; kron-exec and the shell come after it."""
    chosen = {outcome.run_id: outcome.chosen or outcome.period for outcome in outcomes if outcome.run_id}
    return [f"{run} began {seconds_of(chosen[run.run_id]) - run.begin:.6f} s before {chosen[run.run_id]}"
            for run in runs if run.run_id in chosen and run.begin < seconds_of(chosen[run.run_id])]


def missed(outcomes):
    return [f"{outcome}" for outcome in outcomes if outcome.outcome == "missed"]


def overlaps(runs, jobs, finals=None):
    """Two runs under one lock at the same time. A run without an end was killed: finals knows when, at the latest."""
    complaints = []
    by_lock = collections.defaultdict(list)
    for run in runs:
        if jobs[run.job].lock:
            by_lock[jobs[run.job].lock].append(run)
    for lock, them in by_lock.items():
        them.sort(key=lambda run: run.begin)
        for first, second in zip(them, them[1:]):
            end = first.end or (finals or {}).get(first.run_id)
            if end is None or end > second.begin:
                complaints.append(f"under {lock}: {first} and {second}")
    return complaints


def unexcused(runs, outcomes, jobs):
    """Periods of a job that runs always and did not, though none of its runs was in the way."""
    begins = collections.defaultdict(list)
    for run in runs:
        begins[run.job].append(run)
    complaints = []
    for outcome in outcomes:
        if not jobs[outcome.job].runs_always or outcome.outcome == "executed":
            continue
        due = seconds_of(outcome.chosen or outcome.period)
        # On a busy machine a run of a moment may last: it is in the way from its claim, a moment before it begins.
        busy = any(run.begin - 5 < due + 5 and (run.end or due) > due for run in begins[outcome.job])
        if not busy:
            complaints.append(f"{outcome}")
    return complaints


def fences_out_of_order(runs, jobs):
    """Tokens grow from each holder of a lock to the next."""
    by_lock = collections.defaultdict(list)
    for run in runs:
        if jobs[run.job].lock:
            by_lock[jobs[run.job].lock].append(run)
    return [f"{first} before {second}" for them in by_lock.values()
            for first, second in zip(sorted(them, key=lambda run: run.begin), sorted(them, key=lambda run: run.begin)[1:])
            if first.fence >= second.fence]


def all_complaints(runs, outcomes, jobs, passed_over=()):
    return [f"{question.__name__}: {complaint}" for question, complaints in (
        (doubled_runs, doubled_runs(runs, jobs)),
        (doubled_outcomes, doubled_outcomes(outcomes, jobs)),
        (periods_without_outcome, periods_without_outcome(outcomes, jobs, passed_over)),
        (disagreements, disagreements(runs, outcomes)),
        (early_starts, early_starts(runs, outcomes)),
        (missed, missed(outcomes)),
        (overlaps, overlaps(runs, jobs)),
        (unexcused, unexcused(runs, outcomes, jobs)),
        (fences_out_of_order, fences_out_of_order(runs, jobs)),
    ) for complaint in complaints]
