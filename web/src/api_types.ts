// Made by web/types.mjs from src/kron/api/openapi.json; a test compares them.

export type Problem = { "type": string; "title": string; "status": number; "detail": string; "field"?: string; "column"?: number; };

export type Period = { "periodId": string; "chosenTime": string | null; "startsAt": string; };

export type Suspension = { "since"?: string; "until"?: string; "skipMissed"?: boolean; };

export type JobSummary = { "identity": string; "schedule": string; "timezone": string; "command"?: string; "task"?: string; "description"?: string; "file": string; "line": number; "suspended": boolean; "paused": Suspension | null; "next": Period | null; "running": number; "last": Run | null; };

export type ActiveRun = { "runId": string; "trigger": Trigger; "periodId"?: string; "chosenTime"?: string; "startedAt": string; "pid"?: number; "taskId"?: string; };

export type Job = { "identity": string; "schedule": string; "timezone": string; "command"?: string; "task"?: string; "description"?: string; "file": string; "line": number; "suspended": boolean; "paused": Suspension | null; "next": Period | null; "running": number; "last": Run | null; "spelling": string; "definition": { [key: string]: unknown } | null; "active": ActiveRun[]; "lastPeriodId": string | null; "openPeriods": string[]; };

export type JobPage = { "jobs": JobSummary[]; "next"?: string; };

export type Decision = { "identity": string; "nominalTime": string; "timezone": string; "periodId": string; "periodKey": string; "windowMode": string; "windowStart": string; "windowEnd": string; "distribution": { [key: string]: unknown }; "seedStrategy": string; "salt": string; "seedHash": string; "constraintsApplied": string; "chosenTime": string; "attempts": number; "unschedulable": boolean; "reason": string; };

export type DecisionList = { "decisions": Decision[]; };

export type Trigger = "schedule" | "manual" | "reboot";

export type Triggered = { "runId": string; "outcome": "started" | "waiting" | "already_known"; };

export type Paused = { "identity": string; "paused": Suspension | null; "startsNow"?: Period; };

export type PauseRequest = { "until"?: string; "skipMissed"?: boolean; };

export type ResumeRequest = { "skipMissed"?: boolean; };

export type Run = { "number": number; "job": string; "outcome": "executed" | "skipped" | "missed" | "unschedulable" | "passed over"; "reason"?: string; "clause"?: string; "detail"?: string; "trigger": Trigger; "periodId"?: string; "chosenTime"?: string; "runId"?: string; "host"?: string; "startedAt"?: string; "endedAt"?: string; "state": "running" | "ended"; "exitCode"?: number | null; "pid"?: number; "outputBytes"?: number; "passedOver"?: { "count": number; "first": string; "last": string; }; };

export type RunPage = { "runs": Run[]; "next"?: number; };

export type Ended = { "runId": string; "signal": "TERM" | "KILL"; };

export type Load = { "from": unknown; "until": unknown; "stepSeconds": unknown; "steps": unknown; "jobs": unknown; "before": unknown; "after": unknown; "unschedulable": unknown; };

export type StateRecord = { "identity": string | null; "file": string; "bytes": number; "lastPeriodId": string | null; "lastOutcome": string | null; "lastChosenTime": string | null; "firstSeen": string | null; "active": number; "history": number; "fault": "damaged" | "too large" | "other version" | "unreadable" | null; "reason": string | null; };

export type RecordWithText = { "identity": string | null; "file": string; "bytes": number; "lastPeriodId": string | null; "lastOutcome": string | null; "lastChosenTime": string | null; "firstSeen": string | null; "active": number; "history": number; "fault": "damaged" | "too large" | "other version" | "unreadable" | null; "reason": string | null; "record": { [key: string]: unknown } | null; };

export type RecordPage = { "records": StateRecord[]; "next"?: string; };

export type StateReset = { "identity": string; "firstSeen": string; };

export type PruneStateRequest = { "dryRun"?: boolean; };

export type PrunedState = { "count": number; "dryRun": boolean; "records": ({ "identity": string | null; "file": string; })[]; };

export type Reloaded = { "jobs": number; "keptFiles": string[]; "problems": ({ "file": string; "line": number; "column": number; "severity": "error" | "warning" | "note"; "field"?: string; "message": string; })[]; };

export type Status = { "version": string; "pid": number; "startedAt": string; "now": string; "clockOffsetSeconds": number; "ready": boolean; "stopping": boolean; "jobs": number; "running": number; "nextDue": string | null; "stateDirectory": string; "config": string[]; "socket": string; "notScheduled": ({ "identity": string; "reason": string; })[]; "tasks": { "pending": number; "running": number; } | null; "tasksProblem"?: string; "eventStreams": number; "jobFiles": JobFiles; "cluster"?: ClusterStatus; };

export type ClusterStatus = { "redis": string; "namespace": string; "host": string; "instance": string; "compat": "seed" | "cronken"; "timezone": string; "tasks": "redis" | "file"; "linkUp": boolean; "draining": boolean; "clockOffsetSeconds": number; "notReady"?: string; "reconnects": number; "lostWrites": number; "warnings": ({ "severity": "warning" | "error"; "message": string; })[]; "hosts": ({ "instance": string; "host": string; "ip": string; "version": string; "compat": string; "clockOffsetSeconds": number; "draining": boolean; "running": number; "beatSecondsAgo": number; })[]; };

export type JobFiles = { "readAt": string | null; "reloadError": string | null; "refusedCount": number; "refused": ({ "file": string; "line": number; "column": number; "errors": number; "reason": string; "inForce": "none" | "earlier" | "rest"; })[]; "changedCount": number | null; "changed": ({ "file": string; "change": "changed" | "added" | "removed"; })[] | null; };

export type Task = { "taskId": string; "state": "PENDING" | "RUNNING" | "COMPLETED"; "outcome"?: "SUCCEEDED" | "FAILED"; "createdAt": string; "updatedAt": string; "attempt": number; "priority"?: number; "maxAttempts": number; "payload": { "type": string; "data"?: unknown; }; "executions": unknown; };

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

export type RetryRequest = { "attempts"?: number; };

export type Retried = { "taskId": string; "outcome": "retried" | "not_failed"; };

export type PruneRequest = { "olderThan"?: string; "state"?: "succeeded" | "failed"; };

export type Pruned = { "removed": number; };
