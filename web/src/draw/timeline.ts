// The lanes of a day: what ran, and the windows of what will, with the second that was chosen.
import type { Lane } from "../ahead";
import { plain } from "../text";
import { clock, duration, moment, relative, seconds } from "../time";
import { type Scale, ticks } from "./scale";
import type { Shape, Spot } from "./shapes";

export const LANE = 23;
export const TOP = 30;
const MOST_ROWS = 3;

export interface Drawn {
  shapes: Shape[];
  spots: Spot[];
  height: number;
}

// `spread`: 1 shows what was chosen, 0 what was written; between them, marks are on their way.
export function timeline(lanes: Lane[], scale: Scale, from: number, now: number, labels: number, spread: number): Drawn {
  const shapes: Shape[] = [];
  const spots: Spot[] = [];
  const heights = lanes.map((lane) => (lane.density ? LANE * 1.6 : LANE));
  const height = TOP + heights.reduce((sum, part) => sum + part, 0) + 4;
  for (const tick of ticks(scale)) {
    const x = Math.round(scale.x(tick.t)) + 0.5;
    shapes.push({ kind: "line", x1: x, y1: TOP - 6, x2: x, y2: height, stroke: tick.isDay ? "line" : "hair" });
    if (Math.abs(scale.x(now) - x) > 46) shapes.push({ kind: "text", x, y: 16, text: tick.label, fill: tick.isDay ? "ink" : "faint", align: "center", weight: tick.isDay ? 550 : 400 });
  }
  let y = TOP;
  lanes.forEach((lane, row) => {
    const tall = heights[row]!;
    const middle = y + tall / 2;
    if (row > 0) shapes.push({ kind: "line", x1: 14, y1: Math.round(y) + 0.5, x2: scale.right, y2: Math.round(y) + 0.5, stroke: "hair" });
    const needs = lane.mark === "fail" || lane.mark === "miss" || lane.mark === "none" || lane.mark === "skip" || lane.mark === "unknown";
    if (needs) shapes.push({ kind: "glyph", x: 20, y: middle, mark: lane.mark! });
    const many = lane.jobs > 1 ? ` × ${lane.jobs}` : "";
    shapes.push({ kind: "text", x: needs ? 30 : 14, y: middle + 4, text: plain(lane.name) + many, fill: "ink", size: 12, most: labels - (needs ? 40 : 24) });
    spots.push({ x: 0, y, w: labels, h: tall, lines: [lane.name], href: `#/jobs${lane.jobs > 1 ? `?q=${encodeURIComponent(lane.name.replaceAll("*", ""))}` : `/${encodeURIComponent(lane.name)}`}` });
    drawLane(lane, scale, from, now, y, tall, spread, shapes, spots);
    y += tall;
  });
  const x = Math.round(scale.x(now)) + 0.5;
  if (x > scale.left && x < scale.right) {
    shapes.push({ kind: "line", x1: x, y1: 22, x2: x, y2: height, stroke: "ink", width: 1.2 });
    shapes.push({ kind: "rect", x: x - 20, y: 3, w: 40, h: 18, r: 9, fill: "ink" });
    shapes.push({ kind: "text", x, y: 16, text: clock(now), fill: "panel", align: "center", weight: 600 });
  }
  return { shapes, spots, height };
}

function drawLane(lane: Lane, scale: Scale, from: number, now: number, y: number, tall: number, spread: number, shapes: Shape[], spots: Spot[]): void {
  const at = (s: number): number => scale.x(from + s * 1000);
  const name = plain(lane.name);
  const middle = y + tall / 2;
  for (const [start, end] of lane.windows ?? []) {
    shapes.push({ kind: "rect", x: at(start), y: y + 3, w: Math.max(2, at(end) - at(start)), h: tall - 6, r: 6, fill: "win", stroke: "win-edge" });
  }
  if (lane.density) drawDensity(lane.density, scale, now, y, tall, shapes);
  const rows = rowsOf(lane.periods ?? []);
  for (const [i, [nominal, start, end, chosen]] of (lane.periods ?? []).entries()) {
    const row = rows.of[i]!;
    const h = (tall - 8) / rows.count;
    const top = y + 4 + row * h;
    const left = at(start);
    const wide = at(end) - left;
    if (wide > 3) shapes.push({ kind: "rect", x: left, y: top, w: wide, h: h - (rows.count > 1 ? 1 : 0), r: 7, fill: "win", stroke: "win-edge" });
    if (chosen === null) {
      shapes.push({ kind: "glyph", x: left + wide / 2, y: top + h / 2, mark: "none" });
      spots.push({ x: left, y, w: Math.max(wide, 8), h: tall, lines: [name, "no time in its window is allowed", `period ${moment(from + nominal * 1000)}`], href: `#/jobs/${encodeURIComponent(lane.name)}` });
      continue;
    }
    const t = from + chosen * 1000;
    const x = at(nominal + (chosen - nominal) * spread);
    if (lane.usual && lane.usual > 0 && at(lane.usual) - at(0) > 6) {
      shapes.push({ kind: "rect", x: at(chosen), y: middle - 4, w: at(lane.usual) - at(0), h: 8, r: 3, stroke: "after", dash: true, opacity: 0.6 });
    }
    if (at(nominal) < x - 4) shapes.push({ kind: "circle", x: at(nominal), y: top + h / 2, r: 2.3, fill: "before" });
    shapes.push({ kind: "rect", x: x - 1.3, y: top, w: 2.6, h, r: 1.2, fill: "after" });
    const window = end > start ? [`window ${clock(from + start * 1000)}–${clock(from + end * 1000)}`] : [];
    spots.push({ x: Math.min(left, x - 4), y, w: Math.max(wide, 8), h: tall, lines: [name, `${seconds(t)}, ${relative(t, now)}`, ...window, ...(lane.usual ? [`usually ${duration(lane.usual * 1000)}`] : [])], href: `#/jobs/${encodeURIComponent(lane.name)}` });
  }
  for (const [, start, end, mark, runId] of lane.runs ?? []) {
    const left = at(start);
    const t = from + start * 1000;
    const isRun = mark === "ok" || mark === "+" || mark === "run" || mark === "r";
    const active = mark === "run" || mark === "r";
    const right = end === null ? (active ? scale.x(now) : left) : at(end);
    if (isRun || right - left > 4) {
      const fill = active ? "run" : isRun ? "ok" : mark === "fail" || mark === "x" || mark === "t" ? "fail" : "over";
      shapes.push({ kind: "rect", x: left, y: middle - 3.5, w: Math.max(2.5, right - left), h: 7, r: 2, fill });
    }
    const glyph = GLYPHS[mark];
    if (glyph) shapes.push({ kind: "glyph", x: left, y: middle, mark: glyph });
    const took = end === null ? [] : [`took ${duration((end - start) * 1000)}`];
    spots.push({ x: left - 5, y, w: Math.max(10, right - left + 5), h: tall, lines: [name, `${WORDS[mark] ?? mark} ${moment(t)}`, ...took], href: runId ? `#/runs/${runId}` : `#/jobs/${encodeURIComponent(lane.name)}` });
  }
}

const GLYPHS: Record<string, string> = { fail: "fail", x: "fail", t: "fail", skip: "skip", s: "skip", miss: "miss", m: "miss", none: "none", n: "none", over: "over", o: "over", unknown: "unknown", "?": "unknown" };
const WORDS: Record<string, string> = { ok: "succeeded", "+": "succeeded", fail: "failed", x: "failed", t: "timed out", skip: "skipped", s: "skipped", miss: "missed", m: "missed", none: "no time", n: "no time", over: "passed over", o: "passed over", unknown: "ended, nobody knows how", "?": "ended, nobody knows how", run: "runs since", r: "runs since" };

// Windows that overlap go below each other, three at most.
function rowsOf(periods: [number, number, number, number | null][]): { of: number[]; count: number } {
  const ends: number[] = [];
  const of = periods.map(([, start, end]) => {
    let row = ends.findIndex((last) => last <= start);
    if (row < 0) row = ends.length < MOST_ROWS ? ends.length : ends.indexOf(Math.min(...ends));
    ends[row] = end;
    return row;
  });
  return { of, count: Math.max(1, ends.length) };
}

function drawDensity(density: [number, number][], scale: Scale, now: number, y: number, tall: number, shapes: Shape[]): void {
  const columns = 288;
  const most = Math.max(1, ...density.map(([, starts]) => starts));
  const wide = (scale.right - scale.left) / columns;
  for (const [column, starts] of density) {
    const x = scale.left + column * wide;
    const h = Math.max(3, Math.sqrt(starts / most) * (tall - 8));
    shapes.push({ kind: "rect", x, y: y + tall - 4 - h, w: Math.max(1.5, wide - 0.7), h, r: 1, fill: scale.t(x) < now ? "ok" : "after", opacity: 0.85 });
  }
}
