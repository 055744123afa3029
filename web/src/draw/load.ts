// Starts per step, as written against as spread, on the axis of the lanes above.
import { clock } from "../time";
import { roundDown, type Scale } from "./scale";
import type { Shape } from "./shapes";

export const LOAD_HEIGHT = 104;

export interface Starts {
  from: number;
  until: number;
  before: number[]; // as written
  after: number[]; // as spread
  actual: number[]; // as they were; shorter, or empty, where nothing is known
}

// `peakWords`: what is said about the highest step as it is written.
export function load({ from, until, before, after, actual }: Starts, scale: Scale, now: number, spread: number, height = LOAD_HEIGHT, peakWords = "were they not spread"): Shape[] {
  const shapes: Shape[] = [];
  const base = height - 14;
  const steps = Math.max(before.length, after.length, 1);
  const peak = Math.max(1, ...before, ...after, ...actual);
  const y = (value: number): number => base - Math.sqrt(Math.max(0, value) / peak) * (base - 18);
  const x = (i: number): number => scale.x(from + ((until - from) * i) / steps);
  for (const value of [...new Set([roundDown(peak / 20), roundDown(peak / 4), roundDown(peak)])].filter((each, i, all) => i === 0 || y(all[i - 1]!) - y(each) > 12)) {
    shapes.push({ kind: "line", x1: scale.left, y1: Math.round(y(value)) + 0.5, x2: scale.right, y2: Math.round(y(value)) + 0.5, stroke: "hair" });
    shapes.push({ kind: "text", x: scale.left - 8, y: y(value) + 4, text: value.toLocaleString("en-US"), fill: "faint", align: "right" });
  }
  const bars: Shape[] = [];
  for (let i = 0; i < steps; ++i) {
    const left = x(i);
    const past = left < scale.x(now);
    const value = past && actual.length > 0 ? (actual[i] ?? 0) : (after[i] ?? 0) * spread + (before[i] ?? 0) * (1 - spread);
    if (value <= 0) continue;
    bars.push({ kind: "rect", x: left, y: y(value), w: Math.max(1, x(i + 1) - left - 0.6), h: base - y(value), fill: past ? "ok" : "after", ...(past ? { opacity: 0.6 } : {}) });
  }
  shapes.push(...bars);
  if (spread > 0) {
    let points: [number, number][] = [];
    const flush = (): void => {
      if (points.length > 0) shapes.push({ kind: "path", points, stroke: "before", width: 1.1, opacity: 0.9 });
      points = [];
    };
    for (let i = 0; i < steps; ++i) {
      const value = before[i] ?? 0;
      if (value <= (after[i] ?? 0) || x(i + 1) < scale.left) {
        flush();
        continue;
      }
      if (points.length === 0) points.push([x(i), base]);
      points.push([x(i), y(value)], [x(i + 1), y(value)], [x(i + 1), base]);
    }
    flush();
    const most = Math.max(...before, 0);
    const ahead = before.findIndex((value, i) => value >= most * 0.9 && x(i) >= scale.x(now));
    const at = ahead >= 0 ? ahead : before.indexOf(most);
    if (at >= 0 && (before[at] ?? 0) > 2 * Math.max(1, ...after)) {
      const right = x(at + 1) + 6;
      const flips = right > scale.right - 190;
      shapes.push({ kind: "text", x: flips ? x(at) - 6 : right, y: 11, text: `${before[at]!.toLocaleString("en-US")} at ${clock(from + ((until - from) * at) / steps)}, ${peakWords}`, fill: "before", align: flips ? "right" : "left" });
    }
  }
  shapes.push({ kind: "line", x1: scale.left, y1: base + 0.5, x2: scale.right, y2: base + 0.5, stroke: "line" });
  const mark = Math.round(scale.x(now)) + 0.5;
  if (mark > scale.left && mark < scale.right) shapes.push({ kind: "line", x1: mark, y1: 4, x2: mark, y2: base, stroke: "ink", width: 1.2 });
  return shapes;
}
