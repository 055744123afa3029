// What the page can change: each is asked about first, by name and effect.
import type { ComponentChildren, JSX } from "preact";
import { awaySince, get, may, post, postOnce } from "./api";
import type { Job, PausedMany, Reloaded, Run, Triggered } from "./api_types";
import type { JobRow } from "./data";
import { status } from "./live";
import { question, say } from "./parts";
import { awaited } from "./rules";
import { counted, plain } from "./text";
import { now } from "./time";

const MOST_AT_ONCE = 1000; // names in one request
const TYPED_BEYOND = 20; // jobs
const LISTED = 12;

function allowed(): boolean {
  if (!may("operate")) say("This session may only look: it needs the role operate.", true);
  else if (awaySince.value !== null) say("krond is away: nothing can be changed now.", true);
  else if (status.value?.ready === false) say("krond is not ready: nothing can be changed now.", true);
  else return true;
  return false;
}

// A field for a few words on why; what was typed is in `text`.
class Note {
  text = "";
  get body(): { note?: string } {
    return this.text.trim() ? { note: this.text.trim() } : {};
  }
  // Nothing where nothing is said.
  get ifAny(): { note: string } | undefined {
    return this.text.trim() ? { note: this.text.trim() } : undefined;
  }
  get field(): JSX.Element {
    return (
      <label class="field">
        Note, for those who look at it later
        <input maxLength={200} autocomplete="off" onInput={(event) => (this.text = event.currentTarget.value)} />
      </label>
    );
  }
}

export function runNow(name: string): void {
  if (!allowed()) return;
  const note = new Note();
  question.value = {
    title: `Run ${plain(name)} now?`,
    text: "It is started once, beside its schedule. Its next period stays where it is.",
    extra: note.field,
    yes: "Run now",
    act: async () => {
      const done = await postOnce<Triggered>(`jobs/${encodeURIComponent(name)}/trigger`, note.ifAny);
      if (done.outcome !== "waiting") {
        location.hash = `/runs/${done.runId}`;
        return `${name} was started.`;
      }
      // Only a slot is told of: else it is the run before it, which it may replace.
      const { waiting } = await get<Job>(`jobs/${encodeURIComponent(name)}`);
      return `${name} waits for ${awaited(waiting ?? { for: "run" })}.`;
    },
  };
}

function aboutMany(verb: string, names: string[]): { title: string; typed?: string } {
  const title = names.length === 1 ? `${verb} ${plain(names[0]!)}?` : `${verb} ${counted(names.length, "job")}?`;
  return names.length > TYPED_BEYOND ? { title, typed: String(names.length) } : { title };
}

export function pause(names: string[]): void {
  if (!allowed() || names.length === 0) return;
  const note = new Note();
  let hours = 0;
  const until = (): { until?: string } => (hours > 0 ? { until: new Date(now() + hours * 3_600_000).toISOString().replace(/\.\d+Z/, "Z") } : {});
  question.value = {
    ...aboutMany("Pause", names),
    text: (
      <>
        No period starts until it is resumed. What becomes due meanwhile waits: on resume only the latest is judged, within its
        deadline. Runs that are going stay.
        <Names names={names} />
      </>
    ),
    extra: (
      <>
        <label class="field">
          For
          <select onChange={(event) => (hours = Number(event.currentTarget.value))}>
            <option value="0">as long as nobody resumes it</option>
            <option value="1">1 hour</option>
            <option value="4">4 hours</option>
            <option value="24">1 day</option>
            <option value="168">1 week</option>
          </select>
        </label>
        {note.field}
      </>
    ),
    yes: "Pause",
    act: () => changeMany("pause", names, { ...until(), ...note.body }),
  };
}

export function resumeJobs(names: string[]): void {
  if (!allowed() || names.length === 0) return;
  const note = new Note();
  let skipMissed = false;
  question.value = {
    ...aboutMany("Resume", names),
    text: (
      <>
        If a period became due during the pause, the latest of them starts at once, if its deadline allows that.
        <Names names={names} />
      </>
    ),
    extra: (
      <>
        <label class="check"><input type="checkbox" onChange={(event) => (skipMissed = event.currentTarget.checked)} /> Skip what became due meanwhile</label>
        {note.field}
      </>
    ),
    yes: "Resume",
    act: () => changeMany("resume", names, { ...(skipMissed ? { skipMissed } : {}), ...note.body }),
  };
}

function Names({ names }: { names: string[] }): JSX.Element | null {
  if (names.length < 2) return null;
  return (
    <ul class="names">
      {names.slice(0, LISTED).map((name) => (
        <li>{plain(name)}</li>
      ))}
      {names.length > LISTED && <li class="faint">and {names.length - LISTED} more</li>}
    </ul>
  );
}

// One durable batch per thousand names. What krond answers about each is what is told.
async function changeMany(verb: "pause" | "resume", names: string[], body: object): Promise<string> {
  const refused: { identity: string; detail: string }[] = [];
  for (let at = 0; at < names.length; at += MOST_AT_ONCE) {
    const answer = await post<PausedMany>(`jobs/${verb}`, { jobs: names.slice(at, at + MOST_AT_ONCE), ...body });
    for (const one of answer.jobs) if ("problem" in one) refused.push({ identity: one.identity, detail: one.problem.detail });
  }
  const done = verb === "pause" ? "paused" : "resumed";
  if (refused.length > 0) {
    tell(
      `${counted(names.length - refused.length, "job")} ${done}, ${refused.length} not`,
      <ul class="names">
        {refused.slice(0, LISTED).map((one) => <li>{plain(one.identity)}: {plain(one.detail)}</li>)}
        {refused.length > LISTED && <li class="faint">and {refused.length - LISTED} more</li>}
      </ul>,
    );
  }
  return names.length - refused.length === 1 ? `1 job is ${done}.` : `${names.length - refused.length} jobs are ${done}.`;
}
function tell(title: string, text: ComponentChildren): void {
  // Behind the question that is being answered.
  setTimeout(() => (question.value = { title, text, yes: "Good", act: () => Promise.resolve("") }), 0);
}

export function terminate(run: Run): void {
  if (!allowed()) return;
  const note = new Note();
  question.value = {
    title: `End this run of ${plain(run.job)}?`,
    text: "It gets SIGTERM, and SIGKILL when its grace period is over.",
    extra: note.field,
    yes: "Send SIGTERM",
    danger: true,
    act: async () => {
      await post(`runs/${run.runId}/terminate`, note.ifAny);
      return "SIGTERM was sent.";
    },
  };
}

export function kill(run: Run): void {
  if (!allowed()) return;
  const note = new Note();
  question.value = {
    title: `Kill this run of ${plain(run.job)}?`,
    text: "It gets SIGKILL: it cannot put anything in order.",
    extra: note.field,
    yes: "Kill",
    danger: true,
    typed: run.job,
    act: async () => {
      await post(`runs/${run.runId}/kill`, note.ifAny);
      return "SIGKILL was sent.";
    },
  };
}

export function toggle(job: Pick<JobRow, "identity" | "paused">): void {
  if (job.paused) resumeJobs([job.identity]);
  else pause([job.identity]);
}

export function reload(): void {
  if (!allowed()) return;
  question.value = {
    title: "Read the job files again?",
    text: "krond reads them all; what changed is in force at once, what is wrong stays as it was and is said here.",
    yes: "Reload",
    act: async () => {
      const done = await post<Reloaded>("reload");
      return `The job files were read: ${counted(done.jobs, "job")}.`;
    },
  };
}
