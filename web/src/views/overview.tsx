// One sentence, one picture, one short list.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useCallback, useEffect } from "preact/hooks";
import type { AttentionItem } from "../ahead";
import { awaySince } from "../api";
import { attention, attentionAsked, inNeed, jobs, jobsComplete, loadJobs, markOf, type Mark, order, pictureAsked, range, recentAsked, runningAsked, shift, watch, watchesJobs } from "../data";
import { load, LOAD_HEIGHT } from "../draw/load";
import { Scale } from "../draw/scale";
import type { Shape, Spot } from "../draw/shapes";
import { timeline } from "../draw/timeline";
import { status } from "../live";
import { Canvas, Glyph, Name, Panel, Segments, tickSecond, Time } from "../parts";
import { counted, plain } from "../text";
import { clock, counter, day, duration, localName, moment, now, zone } from "../time";

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
  const { hours, back } = range.value;
  if (key === "ArrowLeft") shift.value -= (hours * HOUR) / 4;
  else if (key === "ArrowRight") shift.value += (hours * HOUR) / 4;
  else if (key === "0") shift.value = 0;
  else if (key === "+" || key === "=") range.value = { hours: Math.max(3, hours / 2), back: back / 2 };
  else if (key === "-" || key === "−") range.value = { hours: Math.min(168, hours * 2), back: back * 2 };
  else return false;
  pictureAsked.refresh();
  return true;
}

const narrow = matchMedia("(max-width: 700px)");

export function Overview(): JSX.Element {
  useEffect(() => {
    if (narrow.matches && range.value.hours === 24) range.value = { hours: 12, back: 3 };
    const off = [watch(pictureAsked), watch(runningAsked), watch(recentAsked), watch(attentionAsked)];
    ++watchesJobs.value;
    if (!jobsComplete.value) void loadJobs();
    // The picture moves on with the time.
    const timer = setInterval(() => document.visibilityState === "visible" && pictureAsked.refresh(), 30_000 + Math.random() * 5000);
    return () => {
      off.forEach((end) => end());
      --watchesJobs.value;
      clearInterval(timer);
    };
  }, []);
  return (
    <>
      <Verdict />
      {status.value?.jobs === 0 ? <NoJobs /> : null}
      <div class="cols">
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
  const known = status.value;
  void tickSecond.value;
  if (!known) return <h1 class="verdict">Asking krond…</h1>;
  const needing = inNeed.value;
  const fine = Math.max(0, known.jobs - needing);
  const next = nextUp(1)[0];
  const up = `krond up ${duration(now() - Date.parse(known.startedAt))}`;
  return (
    <h1 class="verdict">
      {needing > 0 ? (
        <>
          <span class="bad">{needing === 1 ? "1 job needs you." : `${needing.toLocaleString("en-US")} jobs need you.`}</span>
          <span>{fine.toLocaleString("en-US")} {fine === 1 ? "is" : "are"} fine.</span>
        </>
      ) : (
        <span>{known.jobs === 0 ? "krond has no jobs yet." : known.jobs === 1 ? "Your one job is fine." : `All ${known.jobs.toLocaleString("en-US")} are fine.`}</span>
      )}
      <small>
        {known.running} running
        {next && (
          <>
            {" · next "}
            <b>{plain(next.name)}</b> {next.t > now() ? `in ${duration(next.t - now())}` : "now"}
          </>
        )}
        {` · ${up}`}
      </small>
    </h1>
  );
}

function NoJobs(): JSX.Element {
  return (
    <Panel title="Where jobs come from">
      <div class="prose">
        <p>This page edits no jobs: files are the truth. Three ways in:</p>
        <ul>
          <li>write <code>{status.value?.config[0] ?? "/etc/krond.d"}/first.kron</code>, one line: <code>{'0 3 * * * @win(after,1h) name=hello command="echo hello"'}</code></li>
          <li><code>kron import crontab</code> makes such lines of a crontab</li>
          <li>then <code>kron reload</code></li>
        </ul>
      </div>
    </Panel>
  );
}

const HOURS: [string, string][] = [["6", "6 h"], ["24", "24 h"], ["168", "7 d"]];

function Picture(): JSX.Element {
  const picture = pictureAsked.value.value;
  void tickSecond.value;
  void zone.value;
  const part = spread.value;
  const away = awaySince.value;
  // krond's absence stops the line: nothing stale looks fresh.
  const at = away === null ? Math.floor(now() / 10_000) * 10_000 : away;
  const lanes = useCallback(
    (width: number): { shapes: Shape[]; spots: Spot[]; height: number } => {
      if (!picture) return { shapes: [], spots: [], height: 320 };
      const labels = width < 600 ? 96 : 164;
      const scale = new Scale(picture.from, picture.until, labels, width - 16);
      return timeline(picture.lanes, scale, picture.from, at, labels, part);
    },
    [picture, at, part, zone.value],
  );
  const bars = useCallback(
    (width: number): { shapes: Shape[]; height: number } => {
      if (!picture) return { shapes: [], height: LOAD_HEIGHT };
      const scale = new Scale(picture.from, picture.until, width < 600 ? 96 : 164, width - 16);
      return { shapes: load(picture.before, picture.after, scale, picture.from, picture.until, at, part), height: LOAD_HEIGHT };
    },
    [picture, at, part, zone.value],
  );
  const peaks = picture ? [Math.max(0, ...picture.before), Math.max(0, ...picture.after)] : [0, 0];
  const step = picture && picture.after.length > 0 ? (picture.until - picture.from) / picture.after.length : 300_000;
  const span = picture ? `${day(picture.from)} ${clock(picture.from)} to ${day(picture.until)} ${clock(picture.until)}` : "";
  return (
    <section class={`panel picture ${away === null ? "" : "stale"}`} aria-label="Timeline">
      <div class="head">
        <h2>{range.value.hours >= 48 ? `${range.value.hours / 24} days` : `${range.value.hours} hours`}</h2>
        <span class="key"><i class="k-win" />window and chosen second</span>
        <span class="key"><i class="k-ran" />ran</span>
        <span class="key hide"><i class="k-dot" />as written</span>
        <span class="grow" />
        <Segments label="Range" value={String(range.value.hours)} options={HOURS} onChange={(value) => {
          const hours = Number(value);
          range.value = { hours, back: hours / 4 };
          shift.value = 0;
          pictureAsked.refresh();
        }} />
        <Segments label="Order" value={order.value} options={[["due", "Due first"], ["name", "By name"]]} onChange={(value) => {
          order.value = value;
          pictureAsked.refresh();
        }} />
        <button type="button" class="quiet" aria-pressed={asList.value} onClick={() => (asList.value = !asList.value)}>As a list</button>
      </div>
      {pictureAsked.error.value && !picture && <p class="note">{plain(pictureAsked.error.value.problem.detail)}</p>}
      {asList.value && picture ? <List /> : <Canvas draw={lanes} onKey={moveAxis} label={`Timeline of ${counted(picture?.lanes.length ?? 0, "lane")}, ${span}. Up and down go from mark to mark, left and right move the time.`} />}
      {picture && picture.more > 0 && <p class="note">{counted(picture.more, "more job")} are due later or rarely: <a class="in" href="#/jobs">all jobs</a></p>}
      <div class="head second">
        <h2>Starts in {duration(step)}</h2>
        <button type="button" class="key" onClick={toggleSpread} aria-pressed={part < 0.5} title="b: as written or as spread"><i class="k-before" />as written: peak <b class="before num">{peaks[0]}</b></button>
        <span class="key"><i class="k-after" />spread: peak <b class="after num">{peaks[1]}</b></span>
        <span class="grow" />
        <span class="faint hide">√ scale · <kbd>b</kbd> before/after · <kbd>+</kbd> <kbd>−</kbd> zoom · <kbd>0</kbd> now</span>
      </div>
      <Canvas draw={bars} label={`Starts per ${duration(step)}: as written at most ${peaks[0]}, spread at most ${peaks[1]}`} />
    </section>
  );
}

// The same as the drawing, for those who cannot or will not look at it.
function List(): JSX.Element {
  const picture = pictureAsked.value.value!;
  return (
    <div class="scroll">
      <table>
        <thead><tr><th>Job</th><th>Time</th><th>What</th></tr></thead>
        <tbody>
          {picture.lanes.flatMap((lane) => [
            ...(lane.runs ?? []).map(([, start, , mark, id]) => (
              <tr><td><Name of={lane.name} /></td><td class="num"><Time at={picture.from + start * 1000} /></td><td>{id ? <a class="in" href={`#/runs/${id}`}>{mark}</a> : mark}</td></tr>
            )),
            ...(lane.periods ?? []).map(([nominal, , , chosen]) => (
              <tr><td><Name of={lane.name} /></td><td class="num"><Time at={picture.from + (chosen ?? nominal) * 1000} /></td><td>{chosen === null ? "no time" : "due"}</td></tr>
            )),
          ])}
        </tbody>
      </table>
    </div>
  );
}

const COUNTED: Mark[] = ["ok", "fail", "skip", "miss", "none", "over"];
const WORDS = ["succeeded", "failed", "skipped", "missed", "no time", "passed over"];
function Numbers(): JSX.Element | null {
  const recent = recentAsked.value.value;
  if (!recent) return null;
  const counts = new Map<Mark, number>();
  for (const run of recent) counts.set(markOf(run), (counts.get(markOf(run)) ?? 0) + 1);
  const isCut = recent.length >= 1000;
  return (
    <section class="panel stat" aria-label={isCut ? "The last 1,000 entries" : "Last 24 hours"}>
      {COUNTED.map((mark, i) => (
        <div>
          <b class={counts.get(mark) && mark !== "ok" && mark !== "over" ? `c-${mark}` : ""}>{(counts.get(mark) ?? 0).toLocaleString("en-US")}{isCut && mark === "ok" ? "+" : ""}</b>
          <span><Glyph mark={mark} label="" /> {WORDS[i]}</span>
        </div>
      ))}
    </section>
  );
}

const MATTER_MARK: Record<string, Mark | "pause"> = { failing: "fail", missed: "miss", skipping: "skip", "too long": "run", "may have no time": "none", "long paused": "pause" };
function NeedsYou(): JSX.Element {
  const items = attention.value;
  return (
    <Panel title="Needs you" more={<span class="faint num">{items.length || ""}</span>}>
      {items.length === 0 ? (
        <p class="note">Nothing does.</p>
      ) : (
        <ul class="list">
          {items.slice(0, 8).map((item) => <Need item={item} />)}
          {items.length > 8 && <li><span /><a class="in" href="#/jobs?q=is%3Afailing">{items.length - 8} more</a></li>}
        </ul>
      )}
    </Panel>
  );
}
function Need({ item }: { item: AttentionItem }): JSX.Element {
  const isJob = jobs.value.has(item.name);
  const parts = [item.what, item.reason].filter(Boolean).join(": ");
  const sentence = parts.charAt(0).toUpperCase() + parts.slice(1);
  return (
    <li>
      <Glyph mark={MATTER_MARK[item.matter] ?? "fail"} label={item.matter} />
      <b class="cut">{isJob ? <Name of={item.name} /> : plain(item.name || "krond")}</b>
      <span class="faint num">{item.since ? <Time at={item.since} ago /> : ""}</span>
      <span class="d">
        {plain(sentence)}
        {/[.!]$/.test(sentence) ? " " : ". "}
        {item.runId ? <a href={`#/runs/${item.runId}`}>Output</a> : plain(item.cure)}
      </span>
    </li>
  );
}

function Running(): JSX.Element | null {
  const runs = runningAsked.value.value ?? [];
  void tickSecond.value;
  return (
    <Panel title="Running" more={<span class="faint num">{runs.length}</span>} class="gap">
      {runs.length === 0 && <p class="note">Nothing.</p>}
      <ul class="list compact">
        {runs.slice(0, 8).map((run) => (
          <li key={run.runId}>
            <Glyph mark="run" label="" />
            <a class="cut" href={`#/runs/${run.runId}`}><bdi>{plain(run.job)}</bdi></a>
            <span class="num">{run.startedAt ? counter(now() - Date.parse(run.startedAt)) : ""}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}

function nextUp(count: number): { name: string; t: number }[] {
  const found: { name: string; t: number }[] = [];
  for (const job of jobs.value.values()) {
    if (!job.next) continue;
    const t = Date.parse(job.next.startsAt);
    if (found.length < count || t < found[found.length - 1]!.t) {
      found.push({ name: job.identity, t });
      found.sort((a, b) => a.t - b.t);
      found.length = Math.min(found.length, count);
    }
  }
  return found;
}
function Next(): JSX.Element {
  void tickSecond.value;
  return (
    <Panel title="Next" more={<span class="faint">{zone.value === "utc" ? "UTC" : `${localName()} time`}</span>} class="gap">
      <ul class="list compact">
        {nextUp(8).map(({ name, t }) => (
          <li key={name}>
            <Glyph mark="next" />
            <span class="cut"><Name of={name} /></span>
            <span class="num"><span class="faint">{t > now() ? duration(t - now()) : "now"}</span>&ensp;{moment(t)}</span>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
