// The page that `kron simulate --format html` writes: the load of many jobs, drawn as on the page of `kron web`, out of
// the document that stands in it. Nothing is fetched.
import { load } from "./draw/load";
import { paint } from "./draw/paint";
import { Scale, ticks } from "./draw/scale";
import type { Shape } from "./draw/shapes";
import { plain } from "./text";
import { moment, utc, zone, zoneName } from "./time";

interface Side {
  total: number;
  peak: number;
  p50: number;
  p95: number;
  p99: number;
  starts: number[];
  hotSpots: { time: string; starts: number; jobs: number; causes: { job: string; starts: number }[] }[];
}
interface Profile {
  from: string;
  until: string;
  stepSeconds: number;
  steps: number;
  jobs: number;
  suspendedJobs?: number;
  rebootJobs?: number;
  before: Side;
  after: Side;
  unschedulable: { periods: number; jobs: { job: string; periods: number; first: string[] }[] };
}
const at = <T extends HTMLElement>(id: string): T => document.getElementById(id) as T;
const profile = JSON.parse(at("profile").textContent!) as Profile;
const origin = Date.parse(profile.from);
const stepMillis = profile.stepSeconds * 1000;
const sides: ["before" | "after", Side][] = [["before", profile.before], ["after", profile.after]];
zone.value = "utc";

function add(parent: HTMLElement, tag: string, text = "", name = ""): HTMLElement {
  const made = document.createElement(tag);
  made.textContent = plain(text);
  made.className = name;
  return parent.appendChild(made);
}

function describe(): void {
  const silent = (profile.suspendedJobs ? `, ${profile.suspendedJobs} suspended` : "") + (profile.rebootJobs ? `, ${profile.rebootJobs} at boot` : "");
  at("about").textContent = `${profile.jobs} jobs${silent}; ${profile.from} to ${profile.until}, ${profile.steps} steps of ${profile.stepSeconds} s`;
  const table = at("numbers");
  const head = add(table, "tr");
  for (const name of ["", "starts", "peak", "p99", "p95", "p50"]) add(head, "th", name, "number");
  for (const [name, side] of sides) {
    const row = add(table, "tr");
    add(row, "th", name, name);
    for (const value of [side.total, side.peak, side.p99, side.p95, side.p50]) add(row, "td", value.toLocaleString("en-US"), "number");
  }
}

function list(): void {
  const lists = at("lists");
  for (const [name, side] of sides) {
    if (side.hotSpots.length === 0) continue;
    add(lists, "h2", `Hot spots ${name} spreading`, name);
    const table = add(lists, "table");
    for (const spot of side.hotSpots) {
      const row = add(table, "tr");
      add(row, "td", spot.time);
      add(row, "td", spot.starts.toLocaleString("en-US"), "number");
      const more = spot.jobs - spot.causes.length;
      add(row, "td", spot.causes.map((cause) => cause.job + (cause.starts > 1 ? ` ×${cause.starts}` : "")).join(", ") + (more > 0 ? ` and ${more} more` : ""));
    }
  }
  if (profile.unschedulable.periods === 0) return;
  add(lists, "h2", `Unschedulable periods: ${profile.unschedulable.periods}`);
  const table = add(lists, "table");
  for (const lost of profile.unschedulable.jobs) {
    const row = add(table, "tr");
    add(row, "td", lost.job);
    add(row, "td", String(lost.periods), "number");
    add(row, "td", lost.first.join(" ") + (lost.periods > lost.first.length ? " …" : ""));
  }
}

// ---- The chart: of the steps in view, a column for each few pixels, which shows the busiest of its steps.
const canvas = at<HTMLCanvasElement>("chart");
const tip = at("tip");
const HEIGHT = 320;
const [LEFT, RIGHT] = [56, 12];
const FEWEST = 4; // steps in view
let view = { first: 0, count: profile.steps };
let spread = 1;

function look(first: number, count: number): void {
  const wide = Math.min(profile.steps, Math.max(Math.min(FEWEST, profile.steps), count));
  view = { first: Math.min(Math.max(0, first), profile.steps - wide), count: wide };
  draw();
}
const plotWidth = (): number => Math.max(1, canvas.clientWidth - LEFT - RIGHT);
const columnCount = (): number => Math.min(Math.ceil(view.count), Math.max(1, Math.floor(plotWidth() / 2)));
function stepsOf(column: number): [number, number] {
  const first = Math.floor(view.first + (column * view.count) / columnCount());
  const last = Math.floor(view.first + ((column + 1) * view.count) / columnCount());
  return [Math.min(first, profile.steps - 1), Math.min(Math.max(last, first + 1), profile.steps)];
}
function busiest(starts: number[], [first, last]: [number, number]): number {
  let most = 0;
  for (let step = first; step < last; ++step) most = Math.max(most, starts[step] ?? 0);
  return most;
}

function draw(): void {
  const columns = columnCount();
  const [from, until] = [origin + view.first * stepMillis, origin + (view.first + view.count) * stepMillis];
  const scale = new Scale(from, until, LEFT, canvas.clientWidth - RIGHT);
  const of = (side: Side): number[] => Array.from({ length: columns }, (_, column) => busiest(side.starts, stepsOf(column)));
  const shapes: Shape[] = load({ from, until, before: of(profile.before), after: of(profile.after), actual: [] }, scale, -Infinity, spread, HEIGHT);
  for (const tick of ticks(scale, 90)) {
    shapes.push({ kind: "line", x1: scale.x(tick.t), y1: HEIGHT - 14, x2: scale.x(tick.t), y2: HEIGHT - 9, stroke: "line" });
    shapes.push({ kind: "text", x: scale.x(tick.t), y: HEIGHT + 6, text: tick.label, fill: "faint", align: "center", weight: tick.isDay ? 600 : 400 });
  }
  paint(canvas, canvas.clientWidth, HEIGHT + 20, shapes);
}

let moving = 0;
function toggle(): void {
  cancelAnimationFrame(moving);
  const [from, to, begun] = [spread, spread > 0.5 ? 0 : 1, performance.now()];
  at("spread").setAttribute("aria-pressed", String(to === 0));
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const step = (t: number): void => {
    const part = still ? 1 : Math.min(1, Math.max(0, t - begun) / 400);
    spread = from + (to - from) * part * (2 - part);
    draw();
    if (part < 1) moving = requestAnimationFrame(step);
  };
  moving = requestAnimationFrame(step);
}

function point(event: PointerEvent | WheelEvent): void {
  const x = event.clientX - canvas.getBoundingClientRect().left - LEFT;
  tip.hidden = x < 0 || x >= plotWidth();
  if (tip.hidden) return;
  const [first, last] = stepsOf(Math.floor((x / plotWidth()) * columnCount()));
  const time = origin + first * stepMillis;
  tip.textContent = `${zone.value === "utc" ? utc(time) : moment(time)}${last > first + 1 ? `, ${last - first} steps, at most` : ""}: as written ${busiest(profile.before.starts, [first, last])}, spread ${busiest(profile.after.starts, [first, last])}`;
  const left = x + LEFT + 14;
  tip.style.left = `${left + tip.offsetWidth > canvas.clientWidth ? Math.max(0, left - tip.offsetWidth - 28) : left}px`;
}

function dress(): void {
  document.documentElement.dataset["theme"] = matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
  dispatchEvent(new Event("kron-theme"));
  draw();
}

let grabbed: { x: number; first: number } | null = null;
canvas.addEventListener("wheel", (event) => {
  event.preventDefault();
  const x = event.clientX - canvas.getBoundingClientRect().left - LEFT;
  const step = view.first + (Math.min(Math.max(0, x), plotWidth()) / plotWidth()) * view.count;
  const count = view.count * Math.exp(event.deltaY * 0.0015);
  look(step - ((step - view.first) * count) / view.count, count);
  point(event);
}, { passive: false });
canvas.addEventListener("pointerdown", (event) => {
  canvas.setPointerCapture(event.pointerId);
  grabbed = { x: event.clientX, first: view.first };
});
canvas.addEventListener("pointermove", (event) => {
  if (grabbed) look(grabbed.first - ((event.clientX - grabbed.x) / plotWidth()) * view.count, view.count);
  point(event);
});
for (const name of ["pointerup", "pointercancel"]) canvas.addEventListener(name, () => (grabbed = null));
canvas.addEventListener("pointerleave", () => (tip.hidden = true));
canvas.addEventListener("dblclick", () => look(0, profile.steps));
addEventListener("keydown", (event) => {
  const middle = view.first + view.count / 2;
  if (event.key === "+" || event.key === "=") look(middle - view.count / 4, view.count / 2);
  else if (event.key === "-") look(middle - view.count, view.count * 2);
  else if (event.key === "ArrowLeft") look(view.first - view.count / 8, view.count);
  else if (event.key === "ArrowRight") look(view.first + view.count / 8, view.count);
  else if (event.key === "0") look(0, profile.steps);
  else if (event.key === "b") toggle();
  else return;
  event.preventDefault();
});
at("spread").addEventListener("click", toggle);
at("reset").addEventListener("click", () => look(0, profile.steps));
at("zone").addEventListener("click", () => {
  zone.value = zone.value === "utc" ? "local" : "utc";
  at("zone").textContent = zoneName();
  draw();
});
addEventListener("resize", draw);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", dress);
describe();
list();
dress();
