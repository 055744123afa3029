// What the views show: kept as signals, asked for again when krond says that something happened.
import { computed, signal, type Signal } from "@preact/signals";
import type { Attention, AttentionItem, Lane, Timeline } from "./ahead";
import { ApiError, get } from "./api";
import type { JobPage, JobSummary, Load, Run, RunPage } from "./api_types";
import { onEvent, epoch, status } from "./live";
import { now } from "./time";

const HOUR = 3_600_000;

// Something that is asked for, and again when it may have changed, but not more often than `pause`.
export class Asked<T> {
  readonly value: Signal<T | null> = signal<T | null>(null);
  readonly error: Signal<ApiError | null> = signal<ApiError | null>(null);
  private running = false;
  private again = false;
  private timer = 0;
  private last = -Infinity;

  constructor(
    private readonly ask: () => Promise<T>,
    private readonly pause = 1000,
  ) {}

  refresh(): void {
    if (this.running) {
      this.again = true;
      return;
    }
    if (this.timer) return;
    this.timer = window.setTimeout(() => void this.now(), Math.max(0, this.last + this.pause - performance.now()));
  }
  async now(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    this.running = true;
    try {
      this.value.value = await this.ask();
      this.error.value = null;
    } catch (error) {
      if (error instanceof ApiError) this.error.value = error;
    }
    this.running = false;
    this.last = performance.now();
    if (this.again) {
      this.again = false;
      this.refresh();
    }
  }
}

// What happened to an entry of the history, in one word.
export type Mark = "ok" | "fail" | "skip" | "miss" | "none" | "over" | "run" | "unknown";
export function markOf(run: Run): Mark {
  if (run.outcome === "skipped") return "skip";
  if (run.outcome === "missed") return "miss";
  if (run.outcome === "unschedulable") return "none";
  if (run.outcome === "passed over") return "over";
  if (run.state === "running") return "run";
  if (run.exitCode === null || run.exitCode === undefined) return "unknown";
  return run.exitCode === 0 ? "ok" : "fail";
}
export const MARK_WORDS: Record<Mark, string> = {
  ok: "succeeded",
  fail: "failed",
  skip: "skipped",
  miss: "missed",
  none: "no time",
  over: "passed over",
  run: "running",
  unknown: "end unknown",
};

// ---- Jobs: all of them, page by page.
export const jobs = signal<Map<string, JobSummary>>(new Map());
export const jobsComplete = signal(false);
let loading: AbortController | null = null;
export async function loadJobs(): Promise<void> {
  loading?.abort();
  const mine = new AbortController();
  loading = mine;
  const found = new Map<string, JobSummary>();
  let after: string | undefined;
  try {
    do {
      const page: JobPage = await get<JobPage>(`jobs?limit=1000${after ? `&after=${encodeURIComponent(after)}` : ""}`, mine.signal);
      for (const job of page.jobs) found.set(job.identity, job);
      after = page.next;
      // The first view fills as pages come; later ones replace the old in one go, so that nothing flickers.
      if (!jobsComplete.value) jobs.value = new Map(found);
    } while (after);
    jobs.value = found;
    jobsComplete.value = true;
  } catch (error) {
    if (error instanceof ApiError && !error.isAway) throw error;
  }
}

const dirty = new Set<string>();
let patching = 0;
async function patchJobs(): Promise<void> {
  patching = 0;
  const names = [...dirty];
  dirty.clear();
  if (names.length > 20) return loadJobs();
  const next = new Map(jobs.value);
  await Promise.all(
    names.map(async (name) => {
      try {
        next.set(name, await get<JobSummary>(`jobs/${encodeURIComponent(name)}`));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) next.delete(name);
      }
    }),
  );
  jobs.value = next;
}

export const isFailing = (job: JobSummary): boolean => {
  const mark = job.last ? markOf(job.last) : "ok";
  return mark === "fail" || mark === "miss" || mark === "none" || mark === "unknown";
};

// ---- What needs a person.
export const attentionAsked = new Asked<Attention | null>(async () => {
  try {
    return await get<Attention>("attention");
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return null;
    throw error;
  }
}, 1000);

const MATTERS: Partial<Record<Mark, string>> = { fail: "failing", miss: "missed", none: "may have no time", unknown: "failing" };
export const attention = computed<AttentionItem[]>(() => {
  const told = attentionAsked.value.value;
  if (told) return told.items.map((item) => ({ ...item, ...runOf(item) }));
  const items: AttentionItem[] = [];
  const plainItem = { since: null, count: 1, cure: "" };
  for (const entry of status.value?.notScheduled ?? []) items.push({ ...plainItem, matter: "not scheduled", name: entry.identity, what: "never runs", reason: entry.reason });
  for (const job of jobs.value.values()) {
    const last = job.last;
    const matter = last && MATTERS[markOf(last)];
    if (!last || !matter) continue;
    const since = last.endedAt ?? last.startedAt ?? last.chosenTime ?? last.periodId ?? null;
    items.push({ ...plainItem, matter, name: job.identity, what: "", reason: endOf(last), since, ...(last.runId ? { runId: last.runId } : {}) });
  }
  return items;
});
// The run that a failing job failed with last.
function runOf(item: AttentionItem): { runId?: string } {
  const runId = item.matter === "failing" ? jobs.value.get(item.name)?.last?.runId : undefined;
  return runId ? { runId } : {};
}
export const inNeed = computed<number>(() => attentionAsked.value.value?.jobsInNeed ?? new Set(attention.value.map((item) => item.name)).size);

// How a run or a period ended, as a sentence.
export function endOf(run: Run): string {
  switch (markOf(run)) {
    case "ok":
      return "exit 0";
    case "fail":
      return run.exitCode! < 0 ? `ended by signal ${-run.exitCode!}` : run.exitCode! > 128 && run.exitCode! < 160 ? `exit ${run.exitCode}, signal ${run.exitCode! - 128}` : `exit ${run.exitCode}`;
    case "run":
      return "running";
    case "unknown":
      return "its end is not known";
    default: {
      const why = [run.reason, run.clause, run.detail].filter(Boolean).join(": ");
      const word = MARK_WORDS[markOf(run)];
      return why ? `${word}: ${why}` : word;
    }
  }
}

// ---- The picture: 24 hours of everything.
export const range = signal<{ hours: number; back: number }>({ hours: 24, back: 6 });
export const shift = signal(0); // milliseconds that the picture is moved ahead

export interface Picture {
  from: number;
  until: number;
  lanes: Lane[];
  more: number;
  before: number[];
  after: number[];
  actual: number[];
}
let knowsTimeline = true;
export const order = signal<"due" | "name">("due");
export const pictureAsked = new Asked<Picture>(async () => {
  const { hours, back } = range.value;
  const step = Math.max(60, Math.round((hours * 3600) / 288 / 60) * 60);
  const from = Math.floor((now() + shift.value - back * HOUR) / (step * 1000)) * step * 1000;
  const until = from + hours * HOUR;
  const at = encodeURIComponent(new Date(from).toISOString().replace(".000Z", "Z"));
  if (knowsTimeline) {
    try {
      const answer = await get<Timeline>(`timeline?from=${at}&for=${hours}h&columns=${COLUMNS}&lanes=${mostLanes()}&order=${order.value}`);
      return { from: Date.parse(answer.from), until: Date.parse(answer.until), lanes: answer.lanes, more: answer.more, before: answer.before, after: answer.after, actual: answer.actual ?? [] };
    } catch (error) {
      if (!(error instanceof ApiError) || error.status !== 404) throw error;
      knowsTimeline = false;
    }
  }
  const [load, past] = await Promise.all([
    get<Load>(`load?from=${at}&for=${hours}h&step=${step}s`),
    get<RunPage>(`runs?limit=1000&from=${at}`),
    jobsComplete.value ? undefined : loadJobs(),
  ]);
  const side = (value: unknown): number[] => (value as { starts?: number[] }).starts ?? [];
  return { from, until, ...lanesOf(past.runs, from, until), before: side(load.before), after: side(load.after), actual: [] };
}, 3000);

export const COLUMNS = 288;
// As many as leave the load below them in sight.
function mostLanes(): number {
  return Math.min(40, Math.max(12, Math.floor((innerHeight - 430) / 23)));
}

// A picture without the windows, of what every krond tells: what ran, and the next period of each job. Jobs whose names
// differ in their numbers alone share a lane.
function lanesOf(past: Run[], from: number, until: number): { lanes: Lane[]; more: number } {
  const at = (text: string | undefined): number | null => (text ? Math.round((Date.parse(text) - from) / 1000) : null);
  const groups = new Map<string, JobSummary[]>();
  for (const job of jobs.value.values()) {
    const name = job.identity.replace(/\d+/g, "*");
    const group = groups.get(name);
    if (group) group.push(job);
    else groups.set(name, [job]);
  }
  const runsOf = new Map<string, Run[]>();
  for (const run of past) {
    const found = runsOf.get(run.job);
    if (found) found.push(run);
    else runsOf.set(run.job, [run]);
  }
  const all: { lane: Lane; due: number }[] = [];
  for (const [name, group] of groups) {
    const members = group.length >= 3 ? [group] : group.map((job) => [job]);
    for (const part of members) {
      const lane: Lane = { name: part.length > 1 ? name : part[0]!.identity, jobs: part.length, periods: [], runs: [] };
      let due = Infinity;
      for (const job of part) {
        if (job.next) {
          const starts = Date.parse(job.next.startsAt);
          due = Math.min(due, starts);
          if (starts < until) lane.periods!.push([at(job.next.periodId)!, at(job.next.periodId)!, at(job.next.startsAt)!, at(job.next.startsAt)!]);
        }
        for (const run of runsOf.get(job.identity) ?? []) {
          const start = at(run.startedAt) ?? at(run.chosenTime) ?? at(run.periodId);
          if (start !== null) lane.runs!.push([at(run.chosenTime), start, at(run.endedAt), markOf(run), run.runId ?? ""]);
        }
        if (job.last && isFailing(job)) lane.mark = markOf(job.last);
      }
      if (lane.periods!.length + lane.runs!.length === 0) continue;
      all.push({ lane: part.length > 1 ? dense(lane, from, until) : lane, due });
    }
  }
  all.sort((a, b) => (order.value === "name" ? 0 : a.due - b.due) || a.lane.name.localeCompare(b.lane.name));
  const most = mostLanes();
  return { lanes: all.slice(0, most).map((entry) => entry.lane), more: all.slice(most).reduce((sum, entry) => sum + entry.lane.jobs, 0) };
}

function dense(lane: Lane, from: number, until: number): Lane {
  const counts = new Map<number, number>();
  const wide = (until - from) / 1000 / COLUMNS;
  for (const t of [...lane.runs!.map((run) => run[1]), ...lane.periods!.map((period) => period[3]!)]) {
    const column = Math.floor(t / wide);
    if (column >= 0 && column < COLUMNS) counts.set(column, (counts.get(column) ?? 0) + 1);
  }
  return { name: lane.name, jobs: lane.jobs, ...(lane.mark ? { mark: lane.mark } : {}), density: [...counts] };
}

// ---- Running now, and the last day's numbers.
export const runningAsked = new Asked<Run[]>(async () => (await get<RunPage>("runs?result=running&limit=100")).runs, 500);
export const recentAsked = new Asked<Run[]>(async () => {
  const from = encodeURIComponent(new Date(now() - 24 * HOUR).toISOString().replace(/\.\d+Z/, "Z"));
  return (await get<RunPage>(`runs?limit=1000&from=${from}`)).runs;
}, 5000);

const HAPPENED = new Set(["run_started", "run_ended", "period_ended", "passed_over", "run_adopted", "job_paused", "job_resumed", "run_requested", "run_signalled"]);
// Which of them someone looks at.
const watched = new Set<Asked<unknown>>();
export function watch(asked: Asked<unknown>): () => void {
  watched.add(asked);
  asked.refresh();
  return () => watched.delete(asked);
}
export const watchesJobs = signal(0);

export function startData(): void {
  onEvent((event) => {
    if (!HAPPENED.has(event.event)) return;
    for (const asked of watched) asked.refresh();
    if (event.identity && watchesJobs.value > 0) {
      dirty.add(event.identity);
      patching ||= window.setTimeout(() => void patchJobs(), 700);
    }
  });
  const again = (): void => {
    for (const asked of watched) asked.refresh();
    if (watchesJobs.value > 0) void loadJobs();
  };
  // What was changed here is seen here, whether krond tells of it or not.
  addEventListener("kron-changed", again);
  let first = true;
  epoch.subscribe(() => {
    if (first) {
      first = false;
      return;
    }
    knowsTimeline = true;
    again();
  });
}
