// What happens in krond, as it happens. One stream per browser, not per tab: a browser has six connections for a host.
// The tab that holds a lock reads the stream and tells the others; a hidden tab holds none.
import { signal } from "@preact/signals";
import { ApiError, awaySince, get, login, open } from "./api";
import type { Status } from "./api_types";
import { setNow } from "./time";

export interface LiveEvent {
  event: string;
  identity?: string;
  runId?: string;
  [key: string]: unknown;
}
type Told = { kind: "event"; event: LiveEvent } | { kind: "status"; status: Status } | { kind: "again" };

export const status = signal<Status | null>(null);
// Grows when everything is to be asked for again: after a gap, a reload of jobs, or krond's absence.
export const epoch = signal(0);
const listeners = new Set<(event: LiveEvent) => void>();

const STATUS_EVERY = 4000;
const LOCK = "kron.events";
const channel = new BroadcastChannel("kron");

export function onEvent(listener: (event: LiveEvent) => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

const AGAIN = new Set(["gap", "jobs_loaded", "reloaded", "jobs_reloaded", "krond_started", "ready"]);

function take(told: Told): void {
  if (told.kind === "status") {
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
async function read(body: ReadableStream<Uint8Array>, onData: (id: string, data: string) => void): Promise<void> {
  const reader = body.pipeThrough(new TextDecoderStream() as unknown as ReadableWritablePair<string, Uint8Array>).getReader();
  let rest = "";
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    rest += value;
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
async function follow(signal: AbortSignal): Promise<void> {
  let wasAway = false;
  while (!signal.aborted) {
    try {
      const response = await open("events", { signal, headers: { Accept: "text/event-stream", ...(last ? { "Last-Event-ID": last } : {}) } });
      last ||= response.headers.get("Last-Event-ID") ?? "";
      if (wasAway) {
        await askStatus();
        tell({ kind: "again" });
      }
      wasAway = false;
      await read(response.body!, (id, data) => {
        if (id) last = id;
        try {
          tell({ kind: "event", event: JSON.parse(data) as LiveEvent });
        } catch {
          // No event of ours.
        }
      });
    } catch (error) {
      if (signal.aborted) return;
      if (error instanceof ApiError && error.status === 401) return;
      awaySince.value ??= Date.now();
    }
    wasAway = true;
    await new Promise((resolve) => setTimeout(resolve, 1000));
  }
}

// The stream says when something happens; that krond is still there is asked.
async function watch(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    await new Promise((resolve) => setTimeout(resolve, STATUS_EVERY));
    if (!signal.aborted) await askStatus().catch(() => undefined);
  }
}

let holding: AbortController | null = null;
function update(): void {
  const wanted = login.value === "in" && document.visibilityState === "visible";
  if (wanted && !holding) {
    const mine = new AbortController();
    holding = mine;
    void askStatus().catch(() => undefined);
    void navigator.locks
      .request(LOCK, { signal: mine.signal }, () => Promise.all([follow(mine.signal), watch(mine.signal)]))
      .catch(() => undefined);
  } else if (!wanted && holding) {
    holding.abort();
    holding = null;
  }
}

export function startLive(): void {
  login.subscribe(update);
  document.addEventListener("visibilitychange", () => {
    const isBack = document.visibilityState === "visible" && !holding;
    update();
    // What it missed while it was hidden.
    if (isBack) ++epoch.value;
  });
}
