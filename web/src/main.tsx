import { render } from "preact";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { reload } from "./actions";
import { awaySince, login, resume, session } from "./api";
import { Login } from "./login";
import { pictureAsked, startData } from "./data";
import { startLive, status } from "./live";
import { Help, help, palette, Palette } from "./palette";
import { Ask, tickSecond, Toasts } from "./parts";
import { go, route } from "./route";
import { plain } from "./text";
import { nextTheme, theme } from "./theme";
import { chooseZone, now, nextZone, seconds, zone, zoneName, zones } from "./time";
import { Cluster } from "./views/cluster";
import { isTyping, JobView } from "./views/job";
import { Jobs } from "./views/jobs";
import { Overview, toggleSpread } from "./views/overview";
import { Runs } from "./views/runs";
import { RunView } from "./views/run";
import { TaskView, Tasks } from "./views/tasks";
import { Try } from "./views/try";

const VIEWS: [string, string][] = [["", "Overview"], ["jobs", "Jobs"], ["runs", "Runs"], ["tasks", "Tasks"], ["try", "Try"], ["cluster", "Cluster"]];

function Header(): JSX.Element {
  const known = status.value;
  const counts: Record<string, number | undefined> = { jobs: known?.jobs, tasks: known?.tasks ? known.tasks.pending + known.tasks.running : undefined };
  return (
    <header class="top">
      <a class="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("main")?.focus(); }}>To the content</a>
      <a class="logo" href="#/"><svg viewBox="0 0 16 16" aria-hidden="true"><rect y="7" width="16" height="2.5" rx="1.2" fill="var(--after)" opacity=".45" /><rect x="9" y="2.5" width="3" height="11" rx="1.5" fill="var(--after)" /></svg>Kron</a>
      <span class="host">{session.value?.host}</span>
      <nav aria-label="Views">
        {VIEWS.filter(([view]) => view !== "cluster" || known?.cluster).map(([view, name]) => (
          <a href={`#/${view}`} aria-current={route.value.view === view ? "page" : undefined}>{name}{counts[view] ? <span class="count">{counts[view]!.toLocaleString("en-US")}</span> : null}</a>
        ))}
      </nav>
      <span class="grow" />
      <button type="button" class="find" onClick={() => (palette.value = true)}><span>Find a job, run or action</span><kbd>Ctrl K</kbd></button>
      <span class="seg hide" role="group" aria-label="Times">
        {zones().map((which) => (
          <button type="button" aria-pressed={zone.value === which || (which === "local" && !zones().includes(zone.value))} onClick={() => chooseZone(which)}>{zoneName(which)}</button>
        ))}
      </span>
      <button type="button" class="quiet hide" onClick={nextTheme} aria-label={`Colours: ${theme.value}`} title={`Colours: ${theme.value}`}>◐</button>
      <button type="button" class="quiet hide" onClick={() => (help.value = true)} aria-label="Keys">?</button>
      <Live />
    </header>
  );
}

function Live(): JSX.Element {
  void tickSecond.value;
  const away = awaySince.value;
  return away === null ? <span class="live num" title="krond's time"><i />{status.value ? seconds(now()) : "…"}</span> : <span class="live away num"><i />away</span>;
}

const IN_FORCE: Record<string, string> = { none: "no job of it runs", earlier: "its earlier jobs stay in force", rest: "its other jobs run" };
// What is wrong with krond itself, under the header.
function Alarms(): JSX.Element {
  const known = status.value;
  const files = known?.jobFiles;
  return (
    <div role="alert">
      {awaySince.value !== null && <p class="alarm">krond is away since {seconds(awaySince.value)}; trying. What you see is from before.</p>}
      {known && !known.ready && awaySince.value === null && <p class="alarm">krond is not ready{known.stopping ? ": it is stopping" : ""}. Reading works, changing may not.</p>}
      {files?.reloadError && <p class="alarm">{plain(files.reloadError)}</p>}
      {(files?.refused ?? []).slice(0, 3).map((file) => (
        <p class="alarm">
          {plain(`${file.file}${file.line ? `:${file.line}:${file.column}` : ""}: ${file.reason}`)}; {IN_FORCE[file.inForce]}.{" "}
          <button type="button" class="quiet" onClick={reload}>Reload…</button>
        </p>
      ))}
    </div>
  );
}

function View(): JSX.Element {
  const { view, id } = route.value;
  if (view === "jobs") return id ? <JobView key={id} name={id} /> : <Jobs />;
  if (view === "runs") return id ? <RunView key={id} id={id} /> : <Runs />;
  if (view === "tasks") return id ? <TaskView key={id} id={id} /> : <Tasks />;
  if (view === "try") return <Try />;
  if (view === "cluster") return <Cluster />;
  return <Overview />;
}

function App(): JSX.Element {
  const { view, id } = route.value;
  useEffect(() => {
    const name = VIEWS.find(([key]) => key === view)?.[1] ?? "Overview";
    document.title = `${id ? plain(id) : name} · Kron`;
    document.getElementById("main")?.scrollTo(0, 0);
  }, [view, id]);
  if (login.value === "out") return <Login />;
  if (login.value === "unknown") return <p class="note" role="status">{awaySince.value === null ? "" : "kron web does not answer; trying."}</p>;
  return (
    <>
      <Header />
      <main id="main" tabIndex={-1}>
        <Alarms />
        <View />
      </main>
      <Ask />
      <Palette />
      <Help />
      <Toasts />
    </>
  );
}

// The link of the next row, whatever kind of list it is in.
function step(by: number): void {
  const rows = [...document.querySelectorAll<HTMLElement>("main tbody tr, main .list li")].flatMap((row) => row.querySelector<HTMLElement>("a, button") ?? []);
  const at = rows.findIndex((row) => row === document.activeElement);
  const next = rows[at < 0 ? (by > 0 ? 0 : rows.length - 1) : Math.min(rows.length - 1, Math.max(0, at + by))];
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

let goes = 0; // when g was pressed
addEventListener("keydown", (event) => {
  if ((event.metaKey || event.ctrlKey) && event.key === "k" && login.value === "in") {
    event.preventDefault();
    palette.value = true;
    return;
  }
  // A dialog that a key closes has had that key.
  if (event.target instanceof Element && event.target.closest("dialog")) return;
  if (event.key === "Escape" && isTyping(event)) (event.target as HTMLElement).blur();
  if (isTyping(event) || document.querySelector("dialog[open]") || login.value !== "in") return;
  const target = performance.now() - goes < 1500 ? { o: "/", j: "/jobs", r: "/runs", t: "/tasks", y: "/try", c: "/cluster" }[event.key] : undefined;
  goes = event.key === "g" ? performance.now() : 0;
  if (target) go(target);
  else if (event.key === "/") document.getElementById("filter") ? document.getElementById("filter")!.focus() : (palette.value = true);
  else if (event.key === "?") help.value = true;
  else if (event.key === "z") nextZone();
  else if (event.key === "b") toggleSpread();
  else if ((event.key === "j" || event.key === "k") && route.value.view + route.value.id !== "jobs") step(event.key === "j" ? 1 : -1);
  else if (event.key === "Escape" && route.value.id) go(`/${route.value.view}`);
  else return;
  event.preventDefault();
  // Letters of a sequence belong to nobody else.
  if (target) event.stopImmediatePropagation();
});

addEventListener("hashchange", () => {
  if (location.hash.startsWith("#code=")) void resume();
});

startData();
startLive(() => (route.value.view === "" ? pictureAsked.once() : Promise.resolve()));
void resume();
render(<App />, document.getElementById("app")!);
