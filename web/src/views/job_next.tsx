// Why the next second is what it is: the window of a period, how likely each part of it is, what is refused, each draw.
import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { get } from "../api";
import type { Decision, Explanation } from "../api_types";
import { Scale, ticks } from "../draw/scale";
import type { Shape, Spot } from "../draw/shapes";
import { Canvas, Glyph, Panel, say, tickSecond } from "../parts";
import { plain } from "../text";
import { clock, day, duration, moment, relative, seconds, utc, zone } from "../time";

const HEIGHT = 158;
const BASE = 118;
const TOP = 24;

function useExplanation(name: string, periodId: string | undefined): Explanation | null {
  const [told, setTold] = useState<Explanation | null>(null);
  useEffect(() => {
    if (!periodId) return undefined;
    const mine = new AbortController();
    get<Explanation>(`jobs/${encodeURIComponent(name)}/explain?period=${encodeURIComponent(periodId)}`, mine.signal)
      .then(setTold)
      .catch(() => undefined);
    return () => mine.abort();
  }, [name, periodId]);
  return told?.periodId === periodId ? told : null;
}

export function NextPeriod({ decisions, name }: { decisions: Decision[]; name: string }): JSX.Element | null {
  const [at, setAt] = useState(0);
  const decision = decisions[Math.min(at, decisions.length - 1)];
  const told = useExplanation(name, decision?.periodId);
  void tickSecond.value;
  const draw = useCallback((width: number) => explainShapes(decision, told, width), [decision?.periodId, told, zone.value]);
  if (!decision) return null;
  const chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null;
  const isPoint = decision.windowStart === decision.windowEnd && chosen !== null;
  const command = `kron explain ${/^[\w./-]+$/.test(name) ? name : `'${name.replaceAll("'", "'\\''")}'`} --period ${decision.periodId}`;
  const words = chosen === null ? `No time in the window is allowed: ${decision.reason}` : `The window from ${moment(Date.parse(decision.windowStart))} to ${moment(Date.parse(decision.windowEnd))}; ${seconds(chosen)} was chosen, at draw ${decision.attempts}`;
  return (
    <Panel
      title={<><h2 id="explain" tabIndex={-1}>{day(Date.parse(decision.nominalTime))}</h2><span class="num">{chosen === null ? <b class="c-none">no time</b> : <><b class="after">{seconds(chosen)}</b> <span class="faint">{relative(chosen)}</span></>}</span></>}
      label="Next period"
      more={<><span class="soft hide">Why this second?</span><span class="seg" role="group" aria-label="Period"><button type="button" aria-label="Earlier period" disabled={at === 0} onClick={() => setAt(at - 1)}>‹</button><button type="button" aria-label="Later period" disabled={at >= decisions.length - 1} onClick={() => setAt(at + 1)}>›</button></span></>}
    >
      {!isPoint && <Canvas draw={draw} label={words} />}
      <div class="facts soft">
        {isPoint && <span>no window: it runs as written</span>}
        {told && !isPoint && <span><b class="num">{percent(told.allowedShare)}</b> of the window is allowed</span>}
        {told && !isPoint && told.chanceUnschedulable > 1e-6 && <span class="c-none">{oneIn(told.chanceUnschedulable)} finds no time</span>}
        {decision.attempts > 1 && <span><b class="num">{decision.attempts}</b> draws</span>}
        {decision.reason && <span>{plain(decision.reason)}</span>}
        {told?.dstEffect && <span class="c-skip">{dstWords(told.dstEffect)}</span>}
        <span>seed <code>{decision.seedHash.slice(0, 8)}…</code></span>
        <button type="button" class="quiet" onClick={() => void navigator.clipboard.writeText(command).then(() => say("Copied."))}>Copy as kron explain</button>
      </div>
      {told && told.draws.length > 1 && (
        <details class="facts">
          <summary>Every draw</summary>
          <ol class="num">{told.draws.slice(0, 64).map((one) => <li>{moment(Date.parse(one.candidate))} {one.allowed ? "taken" : `refused by ${plain(one.refusedBy)}`}</li>)}</ol>
        </details>
      )}
    </Panel>
  );
}

const percent = (share: number): string => (share > 0 && share < 0.001 ? "less than 0.1 %" : `${+(share * 100).toFixed(share < 0.1 ? 1 : 0)} %`);
function oneIn(chance: number): string {
  if (chance >= 1) return "every period";
  return `1 period in ${Math.max(2, Math.round(1 / chance)).toLocaleString("en-US")}`;
}
function dstWords(effect: NonNullable<Explanation["dstEffect"]>): string {
  if (effect.kind === "moved") return `the clock jumps over ${effect.wallClock}: it is ${moment(Date.parse(effect.first))}`;
  return `${effect.wallClock} comes twice: ${seconds(Date.parse(effect.first))} and ${seconds(Date.parse(effect.second))}`;
}

export function explainShapes(decision: Decision | undefined, told: Explanation | null, width: number): { shapes: Shape[]; spots: Spot[]; height: number } {
  const shapes: Shape[] = [];
  const spots: Spot[] = [];
  if (!decision) return { shapes, spots, height: HEIGHT };
  const start = Date.parse(decision.windowStart);
  const end = Date.parse(decision.windowEnd);
  const scale = new Scale(start, Math.max(end, start + 1000), 20, width - 20);
  shapes.push({ kind: "rect", x: scale.left, y: BASE - 4, w: scale.right - scale.left, h: 4, r: 2, fill: "win" });
  if (told) {
    const most = Math.max(0.0001, ...told.buckets.map((bucket) => bucket.share));
    const wide = (scale.right - scale.left) / told.buckets.length;
    told.buckets.forEach((bucket, i) => {
      const tall = (bucket.share / most) * (BASE - TOP - 22);
      if (tall > 0) shapes.push({ kind: "rect", x: scale.left + i * wide + 0.7, y: BASE - Math.max(2, tall), w: wide - 1.4, h: Math.max(2, tall), r: 1.5, fill: "after", opacity: 0.12 + 0.2 * bucket.allowed });
    });
    for (const [from, until] of refusedSpans(told, start, end)) {
      const [x, w] = [scale.x(from), Math.max(1, scale.x(until) - scale.x(from))];
      shapes.push({ kind: "hatch", x, y: TOP + 8, w, h: BASE - TOP - 8, stroke: "none" });
      if (w > 90) shapes.push({ kind: "text", x: x + w / 2, y: TOP + 22, text: `not ${clock(from)}–${clock(until)}`, fill: "none", align: "center" });
      spots.push({ x, y: TOP, w, h: BASE - TOP, lines: () => ["refused", `${clock(from)}–${clock(until)}`] });
    }
    drawDraws(told, scale, shapes, spots);
  }
  for (const tick of ticks(scale, 80)) {
    const x = scale.x(tick.t);
    shapes.push({ kind: "line", x1: x, y1: BASE, x2: x, y2: BASE + 4, stroke: "line" });
    shapes.push({ kind: "text", x: Math.min(Math.max(x, scale.left + 14), scale.right - 14), y: BASE + 17, text: tick.label, fill: "faint", align: "center" });
  }
  shapes.push({ kind: "line", x1: scale.left, y1: BASE, x2: scale.right, y2: BASE, stroke: "line" });
  const nominal = scale.x(Date.parse(decision.nominalTime));
  if (nominal >= scale.left - 1 && nominal <= scale.right + 1) shapes.push({ kind: "circle", x: nominal, y: BASE, r: 3, fill: "before" });
  if (decision.chosenTime) {
    const t = Date.parse(decision.chosenTime);
    const x = scale.x(t);
    shapes.push({ kind: "rect", x: x - 1.5, y: TOP, w: 3, h: BASE - TOP, r: 1.5, fill: "after" });
    shapes.push({ kind: "circle", x, y: TOP, r: 9, fill: "after" });
    shapes.push({ kind: "text", x, y: TOP + 4, text: String(Math.max(1, decision.attempts)), fill: "panel", align: "center", weight: 650 });
    const flips = x > scale.right - 80;
    shapes.push({ kind: "text", x: flips ? x - 15 : x + 15, y: TOP + 5, text: seconds(t), fill: "ink", align: flips ? "right" : "left", weight: 650, size: 13 });
    spots.push({ x: x - 9, y: TOP - 9, w: 18, h: BASE - TOP + 9, lines: () => [seconds(t), utc(t), `draw ${decision.attempts}`] });
  }
  return { shapes, spots, height: HEIGHT };
}

// What lies between the spans that are allowed.
export function refusedSpans(told: Pick<Explanation, "allowedSpans">, start: number, end: number): [number, number][] {
  const found: [number, number][] = [];
  let at = start;
  for (const span of told.allowedSpans) {
    const from = Date.parse(span.from);
    if (from > at) found.push([at, from]);
    at = Math.max(at, Date.parse(span.to) + 1000);
  }
  if (at < end) found.push([at, end]);
  return found;
}

// The draws that were refused, numbered; the last ones, where there are too many to see.
function drawDraws(told: Explanation, scale: Scale, shapes: Shape[], spots: Spot[]): void {
  told.draws.slice(0, 12).forEach((one, i) => {
    if (one.allowed) return;
    const x = scale.x(Date.parse(one.candidate));
    const y = TOP + 34 + (i % 3) * 16;
    shapes.push({ kind: "line", x1: x, y1: y + 8, x2: x, y2: BASE, stroke: "none", dash: true });
    shapes.push({ kind: "circle", x, y, r: 8, fill: "panel", stroke: "none" });
    shapes.push({ kind: "text", x, y: y + 4, text: String(i + 1), fill: "none", align: "center", size: 10 });
    spots.push({ x: x - 8, y: y - 8, w: 16, h: 16, lines: () => [`draw ${i + 1}: ${seconds(Date.parse(one.candidate))}`, `refused by ${plain(one.refusedBy)}`] });
  });
}

export function Coming({ decisions, isKnown }: { decisions: Decision[]; isKnown: boolean }): JSX.Element {
  const first = decisions[0];
  const length = first ? Date.parse(first.windowEnd) - Date.parse(first.windowStart) : 0;
  return (
    <Panel title="Coming" more={length > 0 ? <span class="soft">windows of {duration(length)}</span> : null}>
      <table>
        <tbody>
          {decisions.slice(0, 10).map((decision) => {
            const start = Date.parse(decision.windowStart);
            const end = Date.parse(decision.windowEnd);
            const chosen = decision.chosenTime ? Date.parse(decision.chosenTime) : null;
            const u = chosen === null || end <= start ? 0 : (chosen - start) / (end - start);
            return (
              <tr>
                <td>{day(chosen ?? start)}</td>
                <td class="num">{chosen === null ? <span class="c-none"><Glyph mark="none" label="" /> no time, known already</span> : <b title={utc(chosen)}>{seconds(chosen)}</b>}</td>
                <td class="wide">{end > start && chosen !== null && <svg class="place" viewBox="0 0 200 14" preserveAspectRatio="none" aria-hidden="true"><rect y="3" width="200" height="8" rx="4" fill="var(--win)" /><rect x={u * 197} width="3" height="14" rx="1.2" fill="var(--after)" /></svg>}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
      {isKnown && decisions.length === 0 && <p class="note">Nothing that a clock foresees.</p>}
    </Panel>
  );
}
