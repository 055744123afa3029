// Time from left to right.
import { clock, day, isMidnight } from "../time";

export class Scale {
  constructor(
    readonly from: number,
    readonly until: number,
    readonly left: number,
    readonly right: number,
  ) {}
  x(t: number): number {
    return this.left + ((t - this.from) / (this.until - this.from)) * (this.right - this.left);
  }
  t(x: number): number {
    return this.from + ((x - this.left) / (this.right - this.left)) * (this.until - this.from);
  }
}

const MINUTE = 60_000;
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 10080].map((minutes) => minutes * MINUTE);

export interface Tick {
  t: number;
  label: string;
  isDay: boolean;
}
// Round times, far enough apart to be labelled.
export function ticks(scale: Scale, apart = 68): Tick[] {
  const wanted = ((scale.until - scale.from) / (scale.right - scale.left)) * apart;
  const step = STEPS.find((candidate) => candidate >= wanted) ?? STEPS[STEPS.length - 1]!;
  const found: Tick[] = [];
  // Quarter hours are round in every zone; of larger steps, those whose label is.
  const stride = Math.min(step, 15 * MINUTE);
  for (let t = Math.ceil(scale.from / stride) * stride; t <= scale.until; t += stride) {
    const label = clock(t);
    const minutes = Number(label.slice(0, 2)) * 60 + Number(label.slice(3));
    if (minutes % Math.min(step / MINUTE, 1440) !== 0) continue;
    const isDay = isMidnight(t);
    if (step >= 1440 * MINUTE && !isDay) continue;
    // An hour that comes twice is labelled twice only where there is room for it.
    const last = found[found.length - 1];
    if (last && scale.x(t) - scale.x(last.t) < apart * 0.6) continue;
    found.push({ t, label: isDay ? day(t) : label, isDay });
  }
  return found;
}

// The next round number: 1, 2, 5, 10 …
export function roundUp(value: number): number {
  if (value <= 1) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [1, 2, 5, 10].map((factor) => factor * ten).find((candidate) => candidate >= value)!;
}

// The last round number that is not above it, down to 1.
export function roundDown(value: number): number {
  if (value <= 1) return 1;
  const ten = 10 ** Math.floor(Math.log10(value));
  return [5, 2, 1].map((factor) => factor * ten).find((candidate) => candidate <= value)!;
}
