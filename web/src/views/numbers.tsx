// The last day in numbers.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { get } from "../api";
import type { RunAhead } from "../ahead";
import type { Run, RunPage } from "../api_types";
import { Asked, MARK_WORDS, type Mark, markOf, watch } from "../data";
import { Glyph } from "../parts";
import { duration, now, utc } from "../time";

const MOST = 1000;
const recentAsked = new Asked<(Run & RunAhead)[]>(async () => {
  const from = encodeURIComponent(utc(Math.floor(now() / 1000) * 1000 - 86_400_000));
  return (await get<RunPage>(`runs?limit=${MOST}&from=${from}`)).runs;
}, 5000);

// The value that this share of them does not exceed.
export function quantile(values: number[], share: number): number | null {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.ceil(share * sorted.length) - 1)] ?? null;
}

const COUNTED: Mark[] = ["ok", "fail", "skip", "miss", "none", "over"];
export function Numbers(): JSX.Element | null {
  useEffect(() => watch(recentAsked, true), []);
  const recent = recentAsked.value.value;
  if (!recent) return null;
  const counts = new Map<Mark, number>();
  for (const run of recent) counts.set(markOf(run), (counts.get(markOf(run)) ?? 0) + 1);
  const delays = recent.flatMap((run) => (run.delaySeconds === undefined ? [] : [run.delaySeconds]));
  const isCut = recent.length >= MOST;
  return (
    <section class="panel stat" aria-label={isCut ? "The last 1,000 entries" : "Last 24 hours"}>
      {COUNTED.map((mark) => (
        <div>
          <b class={counts.get(mark) && mark !== "ok" && mark !== "over" ? `c-${mark}` : ""}>{(counts.get(mark) ?? 0).toLocaleString("en-US")}</b>
          <span><Glyph mark={mark} label="" /> {MARK_WORDS[mark]}</span>
        </div>
      ))}
      {([["median", 0.5], ["p99", 0.99]] as const).map(([name, share]) => {
        const delay = quantile(delays, share);
        return delay === null ? null : <div class="hide"><b>{duration(Math.max(0, delay * 1000))}</b><span>start delay, {name}</span></div>;
      })}
      <div class="when"><span>{isCut ? <>of the last<br />1,000 entries</> : <>in the last<br />24 hours</>}</span></div>
    </section>
  );
}
