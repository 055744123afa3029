// Durable tasks.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { get, may, post } from "../api";
import type { Task, TaskPage } from "../api_types";
import { Asked, watch } from "../data";
import { status } from "../live";
import { Glyph, Panel, question, Segments, Time } from "../parts";
import { route, setQuery } from "../route";
import { plain } from "../text";

const older = signal<Task[]>([]);
function path(after = ""): string {
  const show = route.value.query.get("show") ?? "";
  const state = show ? `&state=${show}` : "";
  return `tasks?limit=100${state}${after ? `&after=${encodeURIComponent(after)}` : ""}`;
}
const asked = new Asked<TaskPage>(() => get<TaskPage>(path()), 2000);

const isFailed = (task: Task): boolean => task.outcome === "FAILED";
const word = (task: Task): string => (task.outcome ?? task.state).toLowerCase();
const mark = (task: Task): "ok" | "fail" | "run" | "next" => (task.outcome === "SUCCEEDED" ? "ok" : isFailed(task) ? "fail" : task.state === "RUNNING" ? "run" : "next");

function change(task: Task, verb: "cancel" | "retry"): void {
  if (!may("operate")) return;
  question.value = {
    title: verb === "cancel" ? `Cancel the task ${plain(task.taskId)}?` : `Try the task ${plain(task.taskId)} again?`,
    text: verb === "cancel" ? "It is not worked on any more, and counts as failed." : "It is given more attempts, and waits for a worker.",
    yes: verb === "cancel" ? "Cancel the task" : "Try again",
    danger: verb === "cancel",
    act: async () => {
      await post(`tasks/${encodeURIComponent(task.taskId)}/${verb}`, verb === "retry" ? {} : undefined);
      asked.refresh();
      return verb === "cancel" ? "It was cancelled." : "It waits for a worker.";
    },
  };
}

export function Tasks(): JSX.Element {
  const show = route.value.query.get("show") ?? "";
  useEffect(() => {
    const off = watch(asked);
    const timer = setInterval(() => document.visibilityState === "visible" && asked.refresh(), 5000);
    return () => {
      off();
      clearInterval(timer);
    };
  }, []);
  useEffect(() => {
    older.value = [];
    void asked.now();
  }, [show]);
  const page = asked.value.value;
  const rows = [...(page?.tasks ?? []), ...older.value];
  const counts = status.value?.tasks;
  const last = rows[rows.length - 1];
  return (
    <>
      <div class="bar">
        <h1>Tasks</h1>
        {counts && <span class="soft num">{counts.pending} pending, {counts.running} running</span>}
        <span class="grow" />
        <Segments label="Which" value={show} options={[["", "All"], ["pending", "Pending"], ["running", "Running"], ["failed", "Failed"]]} onChange={(value) => setQuery("show", value)} />
      </div>
      {status.value?.tasksProblem && <p class="alarm">{plain(status.value.tasksProblem)}</p>}
      <section class="panel" aria-label="Tasks">
        <div class="scroll">
          <table>
            <thead><tr><th><span class="sr">State</span></th><th>Task</th><th>Type</th><th>State</th><th class="hide">Attempt</th><th>Changed</th><th><span class="sr">Actions</span></th></tr></thead>
            <tbody>
              {rows.map((task) => (
                <tr key={task.taskId}>
                  <td class="g"><Glyph mark={mark(task)} label="" /></td>
                  <td class="cut mono"><a class="in" href={`#/tasks/${encodeURIComponent(task.taskId)}`}>{plain(task.taskId)}</a></td>
                  <td class="cut">{plain(task.payload.type)}</td>
                  <td class={isFailed(task) ? "c-fail" : ""}>{word(task)}</td>
                  <td class="num hide">{task.attempt} of {task.maxAttempts}</td>
                  <td class="num"><Time at={task.updatedAt} /></td>
                  <td>{task.state !== "COMPLETED" ? <button type="button" class="quiet" onClick={() => change(task, "cancel")}>Cancel…</button> : isFailed(task) ? <button type="button" class="quiet" onClick={() => change(task, "retry")}>Again…</button> : null}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </div>
        {asked.error.value && <p class="note">{plain(asked.error.value.problem.detail)}</p>}
        {page && rows.length === 0 && <p class="note">None. <code>kron task submit</code> makes one, a job with <code>task=</code> does it on schedule.</p>}
        {page?.next && last && <p class="note"><button type="button" onClick={() => void get<TaskPage>(path(older.value.length > 0 ? last.taskId : page.next)).then((more) => (older.value = [...older.value, ...more.tasks]))}>More</button></p>}
      </section>
    </>
  );
}

export function TaskView({ id }: { id: string }): JSX.Element {
  const [task] = useState(() => new Asked<Task>(() => get<Task>(`tasks/${encodeURIComponent(id)}`), 1000));
  useEffect(() => watch(task), []);
  const known = task.value.value;
  if (!known) return <Panel title="Task"><p class="note">{task.error.value ? plain(task.error.value.problem.detail) : "Asking krond…"}</p></Panel>;
  return (
    <>
      <div class="title">
        <div class="grow">
          <div class="faint crumb"><a href="#/tasks">Tasks</a> /</div>
          <h1 class="name-line"><Glyph mark={mark(known)} label="" /> <bdi>{plain(id)}</bdi> <span class="pill">{word(known)}</span></h1>
        </div>
        <div class="acts">
          {known.state !== "COMPLETED" && <button type="button" onClick={() => change(known, "cancel")}>Cancel…</button>}
          {isFailed(known) && <button type="button" class="main" onClick={() => change(known, "retry")}>Try again…</button>}
        </div>
      </div>
      <div class="cols">
        <div>
          <Panel title="Attempts">
            <div class="scroll">
              <table>
                <thead><tr><th>Attempt</th><th>State</th><th>Worker</th><th>Taken</th><th>Over</th><th>Why</th></tr></thead>
                <tbody>
                  {known.executions.map((one) => (
                    <tr>
                      <td class="num">{one.attempt}</td>
                      <td>{one.status.toLowerCase().replace("_", " ")}</td>
                      <td class="cut">{plain(one.lease_owner)}</td>
                      <td class="num"><Time at={one.leased_at} /></td>
                      <td class="num"><Time at={one.finished_at} /></td>
                      <td>{plain(one.reason ?? "")}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </div>
            {known.executions.length === 0 && <p class="note">Not yet.</p>}
          </Panel>
        </div>
        <aside><Panel title="Payload"><pre>{plain(JSON.stringify(known.payload, null, 2))}</pre></Panel></aside>
      </div>
    </>
  );
}
