// The lanes of a day: what ran, and the windows of what will, with the second that was chosen.
import type { Lane } from "../api_types";
import { plain } from "../text";
import { clock, clockChanges, duration, moment, relative, seconds, utc } from "../time";
import { type Scale, ticks } from "./scale";
import type { Shape, Spot } from "./shapes";

export const LANE = 23;
export const TOP = 30;
const MOST_ROWS = 3;
const PAST = 0.3; // how much is left to see of what was due

export interface Drawn {
  shapes: Shape[];
  spots: Spot[];
  height: number;
}

export interface Lanes {
  from: number;
  until: number;
  columns: number; // of the density
  lanes: Lane[];
}

// `spread`: 1 shows what was chosen, 0 what was written; between them, marks are on their way.
export function timeline(picture: Lanes, scale: Scale, now: number, labels: number, spread: number): Drawn {
  const { lanes } = picture;
  const shapes: Shape[] = [];
  const spots: Spot[] = [];
  const heights = lanes.map((lane) => (lane.jobs > 1 && lane.density ? LANE * 2 : LANE));
  const height = TOP + heights.reduce((sum, part) => sum + part, 0) + 4;
  for (const tick of ticks(scale)) {
    const x = Math.round(scale.x(tick.t)) + 0.5;
    shapes.push({ kind: "line", x1: x, y1: TOP - 6, x2: x, y2: height, stroke: tick.isDay ? "line" : "hair" });
    if (Math.abs(scale.x(now) - x) > 46 && x < scale.right - 16) shapes.push({ kind: "text", x, y: 16, text: tick.label, fill: tick.isDay ? "ink" : "faint", align: "center", weight: tick.isDay ? 550 : 400 });
  }
  shapes.push(...clockMarks(scale, height));
  let y = TOP;
  lanes.forEach((lane, row) => {
    const tall = heights[row]!;
    const middle = y + tall / 2;
    if (row > 0) shapes.push({ kind: "line", x1: 14, y1: Math.round(y) + 0.5, x2: scale.right, y2: Math.round(y) + 0.5, stroke: "hair" });
    const mark = lane.mark ? GLYPHS[lane.mark] : undefined;
    if (mark) shapes.push({ kind: "glyph", x: 20, y: middle, mark });
    const many = lane.jobs > 1 ? ` × ${lane.jobs.toLocaleString("en-US")}` : "";
    shapes.push({ kind: "text", x: mark ? 30 : 14, y: middle + 4, text: plain(lane.name) + many, fill: "ink", size: 12, most: labels - (mark ? 40 : 24) });
    spots.push({ x: 0, y, w: labels, h: tall, lines: () => [plain(lane.name) + many], href: hrefOf(lane) });
    drawLane({ lane, picture, scale, now, y, tall, spread, shapes, spots });
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

function hrefOf(lane: Lane): string {
  return `#/jobs${lane.jobs > 1 ? `?q=${encodeURIComponent(lane.name)}` : `/${encodeURIComponent(lane.name)}`}`;
}

interface Place {
  lane: Lane;
  picture: Lanes;
  scale: Scale;
  now: number;
  y: number;
  tall: number;
  spread: number;
  shapes: Shape[];
  spots: Spot[];
}

function drawLane(place: Place): void {
  const { lane, picture, scale, y, tall, shapes } = place;
  const at = (s: number): number => scale.x(picture.from + s * 1000);
  for (const [start, end] of lane.windows ?? []) {
    const left = Math.max(scale.left, at(start));
    const right = Math.min(scale.right, at(end));
    if (right > left) shapes.push({ kind: "rect", x: left, y: y + 3, w: Math.max(2, right - left), h: tall - 6, r: 6, fill: "win", stroke: "win-edge" });
  }
  drawDensity(place);
  drawPeriods(place);
  drawRuns(place);
}

function drawPeriods({ lane, picture: { from }, scale, now, y, tall, spread, shapes, spots }: Place): void {
  const at = (s: number): number => scale.x(from + s * 1000);
  const middle = y + tall / 2;
  const periods = lane.periods ?? [];
  const rows = rowsOf(periods);
  const overlaps = overlapsOf(lane, (now - from) / 1000);
  const href = hrefOf(lane);
  const name = plain(lane.name);
  const cut = (x: number): number => Math.min(Math.max(x, scale.left), scale.right);
  periods.forEach(([nominal, start, end, chosen], i) => {
    const h = (tall - 8) / rows.count;
    const top = y + 4 + rows.of[i]! * h;
    const left = cut(at(start));
    const wide = cut(at(end)) - left;
    if (wide > 3) shapes.push({ kind: "rect", x: left, y: top, w: wide, h: h - (rows.count > 1 ? 1 : 0), r: 7, fill: "win", stroke: "win-edge" });
    if (chosen === null) {
      shapes.push({ kind: "glyph", x: left + wide / 2, y: top + h / 2, mark: "none" });
      spots.push({ x: left, y, w: Math.max(wide, 8), h: tall, lines: () => [name, "no time in its window is allowed", `period ${moment(from + nominal * 1000)}`], href });
      return;
    }
    const t = from + chosen * 1000;
    const x = at(nominal + (chosen - nominal) * spread);
    if (x < scale.left - 1 || x > scale.right + 1) return;
    // What became of it is told by its run.
    if (t < now) {
      shapes.push({ kind: "rect", x: x - 1, y: top, w: 2, h, r: 1, fill: "after", opacity: PAST });
      return;
    }
    if (lane.usual && at(lane.usual) - at(0) > 6) {
      shapes.push({ kind: "rect", x, y: middle - 4, w: cut(x + at(lane.usual) - at(0)) - x, h: 8, r: 3, stroke: "after", dash: true, opacity: 0.6 });
    }
    if (at(nominal) >= scale.left && Math.abs(at(nominal) - x) > 4) shapes.push({ kind: "circle", x: at(nominal), y: top + h / 2, r: 2.3, fill: "before" });
    shapes.push({ kind: "rect", x: x - 1.3, y: top, w: 2.6, h, r: 1.2, fill: "after" });
    if (overlaps.has(i)) shapes.push({ kind: "glyph", x: x + 8, y: middle, mark: "over" });
    const window = end > start ? [`window ${clock(from + start * 1000)}–${clock(from + end * 1000)}`] : [];
    const told = (): string[] => [name, `${seconds(t)}, ${relative(t, now)}`, utc(t), ...window, ...(lane.usual ? [`usually ${duration(lane.usual * 1000)}`] : []), ...(overlaps.has(i) ? ["overlaps the run before, if that takes as long as usual"] : [])];
    spots.push({ x: Math.min(left, x - 4), y, w: Math.max(wide, 8), h: tall, lines: told, href });
  });
}

// The periods that come before the end of the one before them, if that takes as long as usual.
export function overlapsOf(lane: Lane, now: number): Set<number> {
  const found = new Set<number>();
  if (!lane.usual) return found;
  const active = (lane.runs ?? []).filter(([, , end, mark]) => end === null && mark === "run").map(([, start]) => start + lane.usual!);
  let busyUntil = Math.max(-Infinity, ...active);
  (lane.periods ?? []).forEach(([, , , chosen], i) => {
    if (chosen === null || chosen < now) return;
    if (chosen < busyUntil) found.add(i);
    else busyUntil = chosen + lane.usual!;
  });
  return found;
}

function drawRuns({ lane, picture: { from }, scale, now, y, tall, shapes, spots }: Place): void {
  const at = (s: number): number => scale.x(from + s * 1000);
  const middle = y + tall / 2;
  const name = plain(lane.name);
  for (const [, start, end, mark, runId] of lane.runs ?? []) {
    const left = Math.max(scale.left, at(start));
    const t = from + start * 1000;
    const active = mark === "run";
    const right = Math.min(scale.right, end === null ? (active ? scale.x(now) : left) : at(end));
    if (right < scale.left || left > scale.right) continue;
    const ran = active || mark === "ok";
    if (ran || right - left > 4) {
      const fill = active ? "run" : ran ? "ok" : mark === "fail" ? "fail" : "over";
      shapes.push({ kind: "rect", x: left, y: middle - 3.5, w: Math.max(2.5, right - left), h: 7, r: 2, fill });
    }
    const glyph = GLYPHS[mark];
    if (glyph) shapes.push({ kind: "glyph", x: left, y: middle, mark: glyph });
    const took = end === null ? [] : [`took ${duration((end - start) * 1000)}`];
    spots.push({ x: left - 5, y, w: Math.max(10, right - left + 5), h: tall, lines: () => [name, `${MARK_NAMES[mark] ?? mark} ${moment(t)}`, utc(t), ...took], href: runId ? `#/runs/${runId}` : hrefOf(lane) });
  }
}

const GLYPHS: Record<string, string> = { fail: "fail", skip: "skip", miss: "miss", none: "none", over: "over", unknown: "unknown" };
export const MARK_NAMES: Record<string, string> = { ok: "succeeded", fail: "failed", skip: "skipped", miss: "missed", none: "no time", over: "passed over", unknown: "ended, nobody knows how", run: "running since" };

// Where the clocks change: the hour that comes twice is shaded, one that is missing has no width and is a line.
function clockMarks(scale: Scale, height: number): Shape[] {
  return clockChanges(scale.from, scale.until).flatMap(({ t, by }): Shape[] => {
    const length = Math.abs(by) * 60_000;
    const x = scale.x(t);
    const hour = by > 0 ? `${clock(t - 60_000).slice(0, 2)}:59 → ${clock(t)}` : `${clock(t)} again`;
    const band: Shape = by > 0
      ? { kind: "line", x1: Math.round(x) + 0.5, y1: TOP - 8, x2: Math.round(x) + 0.5, y2: height, stroke: "skip", dash: true }
      : { kind: "rect", x, y: TOP - 8, w: Math.max(2, scale.x(t + length) - x), h: height - TOP + 8, fill: "skip-soft" };
    const flips = x > scale.right - 110;
    return [band, { kind: "text", x: flips ? x - 4 : x + 4, y: TOP - 1, text: hour, fill: "skip", size: 10, align: flips ? "right" : "left" }];
  });
}

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

const MOST_MARKS = 4000; // of one lane that are drawn one by one

// Many starts: each is a mark as long as they can be told apart, else a bar per column.
function drawDensity({ lane, picture, scale, now, y, tall, spread, shapes, spots }: Place): void {
  const density = lane.density;
  if (!density || density.length === 0) return;
  const seconds = (picture.until - picture.from) / 1000 / picture.columns;
  const most = Math.max(...density.map(([, starts]) => starts));
  const all = density.reduce((sum, [, starts]) => sum + starts, 0);
  const wide = (scale.right - scale.left) / picture.columns;
  const room = tall - 10;
  const single = lane.jobs > 1 && wide >= 2 && most * 2.2 <= room * 4 && all <= MOST_MARKS;
  for (const [column, starts] of density) {
    const t = column * seconds;
    const window = lane.windows?.find(([from, to]) => t + seconds > from && t < to);
    const written = window ? window[0] : t;
    const x = scale.x(picture.from + (written + (t - written) * spread) * 1000);
    if (x < scale.left - wide || x > scale.right) continue;
    const opacity = picture.from + t * 1000 < now ? PAST : 0.85;
    if (single) {
      for (let i = 0; i < starts; ++i) {
        const at = scatter(column, i);
        shapes.push({ kind: "rect", x: x + scatter(i, column) * Math.max(0, wide - 2) * spread, y: y + 5 + at * (room - 5), w: 2, h: 5, r: 1, fill: "after", opacity });
      }
    } else {
      const h = Math.max(3, Math.sqrt(starts / most) * room);
      shapes.push({ kind: "rect", x, y: y + tall - 5 - h, w: Math.max(1.5, wide - 0.7), h, r: 1, fill: "after", opacity });
    }
    spots.push({ x, y, w: Math.max(4, wide), h: tall, lines: () => [plain(lane.name), `${starts.toLocaleString("en-US")} ${starts === 1 ? "start" : "starts"} from ${moment(picture.from + t * 1000)}`, ...(window ? [`window ${clock(picture.from + window[0] * 1000)}–${clock(picture.from + window[1] * 1000)}`] : [])], href: hrefOf(lane) });
  }
}
// The same place every time, and none that looks like a pattern.
function scatter(a: number, b: number): number {
  const mixed = Math.imul(a + 1, 0x9e3779b1) ^ Math.imul(b + 7, 0x85ebca6b);
  return ((Math.imul(mixed ^ (mixed >>> 15), 0x2c1b3c6d) >>> 8) & 0xffff) / 0x10000;
}
