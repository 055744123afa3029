// The history, newest first.
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect } from "preact/hooks";
import { get } from "../api";
import type { Run, RunPage } from "../api_types";
import { Asked, endOf, markOf, tookOf, watch } from "../data";
import { Glyph, Name, Segments, Time } from "../parts";
import { route, setQuery } from "../route";
import { plain } from "../text";
import { bytes, counter, duration, now } from "../time";
import { tickSecond } from "../parts";

const older = signal<{ runs: Run[]; next: number | undefined }>({ runs: [], next: undefined });

function path(before?: number): string {
  const { query } = route.value;
  const what = query.get("show") ?? "all";
  const parts = ["limit=100"];
  if (what === "failed") parts.push("result=failed");
  if (what === "running") parts.push("result=running");
  if (what === "missed") parts.push("outcome=missed");
  if (what === "skipped") parts.push("outcome=skipped");
  const job = query.get("job");
  if (job) parts.push(`job=${encodeURIComponent(job)}`);
  if (before !== undefined) parts.push(`before=${before}`);
  return `runs?${parts.join("&")}`;
}
let askedFor = "all ";
const asked = new Asked<RunPage>(() => get<RunPage>(path()), 700);

export function Runs(): JSX.Element {
  const { query } = route.value;
  const show = query.get("show") ?? "all";
  const job = query.get("job") ?? "";
  useEffect(() => watch(asked), []);
  useEffect(() => {
    if (`${show} ${job}` === askedFor) return;
    askedFor = `${show} ${job}`;
    older.value = { runs: [], next: undefined };
    asked.value.value = null;
    void asked.now();
  }, [show, job]);
  const page = asked.value.value;
  const newest = page?.runs ?? [];
  const last = newest[newest.length - 1]?.number ?? 0;
  const rows = [...newest, ...older.value.runs.filter((run) => run.number < last)];
  const next = older.value.runs.length > 0 ? older.value.next : page?.next;
  const more = async (): Promise<void> => {
    const answer = await get<RunPage>(path(next));
    older.value = { runs: [...older.value.runs, ...answer.runs], next: answer.next };
  };
  return (
    <>
      <div class="bar">
        <h1>Runs</h1>
        {job && <span class="soft">of <b>{plain(job)}</b> <button type="button" class="quiet" onClick={() => setQuery("job", "")}>all jobs</button></span>}
        <span class="grow" />
        <Segments label="Which" value={show} options={[["all", "All"], ["running", "Running"], ["failed", "Failed"], ["skipped", "Skipped"], ["missed", "Missed"]]} onChange={(value) => setQuery("show", value === "all" ? "" : value)} />
      </div>
      <section class="panel" aria-label="Runs">
        <RunTable runs={rows} />
        {page && rows.length === 0 && <p class="note">None.</p>}
        {next !== undefined && <p class="note"><button type="button" onClick={() => void more()}>Older</button></p>}
      </section>
    </>
  );
}

export function RunTable({ runs, plainJob }: { runs: Run[]; plainJob?: boolean }): JSX.Element {
  void tickSecond.value;
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr><th><span class="sr">Outcome</span></th>{!plainJob && <th>Job</th>}<th>Time</th><th class="hide">Delay</th><th class="hide">Why</th><th>Took</th><th>End</th><th class="hide">Output</th></tr>
        </thead>
        <tbody>
          {runs.map((run) => {
            const mark = markOf(run);
            const at = run.startedAt ?? run.chosenTime ?? run.periodId ?? run.passedOver?.last;
            const took = run.startedAt ? (tookOf(run) !== undefined ? duration(tookOf(run)! * 1000) : mark === "run" ? counter(now() - Date.parse(run.startedAt)) : "") : "";
            return (
              <tr key={run.number || run.runId}>
                <td class="g"><Glyph mark={mark} /></td>
                {!plainJob && <td class="cut"><Name of={run.job} /></td>}
                <td class="num">{run.runId ? <a class="in" href={`#/runs/${run.runId}`}><Time at={at} /></a> : <Time at={at} />}</td>
                <td class="num hide soft">{run.delaySeconds === undefined ? "" : duration(run.delaySeconds * 1000)}</td>
                <td class="hide soft">{run.trigger === "schedule" ? "" : run.trigger}</td>
                <td class="num">{took}</td>
                <td class={`cut c-${mark}`}>{plain(endOf(run))}</td>
                <td class="num hide">{run.outputBytes ? <a href={`#/runs/${run.runId}`}>{bytes(run.outputBytes)}</a> : ""}</td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
