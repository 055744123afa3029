// Small things that views are made of.
import { signal } from "@preact/signals";
import type { ComponentChildren, JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { MARK_WORDS, type Mark } from "./data";
import { paint } from "./draw/paint";
import type { Shape, Spot } from "./draw/shapes";
import { plain } from "./text";
import { moment, relative, utc, zone } from "./time";

const SHAPES: Record<string, JSX.Element> = {
  ok: <rect x="4" y="4" width="6" height="6" rx="1" fill="var(--ok)" />,
  fail: <path d="M3.5 3.5l7 7m0-7l-7 7" stroke="var(--fail)" stroke-width="2" stroke-linecap="round" />,
  skip: <path d="M2.5 7h9" stroke="var(--skip)" stroke-width="2.4" stroke-linecap="round" />,
  miss: <path d="M7 2.5L11.5 7 7 11.5 2.5 7z" fill="none" stroke="var(--miss)" stroke-width="1.6" />,
  none: <path d="M4 10l6-6M7 2.6a4.4 4.4 0 100 8.8 4.4 4.4 0 000-8.8" fill="none" stroke="var(--none)" stroke-width="1.6" />,
  over: <path d="M3 7h.01M7 7h.01M11 7h.01" stroke="var(--over)" stroke-width="2" stroke-linecap="round" />,
  run: <path d="M4 3l7 4-7 4z" fill="var(--run)" />,
  unknown: <circle cx="7" cy="7" r="3.8" fill="none" stroke="var(--fail)" stroke-width="1.5" />,
  next: <circle cx="7" cy="7" r="3.2" fill="none" stroke="var(--after)" stroke-width="1.8" />,
  pause: <path d="M5 3.5v7M9 3.5v7" stroke="var(--over)" stroke-width="2" stroke-linecap="round" />,
};
export function Glyph({ mark, label }: { mark: Mark | "next" | "pause"; label?: string }): JSX.Element {
  const words = label ?? (mark in MARK_WORDS ? MARK_WORDS[mark as Mark] : undefined);
  return (
    <svg class="glyph" viewBox="0 0 14 14" {...(words ? { role: "img", "aria-label": words } : { "aria-hidden": "true" })}>
      {SHAPES[mark]}
    </svg>
  );
}

export function Time({ at, ago }: { at: string | number | null | undefined; ago?: boolean }): JSX.Element | null {
  if (at === null || at === undefined) return null;
  const t = typeof at === "number" ? at : Date.parse(at);
  if (zone.value === "utc" || ago) void tickSecond.value;
  return (
    <time dateTime={utc(t)} title={utc(t)}>
      {ago ? relative(t) : moment(t)}
    </time>
  );
}

// Grows once a second, while the page is seen.
export const tickSecond = signal(0);
setInterval(() => {
  if (document.visibilityState === "visible") ++tickSecond.value;
}, 1000);

export function Name({ of }: { of: string }): JSX.Element {
  return (
    <a class="name" href={`#/jobs/${encodeURIComponent(of)}`}>
      <bdi>{plain(of)}</bdi>
    </a>
  );
}

export function Panel({ title, more, children, label, class: extra }: { title?: ComponentChildren; more?: ComponentChildren; children?: ComponentChildren; label?: string; class?: string }): JSX.Element {
  return (
    <section class={`panel ${extra ?? ""}`} aria-label={label ?? (typeof title === "string" ? title : undefined)}>
      {(title || more) && (
        <div class="head">
          {typeof title === "string" ? <h2>{title}</h2> : title}
          <span class="grow" />
          {more}
        </div>
      )}
      {children}
    </section>
  );
}

export function Segments<T extends string>({ label, value, options, onChange }: { label: string; value: T; options: [T, string][]; onChange: (value: T) => void }): JSX.Element {
  return (
    <span class="seg" role="group" aria-label={label}>
      {options.map(([key, text]) => (
        <button key={key} type="button" aria-pressed={key === value} onClick={() => onChange(key)}>
          {text}
        </button>
      ))}
    </span>
  );
}

// A drawing. `draw` makes the shapes for a width; its spots are pointed at by the mouse and by arrow keys, and told by a
// sentence that screen readers get.
export function Canvas({ draw, label, onKey }: { draw: (width: number) => { shapes: Shape[]; spots?: Spot[]; height: number }; label: string; onKey?: (key: string) => boolean }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  const [spot, setSpot] = useState<Spot | null>(null);
  const spots = useRef<Spot[]>([]);
  const [height, setHeight] = useState(60);
  useEffect(() => {
    const look = (): void => setWidth(box.current?.clientWidth ?? 0);
    const observer = new ResizeObserver(look);
    observer.observe(box.current!);
    look();
    return () => observer.disconnect();
  }, []);
  const [theme, setTheme] = useState(0);
  useEffect(() => {
    const changed = (): void => setTheme((n) => n + 1);
    addEventListener("kron-theme", changed);
    return () => removeEventListener("kron-theme", changed);
  }, []);
  useEffect(() => {
    if (width === 0) return;
    const drawn = draw(width);
    spots.current = drawn.spots ?? [];
    setHeight(drawn.height);
    paint(canvas.current!, width, drawn.height, drawn.shapes);
  }, [draw, width, height, theme]);
  // What was drawn last is on top.
  const find = (x: number, y: number): Spot | null => spots.current.findLast((s) => x >= s.x && x <= s.x + s.w && y >= s.y && y <= s.y + s.h) ?? null;
  const keyed = (event: KeyboardEvent): void => {
    if (onKey?.(event.key)) return event.preventDefault();
    const all = spots.current;
    if (event.key === "Enter" && spot?.href) location.hash = spot.href.slice(1);
    const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
    if (step === 0 || all.length === 0) return;
    event.preventDefault();
    const at = spot ? all.indexOf(spot) : -1;
    setSpot(all[(at + step + all.length) % all.length] ?? null);
  };
  const told = spot?.lines() ?? [];
  const left = spot ? Math.min(Math.max(8, spot.x + Math.min(spot.w, 40) / 2), Math.max(8, width - 270)) : 0;
  return (
    <div class="drawing" ref={box}>
      <canvas
        ref={canvas}
        style={{ height: `${height}px` }}
        role="img"
        aria-label={label}
        tabIndex={0}
        onMouseMove={(event) => setSpot(find(event.offsetX, event.offsetY))}
        onMouseLeave={() => setSpot(null)}
        onBlur={() => setSpot(null)}
        onClick={() => spot?.href && (location.hash = spot.href.slice(1))}
        onKeyDown={keyed}
        class={spot?.href ? "points" : ""}
      />
      <div class="sr" aria-live="polite">
        {told.join(", ")}
      </div>
      {spot && told.length > 1 && (
        <div class="tip" style={{ left: `${left}px`, top: `${spot.y + spot.h + 6}px` }}>
          <b>{told[0]}</b>
          {told.slice(1).map((line) => (
            <div>{line}</div>
          ))}
        </div>
      )}
    </div>
  );
}

// ---- Said at the edge of the page, and gone after a while.
interface Toast {
  id: number;
  text: string;
  bad: boolean;
}
export const toasts = signal<Toast[]>([]);
let toastId = 0;
export function say(text: string, bad = false): void {
  const id = ++toastId;
  toasts.value = [...toasts.value.slice(-3), { id, text, bad }];
  setTimeout(() => (toasts.value = toasts.value.filter((toast) => toast.id !== id)), bad ? 12_000 : 5000);
}
export async function attempt(what: () => Promise<string>): Promise<void> {
  try {
    const done = await what();
    if (done) say(done);
    dispatchEvent(new Event("kron-changed"));
  } catch (error) {
    say((error as Error).message, true);
  }
}
export function Toasts(): JSX.Element {
  return (
    <div class="toasts" role="status" aria-live="polite">
      {toasts.value.map((toast) => (
        <div key={toast.id} class={toast.bad ? "bad" : ""}>
          {plain(toast.text)}
        </div>
      ))}
    </div>
  );
}

// ---- A question before something is changed.
export interface Question {
  title: string;
  text: ComponentChildren;
  yes: string;
  danger?: boolean;
  typed?: string; // what must be typed first
  extra?: ComponentChildren;
  act: () => Promise<string>;
}
export const question = signal<Question | null>(null);
export function Ask(): JSX.Element | null {
  const asked = question.value;
  const dialog = useRef<HTMLDialogElement>(null);
  const [typed, setTyped] = useState("");
  useEffect(() => {
    setTyped("");
    if (asked) dialog.current?.showModal();
  }, [asked]);
  if (!asked) return null;
  // The end of one dialog may be told when the next is there already.
  const close = (): void => {
    if (question.value === asked) question.value = null;
  };
  return (
    <dialog key={asked} ref={dialog} onClose={close} aria-labelledby="ask-title">
      <h2 id="ask-title">{asked.title}</h2>
      <div class="body">{asked.text}</div>
      {asked.extra}
      {asked.typed !== undefined && (
        <label class="field">
          Type <b>{plain(asked.typed)}</b> to go on
          <input value={typed} onInput={(event) => setTyped(event.currentTarget.value)} />
        </label>
      )}
      <div class="buttons">
        <button type="button" autofocus onClick={close}>
          Cancel
        </button>
        <button
          type="button"
          class={asked.danger ? "danger" : "main"}
          disabled={asked.typed !== undefined && typed !== asked.typed}
          onClick={() => {
            close();
            void attempt(asked.act);
          }}
        >
          {asked.yes}
        </button>
      </div>
    </dialog>
  );
}
