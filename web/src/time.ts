// Times as people read them. Everything is drawn in UTC and labelled in the chosen zone.
import { signal } from "@preact/signals";

// "job": the zone of the job that is looked at.
export type Zone = "local" | "utc" | "job";
const kept = typeof localStorage === "undefined" ? null : localStorage.getItem("kron.zone");
export const zone = signal<Zone>(kept === "utc" || kept === "job" ? kept : "local");
export const jobZone = signal("");

export function chooseZone(next: Zone): void {
  zone.value = next;
  localStorage.setItem("kron.zone", next);
}

// To ask for it takes longer than to write a time.
const ownZone = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "UTC";
// The zones to choose from: a name that says nothing new is left out.
export function zones(): Zone[] {
  const other = jobZone.value;
  return other === "" || other === "UTC" || other === ownZone ? ["local", "utc"] : ["local", "job", "utc"];
}
export function nextZone(): void {
  const all = zones();
  chooseZone(all[(all.indexOf(zone.value) + 1) % all.length]!);
}
// The short name of a zone: Paris of Europe/Paris.
export function zoneName(of: Zone = zone.value): string {
  const name = nameOf(of);
  return name.split("/").pop()!.replaceAll("_", " ");
}
function nameOf(of: Zone): string {
  return of === "utc" ? "UTC" : of === "job" && zones().includes("job") ? jobZone.value : ownZone;
}

// krond's clock: what it said last, carried on by this machine's monotonic one. The browser's own clock may be minutes off.
let offset = 0;
export function setNow(text: string): void {
  const said = Date.parse(text);
  // krond says whole seconds: what it said may be up to one second old.
  const mine = performance.timeOrigin + performance.now();
  const next = said - mine;
  if (offset === 0 || next > offset || offset - next > 1500) offset = next;
}
export function now(): number {
  return performance.timeOrigin + performance.now() + offset;
}

const formats = new Map<string, Intl.DateTimeFormat>();
function format(options: Intl.DateTimeFormatOptions, at: Zone): Intl.DateTimeFormat {
  const timeZone = nameOf(at);
  const key = JSON.stringify(options) + timeZone;
  let found = formats.get(key);
  if (!found) {
    try {
      found = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, timeZone });
    } catch {
      // A zone that this browser does not know.
      found = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, timeZone: "UTC", timeZoneName: "short" });
    }
    formats.set(key, found);
  }
  return found;
}

const TWO = "2-digit";
export const clock = (t: number, at: Zone = zone.value): string => format({ hour: TWO, minute: TWO }, at).format(t);
export const seconds = (t: number, at: Zone = zone.value): string =>
  format({ hour: TWO, minute: TWO, second: TWO }, at).format(t);
export const day = (t: number, at: Zone = zone.value): string =>
  format({ weekday: "short", day: "numeric", month: "short" }, at).format(t).replace(",", "");
const dayKey = (t: number, at: Zone): string => format({ year: "numeric", month: TWO, day: TWO }, at).format(t);

// 21:37:03 today, Tue 17 Nov 02:48:06 otherwise.
export function moment(t: number, at: Zone = zone.value): string {
  if (dayKey(t, at) === dayKey(now(), at)) return seconds(t, at);
  const isFar = Math.abs(t - now()) > 300 * 86_400_000;
  return `${day(t, at)}${isFar ? ` ${dayKey(t, at).slice(-4)}` : ""} ${seconds(t, at)}`;
}
export const isMidnight = (t: number, at: Zone = zone.value): boolean => clock(t, at) === "00:00";
export const utc = (t: number): string => new Date(t).toISOString().replace(".000Z", "Z");

// Minutes by which the zone is ahead of UTC.
export function offsetOf(t: number, at: Zone = zone.value): number {
  const text = format({ timeZoneName: "longOffset" }, at).formatToParts(t).find((part) => part.type === "timeZoneName")?.value ?? "";
  const found = /([+-])(\d\d):(\d\d)/.exec(text);
  return found ? (found[1] === "-" ? -1 : 1) * (Number(found[2]) * 60 + Number(found[3])) : 0;
}
// +01:00
export function offsetText(t: number, at: Zone = zone.value): string {
  const minutes = offsetOf(t, at);
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${minutes < 0 ? "−" : "+"}${two(Math.floor(Math.abs(minutes) / 60))}:${two(Math.abs(minutes) % 60)}`;
}

export interface ClockChange {
  t: number; // the instant
  by: number; // minutes; forward: above zero
}
// When the clocks of the zone change, to the minute. Two changes within `step` that undo each other are not seen.
export function clockChanges(from: number, until: number, at: Zone = zone.value, step = 6 * 3_600_000): ClockChange[] {
  const found: ClockChange[] = [];
  for (let low = from; low < until; low += step) {
    let [a, b] = [low, Math.min(until, low + step)];
    const before = offsetOf(a, at);
    const by = offsetOf(b, at) - before;
    if (by === 0) continue;
    while (b - a > 60_000) {
      const middle = Math.floor((a + b) / 120_000) * 60_000;
      if (middle <= a) break;
      if (offsetOf(middle, at) === before) a = middle;
      else b = middle;
    }
    found.push({ t: Math.floor(b / 60_000) * 60_000, by });
  }
  return found;
}

// 43 s, 5 min 12 s, 3 h 5 min, 4 d 2 h.
export function duration(milliseconds: number): string {
  const all = Math.max(0, Math.round(milliseconds / 1000));
  if (milliseconds > 0 && milliseconds < 1000) return `${Math.round(milliseconds)} ms`;
  const [d, h, m, s] = [Math.floor(all / 86400), Math.floor(all / 3600) % 24, Math.floor(all / 60) % 60, all % 60];
  if (d > 0) return h > 0 && d < 10 ? `${d} d ${h} h` : `${d} d`;
  if (h > 0) return m > 0 ? `${h} h ${m} min` : `${h} h`;
  if (m > 0) return s > 0 && m < 10 ? `${m} min ${s} s` : `${m} min`;
  return `${s} s`;
}
export function relative(t: number, from: number = now()): string {
  const left = t - from;
  if (Math.abs(left) < 1000) return "now";
  return left > 0 ? `in ${duration(left)}` : `${duration(-left)} ago`;
}
// 0:00:41, as a run counts.
export function counter(milliseconds: number): string {
  const all = Math.max(0, Math.floor(milliseconds / 1000));
  const two = (n: number): string => String(n).padStart(2, "0");
  return `${Math.floor(all / 3600)}:${two(Math.floor(all / 60) % 60)}:${two(all % 60)}`;
}
export function bytes(count: number): string {
  let unit = 0;
  for (; count >= 1000 && unit < 4; unit++) count /= 1000;
  return `${count.toFixed(unit > 0 && count < 10 ? 1 : 0)} ${" KMGT"[unit]!.trim()}B`;
}
