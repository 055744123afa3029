// The last day in numbers.
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { get } from "../api";
import type { SeriesAnswer } from "../api_types";
import { Asked, MARK_WORDS, type Mark, watch } from "../data";
import { Glyph } from "../parts";
import { duration } from "../time";

const COUNTED: [Mark, string[]][] = [["ok", ["succeeded"]], ["fail", ["failed", "timedOut"]], ["unknown", ["unknown"]], ["skip", ["skipped"]], ["miss", ["missed"]], ["none", ["noTime"]]];
const NAMES = ["starts", "delayP50", "delayP99", ...COUNTED.flatMap(([, names]) => names)];
const numbersAsked = new Asked<SeriesAnswer>(() => get<SeriesAnswer>(`series?for=24h&step=1m&names=${NAMES.join(",")}`), 5000);

export interface DayNumbers {
  starts: number;
  counts: Map<Mark, number>;
  minutes: number; // of which more than the starts is known: those since krond is up
  usualDelay: number | null; // seconds: half of the starts were in minutes with no larger median
  worstDelay: number | null; // of 99 % of the starts in the worst minute
}
export function numbersOf({ points, series }: SeriesAnswer): DayNumbers {
  const sum = (name: string): number => (series[name] ?? []).reduce<number>((all, value) => all + (value ?? 0), 0);
  const starts = series["starts"] ?? [];
  const medians = (series["delayP50"] ?? []).flatMap((delay, i) => (delay === null ? [] : [{ delay, starts: starts[i] ?? 0 }])).sort((a, b) => a.delay - b.delay);
  let left = medians.reduce((all, one) => all + one.starts, 0) / 2;
  const median = medians.find((one) => (left -= one.starts) <= 0);
  const worst = (series["delayP99"] ?? []).filter((delay) => delay !== null);
  return {
    starts: sum("starts"),
    counts: new Map(COUNTED.map(([mark, names]) => [mark, names.reduce((all, name) => all + sum(name), 0)])),
    minutes: points - (series["succeeded"] ?? []).filter((value) => value === null).length,
    usualDelay: median?.delay ?? null,
    worstDelay: worst.length === 0 ? null : Math.max(...worst),
  };
}

export function Numbers(): JSX.Element | null {
  useEffect(() => watch(numbersAsked, true), []);
  const known = numbersAsked.value.value;
  if (!known) return null;
  const { starts, counts, minutes, usualDelay, worstDelay } = numbersOf(known);
  const isDay = minutes >= known.points;
  return (
    <section class="panel stat" aria-label={isDay ? "Last 24 hours" : "Since krond is up"}>
      <div><b>{starts.toLocaleString("en-US")}</b><span>started{isDay ? "" : " in 24 h"}</span></div>
      {COUNTED.filter(([mark]) => mark !== "unknown" || counts.get(mark)).map(([mark]) => (
        <div>
          <b class={counts.get(mark) && mark !== "ok" ? `c-${mark}` : ""}>{counts.get(mark)!.toLocaleString("en-US")}</b>
          <span><Glyph mark={mark} label="" /> {MARK_WORDS[mark]}</span>
        </div>
      ))}
      {usualDelay !== null && <div class="hide"><b>{duration(usualDelay * 1000)}</b><span>start delay, median</span></div>}
      {worstDelay !== null && <div class="hide"><b>{duration(worstDelay * 1000)}</b><span>p99, worst minute</span></div>}
      <div class="when"><span>{isDay ? <>in the last<br />24 hours</> : <>in the {duration(minutes * 60_000)}<br />krond is up</>}</span></div>
    </section>
  );
}
