// What happens in krond, as it happens. One stream per browser, not per tab: a browser has six connections for a host.
// The tab that holds a lock reads the stream and tells the others; a hidden tab holds none.
import { signal } from "@preact/signals";
import { ApiError, awaySince, get, login, open } from "./api";
import type { Status } from "./api_types";
import { now, setNow } from "./time";

export interface LiveEvent {
  event: string;
  identity?: string;
  runId?: string;
  [key: string]: unknown;
}
type Told = { kind: "event"; event: LiveEvent } | { kind: "status"; status: Status } | { kind: "again" } | { kind: "beat" };

export const status = signal<Status | null>(null);
// Grows when everything is to be asked for again: after a gap, a reload of jobs, or krond's absence.
export const epoch = signal(0);
const listeners = new Set<(event: LiveEvent) => void>();

const STATUS_EVERY = 3000;
const STATUS_PAUSE = 1000; // between two that events ask for
const SILENT = 6000; // krond says something every three seconds
const LOCK = "kron.events";
const channel = new BroadcastChannel("kron");

export function onEvent(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const AGAIN = new Set(["gap", "jobs_loaded", "reloaded", "jobs_reloaded", "krond_started", "ready"]);

// When krond was heard last, by this tab or by the one that reads the stream.
let heard = performance.now();

function take(told: Told): void {
  heard = performance.now();
  if (told.kind === "beat") {
    awaySince.value = null;
  } else if (told.kind === "status") {
    const before = status.value;
    setNow(told.status.now);
    status.value = told.status;
    awaySince.value = null;
    if (before && before.pid !== told.status.pid) ++epoch.value;
  } else if (told.kind === "again" || AGAIN.has(told.event.event)) {
    ++epoch.value;
  } else {
    for (const listener of listeners) listener(told.event);
  }
}
function tell(told: Told): void {
  channel.postMessage(told);
  take(told);
}
channel.onmessage = (message: MessageEvent<Told>) => take(message.data);

async function askStatus(): Promise<void> {
  tell({ kind: "status", status: await get<Status>("status") });
}

// Reads server-sent events from a body until it ends.
async function read(body: ReadableStream<Uint8Array>, onPiece: () => void, onData: (id: string, data: string) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
    onPiece();
    for (let end = rest.indexOf("\n\n"); end >= 0; end = rest.indexOf("\n\n")) {
      let id = "";
      let data = "";
      for (const line of rest.slice(0, end).split("\n")) {
        if (line.startsWith("id:")) id = line.slice(3).trim();
        if (line.startsWith("data:")) data += line.slice(5).trim();
      }
      rest = rest.slice(end + 2);
      if (data !== "") onData(id, data);
    }
  }
}

let last = "";
let streaming: AbortController | null = null;
async function follow(signal: AbortSignal): Promise<void> {
  let wasAway = false;
  while (!signal.aborted) {
    streaming = new AbortController();
    try {
      const response = await open("events?fields=brief", { signal: AbortSignal.any([signal, streaming.signal]), headers: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) } });
      // What happened between the first answers and this stream was told to nobody.
      const isNew = last === "";
      last ||= response.headers.get("Last-Event-ID") ?? "";
      if (wasAway) await askStatus();
      if (wasAway || isNew) tell({ kind: "again" });
      wasAway = false;
      await read(response.body!, () => tell({ kind: "beat" }), (id, data) => {
        if (id) last = id;
        try {
          tell({ kind: "event", event: JSON.parse(data) as LiveEvent });
          statusSoon();
        } catch {
          // No event of ours.
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return;
      awaySince.value ??= now();
    }
    wasAway = true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

let asking = 0;
function statusSoon(): void {
  asking ||= window.setTimeout(() => {
    void askStatus()
      .catch(() => undefined)
      .finally(() => (asking = 0));
  }, STATUS_PAUSE);
}

// The stream says when something happens; what it does not say is asked for now and then.
async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, STATUS_EVERY));
    if (!signal.aborted) await askStatus().catch(() => undefined);
  }
}

// Silence is absence: what is shown is not what is, and says so.
function listen(): void {
  if (!holding || performance.now() - heard < SILENT) return;
  awaySince.value ??= now() - (performance.now() - heard);
  streaming?.abort();
}

let holding: AbortController | null = null;
function update(): void {
  const wanted = login.value === "in" && document.visibilityState === "visible";
  if (wanted && !holding) {
    const mine = new AbortController();
    holding = mine;
    heard = performance.now();
    void first().then(() => {
      if (mine.signal.aborted) return;
      heard = performance.now();
      void askStatus().catch(() => undefined);
      void navigator.locks
        .request(LOCK, { signal: mine.signal }, () => Promise.all([follow(mine.signal), watch(mine.signal)]))
        .catch(() => undefined);
    });
  } else if (!wanted && holding) {
    holding.abort();
    holding = null;
  }
}

let first = (): Promise<unknown> => Promise.resolve();
const PATIENCE = 3000;

// `before`: what is asked for before all this, because people wait for it.
export function startLive(before: () => Promise<void>): void {
  first = () => Promise.race([before(), new Promise((resolve) => setTimeout(resolve, PATIENCE))]);
  setInterval(listen, 1000);
  login.subscribe(update);
  document.addEventListener("visibilitychange", () => {
    const isBack = document.visibilityState === "visible" && !holding;
    update();
    // What it missed while it was hidden.
    if (isBack) ++epoch.value;
  });
}
