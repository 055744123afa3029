// What a definition says beyond its time, in words; and what a job that waits waits for. Pure.
import type { Status, Waiting } from "./api_types";
import { duration } from "./time";

interface Policy {
  deadline?: string;
  concurrency?: string;
  pauseAfter?: number;
  catchUpSpread?: string;
}
interface Definition {
  policy?: Policy;
  user?: string;
  timeout?: string;
  env?: Record<string, unknown>;
  retry?: number;
  backoff?: string;
  fails_on?: string;
  success_exit?: string;
  pool?: string;
  notify?: { on?: string[]; to?: string[] };
  ping?: string | null;
}

// A row for each rule that is in force: of the definition, and, where that says nothing, of krond.
export function rulesOf(of: unknown, krond: Pick<Status, "maxRunning" | "catchUpSpreadSeconds"> = {}, isTask = false): [string, string][] {
  const definition = (of ?? {}) as Definition;
  const { deadline, concurrency = "forbid", pauseAfter, catchUpSpread }: Policy = definition.policy ?? {};
  const { retry, backoff, pool, notify, timeout } = definition;
  const spread = catchUpSpread ?? (krond.catchUpSpreadSeconds ? duration(krond.catchUpSpreadSeconds * 1000) : "0s");
  const slots = [pool && `of ${pool}`, !isTask && krond.maxRunning && `of the host:${krond.maxRunning}`].filter(Boolean);
  const rows: [string, string | false | undefined][] = [
    ["Late", !deadline || deadline === "0s" ? "not at all: then missed" : `up to ${deadline}, then missed`],
    ["Late starts", spread !== "0s" && `spread over ${spread}`],
    ["Overlap", { forbid: "skipped while one runs", allow: "runs beside it", replace: "ends the one before", queue: "waits for it" }[concurrency]],
    ["Needs a slot", slots.join(" and ")],
    ["Time limit", timeout && `${timeout}, then TERM, then KILL`],
    ["Tried again", retry ? `${retry} times at most, after ${backoff ?? "10s"} at first` : ""],
    ["Fails on", definition.fails_on],
    ["Fine exits", definition.success_exit],
    ["Paused after", pauseAfter ? `failures in a row: ${pauseAfter}` : ""],
    ["Tells", notify && `${notify.to?.join(", ")}: ${notify.on?.join(", ") ?? "any change"}`],
    ["Pings", "ping" in definition && "a check, not shown here"],
    ["Runs as", definition.user],
    ["Environment", Object.keys(definition.env ?? {}).join(", ")],
  ];
  return rows.filter((row): row is [string, string] => !!row[1]);
}

// Behind "waits for": "a slot of db".
export function awaited(waiting: Waiting): string {
  return waiting.for === "run" ? "the run before it" : `a slot of ${waiting.pool ?? "the host"}`;
}
