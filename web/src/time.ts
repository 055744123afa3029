// Times as people read them. Everything is drawn in UTC and labelled in the chosen zone.
import { signal } from "@preact/signals";

export type Zone = "local" | "utc";
const kept = typeof localStorage === "undefined" ? null : localStorage.getItem("kron.zone");
export const zone = signal<Zone>(kept === "utc" ? "utc" : "local");

export function chooseZone(next: Zone): void {
  zone.value = next;
  localStorage.setItem("kron.zone", next);
}

// The short name of the browser's own zone: Paris of Europe/Paris.
export function localName(): string {
  const name = Intl.DateTimeFormat().resolvedOptions().timeZone ?? "local";
  return name.split("/").pop()!.replaceAll("_", " ");
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
  const key = JSON.stringify(options) + at;
  let found = formats.get(key);
  if (!found) {
    found = new Intl.DateTimeFormat("en-GB", { hourCycle: "h23", ...options, ...(at === "utc" ? { timeZone: "UTC" } : {}) });
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
  return dayKey(t, at) === dayKey(now(), at) ? seconds(t, at) : `${day(t, at)} ${seconds(t, at)}`;
}
export const isMidnight = (t: number, at: Zone = zone.value): boolean => clock(t, at) === "00:00";
export const utc = (t: number): string => new Date(t).toISOString().replace(".000Z", "Z");

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
  if (count < 1000) return `${count} B`;
  for (const [unit, size] of [["KB", 1e3], ["MB", 1e6], ["GB", 1e9]] as const) {
    if (count < size * 1000) return `${(count / size).toFixed(count < size * 10 ? 1 : 0)} ${unit}`;
  }
  return `${Math.round(count / 1e12)} TB`;
}
