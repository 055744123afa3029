// One sentence, one picture, one short list.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useEffect } from "preact/hooks";
import { awaySince, get } from "../api";
import type { AttentionItem, RunPage } from "../api_types";
import { attentionAsked, chooseSpan, type Mark, markPicture, type Order, pictureAsked, runningAsked, span, watch } from "../data";
import { load, LOAD_HEIGHT } from "../draw/load";
import { Scale } from "../draw/scale";
import type { Shape, Spot } from "../draw/shapes";
import { MARK_NAMES, timeline } from "../draw/timeline";
import { status } from "../live";
import { Canvas, Glyph, Name, Panel, Segments, tickSecond, Time } from "../parts";
import { go, route, setQuery } from "../route";
import { counted, plain } from "../text";
import { clock, counter, day, duration, moment, now, zone, zoneName } from "../time";
import { sentence } from "./job_why";
import { Numbers } from "./numbers";

const HOUR = 3_600_000;
export const spread = signal(1);
export const asList = signal(false);

let moving = 0;
// The spike melts: every mark slides from where it was written to where it was put.
export function toggleSpread(): void {
  cancelAnimationFrame(moving);
  const target = spread.value > 0.5 ? 0 : 1;
  if (matchMedia("(prefers-reduced-motion: reduce)").matches) {
    spread.value = target;
    return;
  }
  const from = spread.value;
  const begun = performance.now();
  const step = (t: number): void => {
    const part = Math.min(1, (t - begun) / 400);
    const eased = part < 0.5 ? 2 * part * part : 1 - (-2 * part + 2) ** 2 / 2;
    spread.value = from + (target - from) * eased;
    if (part < 1) moving = requestAnimationFrame(step);
  };
  moving = requestAnimationFrame(step);
}

export function moveAxis(key: string): boolean {
  const { hours, from } = span.value;
  const begin = from ?? now() - (hours * HOUR) / 4;
  // What is in the middle stays there, unless the picture goes with the time.
  const zoomed = (wide: number): void => chooseSpan(wide, from === null ? null : begin + ((hours - wide) * HOUR) / 2);
  if (key === "ArrowLeft") chooseSpan(hours, begin - (hours * HOUR) / 4);
  else if (key === "ArrowRight") chooseSpan(hours, begin + (hours * HOUR) / 4);
  else if (key === "0") chooseSpan(hours, null);
  else if (key === "+" || key === "=") zoomed(hours / 2);
  else if (key === "-" || key === "−") zoomed(hours * 2);
  else return false;
  return true;
}

const narrow = matchMedia("(max-width: 700px)");

export function Overview(): JSX.Element {
  useEffect(() => {
    if (narrow.matches && !route.value.query.get("for")) chooseSpan(12, null);
    const off = [watch(pictureAsked), watch(attentionAsked, true), watch(runningAsked, true)];
    // The picture moves on with the time.
    const timer = setInterval(() => document.visibilityState === "visible" && pictureAsked.refresh(), 30_000 + Math.random() * 5000);
    return () => {
      off.forEach((end) => end());
      clearInterval(timer);
    };
  }, []);
  const { hours, from, order } = span.value;
  useEffect(() => void (pictureAsked.value.peek() && pictureAsked.now()), [hours, from, order]);
  return (
    <>
      <Verdict />
      {status.value?.jobs === 0 ? <NoJobs /> : null}
      <div class="cols rail">
        <div>
          <Picture />
          <Numbers />
        </div>
        <aside>
          <NeedsYou />
          <Running />
          <Next />
        </aside>
      </div>
    </>
  );
}

function Verdict(): JSX.Element {
  const told = attentionAsked.value.value;
  const known = status.value;
  void tickSecond.value;
  if (!told) return <h1 class="verdict">{attentionAsked.error.value ? plain(attentionAsked.error.value.problem.detail) : "Asking krond…"}</h1>;
  const fine = Math.max(0, told.jobs - told.jobsInNeed);
  const next = nextUp(1)[0];
  return (
    <h1 class="verdict">
      {told.jobsInNeed > 0 ? (
        <>
          <span class="bad">{told.jobsInNeed === 1 ? "1 job needs you." : `${told.jobsInNeed.toLocaleString("en-US")} jobs need you.`}</span>
          <span>{fine.toLocaleString("en-US")} {fine === 1 ? "is" : "are"} fine.</span>
        </>
      ) : told.items.length > 0 ? (
        <span class="bad">krond needs you.</span>
      ) : (
        <span>{told.jobs === 0 ? "krond has no jobs yet." : told.jobs === 1 ? "Your one job is fine." : `All ${told.jobs.toLocaleString("en-US")} are fine.`}</span>
      )}
      {known && (
        <small>
          {known.running} running
          {next && <>{" · next "}<b>{plain(next.name)}</b> {next.t > now() ? `in ${duration(next.t - now())}` : "now"}</>}
          {` · krond up ${duration(now() - Date.parse(known.startedAt))}`}
        </small>
      )}
    </h1>
  );
}

function NoJobs(): JSX.Element {
  return (
    <Panel title="Where jobs come from">
      <div class="prose">
        <p>This page edits no jobs: files are the truth. Ways in:</p>
        <ul>
          <li>write <code>{status.value?.config[0] ?? "/etc/krond.d"}/first.kron</code>, one line: <code>{'0 3 * * * @win(after,1h) name=hello command="echo hello"'}</code></li>
          <li><code>kron import crontab</code> makes such lines of a crontab</li>
          <li>then <code>kron reload</code></li>
          <li><a class="in" href="#/try">Try</a> such a line first: nothing is saved there</li>
        </ul>
      </div>
    </Panel>
  );
}

const HOURS: [string, string][] = [["1", "1 h"], ["6", "6 h"], ["24", "24 h"], ["168", "7 d"]];
const ORDERS: [Order, string][] = [["due", "Due first"], ["name", "By name"], ["attention", "Needs you"]];

function Picture(): JSX.Element {
  const picture = pictureAsked.value.value;
  void tickSecond.value;
  void zone.value;
  const part = spread.value;
  const away = awaySince.value;
  const { hours, from, order } = span.value;
  // krond's absence stops the line: nothing stale looks fresh.
  const pace = hours <= 2 ? 2000 : 10_000;
  const at = away === null ? Math.floor(now() / pace) * pace : away;
  const lanes = useCallback(
    (width: number): { shapes: Shape[]; spots: Spot[]; height: number } => {
      if (!picture) return { shapes: [], spots: [], height: 320 };
      const labels = width < 600 ? 96 : 164;
      const scale = new Scale(picture.from, picture.until, labels, width - 16);
      return timeline(picture, scale, at, labels, part);
    },
    [picture, at, part, zone.value],
  );
  const bars = useCallback(
    (width: number): { shapes: Shape[]; height: number } => {
      if (!picture) return { shapes: [], height: LOAD_HEIGHT };
      const scale = new Scale(picture.from, picture.until, width < 600 ? 96 : 164, width - 16);
      return { shapes: load(picture, scale, at, part), height: LOAD_HEIGHT };
    },
    [picture, at, part, zone.value],
  );
  // When it was there first, for those who measure.
  useEffect(() => {
    if (picture && performance.getEntriesByName("picture").length === 0) requestAnimationFrame(markPicture);
  }, [picture === null]);
  const peaks = picture ? [Math.max(0, ...picture.before), Math.max(0, ...picture.after)] : [0, 0];
  const step = picture ? (picture.until - picture.from) / picture.columns : 300_000;
  const words = picture ? `${day(picture.from)} ${clock(picture.from)} to ${day(picture.until)} ${clock(picture.until)}` : "";
  return (
    <section class={`panel picture ${away === null ? "" : "stale"}`} aria-label="Timeline">
      <div class="head">
        <h2>{hours >= 48 ? `${+(hours / 24).toFixed(1)} days` : hours === 1 ? "An hour" : hours < 1 ? `${Math.round(hours * 60)} minutes` : `${+hours.toFixed(1)} hours`}</h2>
        <span class="key hide"><i class="k-win" />window, chosen second</span>
        <span class="key hide"><i class="k-ran" />ran</span>
        <span class="key hide wide-only"><i class="k-usual" />usual length</span>
        <span class="key hide"><i class="k-dot" />as written</span>
        <span class="grow" />
        {from !== null && <button type="button" class="quiet" onClick={() => moveAxis("0")}>Back to now</button>}
        <Segments label="Range" value={String(hours)} options={HOURS} onChange={(value) => chooseSpan(Number(value), null)} />
        <Segments label="Order" value={order} options={ORDERS} onChange={(value) => setQuery("order", value === "due" ? "" : value)} />
        <button type="button" class="quiet" aria-pressed={asList.value} onClick={() => (asList.value = !asList.value)}>As a list</button>
      </div>
      {pictureAsked.error.value && !picture && <p class="note">{plain(pictureAsked.error.value.problem.detail)}</p>}
      {asList.value && picture ? <List /> : <Canvas draw={lanes} onKey={moveAxis} label={`Timeline of ${counted(picture?.lanes.length ?? 0, "lane")}, ${words}. Up and down go from mark to mark, left and right move the time.`} />}
      {picture && picture.more > 0 && <p class="note">{counted(picture.more, "more lane")} {picture.more === 1 ? "is" : "are"} due later or rarely: <a class="in" href="#/jobs">all jobs</a></p>}
      <div class="head second">
        <h2>Starts in {duration(step)}</h2>
        <button type="button" class="key" onClick={toggleSpread} aria-pressed={part < 0.5} title="b: as written or as spread"><i class="k-before" />as written: peak <b class="before num">{peaks[0]!.toLocaleString("en-US")}</b></button>
        <span class="key"><i class="k-after" />spread: peak <b class="after num">{peaks[1]!.toLocaleString("en-US")}</b></span>
        <span class="key hide"><i class="k-ran" />started</span>
        <span class="grow" />
        <span class="faint hide">√ scale · <kbd>b</kbd> before/after · <kbd>+</kbd> <kbd>−</kbd> zoom · <kbd>←</kbd> <kbd>→</kbd> move · <kbd>0</kbd> now</span>
      </div>
      <Canvas draw={bars} label={`Starts per ${duration(step)}: as written at most ${peaks[0]}, spread at most ${peaks[1]}`} />
    </section>
  );
}

// The same as the drawing, for those who cannot or will not look at it.
function List(): JSX.Element {
  const picture = pictureAsked.value.value!;
  const rows: { lane: string; jobs: number; t: number; what: string; runId: string }[] = [];
  for (const lane of picture.lanes) {
    const at = (seconds: number): number => picture.from + seconds * 1000;
    for (const [, start, , mark, runId] of lane.runs ?? []) rows.push({ lane: lane.name, jobs: lane.jobs, t: at(start), what: MARK_NAMES[mark] ?? mark, runId });
    for (const [nominal, , , chosen] of lane.periods ?? []) rows.push({ lane: lane.name, jobs: lane.jobs, t: at(chosen ?? nominal), what: chosen === null ? "no time" : "due", runId: "" });
    for (const [column, starts] of lane.density ?? []) rows.push({ lane: lane.name, jobs: lane.jobs, t: picture.from + ((picture.until - picture.from) * column) / picture.columns, what: counted(starts, "start"), runId: "" });
  }
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label="The timeline as a list">
      <table>
        <thead><tr><th>Job</th><th>Time</th><th>What</th></tr></thead>
        <tbody>
          {rows.slice(0, 2000).map((row) => (
            <tr><td>{row.jobs > 1 ? plain(row.lane) : <Name of={row.lane} />}</td><td class="num"><Time at={row.t} /></td><td>{row.runId ? <a class="in" href={`#/runs/${row.runId}`}>{row.what}</a> : row.what}</td></tr>
          ))}
        </tbody>
      </table>
      {rows.length > 2000 && <p class="note">{counted(rows.length - 2000, "more mark")}.</p>}
    </div>
  );
}

const MATTER_MARK: Record<string, Mark | "pause"> = { failing: "fail", missed: "miss", skipping: "skip", "too long": "run", "may have no time": "none", "long paused": "pause" };
const OF_JOBS = new Set(Object.keys(MATTER_MARK).concat("not scheduled"));
function NeedsYou(): JSX.Element {
  const told = attentionAsked.value.value;
  const items = told?.items ?? [];
  const left = items.length - 8 + (told?.more ?? 0);
  return (
    <Panel title="Needs you" more={<span class="faint num">{items.length || ""}</span>}>
      {items.length === 0 ? (
        <p class="note">{told ? "Nothing does." : ""}</p>
      ) : (
        <ul class="list">
          {items.slice(0, 8).map((item) => <Need item={item} />)}
          {left > 0 && <li><span /><a class="in" href="#/jobs?q=is%3Afailing">{left} more</a></li>}
        </ul>
      )}
    </Panel>
  );
}
function Need({ item }: { item: AttentionItem }): JSX.Element {
  const isJob = OF_JOBS.has(item.matter);
  // Failed 4 times in a row: failed with exit 3.
  const again = item.what.startsWith("failed") && item.reason.startsWith("failed ");
  const told = [item.what, again ? item.reason.slice(7) : item.reason].filter(Boolean).join(again ? " " : ": ");
  return (
    <li>
      <Glyph mark={MATTER_MARK[item.matter] ?? "fail"} label={item.matter} />
      <b class="cut">{isJob ? <Name of={item.name} /> : plain(item.name || "krond")}</b>
      <span class="faint num">{item.since ? <Time at={item.since} ago /> : ""}</span>
      <span class="d">
        {sentence(told)} {sentence(item.cure)}
        {isJob && item.matter === "failing" ? <> <button type="button" class="link" onClick={() => void lastOutput(item.name)}>Output</button></> : null}
      </span>
    </li>
  );
}
async function lastOutput(name: string): Promise<void> {
  const found = await get<RunPage>(`runs?limit=1&result=failed&job=${encodeURIComponent(name)}`);
  const run = found.runs[0]?.runId;
  go(run ? `/runs/${run}` : `/jobs/${encodeURIComponent(name)}`);
}

// How long the runs of a job usually take, in seconds, as far as the picture knows.
function usualOf(name: string): number | null {
  return pictureAsked.value.value?.lanes.find((lane) => lane.name === name)?.usual ?? null;
}
function Running(): JSX.Element | null {
  const runs = runningAsked.value.value ?? [];
  void tickSecond.value;
  return (
    <Panel title="Running" more={<span class="faint num">{runs.length}</span>} class="gap">
      {runs.length === 0 && <p class="note">Nothing.</p>}
      <ul class="list compact">
        {runs.slice(0, 8).map((run) => {
          const usual = usualOf(run.job);
          const elapsed = run.startedAt ? now() - Date.parse(run.startedAt) : 0;
          return (
            <li key={run.runId}>
              <Glyph mark="run" label="" />
              <a class="cut" href={`#/runs/${run.runId}`}><bdi>{plain(run.job)}</bdi></a>
              <span class="num">{run.startedAt ? counter(elapsed) : ""}</span>
              {usual ? <span class="d against"><progress max={usual * 1000} value={Math.min(elapsed, usual * 1000)} aria-label={`of usually ${duration(usual * 1000)}`} />of usually {duration(usual * 1000)}</span> : null}
            </li>
          );
        })}
      </ul>
      {runs.length > 8 && <p class="note"><a class="in" href="#/runs?show=running">{runs.length - 8} more</a></p>}
    </Panel>
  );
}

// What is due next, a lane only once.
function nextUp(count: number): { name: string; jobs: number; t: number }[] {
  const picture = pictureAsked.value.value;
  const found: { name: string; jobs: number; t: number }[] = [];
  for (const lane of picture?.lanes ?? []) {
    const wide = (picture!.until - picture!.from) / picture!.columns;
    const times = [
      ...(lane.periods ?? []).flatMap(([, , , chosen]) => (chosen === null ? [] : [picture!.from + chosen * 1000])),
      ...(lane.density ?? []).map(([column]) => picture!.from + column * wide),
    ];
    const t = Math.min(...times.filter((time) => time > now() - 1000));
    if (t !== Infinity) found.push({ name: lane.name, jobs: lane.jobs, t });
  }
  return found.sort((a, b) => a.t - b.t).slice(0, count);
}
function Next(): JSX.Element {
  void tickSecond.value;
  return (
    <Panel title="Next" more={<span class="faint">{zone.value === "utc" ? "UTC" : `${zoneName()} time`}</span>} class="gap">
      <ul class="list compact">
        {nextUp(8).map(({ name, jobs, t }) => (
          <li key={name}>
            <Glyph mark="next" label="" />
            <span class="cut">{jobs > 1 ? <a class="name" href={`#/jobs?q=${encodeURIComponent(name)}`}><bdi>{plain(name)}</bdi></a> : <Name of={name} />}</span>
            <span class="num"><span class="faint">{t > now() ? duration(t - now()) : "now"}</span>&ensp;{moment(t)}</span>
          </li>
        ))}
      </ul>
      {nextUp(1).length === 0 && <p class="note">Nothing in this picture.</p>}
    </Panel>
  );
}
