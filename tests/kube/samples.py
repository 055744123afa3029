"""KronJobs, good and bad ones, for the tests of the manifests."""

import copy

# An object that keeps every rule of the CRD.
GOOD = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob", "metadata": {"name": "a" * 63, "namespace": "shop"},
        "spec": {"schedule": "0 3 * * *", "distribution": {"name": "normal", "params": {"mu": "mid", "sigma": "5m"}},
                 "constraints": {"only": {"calendar": ["open"]}, "avoid": {"calendar": ["closed"]},
                                 "calendars": {"open": ["2026-01-01"], "closed": ["2026-02-01..2026-02-03"]}},
                 "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never",
                                                                "containers": [{"name": "c"}]}}}}}}
# What breaks each rule, by its message.
BAD = {
    "the name is a label of every Job: at most 63 characters": ("metadata.name", "a" * 64),
    "give the zone in spec.timezone": ("spec.schedule", "CRON_TZ=UTC 0 3 * * *"),
    "@reboot is for krond only: a cluster does not boot": ("spec.schedule", "@reboot"),
    "uniform has no parameters": ("spec.distribution", {"params": {"shape": "2"}}),
    "skewEarly and skewLate know the parameter shape":
        ("spec.distribution", {"name": "skewLate", "params": {"sigma": "2"}}),
    "normal knows the parameters mu and sigma":
        ("spec.distribution", {"name": "normal", "params": {"mu": "mid", "shape": "2"}}),
    "exponential knows the parameters lambda and dir":
        ("spec.distribution", {"name": "exponential", "params": {"mu": "mid"}}),
    "only.calendar names a calendar that constraints.calendars does not have":
        ("spec.constraints.only.calendar", ["open", "never"]),
    "avoid.calendar names a calendar that constraints.calendars does not have":
        ("spec.constraints", {"avoid": {"calendar": ["closed"]}}),
}

CLAUSES = {"hours": ["9-17"], "dow": ["MON-FRI"], "dom": ["1-7"], "months": ["JAN"], "between": ["22:00-06:00"],
           "date": ["2026-03-01"], "dates": ["2026-03-01..2026-03-09"]}
CALENDARS = {"closed": ["2026-03-01", "2026-12-24..2026-12-26"]}

# For every field of the spec a value that is not the default: (where it is put, the value). The leaves of the schema are
# the keys.
OTHER_VALUES = {
    "schedule": ("schedule", "30 4 * * *"),
    "timezone": ("timezone", "Europe/Paris"),
    "dst": ("dst", "gap=skip,overlap=both"),
    "window.mode": ("window", {"mode": "before", "duration": "1h"}),
    "window.duration": ("window", {"duration": "1h30m"}),
    "distribution.name": ("distribution", {"name": "normal"}),
    "distribution.params.*": ("distribution", {"name": "normal", "params": {"mu": "end"}}),
    "seed.strategy": ("seed", {"strategy": "weekly"}),
    "seed.salt": ("seed", {"salt": "pepper"}),
    **{f"constraints.{side}.{kind}.[]": ("constraints", {side: {kind: value}})
       for side in ("only", "avoid") for kind, value in CLAUSES.items()},
    **{f"constraints.{side}.calendar.[]": ("constraints", {side: {"calendar": ["closed"]}, "calendars": CALENDARS})
       for side in ("only", "avoid")},
    "constraints.calendars.*.[]": ("constraints", {"only": {"calendar": ["closed"]}, "calendars": {"closed": ["2026-03-02"]}}),
    "policy.concurrency": ("policy", {"concurrency": "replace"}),
    "policy.deadline": ("policy", {"deadline": "90m"}),
    "policy.suspend": ("policy", {"suspend": True}),
    "successfulJobsHistoryLimit": ("successfulJobsHistoryLimit", 7),
    "failedJobsHistoryLimit": ("failedJobsHistoryLimit", 0),
}

# Spellings of a field: those that both take, that both refuse, that only the schema refuses, that only the operator does.
SPELLINGS = {
    "window.duration": (["0", "0s", "90m", "1h30m", "1.5h", ".5h", "500ms", "1µs", "1w"], ["", "1", "-1h", "1 h", "1y", "h", "1h-"],
                        [], ["1.1ns", "30000w"]),
    "policy.deadline": (["0", "0s", "90m", "1h30m", "1.5h"], ["", "1", "-1h", "500ms", "1y"], ["1000ms"], ["0.5s"]),
    "dst": (["gap=run", "overlap=both", "gap=skip,overlap=second", "overlap=first,gap=run", "gap=run, overlap=both"],
            ["gap", "gap=first", "gap=run;overlap=both", "gap=run,gap=skip"], [], []),
    "timezone": (["UTC", "Europe/Paris", "America/Argentina/Buenos_Aires", "Etc/GMT+5"],
                 ["../UTC", "/UTC", "Europe/Paris ", "a" * 65], [], ["Mars/Base"]),
    "schedule": (["* * * * *", "@daily", "0 0 3 * * *", "H H * * *"], ["", "@reboot", "TZ=UTC * * * * *"], [],
                 ["61 * * * *", "every day"]),
    "constraints.avoid.date": ([["2026-03-01"]], [["2026-3-1"], ["2026-03-01..2026-03-02"]], [["2026-03-01,2026-03-02"]],
                               [["2026-02-30"]]),
    "constraints.avoid.dates": ([["2026-03-01"], ["2026-03-01..2026-03-02"]], [["2026-03-01-2026-03-02"]], [],
                                [["2026-03-02..2026-03-01"]]),
}


def with_value(path, value):
    """GOOD with this value at this path."""
    made = copy.deepcopy(GOOD)
    *way, last = path.split(".")
    at = made
    for key in way:
        at = at[key]
    at[last] = value
    return made


def object_with(where=None, value=None):
    made = {"apiVersion": "kron.io/v1alpha1", "kind": "KronJob",
            "metadata": {"name": "report", "namespace": "shop", "uid": "u", "resourceVersion": "1", "generation": 1,
                         "creationTimestamp": "2026-03-01T00:00:00Z"},
            "spec": {"schedule": "0 3 * * *",
                     "jobTemplate": {"spec": {"template": {"spec": {"restartPolicy": "Never",
                                                                    "containers": [{"name": "c"}]}}}}}}
    if where is not None:
        at = made["spec"]
        *way, last = where.split(".")
        for key in way:
            at = at.setdefault(key, {})
        at[last] = copy.deepcopy(value)
    return made


def full(schema):
    """A value for every field, within the schema."""
    if schema["type"] == "object":
        return {key: full(member) for key, member in schema["properties"].items()}
    if schema["type"] == "array":
        return [full(schema["items"])]
    if schema["type"] == "integer":
        return 3
    if schema.get("format") == "date-time":
        return "2026-03-01T12:00:00Z"
    return schema.get("enum", ["x"])[0]


def full_status(crd_read):
    status = full(crd_read.schema["properties"]["status"])
    for period in (status["last"], status["next"], status["recent"][0], status["starting"][0], status["waiting"],
                   status["active"][0]):
        period["periodID"] = "2026-03-01T12:00:00Z"
    status["handled"]["schedule"]["hash"] = "0123456789abcdef"
    return status
