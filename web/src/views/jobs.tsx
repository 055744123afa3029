// All jobs, of which 40 rows are in the page at a time.
import type { JSX } from "preact";
import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import { pause, resumeJobs, runNow } from "../actions";
import { filterByServer, inSight, isFailing, isServerFiltered, type JobRow, jobs, jobsComplete, loadJobs, markOf, watchesJobs } from "../data";
import { Glyph, Name, Time } from "../parts";
import { go, route, setQuery } from "../route";
import { awaited } from "../rules";
import { Outcomes } from "../strip";
import { counted, plain } from "../text";
import { duration } from "../time";

const ROW = 32;

// `is:failing is:paused team/`: words that all hold.
export function matcher(text: string): (job: JobRow) => boolean {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  const tests = words.map((word): ((job: JobRow) => boolean) => {
    switch (word) {
      case "is:failing":
      case "is:failed":
        return isFailing;
      case "is:paused":
        return (job) => job.paused !== null;
      case "is:suspended":
        return (job) => job.suspended;
      case "is:running":
        return (job) => job.running > 0;
      case "is:task":
        return (job) => job.task !== undefined;
      case "is:fine":
        return (job) => !isFailing(job) && !job.paused && !job.suspended;
      default:
        return byName(word);
    }
  });
  return (job) => tests.every((test) => test(job));
}

// `team/` is the beginning of a name, `host-*/backup` a pattern, anything else is looked for within.
function byName(word: string): (job: JobRow) => boolean {
  if (word.includes("*")) {
    const pattern = new RegExp(`^${word.split("*").map((part) => part.replace(/[.+?^${}()|[\]\\]/g, "\\$&")).join(".*")}$`);
    return (job) => pattern.test(job.identity.toLowerCase());
  }
  if (word.endsWith("/")) return (job) => job.identity.toLowerCase().startsWith(word);
  return (job) => job.identity.toLowerCase().includes(word) || (job.description ?? "").toLowerCase().includes(word);
}

type Key = "name" | "next" | "last" | "state" | "usual";
const far = "9999";
const SORTS: Record<Key, (a: JobRow, b: JobRow) => number> = {
  name: (a, b) => (a.identity < b.identity ? -1 : a.identity > b.identity ? 1 : 0),
  next: (a, b) => ((a.next?.startsAt ?? far) < (b.next?.startsAt ?? far) ? -1 : 1),
  last: (a, b) => (lastTime(b) < lastTime(a) ? -1 : 1),
  state: (a, b) => rank(a) - rank(b),
  usual: (a, b) => (b.usualSeconds ?? -1) - (a.usualSeconds ?? -1),
};
function lastTime(job: JobRow): string {
  return job.last?.startedAt ?? job.last?.chosenTime ?? job.last?.periodId ?? "";
}
function rank(job: JobRow): number {
  return isFailing(job) ? 0 : job.running > 0 ? 1 : job.paused ? 2 : job.suspended ? 3 : 4;
}

export function Jobs(): JSX.Element {
  const query = route.value.query.get("q") ?? "";
  const sort = (route.value.query.get("sort") ?? "name") as Key;
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [cursor, setCursor] = useState(-1);
  const [top, setTop] = useState(0);
  const [height, setHeight] = useState(800);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    ++watchesJobs.value;
    void loadJobs();
    const look = (): void => setHeight(innerHeight);
    addEventListener("resize", look);
    look();
    return () => {
      --watchesJobs.value;
      removeEventListener("resize", look);
    };
  }, []);
  const rows = useMemo(() => {
    const found = [...jobs.value.values()].filter(matcher(query));
    return found.sort(SORTS[sort] ?? SORTS.name);
  }, [jobs.value, query, sort]);
  useEffect(() => {
    if (!isServerFiltered.value) return undefined;
    const timer = setTimeout(() => filterByServer(query), 300);
    return () => clearTimeout(timer);
  }, [query, isServerFiltered.value]);
  const first = Math.max(0, Math.floor(top / ROW) - 6);
  const shown = rows.slice(first, first + Math.ceil(height / ROW) + 12);
  inSight.names = new Set(shown.map((job) => job.identity));
  // What the keys act on is what is shown now, also between a change and the next effect.
  const latest = useRef({ rows, cursor, selected });
  latest.current = { rows, cursor, selected };
  useEffect(() => {
    const keyed = (event: KeyboardEvent): void => {
      const { rows, cursor, selected } = latest.current;
      if (event.target instanceof HTMLInputElement || event.metaKey || event.ctrlKey || document.querySelector("dialog[open]")) return;
      const move = event.key === "j" ? 1 : event.key === "k" ? -1 : 0;
      const job = rows[cursor];
      if (move !== 0) {
        const next = Math.min(rows.length - 1, Math.max(0, cursor + move));
        setCursor(next);
        const at = next * ROW;
        const view = box.current!;
        if (at < view.scrollTop) view.scrollTop = at;
        else if (at > view.scrollTop + view.clientHeight - 2 * ROW) view.scrollTop = at - view.clientHeight + 2 * ROW;
      } else if (event.key === "Enter" && job && (event.target === document.body || event.target === box.current)) go(`/jobs/${encodeURIComponent(job.identity)}`);
      else if (event.key === "x" && job) toggle(job.identity);
      else if (event.key === "X") selectAll();
      else if (event.key === "r" && job) runNow(job.identity);
      else if (event.key === "Escape" && selected.size > 0) setSelected(new Set());
      else if (event.key === "p" && (selected.size > 0 || job)) pause(selected.size > 0 ? [...selected] : [job!.identity]);
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", keyed);
    return () => removeEventListener("keydown", keyed);
  }, []);
  const toggle = (name: string): void => {
    const next = new Set(latest.current.selected);
    if (!next.delete(name)) next.add(name);
    setSelected(next);
  };
  const selectAll = (): void => {
    const { rows, selected } = latest.current;
    setSelected(selected.size === rows.length ? new Set() : new Set(rows.map((job) => job.identity)));
  };
  const header = (key: Key, text: string, extra = ""): JSX.Element => (
    <span class={extra} role="columnheader" aria-sort={sort === key ? "ascending" : "none"}>
      <button type="button" class="sort" onClick={() => setQuery("sort", key === "name" ? "" : key)}>{text}{sort === key ? " ▾" : ""}</button>
    </span>
  );
  return (
    <>
      <div class="bar">
        <h1>Jobs</h1>
        <span class="soft num">{query ? `${rows.length.toLocaleString("en-US")} of ${jobs.value.size.toLocaleString("en-US")}` : jobs.value.size.toLocaleString("en-US")}{jobsComplete.value ? "" : " …"}</span>
        {isServerFiltered.value && <span class="soft">There are more than this page keeps: krond looks for what you type.</span>}
        <input id="filter" type="search" placeholder="Filter: words, team/, is:failing is:paused is:running" aria-label="Filter" value={query} onInput={(event) => setQuery("q", event.currentTarget.value)} />
        <span class="grow" />
        {selected.size > 0 && (
          <>
            <span class="soft">{counted(selected.size, "job")} selected</span>
            <button type="button" onClick={() => pause([...selected])}>Pause…</button>
            <button type="button" onClick={() => resumeJobs([...selected])}>Resume…</button>
            <button type="button" class="quiet" onClick={() => setSelected(new Set())}>Clear</button>
          </>
        )}
      </div>
      <section class="panel rows" aria-label="All jobs">
        <div class="table" role="table" aria-rowcount={rows.length}>
          <div class="row heads" role="row">
            <span role="columnheader"><input type="checkbox" aria-label="Select all that are shown" checked={rows.length > 0 && selected.size === rows.length} onChange={selectAll} /></span>
            {header("state", "State")}
            {header("name", "Name")}
            <span role="columnheader" class="hide">Last 20</span>
            <span role="columnheader" class="hide">Schedule</span>
            {header("usual", "Usually", "hide")}
            {header("next", "Next")}
            {header("last", "Last", "hide")}
          </div>
          <div class="view" ref={box} role="rowgroup" tabIndex={0} onScroll={(event) => setTop(event.currentTarget.scrollTop)}>
            <div class="all" style={{ height: `${Math.max(1, rows.length) * ROW}px` }} role="presentation">
              {shown.map((job, i) => (
                <div class={`row ${first + i === cursor ? "at" : ""}`} role="row" aria-rowindex={first + i + 1} key={job.identity} style={{ top: `${(first + i) * ROW}px` }}>
                  <span role="cell"><input type="checkbox" aria-label={`Select ${plain(job.identity)}`} checked={selected.has(job.identity)} onChange={() => toggle(job.identity)} /></span>
                  <span role="cell"><State job={job} /></span>
                  <span role="cell" class="cut"><Name of={job.identity} />{job.description ? <span class="faint"> {plain(job.description)}</span> : null}</span>
                  <span role="cell" class="hide"><Outcomes letters={job.outcomes} /></span>
                  <span role="cell" class="mono cut hide">{plain(job.schedule)}</span>
                  <span role="cell" class="num cut hide">{job.usualSeconds ? duration(job.usualSeconds * 1000) : ""}</span>
                  <span role="cell" class="num cut">{job.next ? <Time at={job.next.startsAt} /> : <span class="faint">never</span>}</span>
                  <span role="cell" class="num cut hide">{job.last && lastTime(job) ? <a href={job.last.runId ? `#/runs/${job.last.runId}` : `#/jobs/${encodeURIComponent(job.identity)}`}><Time at={lastTime(job)} /></a> : <span class="faint">not yet</span>}</span>
                </div>
              ))}
            </div>
          </div>
        </div>
        {rows.length === 0 && jobsComplete.value && <p class="note">{query ? "No job is like that." : "There are no jobs yet. This page edits none: write one into a file, then reload."}</p>}
      </section>
    </>
  );
}

export function State({ job }: { job: JobRow }): JSX.Element {
  const mark = job.last ? markOf(job.last) : null;
  if (job.running > 0) return <span class="state"><Glyph mark="run" label="" /> running{job.waiting ? `, and waits for ${plain(awaited(job.waiting))}` : ""}</span>;
  if (job.paused) return <span class="state"><Glyph mark="pause" /> paused</span>;
  if (job.suspended) return <span class="state"><Glyph mark="pause" /> suspended</span>;
  if (job.waiting) return <span class="state c-skip"><Glyph mark="next" label="" /> waits for {plain(awaited(job.waiting))}</span>;
  if (mark && mark !== "ok") return <span class={`state c-${mark}`}><Glyph mark={mark} label="" /> {mark === "fail" ? "failed" : mark === "miss" ? "missed" : mark === "none" ? "no time" : mark === "skip" ? "skipped" : mark === "over" ? "passed over" : "unknown"}</span>;
  return <span class="state faint"><Glyph mark={mark ? "ok" : "next"} label="" /> {mark ? "fine" : "waiting"}</span>;
}
