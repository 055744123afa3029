// What the views show: kept as signals, asked for again when krond says that something happened.
import { computed, signal, type Signal } from "@preact/signals";
import { ApiError, get } from "./api";
import type { Attention, JobPage, JobSummary, Lane, Run, RunPage, Timeline } from "./api_types";
import { onEvent, epoch } from "./live";
import { route, setQuery } from "./route";
import { now, setNow, utc } from "./time";

const HOUR = 3_600_000;

// Something that is asked for, and again when it may have changed, but not more often than `pause`.
export class Asked<T> {
  readonly value: Signal<T | null> = signal<T | null>(null);
  readonly error: Signal<ApiError | null> = signal<ApiError | null>(null);
  private running = false;
  private again = false;
  private urgent = false;
  private timer = 0;
  private last = -Infinity;
  private readonly waiting: (() => void)[] = [];

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
  // When it was asked for once, whatever came of it.
  async once(): Promise<void> {
    if (this.last > -Infinity) return;
    await new Promise<void>((resolve) => this.waiting.push(resolve));
  }
  async now(): Promise<void> {
    clearTimeout(this.timer);
    this.timer = 0;
    // What is on its way may be the answer to another question.
    if (this.running) {
      this.urgent = true;
      return;
    }
    this.running = true;
    try {
      this.value.value = await this.ask();
      this.error.value = null;
    } catch (error) {
      if (error instanceof ApiError) this.error.value = error;
    }
    this.running = false;
    this.last = performance.now();
    for (const resolve of this.waiting.splice(0)) resolve();
    const [urgent, again] = [this.urgent, this.again];
    this.urgent = this.again = false;
    if (urgent) await this.now();
    else if (again) this.refresh();
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
  return run.failed ?? run.exitCode !== 0 ? "fail" : "ok";
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

// ---- Jobs: all of them, page by page; of very many, those that krond finds.
const ROW_FIELDS = ["identity", "schedule", "timezone", "task", "description", "suspended", "paused", "next", "running", "waiting", "last", "outcomes", "usualSeconds"] as const;
export type JobRow = Pick<JobSummary, (typeof ROW_FIELDS)[number]>;
export const jobs = signal<Map<string, JobRow>>(new Map());
export const jobsComplete = signal(false);
export const MOST_IN_PAGE = 20_000;
export const isServerFiltered = signal(false);
let loading: AbortController | null = null;
let wanted = ""; // what krond is asked to filter by
export async function loadJobs(): Promise<void> {
  loading?.abort();
  const mine = new AbortController();
  loading = mine;
  dirty.clear();
  const found = new Map<string, JobRow>();
  let after: string | undefined;
  try {
    do {
      const page: JobPage = await get<JobPage>(`jobs?limit=1000&outcomes=20&fields=${ROW_FIELDS.join(",")}${wanted}${after ? `&after=${encodeURIComponent(after)}` : ""}`, mine.signal);
      for (const job of page.jobs) found.set(job.identity, job as JobRow);
      after = page.next;
      // The first view fills as pages come; later ones replace the old in one go, so that nothing flickers.
      if (!jobsComplete.value) jobs.value = new Map(found);
    } while (after && found.size < MOST_IN_PAGE);
    isServerFiltered.value = after !== undefined || wanted !== "";
    jobs.value = found;
    jobsComplete.value = true;
    lastLoad = performance.now();
  } catch (error) {
    if (error instanceof ApiError && !error.isAway) throw error;
  }
}
// More jobs than the page keeps: krond looks for them.
export function filterByServer(text: string): void {
  const words = text.split(/\s+/).filter(Boolean);
  const state = words.map((word) => /^is:(running|paused|suspended)$/.exec(word)?.[1]).find(Boolean);
  const name = words.find((word) => !word.startsWith("is:"));
  const next = `${state ? `&state=${state}` : ""}${name ? `&${name.endsWith("/") ? "prefix" : "match"}=${encodeURIComponent(name)}` : ""}`;
  if (next === wanted) return;
  wanted = next;
  void loadJobs();
}

// What changed is asked for by name as long as it is little and in sight; else all of it, now and then.
const MOST_BY_NAME = 12;
const LOAD_AGAIN = 10_000;
const dirty = new Set<string>();
export const inSight = { names: new Set<string>() };
let patching = 0;
let lastLoad = 0;
async function patchJobs(): Promise<void> {
  patching = 0;
  const seen = [...dirty].filter((name) => inSight.names.has(name)).slice(0, MOST_BY_NAME);
  for (const name of seen) dirty.delete(name);
  const next = new Map(jobs.value);
  await Promise.all(
    seen.map(async (name) => {
      try {
        next.set(name, await get<JobSummary>(`jobs/${encodeURIComponent(name)}`));
      } catch (error) {
        if (error instanceof ApiError && error.status === 404) next.delete(name);
      }
    }),
  );
  if (seen.length > 0) jobs.value = next;
  if (dirty.size === 0) return;
  if (performance.now() - lastLoad > LOAD_AGAIN) await loadJobs();
  else patchSoon(700);
}
function patchSoon(pause: number): void {
  patching ||= window.setTimeout(() => void patchJobs().catch(() => undefined), pause);
}

export const isFailing = (job: JobRow): boolean => {
  const mark = job.last ? markOf(job.last) : "ok";
  return mark === "fail" || mark === "miss" || mark === "none" || mark === "unknown";
};

// ---- What needs a person.
export const attentionAsked = new Asked<Attention>(() => get<Attention>("attention"), 1000);

// Seconds that a run took; nothing while it runs, or when it is not known.
export function tookOf(run: Run): number | undefined {
  return run.durationSeconds ?? (run.startedAt && run.endedAt ? (Date.parse(run.endedAt) - Date.parse(run.startedAt)) / 1000 : undefined);
}

// How a run or a period ended, as a sentence.
export function endOf(run: Run): string {
  switch (markOf(run)) {
    case "ok":
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

// ---- The picture: what ran, and what will. Its range is in the address: for=6h, from=…, order=name.
export interface Picture {
  from: number;
  until: number;
  columns: number;
  lanes: Lane[];
  more: number;
  before: number[];
  after: number[];
  actual: number[];
}
export type Order = "due" | "name" | "attention";
export interface Span {
  hours: number;
  from: number | null; // null: it goes with the time
  order: Order;
}
const FIRST_SPAN = 24;
const NEAR_SPAN = 1;
const SHORTEST_SPAN = 0.5;
const LONGEST_SPAN = 24 * 14;
// Hours when nobody has chosen any.
const ownSpan = signal(FIRST_SPAN);
export const span = computed<Span>(() => {
  const { query } = route.value;
  const found = /^(\d+(?:\.\d+)?)([mhd])$/.exec(query.get("for") ?? "");
  const hours = found ? Number(found[1]) * { m: 1 / 60, h: 1, d: 24 }[found[2] as "m" | "h" | "d"] : ownSpan.value;
  const from = Date.parse(query.get("from") ?? "");
  const order = query.get("order");
  return {
    hours: Math.min(LONGEST_SPAN, Math.max(SHORTEST_SPAN, hours)),
    from: Number.isNaN(from) ? null : from,
    order: order === "name" || order === "attention" ? order : "due",
  };
});
export function chooseSpan(hours: number, from: number | null): void {
  const wanted = Math.min(LONGEST_SPAN, Math.max(SHORTEST_SPAN, hours));
  setQuery("for", wanted >= 48 && wanted % 24 === 0 ? `${wanted / 24}d` : wanted % 1 === 0 ? `${wanted}h` : `${Math.round(wanted * 60)}m`);
  setQuery("from", from === null ? "" : utc(Math.round(from / 60_000) * 60_000));
}

// A column of the load is a round time, and there are some 300 of them.
const COLUMN_STEPS = [5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200];
export function columnsOf(hours: number): { step: number; columns: number } {
  const step = COLUMN_STEPS.find((candidate) => (hours * 3600) / candidate <= 360) ?? 7200;
  return { step, columns: Math.ceil((hours * 3600) / step) };
}
// As many as leave the load below them in sight.
function mostLanes(): number {
  return Math.min(40, Math.max(12, Math.floor((innerHeight - 430) / 23)));
}

async function askTimeline(hours: number, from: number | null, order: Order): Promise<Picture> {
  const { step, columns } = columnsOf(hours);
  const begin = Math.floor((from ?? now() - (hours * HOUR) / 4) / (step * 1000)) * step * 1000;
  const at = utc(begin);
  const answer = await get<Timeline>(`timeline?from=${encodeURIComponent(at)}&for=${columns * step}s&columns=${columns}&lanes=${mostLanes()}&order=${order}`);
  setNow(answer.now);
  return { from: Date.parse(answer.from), until: Date.parse(answer.until), columns, lanes: answer.lanes, more: answer.more, before: answer.before, after: answer.after, actual: answer.actual };
}
// Whether a day is too wide a view to see any spreading: as many starts in each column as there would be without it.
export function isTooWide(picture: Picture): boolean {
  const [written, spread] = [Math.max(0, ...picture.before), Math.max(0, ...picture.after)];
  const busy = picture.before.filter((starts) => starts > 0).length;
  return busy > picture.before.length / 2 && written < 2 * spread;
}
let isFirst = true;
export const pictureAsked = new Asked<Picture>(async () => {
  const { hours, from, order } = span.value;
  const picture = await askTimeline(hours, from, order);
  const mayChoose = isFirst && from === null && !route.value.query.get("for");
  isFirst = false;
  if (!mayChoose || !isTooWide(picture)) return picture;
  ownSpan.value = NEAR_SPAN;
  return askTimeline(NEAR_SPAN, null, order);
}, 3000);

// ---- Running now.
export const runningAsked = new Asked<Run[]>(async () => (await get<RunPage>("runs?result=running&limit=100")).runs, 500);

const HAPPENED = new Set(["run_started", "run_ended", "period_ended", "passed_over", "run_adopted", "job_paused", "job_resumed", "run_requested", "run_signalled"]);
// Which of them someone looks at.
const watched = new Set<Asked<unknown>>();
// When the picture was drawn first.
let drawn: () => void;
const pictured = new Promise<void>((resolve) => (drawn = resolve));
export function markPicture(): void {
  performance.mark("picture");
  drawn();
}
const SLOW_FRAME = 1500; // a picture that could not be drawn keeps nobody waiting
const isPictured = (): Promise<unknown> => Promise.race([pictured, new Promise((resolve) => setTimeout(resolve, SLOW_FRAME))]);
// `late`: not before there is a picture, which is what people wait for.
export function watch(asked: Asked<unknown>, late = false): () => void {
  watched.add(asked);
  if (late) void pictureAsked.once().then(isPictured).then(() => asked.refresh());
  else asked.refresh();
  return () => watched.delete(asked);
}
export const watchesJobs = signal(0);

export function startData(): void {
  onEvent((event) => {
    if (!HAPPENED.has(event.event)) return;
    for (const asked of watched) asked.refresh();
    if (event.identity && watchesJobs.value > 0) {
      dirty.add(event.identity);
      patchSoon(300);
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
    again();
  });
}
