// krond's API through `kron web`: one way to ask, with the session of this browser.
import { signal } from "@preact/signals";
import type { Problem } from "./api_types";
import { now } from "./time";

export interface Session {
  role: "read" | "operate" | "admin";
  host: string;
  version: string;
  token?: string; // the session, if the page is to keep it
  csrf?: string; // if it is in a cookie
}
export type Login = "unknown" | "in" | "out";
export const login = signal<Login>("unknown");
export const session = signal<Session | null>(null);
// Since when krond does not answer, on its own clock; null: it does.
export const awaySince = signal<number | null>(null);

const KEY = "kron.session";
const ASK_TIME = 30_000;

export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly problem: Problem,
  ) {
    super(problem.detail);
  }
  get isAway(): boolean {
    return this.status === 0 || this.status === 504 || (this.status === 503 && this.problem.type.endsWith(":unreachable"));
  }
}

function lost(detail: string): ApiError {
  return new ApiError(0, { type: "about:blank", title: "lost", status: 0, detail });
}

function headers(more: Record<string, string>): Record<string, string> {
  const token = localStorage.getItem(KEY);
  return { ...(token ? { Authorization: `Bearer ${token}` } : { "X-Kron-CSRF": session.value?.csrf ?? "" }), ...more };
}

async function problemOf(response: Response): Promise<ApiError> {
  try {
    const problem = (await response.json()) as Problem;
    if (typeof problem.detail === "string") return new ApiError(response.status, problem);
  } catch {
    // Whatever it was, it is no problem document.
  }
  return new ApiError(response.status, {
    type: "about:blank",
    title: response.statusText,
    status: response.status,
    detail: `krond answered ${response.status} ${response.statusText}`,
  });
}

function noteAway(error: ApiError): ApiError {
  if (error.status === 401) loggedOut();
  if (error.isAway) awaySince.value ??= now();
  return error;
}

// The answer, its body unread. Throws an ApiError for anything but a success.
export async function open(path: string, options: { method?: string; body?: unknown; headers?: Record<string, string>; signal?: AbortSignal } = {}): Promise<Response> {
  const sent = headers(options.headers ?? {});
  if (options.body !== undefined) sent["Content-Type"] = "application/json";
  let response: Response;
  try {
    response = await fetch(path.startsWith("/") ? path : `/api/v1/${path}`, {
      method: options.method ?? "GET",
      headers: sent,
      body: options.body === undefined ? null : JSON.stringify(options.body),
      cache: "no-store",
      ...(options.signal ? { signal: options.signal } : {}),
    });
  } catch (error) {
    if (error instanceof DOMException && error.name === "AbortError") throw error;
    throw noteAway(lost("kron web does not answer"));
  }
  if (!response.ok) throw noteAway(await problemOf(response));
  return response;
}

export async function get<T>(path: string, signal?: AbortSignal): Promise<T> {
  const late = AbortSignal.timeout(ASK_TIME);
  const response = await open(path, { signal: signal ? AbortSignal.any([signal, late]) : late }).catch((error: unknown) => {
    if (late.aborted) throw noteAway(lost("krond takes too long to answer"));
    throw error;
  });
  const value = (await response.json()) as T;
  awaySince.value = null;
  return value;
}

export async function post<T>(path: string, body?: unknown, more: Record<string, string> = {}): Promise<T> {
  const response = await open(path, { method: "POST", headers: more, ...(body === undefined ? {} : { body }) });
  const text = await response.text();
  return (text === "" ? {} : JSON.parse(text)) as T;
}

// A request that starts something: its key makes repeating it harmless, so a lost answer is asked for again.
export async function postOnce<T>(path: string, body?: unknown): Promise<T> {
  const key = Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
  for (let tries = 0; ; ++tries) {
    try {
      return await post<T>(path, body, { "Idempotency-Key": key });
    } catch (error) {
      if (!(error instanceof ApiError) || !error.isAway || tries === 5) throw error;
      await new Promise((resolve) => setTimeout(resolve, 500 * (tries + 1)));
    }
  }
}

function loggedOut(): void {
  localStorage.removeItem(KEY);
  session.value = null;
  login.value = "out";
}

// Over https the session is a cookie, which no script sees; else the page keeps it, for its other tabs too.
function loggedIn(answer: Session): void {
  if (answer.token) localStorage.setItem(KEY, answer.token);
  session.value = answer;
  login.value = "in";
}

// Trades a token, or a one-time code, for a session.
export async function trade(secret: string): Promise<boolean> {
  try {
    loggedIn(await post<Session>("session", { [secret.startsWith("kron_") ? "token" : "code"]: secret }));
    return true;
  } catch {
    return false;
  }
}

export async function resume(): Promise<void> {
  const found = /^#code=([0-9a-f]+)$/.exec(location.hash);
  if (found) {
    // Gone from the address before anything else happens: it is good once, but nobody needs to see it.
    history.replaceState(null, "", location.pathname + "#/");
    dispatchEvent(new HashChangeEvent("hashchange"));
    if (await trade(found[1]!)) return;
  }
  try {
    loggedIn(await get<Session>("session"));
  } catch (error) {
    if (!(error instanceof ApiError && error.status === 401)) setTimeout(() => void resume(), 2000);
  }
}

export async function logOut(): Promise<void> {
  await open("session", { method: "DELETE" }).catch(() => undefined);
  loggedOut();
}
// A session that is asked for lives on. Whoever does not look at the page for long is logged out.
setInterval(() => {
  if (login.value === "in" && !document.hidden) void resume();
}, 3_600_000);
addEventListener("storage", (event) => {
  if (event.key === KEY) void (event.newValue ? resume() : loggedOut());
});

export const may = (role: "operate" | "admin"): boolean => {
  const mine = session.value?.role ?? "read";
  return mine === "admin" || mine === role;
};
