// What came of a job: how long it takes, and a year of it.
import type { JSX } from "preact";
import { useCallback } from "preact/hooks";
import type { JobDays, Run } from "../api_types";
import { MARK_WORDS, markOf, type Mark, tookOf } from "../data";
import { roundUp } from "../draw/scale";
import type { Shape, Spot } from "../draw/shapes";
import { Canvas, Glyph, Panel } from "../parts";
import { counted } from "../text";
import { duration, moment, now, zone } from "../time";

export interface Point {
  mark: Mark;
  took: number; // seconds
  at: number;
}
export function pointsOf(runs: Run[]): Point[] {
  return runs.flatMap((run) => {
    const took = tookOf(run);
    return run.startedAt && took !== undefined ? [{ mark: markOf(run), took, at: Date.parse(run.startedAt) }] : [];
  });
}
// Seconds by which it grows in a day: the slope of the line through the runs that succeeded. null: nothing to speak of.
export function trendOf(points: Point[]): number | null {
  const good = points.filter((point) => point.mark === "ok");
  if (good.length < 10) return null;
  const day = 86_400_000;
  const meanX = good.reduce((sum, point) => sum + point.at / day, 0) / good.length;
  const meanY = good.reduce((sum, point) => sum + point.took, 0) / good.length;
  let [xy, xx, yy] = [0, 0, 0];
  for (const point of good) {
    const [dx, dy] = [point.at / day - meanX, point.took - meanY];
    xy += dx * dy;
    xx += dx * dx;
    yy += dy * dy;
  }
  if (xx === 0 || yy === 0) return null;
  // A line that explains less than half of what is seen is none.
  return (xy * xy) / (xx * yy) < 0.5 ? null : xy / xx;
}

const [HEIGHT, LEFT, BASE] = [176, 60, 150];
export function Durations({ runs, usual, limit }: { runs: Run[]; usual: number | null; limit: number | null }): JSX.Element {
  const points = pointsOf(runs);
  const trend = trendOf(points);
  const draw = useCallback((width: number) => durationShapes(points, usual, limit, trend, width), [runs, usual, limit, zone.value]);
  const grows = trend === null || usual === null || Math.abs(trend) < usual / 1000 ? "" : trend > 0 ? `, growing by ${duration(trend * 1000)} a day` : `, shrinking by ${duration(-trend * 1000)} a day`;
  return (
    <Panel title="How long it takes" more={usual !== null ? <span class="soft">usually <b class="num">{duration(usual * 1000)}</b>{grows}</span> : null}>
      {points.length === 0 ? <p class="note">Nobody knows yet.</p> : <Canvas draw={draw} label={`Durations of the last ${points.length} runs${usual === null ? "" : `, usually ${duration(usual * 1000)}`}${grows}`} />}
    </Panel>
  );
}

export function durationShapes(points: Point[], usual: number | null, limit: number | null, trend: number | null, width: number): { shapes: Shape[]; spots: Spot[]; height: number } {
  const shapes: Shape[] = [];
  const spots: Spot[] = [];
  const right = width - 14;
  const most = Math.max(0.001, usual ?? 0, ...points.map((point) => point.took));
  const top = limit && limit < most * 3 ? Math.max(limit * 1.1, most) : most < 1 ? most * 1.2 : roundUp(most);
  const x = (i: number): number => LEFT + 6 + (points.length < 2 ? 0.5 : i / (points.length - 1)) * (right - LEFT - 12);
  const y = (s: number): number => BASE - (s / top) * (BASE - 16);
  for (const part of [0, 0.5, 1]) {
    const at = Math.round(y(top * part)) + 0.5;
    shapes.push({ kind: "line", x1: LEFT, y1: at, x2: right, y2: at, stroke: "hair" });
    shapes.push({ kind: "text", x: LEFT - 8, y: at + 4, text: part === 0 ? "0" : duration(top * part * 1000), fill: "faint", align: "right", most: LEFT - 10 });
  }
  if (limit && limit <= top) {
    shapes.push({ kind: "line", x1: LEFT, y1: y(limit), x2: right, y2: y(limit), stroke: "fail", dash: true });
    shapes.push({ kind: "text", x: right, y: y(limit) - 5, text: `ended after ${duration(limit * 1000)}`, fill: "fail", align: "right" });
  }
  points.forEach((point, i) => {
    if (point.mark === "ok") shapes.push({ kind: "circle", x: x(i), y: y(point.took), r: 2.6, fill: "ok" });
    else shapes.push({ kind: "glyph", x: x(i), y: y(point.took), mark: point.mark });
    spots.push({ x: x(i) - 4, y: y(point.took) - 5, w: 8, h: 10, lines: () => [moment(point.at), `${MARK_WORDS[point.mark]}, took ${duration(point.took * 1000)}`] });
  });
  const first = points[0];
  const last = points[points.length - 1];
  if (first && last && trend !== null && last.at > first.at) {
    const good = points.filter((point) => point.mark === "ok");
    const mean = good.reduce((sum, point) => sum + point.took, 0) / good.length;
    const middle = good.reduce((sum, point) => sum + point.at, 0) / good.length;
    const line = (t: number): number => Math.max(0, mean + (trend * (t - middle)) / 86_400_000);
    shapes.push({ kind: "line", x1: x(0), y1: y(line(first.at)), x2: x(points.length - 1), y2: y(line(last.at)), stroke: "after", width: 1.4 });
  } else if (usual !== null) {
    shapes.push({ kind: "line", x1: LEFT, y1: y(usual), x2: right, y2: y(usual), stroke: "after", opacity: 0.7, width: 1.4 });
  }
  if (points.length > 1) {
    shapes.push({ kind: "text", x: LEFT, y: HEIGHT - 8, text: moment(first!.at), fill: "faint" });
    shapes.push({ kind: "text", x: right, y: HEIGHT - 8, text: moment(last!.at), fill: "faint", align: "right" });
  }
  return { shapes, spots, height: HEIGHT };
}

// ---- A year: a square for each day (UTC), in the colour of the worst that happened on it.
const DAY = 86_400_000;
const WEEKS = 53;
const WORST: [string, Mark][] = [["x", "fail"], ["t", "fail"], ["?", "unknown"], ["m", "miss"], ["n", "none"], ["s", "skip"], ["o", "over"], ["+", "ok"], ["r", "run"]];
export function worstOf(counts: Record<string, number>): Mark | null {
  return WORST.find(([letter]) => (counts[letter] ?? 0) > 0)?.[1] ?? null;
}

export function Year({ days }: { days: JobDays | null }): JSX.Element | null {
  const draw = useCallback((width: number) => yearShapes(days, width, now()), [days]);
  if (!days || days.days.length === 0) return null;
  const totals = new Map<Mark, number>();
  for (const day of days.days) for (const [letter, mark] of WORST) totals.set(mark, (totals.get(mark) ?? 0) + (day.counts[letter] ?? 0));
  const told = [...totals].filter(([mark, count]) => count > 0 && mark !== "run");
  const words = told.map(([mark, count]) => `${count.toLocaleString("en-US")} ${MARK_WORDS[mark]}`);
  return (
    <Panel title="A year" class="gap" more={<span class="faint hide">a day's worst counts · days of UTC</span>}>
      <div class="facts">{told.map(([mark, count]) => <span><Glyph mark={mark} label="" /> {count.toLocaleString("en-US")} {MARK_WORDS[mark]}</span>)}</div>
      <Canvas draw={draw} label={`A year by days: ${words.join(", ")}`} />
    </Panel>
  );
}

const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
export function yearShapes(days: JobDays | null, width: number, at: number): { shapes: Shape[]; spots: Spot[]; height: number } {
  const shapes: Shape[] = [];
  const spots: Spot[] = [];
  const left = 44;
  const cell = Math.max(4, Math.min(18, (width - left - 14) / WEEKS));
  const weeks = Math.min(WEEKS, Math.floor((width - left - 14) / cell));
  const top = 20;
  const known = new Map((days?.days ?? []).map((day) => [day.day, day]));
  const today = Math.floor(at / DAY) * DAY;
  // Monday first.
  const monday = today - ((new Date(today).getUTCDay() + 6) % 7) * DAY;
  let month = -1;
  for (let week = 0; week < weeks; ++week) {
    const first = monday - (weeks - 1 - week) * 7 * DAY;
    const x = left + week * cell;
    if (new Date(first).getUTCMonth() !== month) {
      month = new Date(first).getUTCMonth();
      if (week > 0 && week < weeks - 1) shapes.push({ kind: "text", x, y: 12, text: MONTHS[month]!, fill: "faint" });
    }
    for (let row = 0; row < 7; ++row) {
      const t = first + row * DAY;
      if (t > today) break;
      const key = new Date(t).toISOString().slice(0, 10);
      const day = known.get(key);
      const mark = day ? worstOf(day.counts) : null;
      const fill = mark === null ? "hair" : mark === "unknown" ? "fail" : mark;
      const gap = Math.min(2, cell / 6);
      shapes.push({ kind: "rect", x, y: top + row * cell, w: cell - gap, h: cell - gap, r: 2.5, fill, ...(mark === "ok" ? { opacity: 0.75 } : {}) });
      // Shape and colour together.
      if (mark && mark !== "ok" && mark !== "over" && mark !== "run" && cell >= 10) shapes.push({ kind: "circle", x: x + (cell - gap) / 2, y: top + row * cell + (cell - gap) / 2, r: 2, fill: "panel" });
      if (day) spots.push({ x, y: top + row * cell, w: cell, h: cell, lines: () => [key, ...WORST.filter(([letter]) => (day.counts[letter] ?? 0) > 0).map(([letter, what]) => `${day.counts[letter]} ${MARK_WORDS[what]}`), ...(day.runs > 0 ? [`${counted(day.runs, "run")}, at most ${duration(day.maxSeconds * 1000)}`] : [])] });
    }
  }
  ["Mon", "", "Wed", "", "Fri"].forEach((text, row) => text && shapes.push({ kind: "text", x: 14, y: top + row * cell + cell * 0.7, text, fill: "faint" }));
  return { shapes, spots, height: top + 7 * cell + 8 };
}
