// One job: what it does in words, why its next second is what it is, what came of it.
import type { JSX } from "preact";
import { useCallback, useEffect, useRef, useState } from "preact/hooks";
import { pause, resumeJobs, runNow, toggle } from "../actions";
import type { Explanation, Why } from "../ahead";
import { ApiError, get } from "../api";
import type { Decision, DecisionList, Job as JobType, Run, RunPage } from "../api_types";
import { Asked, endOf, jobs, loadJobs, markOf, watch } from "../data";
import { roundUp, Scale, ticks } from "../draw/scale";
import type { Shape } from "../draw/shapes";
import { tailOf } from "../output";
import { Canvas, Glyph, Panel, say, tickSecond, Time } from "../parts";
import { go, route } from "../route";
import { plain } from "../text";
import { day, duration, moment, relative, seconds, zone } from "../time";
import { State } from "./jobs";
import { RunTable } from "./runs";

interface Words {
  words?: string;
  source?: string;
  scheduleAsWritten?: string;
  usualSeconds?: number | null;
}

export function JobView({ name }: { name: string }): JSX.Element {
  const path = `jobs/${encodeURIComponent(name)}`;
  const [job] = useState(() => new Asked<JobType & Words>(() => get<JobType & Words>(path), 700));
  const [coming] = useState(() => new Asked<DecisionList>(() => get<DecisionList>(`${path}/decisions?count=10`), 5000));
  const [history] = useState(() => new Asked<RunPage>(() => get<RunPage>(`runs?limit=100&job=${encodeURIComponent(name)}`), 700));
  useEffect(() => {
    const off = [watch(job), watch(coming), watch(history)];
    return () => off.forEach((end) => end());
  }, []);
  void tickSecond.value;
  useKeys(job.value.value, name);
  const known = job.value.value;
  if (!known) return job.error.value ? <Unknown name={name} error={job.error.value} /> : <p class="note">Asking krond…</p>;
  const runs = history.value.value?.runs ?? [];
  const shown = [...runs].reverse();
  return (
    <>
      <div class="title">
        <div class="grow">
          <div class="faint crumb"><a href="#/jobs">Jobs</a> /</div>
          <h1 class="name-line"><bdi>{plain(name)}</bdi> <span class="pill"><State job={known} /></span> <Strip runs={shown.slice(-30)} /></h1>
          <p class="words">{plain(known.words ?? known.description ?? "")}{!known.words && <> <code>{plain(known.scheduleAsWritten ?? known.schedule)}</code> {known.timezone}</>}</p>
          {known.paused && <p class="words c-skip">Paused{known.paused.since ? <> since <Time at={known.paused.since} /></> : null}{known.paused.until ? <>, until <Time at={known.paused.until} /></> : ", until somebody resumes it"}.</p>}
        </div>
        <div class="acts">
          <button type="button" onClick={() => toggle(known)}>{known.paused ? "Resume…" : "Pause…"}<kbd>P</kbd></button>
          <button type="button" class="main" onClick={() => runNow(name)}>Run now…<kbd>R</kbd></button>
        </div>
      </div>
      <div class="cols">
        <div>
          <NextPeriod decisions={coming.value.value?.decisions ?? []} name={name} />
          <div class="two">
            <Coming decisions={coming.value.value?.decisions ?? []} />
            <Durations runs={shown} usual={known.usualSeconds ?? null} limit={limitOf(known)} />
          </div>
          <Panel title="Runs" more={<a class="in" href={`#/runs?job=${encodeURIComponent(name)}`}>all</a>} class="gap">
            <RunTable runs={runs.slice(0, 20)} plainJob />
            {runs.length === 0 && <p class="note">Not yet.</p>}
          </Panel>
        </div>
        <aside>
          <WhyNot name={name} />
          <Panel title="Definition" more={<code class="faint cut">{plain(known.file.split("/").pop() ?? "")}{known.line ? `:${known.line}` : ""}</code>} class="gap">
            <pre>{plain(known.source ?? JSON.stringify(known.definition, null, 2))}</pre>
          </Panel>
          <Rules job={known} />
          <LastOutput runs={runs} />
        </aside>
      </div>
    </>
  );
}

function useKeys(known: JobType | null, name: string): void {
  const latest = useRef(known);
  latest.current = known;
  useEffect(() => {
    const keyed = (event: KeyboardEvent): void => {
      const job = latest.current;
      if (!job || isTyping(event) || document.querySelector("dialog[open]")) return;
      if (event.key === "r") runNow(name);
      else if (event.key === "p") job.paused ? resumeJobs([name]) : pause([name]);
      else if (event.key === "l" && job.last?.runId) go(`/runs/${job.last.runId}`);
      else if (event.key === "w") document.getElementById("why-at")?.focus();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keyed);
    return () => removeEventListener("keydown", keyed);
  }, [name]);
}
export function isTyping(event: KeyboardEvent): boolean {
  const on = event.target;
  return event.metaKey || event.ctrlKey || event.altKey || on instanceof HTMLInputElement || on instanceof HTMLTextAreaElement || on instanceof HTMLSelectElement;
}

function Unknown({ name, error }: { name: string; error: ApiError }): JSX.Element {
  useEffect(() => void loadJobs(), []);
  const near = [...jobs.value.keys()].filter((other) => other.includes(name) || name.includes(other) || other.slice(0, 4) === name.slice(0, 4)).slice(0, 8);
  return (
    <Panel title={error.status === 404 ? "There is no such job" : "krond does not say"}>
      <p class="note">{plain(error.problem.detail)}</p>
      {near.length > 0 && <ul class="list">{near.map((other) => <li><Glyph mark="next" /><a class="in" href={`#/jobs/${encodeURIComponent(other)}`}>{plain(other)}</a></li>)}</ul>}
    </Panel>
  );
}

export function Strip({ runs }: { runs: Run[] }): JSX.Element | null {
  if (runs.length === 0) return null;
  const counts = new Map<string, number>();
  for (const run of runs) counts.set(endOf(run).split(":")[0]!, (counts.get(endOf(run).split(":")[0]!) ?? 0) + 1);
  const label = `Last ${runs.length}: ${[...counts].map(([what, count]) => `${count} ${what}`).join(", ")}`;
  return (
    <svg class="strip" style={{ width: `${runs.length * 6}px` }} viewBox={`0 0 ${runs.length * 6} 16`} role="img" aria-label={label}>
      {runs.map((run, i) => {
        const mark = markOf(run);
        const quiet = mark === "ok" || mark === "run" || mark === "over";
        return <rect x={i * 6} y={quiet ? 4 : 1} width="4" height={quiet ? 8 : 14} rx="1.5" fill={`var(--${mark === "unknown" ? "fail" : mark})`} />;
      })}
    </svg>
  );
}

function NextPeriod({ decisions, name }: { decisions: Decision[]; name: string }): JSX.Element | null {
  const [at, setAt] = useState(0);
  const [buckets, setBuckets] = useState<Explanation["buckets"] | undefined>(undefined);
  const decision = decisions[Math.min(at, decisions.length - 1)];
  useEffect(() => {
    setBuckets(undefined);
    if (!decision) return undefined;
    const mine = new AbortController();
    get<Explanation>(`jobs/${encodeURIComponent(name)}/explain?period=${encodeURIComponent(decision.periodId)}`, mine.signal)
      .then((answer) => setBuckets(answer.buckets))
      .catch(() => undefined);
    return () => mine.abort();
  }, [decision?.periodId]);
  const draw = useCallback((width: number) => explainShapes(decision, buckets, width), [decision, buckets, zone.value]);
  if (!decision) return null;
  const chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null;
  const isPoint = decision.windowStart === decision.windowEnd && chosen !== null;
  const command = `kron explain ${/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`} --period ${decision.periodId}`;
  return (
    <Panel
      title={<><h2>{day(Date.parse(decision.nominalTime))}</h2><span class="num">{chosen === null ? <b class="c-none">no time</b> : <><b class="after">{seconds(chosen)}</b> <span class="faint">{relative(chosen)}</span></>}</span></>}
      label="Next period"
      more={<span class="seg" role="group" aria-label="Period"><button type="button" aria-label="Earlier period" disabled={at === 0} onClick={() => setAt(at - 1)}>‹</button><button type="button" aria-label="Later period" disabled={at >= decisions.length - 1} onClick={() => setAt(at + 1)}>›</button></span>}
    >
      {!isPoint && <Canvas draw={draw} label={chosen === null ? `No time in the window is allowed: ${decision.reason}` : `The window from ${moment(Date.parse(decision.windowStart))} to ${moment(Date.parse(decision.windowEnd))}; ${seconds(chosen)} was chosen, at draw ${decision.attempts}`} />}
      <div class="facts soft">
        {isPoint && <span>no window: it runs as written</span>}
        {decision.attempts === 1 && <span>taken at the first draw</span>}
        {decision.attempts > 1 && <span><b class="num">{decision.attempts}</b> draws</span>}
        {decision.reason && <span>{plain(decision.reason)}</span>}
        {decision.constraintsApplied && decision.constraintsApplied !== "none" && <span>{plain(decision.constraintsApplied)}</span>}
        <span>seed <code>{decision.seedHash.slice(0, 8)}…</code></span>
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(command).then(() => say("Copied."))}>Copy as kron explain</button>
      </div>
    </Panel>
  );
}

function explainShapes(decision: Decision | undefined, buckets: Explanation["buckets"] | undefined, width: number): { shapes: Shape[]; height: number } {
  const height = 150;
  const base = 112;
  const shapes: Shape[] = [];
  if (!decision) return { shapes, height };
  const start = Date.parse(decision.windowStart);
  const end = Date.parse(decision.windowEnd);
  const isPoint = end - start < 1000;
  const scale = isPoint ? new Scale(start - 1_800_000, start + 1_800_000, 20, width - 20) : new Scale(start, end, 20, width - 20);
  if (!isPoint) {
    shapes.push({ kind: "rect", x: scale.left, y: base - 26, w: scale.right - scale.left, h: 26, r: 4, fill: "win" });
    const most = Math.max(0.0001, ...(buckets ?? []).map((bucket) => bucket.share));
    const wide = (scale.right - scale.left) / Math.max(1, buckets?.length ?? 1);
    (buckets ?? []).forEach((bucket, i) => {
      const tall = Math.max(2, (bucket.share / most) * 86);
      shapes.push({ kind: "rect", x: scale.left + i * wide + 1, y: base - tall, w: wide - 2, h: tall, r: 2, fill: "after", opacity: 0.28 });
      if (bucket.allowed < 0.5) shapes.push({ kind: "hatch", x: scale.left + i * wide, y: base - 92, w: wide, h: 92, stroke: "none" });
    });
  }
  for (const tick of ticks(scale, 80)) {
    const x = scale.x(tick.t);
    shapes.push({ kind: "line", x1: x, y1: base, x2: x, y2: base + 4, stroke: "line" });
    shapes.push({ kind: "text", x: Math.min(Math.max(x, scale.left + 14), scale.right - 14), y: base + 17, text: tick.label, fill: "faint", align: "center" });
  }
  shapes.push({ kind: "line", x1: scale.left, y1: base, x2: scale.right, y2: base, stroke: "line" });
  const nominal = scale.x(Date.parse(decision.nominalTime));
  if (nominal >= scale.left - 1 && nominal <= scale.right + 1) shapes.push({ kind: "circle", x: nominal, y: base, r: 3, fill: "before" });
  if (decision.chosenTime) {
    const t = Date.parse(decision.chosenTime);
    const x = scale.x(t);
    shapes.push({ kind: "rect", x: x - 1.5, y: 22, w: 3, h: base - 22, r: 1.5, fill: "after" });
    shapes.push({ kind: "circle", x, y: 22, r: 9, fill: "after" });
    shapes.push({ kind: "text", x, y: 26, text: String(Math.max(1, decision.attempts)), fill: "panel", align: "center", weight: 650 });
    const flips = x > scale.right - 80;
    shapes.push({ kind: "text", x: flips ? x - 15 : x + 15, y: 27, text: seconds(t), fill: "ink", align: flips ? "right" : "left", weight: 650, size: 13 });
  } else {
    shapes.push({ kind: "hatch", x: scale.left, y: base - 92, w: scale.right - scale.left, h: 92, stroke: "none" });
  }
  return { shapes, height };
}

function Coming({ decisions }: { decisions: Decision[] }): JSX.Element {
  return (
    <Panel title="Coming">
      <table>
        <tbody>
          {decisions.slice(0, 8).map((decision) => {
            const start = Date.parse(decision.windowStart);
            const end = Date.parse(decision.windowEnd);
            const chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null;
            const u = chosen === null || end <= start ? 0 : (chosen - start) / (end - start);
            return (
              <tr>
                <td>{day(chosen ?? start)}</td>
                <td class="num">{chosen === null ? <span class="c-none"><Glyph mark="none" label="" /> no time</span> : <b>{seconds(chosen)}</b>}</td>
                <td class="wide">{end > start && chosen !== null && <svg class="place" viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true"><rect y="3" width="200" height="8" rx="4" fill="var(--win)" /><rect x={u * 197} width="3" height="14" rx="1.2" fill="var(--after)" /></svg>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {decisions.length === 0 && <p class="note">Nothing that a clock foresees.</p>}
    </Panel>
  );
}

function limitOf(job: JobType): number | null {
  const text = (job.definition as { timeout?: unknown } | null)?.timeout;
  const found = typeof text === "string" ? /^(\d+)([smhd])$/.exec(text) : null;
  return found ? Number(found[1]) * { s: 1, m: 60, h: 3600, d: 86400 }[found[2] as "s"]! : null;
}

function Durations({ runs, usual, limit }: { runs: Run[]; usual: number | null; limit: number | null }): JSX.Element {
  const points = runs.filter((run) => run.startedAt && run.endedAt).map((run) => ({ mark: markOf(run), took: (Date.parse(run.endedAt!) - Date.parse(run.startedAt!)) / 1000, at: Date.parse(run.startedAt!) }));
  const sorted = points.filter((point) => point.mark === "ok").map((point) => point.took).sort((a, b) => a - b);
  const median = usual ?? (sorted.length >= 5 ? sorted[sorted.length >> 1]! : null);
  const draw = useCallback(
    (width: number) => {
      const [height, left, base] = [170, 56, 146];
      const shapes: Shape[] = [];
      const most = Math.max(1, ...points.map((point) => point.took));
      const top = limit && limit < most * 3 ? Math.max(limit * 1.08, most) : roundUp(most);
      const x = (i: number): number => left + (points.length < 2 ? 0.5 : i / (points.length - 1)) * (width - left - 20);
      const y = (s: number): number => base - (s / top) * (base - 16);
      for (const part of [0, 0.5, 1]) {
        shapes.push({ kind: "line", x1: left, y1: Math.round(y(top * part)) + 0.5, x2: width - 14, y2: Math.round(y(top * part)) + 0.5, stroke: "hair" });
        shapes.push({ kind: "text", x: left - 8, y: y(top * part) + 4, text: part === 0 ? "0" : duration(top * part * 1000), fill: "faint", align: "right", most: left - 10 });
      }
      if (limit && limit <= top) {
        shapes.push({ kind: "line", x1: left, y1: y(limit), x2: width - 14, y2: y(limit), stroke: "fail", dash: true });
        shapes.push({ kind: "text", x: width - 14, y: y(limit) - 5, text: `ended after ${duration(limit * 1000)}`, fill: "fail", align: "right" });
      }
      points.forEach((point, i) => {
        if (point.mark === "ok") shapes.push({ kind: "circle", x: x(i), y: y(point.took), r: 2.6, fill: "ok" });
        else shapes.push({ kind: "glyph", x: x(i), y: y(point.took), mark: point.mark });
      });
      if (median !== null) shapes.push({ kind: "line", x1: left, y1: y(median), x2: width - 14, y2: y(median), stroke: "after", opacity: 0.7, width: 1.4 });
      if (points.length > 1) {
        shapes.push({ kind: "text", x: left, y: height - 8, text: moment(points[0]!.at), fill: "faint" });
        shapes.push({ kind: "text", x: width - 14, y: height - 8, text: moment(points[points.length - 1]!.at), fill: "faint", align: "right" });
      }
      return { shapes, height };
    },
    [runs, zone.value],
  );
  return (
    <Panel title="How long it takes" more={median !== null ? <span class="soft">usually <b class="num">{duration(median * 1000)}</b></span> : null}>
      {points.length === 0 ? <p class="note">Nobody knows yet.</p> : <Canvas draw={draw} label={`Durations of the last ${points.length} runs${median === null ? "" : `, usually ${duration(median * 1000)}`}`} />}
    </Panel>
  );
}

function WhyNot({ name }: { name: string }): JSX.Element {
  const [at, setAt] = useState(route.value.query.get("why") ?? "");
  const [answer, setAnswer] = useState<Why | string | null>(null);
  const ask = async (): Promise<void> => {
    const t = Date.parse(zone.value === "utc" ? `${at}Z` : at);
    if (Number.isNaN(t)) return;
    try {
      setAnswer(await get<Why>(`jobs/${encodeURIComponent(name)}/why?at=${encodeURIComponent(new Date(t).toISOString().replace(/\.\d+Z/, "Z"))}`));
    } catch (error) {
      setAnswer(error instanceof ApiError ? (error.status === 404 ? "This krond cannot say yet." : error.problem.detail) : String(error));
    }
  };
  const sentence = typeof answer === "string" ? answer : [answer?.sentence, answer?.reason].filter(Boolean).join(" ");
  return (
    <Panel title="Why not?" more={<span class="faint">{zone.value === "utc" ? "UTC" : "your time"}</span>}>
      <form class="inline" onSubmit={(event) => { event.preventDefault(); void ask(); }}>
        <input id="why-at" type="datetime-local" step="1" aria-label="At which time" value={at} onInput={(event) => setAt(event.currentTarget.value)} />
        <button type="submit">Ask</button>
      </form>
      {answer && <div class="why" role="status">{plain(sentence)}</div>}
      {answer && typeof answer !== "string" && answer.instead && <p class="note">{plain(answer.instead)}</p>}
    </Panel>
  );
}

function Rules({ job }: { job: JobType }): JSX.Element {
  const definition = (job.definition ?? {}) as { policy?: Record<string, unknown>; user?: unknown; timeout?: unknown; env?: Record<string, unknown> };
  const policy = definition.policy ?? {};
  const rows: [string, string][] = [];
  const late = policy["deadline"];
  rows.push(["Late", late === undefined || late === "0s" ? "not at all: then missed" : `up to ${String(late)}, then missed`]);
  const overlap = { forbid: "skipped while one runs", allow: "runs beside it", replace: "ends the one before" }[String(policy["concurrency"] ?? "forbid")];
  rows.push(["Overlap", overlap ?? String(policy["concurrency"])]);
  if (definition.timeout) rows.push(["Time limit", `${String(definition.timeout)}, then TERM, then KILL`]);
  if (definition.user) rows.push(["Runs as", String(definition.user)]);
  const env = Object.keys(definition.env ?? {});
  if (env.length > 0) rows.push(["Environment", env.join(", ")]);
  rows.push(["Zone", job.timezone]);
  if (job.command ?? job.task) rows.push([job.task ? "Submits" : "Runs", job.task ?? job.command ?? ""]);
  return (
    <Panel title="Rules" class="gap">
      <dl class="kv">{rows.map(([key, value]) => <><dt>{key}</dt><dd>{plain(value)}</dd></>)}</dl>
    </Panel>
  );
}

function LastOutput({ runs }: { runs: Run[] }): JSX.Element | null {
  const last = runs.find((run) => run.runId && (run.outputBytes ?? 0) > 0);
  const [tail, setTail] = useState("");
  useEffect(() => {
    if (!last) return;
    tailOf(last.runId!).then(setTail).catch(() => undefined);
  }, [last?.runId, last?.outputBytes]);
  if (!last) return null;
  return (
    <Panel title="Last output" more={<a class="in" href={`#/runs/${last.runId}`}>all of it</a>} class="gap">
      <pre class="soft">{tail}</pre>
    </Panel>
  );
}
