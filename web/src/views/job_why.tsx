// Why it ran then, or did not.
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api";
import type { Why } from "../api_types";
import type { Mark } from "../data";
import { Glyph, Panel, Time } from "../parts";
import { route, setQuery } from "../route";
import { plain } from "../text";
import { offsetOf, utc, zone, zoneName } from "../time";

// What krond says has its times as RFC 3339 in UTC, and nothing else that looks like one: they are shown as all others.
// What is to be typed stands between backticks.
const TOLD = /(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ|`[^`]+`)/;
export function timesIn(text: string): ComponentChildren[] {
  return plain(text).split(TOLD).map((part, i) => (i % 2 === 0 ? part : part.startsWith("`") ? <code>{part.slice(1, -1)}</code> : <Time at={part} />));
}
export function sentence(text: string): ComponentChildren {
  if (text === "") return null;
  return <>{timesIn(text.charAt(0).toUpperCase() + text.slice(1))}{/[.!?]$/.test(text) ? "" : "."}</>;
}

const MARKS: Record<string, Mark | "next" | "pause"> = { executed: "ok", running: "run", skipped: "skip", missed: "miss", excluded: "none", "no time": "none", "passed over": "over", paused: "pause", suspended: "pause", due: "next", ahead: "next" };

// What a field for local times holds, as an instant in the zone that is shown.
export function instantOf(text: string): number {
  const utc = Date.parse(`${text}Z`);
  if (Number.isNaN(utc)) return utc;
  const guess = utc - offsetOf(utc) * 60_000;
  return utc - offsetOf(guess) * 60_000;
}

interface Said {
  answer?: Why;
  problem?: string;
}

export function WhyNot({ name }: { name: string }): JSX.Element {
  const [at, setAt] = useState(route.value.query.get("why") ?? "");
  const [{ answer, problem }, setSaid] = useState<Said>({});
  const asked = useRef({});
  // Nothing that an older question is answered with is shown as the answer to this one, whichever comes first.
  const ask = async (): Promise<void> => {
    const t = instantOf(at);
    const when = Number.isNaN(t) ? "" : `?at=${encodeURIComponent(utc(t))}`;
    const mine = (asked.current = {});
    setSaid(mine);
    setQuery("why", at);
    const said = await get<Why>(`jobs/${encodeURIComponent(name)}/why${when}`).then(
      (answer): Said => ({ answer }),
      (error): Said => ({ problem: (error as Error).message }),
    );
    if (mine === asked.current) setSaid(said);
  };
  useEffect(() => {
    if (at) void ask();
  }, []);
  const mark = answer && (MARKS[answer.verdict] ?? "next");
  return (
    <Panel title="Why, or why not?" more={<span class="faint">{zone.value === "utc" ? "UTC" : `${zoneName()} time`}</span>}>
      <form class="inline" onSubmit={(event) => { event.preventDefault(); void ask(); }}>
        <input id="why-at" type="datetime-local" step="1" aria-label="At which time; empty: the last period that was due" value={at} onInput={(event) => setAt(event.currentTarget.value)} />
        <button type="submit">Ask</button>
      </form>
      <div role="status">
        {problem && <p class="note">{plain(problem)}</p>}
        {answer && <div class={`why w-${mark}`}><Glyph mark={mark!} label={answer.verdict} /> <b>{sentence(answer.sentence)}</b> {sentence(answer.reason)}</div>}
        {answer?.instead && <p class="note">{sentence(answer.instead)}</p>}
        {answer?.entry?.runId && <p class="note"><a class="in" href={`#/runs/${answer.entry.runId}`}>The run</a></p>}
      </div>
    </Panel>
  );
}
