// Made by web/types.mjs from src/kron/api/openapi.json; a test compares them.

export type Problem = { "type": string; "title": string; "status": number; "detail": string; "field"?: string; "column"?: number; };

export type AccessToken = { "id": string; "name": string; "role": "ics" | "read" | "operate" | "admin"; "createdAt": string; "createdBy": string; "expiresAt": string | null; "lastUsedAt"?: string | null; };

export type TokenList = { "tokens": AccessToken[]; };

export type TokenRequest = { "name": string; "role": "ics" | "read" | "operate" | "admin"; "expiresIn"?: string; };

export type NewToken = { "id": string; "name": string; "role": "ics" | "read" | "operate" | "admin"; "createdAt": string; "createdBy": string; "expiresAt": string | null; "token": string; };

export type SessionRequest = { "token": string; };

export type Session = { "name": string; "role": "read" | "operate" | "admin"; "session"?: string; "cookie"?: string; "csrf"?: string; "expiresAt"?: string; "idleSeconds"?: number; };

export type Period = { "periodId": string; "chosenTime": string | null; "startsAt": string; };

export type Suspension = { "since"?: string; "until"?: string; "skipMissed"?: boolean; "by"?: string; "note"?: string; };

export type Waiting = { "for": "run" | "slot"; "pool"?: string; "since"?: string; "periodId"?: string; };

export type JobSummary = { "identity": string; "schedule": string; "timezone": string; "command"?: string; "task"?: string; "description"?: string; "file": string; "line": number; "suspended": boolean; "paused": Suspension | null; "next": Period | null; "running": number; "waiting"?: Waiting; "last": Run | null; "outcomes"?: Outcomes | null; "usualSeconds": number | null; };

export type JobMembers = { "identity": string; "schedule"?: string; "timezone"?: string; "command"?: string; "task"?: string; "description"?: string; "file"?: string; "line"?: number; "suspended"?: boolean; "paused"?: Suspension | null; "next"?: Period | null; "running"?: number; "waiting"?: Waiting; "last"?: Run | null; "outcomes"?: Outcomes | null; "usualSeconds"?: number | null; "definition"?: { [key: string]: unknown } | null; };

export type Outcomes = string;

export type ActiveRun = { "runId": string; "trigger": Trigger; "periodId"?: string; "chosenTime"?: string; "startedAt": string; "pid"?: number; "taskId"?: string; };

export type Job = { "identity": string; "schedule": string; "timezone": string; "command"?: string; "task"?: string; "description"?: string; "file": string; "line": number; "suspended": boolean; "paused": Suspension | null; "next": Period | null; "running": number; "waiting"?: Waiting; "last": Run | null; "outcomes": Outcomes | null; "usualSeconds": number | null; "words": string; "scheduleAsWritten": string | null; "source": string | null; "firstSeen": string | null; "spelling": string; "definition": { [key: string]: unknown } | null; "active": ActiveRun[]; "lastPeriodId": string | null; "openPeriods": string[]; };

export type JobPage = { "jobs": JobSummary[]; "next"?: string; };

export type JobDays = { "job": string; "days": ({ "day": string; "counts": { [key: string]: number }; "runs": number; "sumSeconds": number; "maxSeconds": number; })[]; };

export type SeriesAnswer = { "from": string; "stepSeconds": number; "points": number; "series": { [key: string]: (number | null)[] }; };

export type JobMembersPage = { "jobs": JobMembers[]; "next"?: string; };

export type Decision = { "identity": string; "nominalTime": string; "timezone": string; "periodId": string; "periodKey": string; "windowMode": string; "windowStart": string; "windowEnd": string; "distribution": { [key: string]: unknown }; "seedStrategy": string; "salt": string; "seedHash": string; "constraintsApplied": string; "chosenTime": string; "attempts": number; "unschedulable": boolean; "reason": string; };

export type DecisionList = { "decisions": Decision[]; };

export type AttentionItem = { "matter": "not ready" | "history failed" | "file refused" | "reload failed" | "token expires" | "not notified" | "no slot" | "not scheduled" | "failing" | "missed" | "skipping" | "too long" | "may have no time" | "long paused"; "name": string; "what": string; "since": string | null; "count": number; "reason": string; "cure": string; };

export type Attention = { "now": string; "jobs": number; "jobsInNeed": number; "items": AttentionItem[]; "more": number; };

export type WhyPeriod = { "periodId": string; "chosenTime": string | null; "windowStart": string; "windowEnd": string; };

export type Why = { "job": string; "asked": string; "now": string; "verdict": "executed" | "running" | "skipped" | "missed" | "excluded" | "no time" | "passed over" | "paused" | "suspended" | "not loaded" | "no period" | "clock gap" | "at boot" | "due" | "ahead" | "record ahead" | "forgotten" | "not scheduled"; "sentence": string; "reason": string; "instead": string; "period": WhyPeriod | null; "entry": Run | null; "down": { "from": string; "to": string; "why": "" | "stopped" | "slept" | "clock set"; "host"?: string; } | null; "paused": { "since": string; "until"?: string; "by"?: string; "note"?: string; } | null; "before": WhyPeriod | null; "after": WhyPeriod | null; "mismatches": ({ "field": string; "value": number; "accepts": string; })[]; "next": { "periodId": string; "startsAt": string; } | null; };

export type Trigger = "schedule" | "manual" | "reboot";

export type Triggered = { "runId": string; "outcome": "started" | "waiting" | "already_known"; };

export type Paused = { "identity": string; "paused": Suspension | null; "startsNow"?: Period; };

export type Note = string;

export type NoteRequest = { "note"?: Note; };

export type PauseRequest = { "until"?: string; "skipMissed"?: boolean; "note"?: Note; };

export type ResumeRequest = { "skipMissed"?: boolean; "note"?: Note; };

export type PauseManyRequest = { "jobs": string[]; "until"?: string; "skipMissed"?: boolean; "note"?: Note; };

export type ResumeManyRequest = { "jobs": string[]; "skipMissed"?: boolean; "note"?: Note; };

export type PausedMany = { "jobs": (Paused | { "identity": string; "problem": Problem; })[]; };

export type Run = { "number": number; "job": string; "outcome": "executed" | "skipped" | "missed" | "unschedulable" | "passed over"; "reason"?: string; "clause"?: string; "detail"?: string; "trigger": Trigger; "periodId"?: string; "chosenTime"?: string; "runId"?: string; "host"?: string; "startedAt"?: string; "endedAt"?: string; "delaySeconds"?: number; "durationSeconds"?: number; "state": "running" | "ended"; "exitCode"?: number | null; "failed"?: boolean; "attempts"?: number; "pid"?: number; "outputBytes"?: number; "cpuUserSeconds"?: number; "cpuSystemSeconds"?: number; "memoryBytes"?: number; "readBytes"?: number; "writtenBytes"?: number; "passedOver"?: { "count": number; "first": string; "last": string; }; };

export type RunPage = { "runs": Run[]; "next"?: number; };

export type Ended = { "runId": string; "signal": "TERM" | "KILL"; };

export type Load = { "actual": number[] | null; "from": unknown; "until": unknown; "stepSeconds": unknown; "steps": unknown; "jobs": unknown; "before": unknown; "after": unknown; "unschedulable": unknown; };

export type Timeline = { "from": string; "until": string; "now": string; "lanes": Lane[]; "more": number; "before": number[]; "after": number[]; "actual": number[]; "historyFailed"?: string; };

export type Lane = { "name": string; "jobs": number; "usual": number | null; "mark": "fail" | "unknown" | "miss" | "none" | "skip" | null; "periods"?: ([number, number, number, number | null])[]; "runs"?: ([number | null, number, number | null, "ok" | "fail" | "unknown" | "skip" | "miss" | "none" | "over" | "run", string])[]; "density"?: ([number, number])[]; "windows"?: ([number, number])[]; };

export type Explanation = { "periodId": string; "buckets": ({ "share": number; "allowed": number; })[]; "allowedSpans": ({ "from": string; "to": string; })[]; "draws": ({ "u": number; "candidate": string; "candidateLocal": string; "allowed": boolean; "refusedBy": string; })[]; "allowedShare": number; "chanceUnschedulable": number; "dstEffect": { "kind": "moved" | "repeated"; "wallClock": string; "first": string; "second": string; } | null; "pool"?: { "name": string; "slots": number; }; "maxRunning"?: number; "catchUpSpreadSeconds"?: number; "retry"?: { "most": number; "backoffSeconds": number; }; "notify"?: { "on": string[]; "after": number; "to": string[]; }; "pings"?: boolean; "text": string; };

export type Trial = { "problems": ({ "line": number; "column": number; "severity": "error" | "warning" | "note"; "field": string; "message": string; "hint": string; "source": string; })[]; "jobs": ({ "identity": string; "line": number; "schedule": string; "timezone": string; "words": string; "replaces": boolean; "next": Decision[]; "nextProblem"?: string; })[]; "load": { "from": string; "until": string; "stepSeconds": number; "starts": number; "startsHere": number; "peakHere": number; "peak": number; "adds": number; "busiest": string; }; "text": string; };

export type StateRecord = { "identity": string | null; "file": string; "bytes": number; "lastPeriodId": string | null; "lastOutcome": string | null; "lastChosenTime": string | null; "firstSeen": string | null; "active": number; "history": number; "fault": "damaged" | "too large" | "other version" | "unreadable" | null; "reason": string | null; };

export type RecordWithText = { "identity": string | null; "file": string; "bytes": number; "lastPeriodId": string | null; "lastOutcome": string | null; "lastChosenTime": string | null; "firstSeen": string | null; "active": number; "history": number; "fault": "damaged" | "too large" | "other version" | "unreadable" | null; "reason": string | null; "record": { [key: string]: unknown } | null; };

export type RecordPage = { "records": StateRecord[]; "next"?: string; };

export type StateReset = { "identity": string; "firstSeen": string; };

export type PruneStateRequest = { "dryRun"?: boolean; };

export type PrunedState = { "count": number; "dryRun": boolean; "records": ({ "identity": string | null; "file": string; })[]; };

export type Reloaded = { "dryRun"?: boolean; "jobs": number; "added"?: string[]; "addedCount"?: number; "changed"?: string[]; "changedCount"?: number; "removed"?: string[]; "removedCount"?: number; "keptFiles": string[]; "problems": ({ "file": string; "line": number; "column": number; "severity": "error" | "warning" | "note"; "field"?: string; "message": string; })[]; };

export type Status = { "version": string; "pid": number; "host": string; "zone": string | null; "generation": number; "you": { "name": string; "role": "read" | "operate" | "admin"; }; "startedAt": string; "now": string; "clockOffsetSeconds": number; "ready": boolean; "stopping": boolean; "jobs": number; "running": number; "nextDue": string | null; "stateDirectory": string; "config": string[]; "socket": string; "notScheduled": ({ "identity": string; "reason": string; })[]; "tasks": { "pending": number; "running": number; } | null; "tasksProblem"?: string; "eventStreams": number; "jobFiles": JobFiles; "slots"?: ({ "pool"?: string; "slots": number; "used": number; "waiting": number; "waitingSince"?: string; "longest"?: string; })[]; "maxRunning"?: number; "catchUpSpreadSeconds"?: number; "cluster"?: ClusterStatus; };

export type ClusterStatus = { "redis": string; "namespace": string; "host": string; "instance": string; "compat": "seed" | "cronken"; "timezone": string; "tasks": "redis" | "file"; "linkUp": boolean; "draining": boolean; "clockOffsetSeconds": number; "notReady"?: string; "reconnects": number; "lostWrites": number; "warnings": ({ "severity": "warning" | "error"; "message": string; })[]; "hosts": ({ "instance": string; "host": string; "ip": string; "version": string; "compat": string; "clockOffsetSeconds": number; "draining": boolean; "running": number; "beatSecondsAgo": number; })[]; };

export type JobFiles = { "readAt": string | null; "reloadError": string | null; "refusedCount": number; "refused": ({ "file": string; "line": number; "column": number; "errors": number; "reason": string; "inForce": "none" | "earlier" | "rest"; })[]; "changedCount": number | null; "changed": ({ "file": string; "change": "changed" | "added" | "removed"; })[] | null; };

export type Task = { "taskId": string; "state": "PENDING" | "RUNNING" | "COMPLETED"; "outcome"?: "SUCCEEDED" | "FAILED"; "createdAt": string; "updatedAt": string; "attempt": number; "priority"?: number; "maxAttempts": number; "payload": { "type": string; "data"?: unknown; }; "executions": ({ "attempt": number; "status": "LEASED" | "IN_PROGRESS" | "COMMITTED" | "DONE" | "ABORTED"; "lease_owner": string; "leased_at": string; "finished_at"?: string; "reason"?: string; })[]; };

export type TaskPage = { "tasks": Task[]; "next"?: string; };

export type NewTask = { "taskId"?: string; "payload": { "type": string; "data"?: unknown; }; "priority"?: number; "runAt"?: string; "maxAttempts"?: number; "backoff"?: string; "maxBackoff"?: string; "timeout"?: string; "uniqueKey"?: string; };

export type NewTasks = NewTask | { "tasks": NewTask[]; };

export type SubmitAnswer = { "taskId"?: string; "outcome"?: "accepted" | "already_known" | "duplicate" | "conflict"; "error"?: Problem; };

export type SubmitAnswers = { "answers": SubmitAnswer[]; };

export type LeaseRequest = { "worker": string; "types"?: string[]; "n"?: number; "wait"?: string; "term"?: string; "start"?: boolean; };

export type LeaseBehindCommit = { "worker": string; "types"?: string[]; "n"?: number; "term"?: string; "start"?: boolean; };

export type Lease = { "execId": string; "token": number; "taskId": string; "attempt": number; "leaseExpiresAt": string; "timeout"?: string; "payload": { "type": string; "data": unknown; }; };

export type Leases = { "leases": Lease[]; };

export type Token = { "token": number; };

export type LeaseResult = { "result": "accepted" | "lease_lost" | "duplicate"; };

export type Commit = { "token": number; "result"?: string; "followUps"?: NewTask[]; "lease"?: LeaseBehindCommit; };

export type CommitResult = { "result": "committed" | "duplicate" | "lease_lost"; "followUps"?: SubmitAnswer[]; "leases"?: Lease[]; };

export type Fail = { "token": number; "reason"?: string; "counts"?: boolean; };

export type FailResult = { "result": "accepted" | "lease_lost" | "duplicate"; "state"?: "PENDING" | "RUNNING" | "SUCCEEDED" | "FAILED"; };

export type Cancelled = { "taskId": string; "outcome": "cancelled" | "committed" | "already_over"; };

export type RetryRequest = { "attempts"?: number; "note"?: Note; };

export type Retried = { "taskId": string; "outcome": "retried" | "not_failed"; };

export type PruneRequest = { "olderThan"?: string; "state"?: "succeeded" | "failed"; };

export type Pruned = { "removed": number; };
