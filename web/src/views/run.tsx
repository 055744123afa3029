// One run: its output as it comes, and how it ended.
import type { JSX } from "preact";
import { useEffect, useState } from "preact/hooks";
import { kill, terminate } from "../actions";
import { get } from "../api";
import type { Run } from "../api_types";
import { Asked, endOf, markOf, tookOf, watch } from "../data";
import { Glyph, Name, Panel, tickSecond, Time } from "../parts";
import { plain } from "../text";
import { Compare } from "./compare";
import { OutputPanel } from "./output_panel";
import { bytes, counter, duration, now } from "../time";

export function RunView({ id }: { id: string }): JSX.Element {
  const [compares, setCompares] = useState(false);
  const [run] = useState(() => new Asked<Run>(() => get<Run>(`runs/${encodeURIComponent(id)}`), 500));
  useEffect(() => watch(run), []);
  void tickSecond.value;
  const known = run.value.value;
  if (!known) {
    const error = run.error.value;
    if (!error) return <p class="note">Asking krond…</p>;
    return (
      <Panel title={error.status === 404 ? "There is no such run" : "krond does not say"}>
        <p class="note">{plain(error.problem.detail)}. Runs are forgotten after a while; <a class="in" href="#/runs">these are known</a>.</p>
      </Panel>
    );
  }
  const mark = markOf(known);
  const started = known.startedAt ? Date.parse(known.startedAt) : null;
  const isActive = mark === "run";
  const took = tookOf(known);
  return (
    <>
      <div class="title">
        <div class="grow">
          <div class="faint crumb"><a href="#/runs">Runs</a> / <Name of={known.job} /> /</div>
          <h1 class="name-line"><Glyph mark={mark} /> <bdi>{plain(known.job)}</bdi> <span class="soft num">{started === null ? "" : isActive ? counter(now() - started) : took === undefined ? "" : `took ${duration(took * 1000)}`}</span></h1>
          <p class={`words c-${mark}`}>{plain(endOf(known))}</p>
        </div>
        {!isActive && mark !== "ok" && known.runId && (
          <div class="acts"><button type="button" aria-pressed={compares} onClick={() => setCompares(!compares)}>Compare with the last success</button></div>
        )}
        {isActive && (
          <div class="acts">
            <button type="button" onClick={() => terminate(known)}>End…</button>
            <button type="button" class="danger" onClick={() => kill(known)}>Kill…</button>
          </div>
        )}
      </div>
      <div class="cols">
        <div>{compares && <Compare run={known} onClose={() => setCompares(false)} />}{known.runId ? <OutputPanel id={known.runId} bytes={known.outputBytes ?? 0} ended={!isActive} /> : <Panel title="Output"><p class="note">Nothing ran.</p></Panel>}</div>
        <aside>
          <Panel title="When">
            <dl class="kv">
              {known.periodId && <><dt>Period</dt><dd class="num"><Time at={known.periodId} /></dd></>}
              {known.chosenTime && <><dt>Chosen</dt><dd class="num"><Time at={known.chosenTime} /></dd></>}
              {known.startedAt && <><dt>Started</dt><dd class="num"><Time at={known.startedAt} /></dd></>}
              {known.delaySeconds !== undefined && <><dt>Delay</dt><dd class="num">{known.delaySeconds < 0.001 ? "none" : duration(known.delaySeconds * 1000)}</dd></>}
              {known.endedAt && <><dt>Ended</dt><dd class="num"><Time at={known.endedAt} /></dd></>}
              <dt>Because</dt><dd>{known.trigger === "schedule" ? "of its schedule" : known.trigger === "manual" ? "somebody asked" : "the machine started"}</dd>
              {known.memoryBytes && <><dt>Used</dt><dd class="num">{duration((known.cpuUserSeconds! + known.cpuSystemSeconds!) * 1000)} CPU, {bytes(known.memoryBytes)}</dd></>}
              {known.memoryBytes && <><dt>Disks</dt><dd class="num">{bytes(known.readBytes ?? 0)} read, {bytes(known.writtenBytes ?? 0)} written</dd></>}
              {known.attempts && <><dt>Attempts</dt><dd class="num">{known.attempts}</dd></>}
              {known.host && <><dt>Host</dt><dd>{plain(known.host)}</dd></>}
              {known.pid && <><dt>PID</dt><dd class="num">{known.pid}</dd></>}
              <dt>Run</dt><dd class="mono wrap">{known.runId}</dd>
            </dl>
          </Panel>
        </aside>
      </div>
    </>
  );
}
