// One job: what it does in words, why its next second is what it is, what came of it.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { pause, resumeJobs, runNow, toggle } from "../actions";
import { ApiError, get } from "../api";
import type { DecisionList, Job as JobType, JobDays, Run, RunPage } from "../api_types";
import { Asked, jobs, loadJobs, watch } from "../data";
import { status } from "../live";
import { linesOf } from "../output";
import { Glyph, Panel, Time } from "../parts";
import { go } from "../route";
import { rulesOf } from "../rules";
import { Outcomes } from "../strip";
import { plain } from "../text";
import { clockChanges, day, duration, jobZone, moment, now, seconds, utc } from "../time";
import { Coming, NextPeriod } from "./job_next";
import { Durations, Year } from "./job_past";
import { WhyNot } from "./job_why";
import { State } from "./jobs";
import { RunTable } from "./runs";

export function JobView({ name }: { name: string }): JSX.Element {
  const path = `jobs/${encodeURIComponent(name)}`;
  const [job] = useState(() => new Asked<JobType>(() => get<JobType>(path), 700));
  const [coming] = useState(() => new Asked<DecisionList>(() => get<DecisionList>(`${path}/decisions?count=10`), 5000));
  const [history] = useState(() => new Asked<RunPage>(() => get<RunPage>(`runs?limit=100&job=${encodeURIComponent(name)}`), 700));
  const [days] = useState(() => new Asked<JobDays>(() => get<JobDays>(`${path}/days`), 30_000));
  useEffect(() => {
    const off = [watch(job), watch(coming), watch(history), watch(days)];
    return () => off.forEach((end) => end());
  }, []);
  useKeys(job.value.value, name);
  const known = job.value.value;
  useEffect(() => {
    jobZone.value = known?.timezone ?? "";
    return () => void (jobZone.value = "");
  }, [known?.timezone]);
  if (!known) return job.error.value ? <Unknown name={name} error={job.error.value} /> : <p class="note">Asking krond…</p>;
  const runs = history.value.value?.runs ?? [];
  const decisions = coming.value.value?.decisions ?? [];
  const paused = known.paused;
  return (
    <>
      <div class="title">
        <div class="grow">
          <div class="faint crumb"><a href="#/jobs">Jobs</a> /</div>
          <h1 class="name-line"><bdi>{plain(name)}</bdi> <span class="pill"><State job={known} /></span> <Outcomes letters={known.outcomes} /></h1>
          <p class="words">{plain(wordsOf(known))}</p>
          {known.description && <p class="soft">{plain(known.description)}</p>}
          {paused && <p class="words c-skip">Paused{paused.by ? ` by ${plain(paused.by)}` : ""}{paused.since ? <> since <Time at={paused.since} /></> : null}{paused.until ? <>, until <Time at={paused.until} /></> : ", until somebody resumes it"}{paused.note ? `: ${plain(paused.note)}` : "."}</p>}
        </div>
        <div class="acts">
          <button type="button" onClick={() => toggle(known)}>{known.paused ? "Resume…" : "Pause…"}<kbd>P</kbd></button>
          <button type="button" class="main" onClick={() => runNow(name)}>Run now…<kbd>R</kbd></button>
        </div>
      </div>
      <div class="cols">
        <div>
          <NextPeriod decisions={decisions} name={name} />
          <div class="two">
            <Coming decisions={decisions} isKnown={coming.value.value !== null} />
            <Durations runs={[...runs].reverse()} usual={known.usualSeconds} limit={limitOf(known)} />
          </div>
          <Year days={days.value.value} />
          <Panel title="Runs" more={<a class="in" href={`#/runs?job=${encodeURIComponent(name)}`}>all</a>} class="gap">
            <RunTable runs={runs.slice(0, 20)} plainJob />
            {runs.length === 0 && <p class="note">Not yet.</p>}
          </Panel>
        </div>
        <aside>
          <WhyNot name={name} />
          <Panel title="Definition" more={<code class="faint cut">{plain(known.file.split("/").pop() ?? "")}{known.line ? `:${known.line}` : ""}</code>} class="gap">
            <pre tabIndex={0}>{plain(known.source ?? JSON.stringify(known.definition, null, 2))}</pre>
          </Panel>
          <Rules job={known} path={path} />
          <LastOutput runs={runs} />
        </aside>
      </div>
    </>
  );
}

// The schedule in words, where its times are, and the window around them.
function wordsOf(job: JobType): string {
  const { window } = (job.definition ?? {}) as { window?: string | { mode?: string; duration?: string } };
  const [mode, length] = typeof window === "string" ? ["after", window] : [window?.mode ?? "after", window?.duration];
  const sentence = `${job.words}, ${job.timezone}${length && length !== "0s" ? `, somewhere in the ${length} ${mode}` : ""}.`;
  return sentence.charAt(0).toUpperCase() + sentence.slice(1);
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
      else if (event.key === "e") document.querySelector<HTMLElement>("[aria-label='Next period'] canvas, #explain")?.focus();
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

function limitOf(job: JobType): number | null {
  const text = (job.definition as { timeout?: unknown } | null)?.timeout;
  const found = typeof text === "string" ? /^(\d+)([smhd])$/.exec(text) : null;
  return found ? Number(found[1]) * { s: 1, m: 60, h: 3600, d: 86400 }[found[2] as "s"]! : null;
}

// What the next change of the clocks does to the job: the period that it touches.
function useClockChange(job: JobType, path: string): string {
  const [told, setTold] = useState("");
  const zoneNow = jobZone.value;
  useEffect(() => {
    const change = clockChanges(now(), now() + 370 * 86_400_000, "job", 86_400_000)[0];
    if (!change || zoneNow !== job.timezone || zoneNow === "UTC") return setTold("");
    const from = utc(change.t - 26 * 3_600_000);
    get<DecisionList>(`${path}/decisions?count=20&from=${encodeURIComponent(from)}`)
      .then(({ decisions }) => {
        const touched = decisions.find((decision) => Date.parse(decision.windowEnd) >= change.t && Date.parse(decision.nominalTime) - change.t < 26 * 3_600_000);
        const when = `${day(change.t, "job")} ${new Date(change.t).getUTCFullYear()}: clocks go ${change.by > 0 ? "forward" : "back"} by ${duration(Math.abs(change.by) * 60_000)}`;
        if (!touched) return setTold(`${when}; no period is near`);
        const [start, end] = [Date.parse(touched.windowStart), Date.parse(touched.windowEnd)];
        const window = end > start ? `, window ${seconds(start, "job").slice(0, 5)}–${seconds(end, "job").slice(0, 5)}` : "";
        setTold(`${when}; the period near it runs ${touched.chosenTime ? moment(Date.parse(touched.chosenTime), "job") : "at no time"}${window}`);
      })
      .catch(() => undefined);
  }, [zoneNow, job.timezone, job.schedule]);
  return told;
}

function Rules({ job, path }: { job: JobType; path: string }): JSX.Element {
  const change = useClockChange(job, path);
  const rows = rulesOf(job.definition, status.value ?? {}, job.task !== undefined);
  rows.push(["Zone", job.timezone]);
  if (change) rows.push(["Clock change", change]);
  if (job.firstSeen) rows.push(["First seen", moment(Date.parse(job.firstSeen))]);
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
    linesOf(last.runId!, 4096).then((lines) => setTail(lines.slice(-8).join("\n"))).catch(() => undefined);
  }, [last?.runId, last?.outputBytes]);
  if (!last) return null;
  return (
    <Panel title="Last output" more={<a class="in" href={`#/runs/${last.runId}`}>all of it</a>} class="gap">
      <pre class="soft" tabIndex={0}>{tail}</pre>
    </Panel>
  );
}
