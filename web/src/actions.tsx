// What the page can change: each is asked about first, by name and effect.
import type { JSX } from "preact";
import { may, post, postOnce } from "./api";
import type { JobSummary, Run, Triggered } from "./api_types";
import { say, question } from "./parts";
import { plain } from "./text";

function allowed(): boolean {
  if (!may("operate")) say("This session may only look.", true);
  return may("operate");
}

export function runNow(name: string): void {
  if (!allowed()) return;
  question.value = {
    title: `Run ${plain(name)} now?`,
    text: "It is started once, beside its schedule. Its next period stays where it is.",
    yes: "Run now",
    act: async () => {
      const done = await postOnce<Triggered>(`jobs/${encodeURIComponent(name)}/trigger`);
      location.hash = `/runs/${done.runId}`;
      return done.outcome === "waiting" ? `${name} waits for the run that it replaces.` : `${name} was started.`;
    },
  };
}

export function pause(names: string[]): void {
  if (!allowed() || names.length === 0) return;
  let length = "";
  const until = (): { until?: string } => {
    const hours = Number(length);
    return hours > 0 ? { until: new Date(Date.now() + hours * 3_600_000).toISOString().replace(/\.\d+Z/, "Z") } : {};
  };
  question.value = {
    title: names.length === 1 ? `Pause ${plain(names[0]!)}?` : `Pause ${names.length} jobs?`,
    text: (
      <>
        No period starts until it is resumed. What becomes due meanwhile waits: on resume only the latest is judged, within its
        deadline. Runs that are going stay.
        <Names names={names} />
      </>
    ),
    extra: (
      <label class="field">
        For
        <select onChange={(event) => (length = event.currentTarget.value)}>
          <option value="">as long as nobody resumes it</option>
          <option value="1">1 hour</option>
          <option value="4">4 hours</option>
          <option value="24">1 day</option>
          <option value="168">1 week</option>
        </select>
      </label>
    ),
    yes: "Pause",
    ...(names.length > 20 ? { typed: String(names.length) } : {}),
    act: () => each(names, "paused", (name) => post(`jobs/${encodeURIComponent(name)}/pause`, until())),
  };
}

export function resumeJobs(names: string[]): void {
  if (!allowed() || names.length === 0) return;
  question.value = {
    title: names.length === 1 ? `Resume ${plain(names[0]!)}?` : `Resume ${names.length} jobs?`,
    text: (
      <>
        If a period became due during the pause, the latest of them starts at once, if its deadline allows that.
        <Names names={names} />
      </>
    ),
    yes: "Resume",
    ...(names.length > 20 ? { typed: String(names.length) } : {}),
    act: () => each(names, "resumed", (name) => post(`jobs/${encodeURIComponent(name)}/resume`, {})),
  };
}

function Names({ names }: { names: string[] }): JSX.Element | null {
  if (names.length < 2) return null;
  return (
    <ul class="names">
      {names.slice(0, 12).map((name) => (
        <li>{plain(name)}</li>
      ))}
      {names.length > 12 && <li class="faint">and {names.length - 12} more</li>}
    </ul>
  );
}

async function each(names: string[], done: string, act: (name: string) => Promise<unknown>): Promise<string> {
  let failed = 0;
  let first: unknown;
  for (const name of names) {
    await act(name).catch((error: unknown) => {
      ++failed;
      first ??= error;
    });
  }
  if (failed > 0 && names.length === 1) throw first;
  if (failed > 0) throw new Error(`${names.length - failed} of ${names.length} jobs were ${done}; ${String((first as Error).message)}`);
  return names.length === 1 ? `${names[0]} is ${done}.` : `${names.length} jobs are ${done}.`;
}

export function terminate(run: Run): void {
  if (!allowed()) return;
  question.value = {
    title: `End this run of ${plain(run.job)}?`,
    text: "It gets SIGTERM, and SIGKILL when its grace period is over.",
    yes: "Send SIGTERM",
    danger: true,
    act: async () => {
      await post(`runs/${run.runId}/terminate`);
      return "SIGTERM was sent.";
    },
  };
}

export function kill(run: Run): void {
  if (!allowed()) return;
  question.value = {
    title: `Kill this run of ${plain(run.job)}?`,
    text: "It gets SIGKILL: it cannot put anything in order.",
    yes: "Kill",
    danger: true,
    typed: run.job,
    act: async () => {
      await post(`runs/${run.runId}/kill`);
      return "SIGKILL was sent.";
    },
  };
}

export function toggle(job: JobSummary): void {
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
      const done = await post<{ jobs?: number }>("reload");
      return done.jobs === undefined ? "The job files were read." : `The job files were read: ${done.jobs} jobs.`;
    },
  };
}
