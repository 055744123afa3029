// One run: its output as it comes, and how it ended.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { kill, terminate } from "../actions";
import { get, open } from "../api";
import type { Run } from "../api_types";
import { Asked, endOf, markOf, watch } from "../data";
import { Output } from "../output";
import { Glyph, Name, Panel, say, tickSecond, Time } from "../parts";
import { plain } from "../text";
import { bytes, counter, duration, now } from "../time";

const SHOWN = 1000;

export function RunView({ id }: { id: string }): JSX.Element {
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
  return (
    <>
      <div class="title">
        <div class="grow">
          <div class="faint crumb"><a href="#/runs">Runs</a> / <Name of={known.job} /> /</div>
          <h1 class="name-line"><Glyph mark={mark} /> <bdi>{plain(known.job)}</bdi> <span class="soft num">{started === null ? "" : isActive ? counter(now() - started) : known.endedAt ? `took ${duration(Date.parse(known.endedAt) - started)}` : ""}</span></h1>
          <p class={`words c-${mark}`}>{plain(endOf(known))}</p>
        </div>
        {isActive && (
          <div class="acts">
            <button type="button" onClick={() => terminate(known)}>End…</button>
            <button type="button" class="danger" onClick={() => kill(known)}>Kill…</button>
          </div>
        )}
      </div>
      <div class="cols">
        <div>{known.runId ? <OutputPanel id={known.runId} bytes={known.outputBytes ?? 0} ended={!isActive} /> : <Panel title="Output"><p class="note">Nothing ran.</p></Panel>}</div>
        <aside>
          <Panel title="When">
            <dl class="kv">
              {known.periodId && <><dt>Period</dt><dd class="num"><Time at={known.periodId} /></dd></>}
              {known.chosenTime && <><dt>Chosen</dt><dd class="num"><Time at={known.chosenTime} /></dd></>}
              {known.startedAt && <><dt>Started</dt><dd class="num"><Time at={known.startedAt} /></dd></>}
              {known.endedAt && <><dt>Ended</dt><dd class="num"><Time at={known.endedAt} /></dd></>}
              <dt>Because of</dt><dd>{known.trigger === "schedule" ? "its schedule" : known.trigger === "manual" ? "somebody asked" : known.trigger}</dd>
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

function OutputPanel({ id, bytes: size, ended }: { id: string; bytes: number; ended: boolean }): JSX.Element {
  const [output, setOutput] = useState<Output | null>(null);
  const [find, setFind] = useState("");
  const [wraps, setWraps] = useState(true);
  const [sticks, setSticks] = useState(true);
  const box = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const mine = new Output(id);
    setOutput(mine);
    return () => mine.close();
  }, [id]);
  const all = output?.lines.value ?? [];
  const text = find.toLowerCase();
  const found = text ? all.filter((line) => line.pieces.map((piece) => piece.text).join("").toLowerCase().includes(text)) : all;
  const shown = found.slice(-SHOWN);
  const state = output?.state.value ?? "asking";
  const tail = output?.open.value ?? [];
  useEffect(() => {
    if (sticks && box.current) box.current.scrollTop = box.current.scrollHeight;
  }, [all.length, tail, sticks, wraps]);
  const download = async (): Promise<void> => {
    const response = await open(`runs/${id}/output`);
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await response.blob());
    link.download = `${id}.txt`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
  };
  const skipped = output?.skipped.value ?? 0;
  return (
    <Panel
      title="Output"
      more={
        <>
          <span class="soft num">{state === "following" && !ended ? "live" : state === "away" ? "away" : size ? bytes(size) : ""}</span>
          <input type="search" placeholder="Find" aria-label="Find in the output" value={find} onInput={(event) => setFind(event.currentTarget.value)} />
          <button type="button" class="quiet hide" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>Wrap</button>
          <button type="button" class="quiet" onClick={() => void download().catch((error: unknown) => say(String(error), true))}>Save</button>
        </>
      }
    >
      <div class={`output ${wraps ? "wraps" : ""}`} ref={box} tabIndex={0} role="log" aria-label="Output" onScroll={(event) => {
        const view = event.currentTarget;
        setSticks(view.scrollHeight - view.scrollTop - view.clientHeight < 24);
      }}>
        {skipped > 0 && <p class="note">{bytes(skipped)} before this are not shown; save it to have all of it.</p>}
        {found.length > SHOWN && <p class="note">{(found.length - SHOWN).toLocaleString("en-US")} lines before these.</p>}
        {shown.map((line) => (
          <div class="line" key={line.number}>
            {line.pieces.map((piece) => (piece.style ? <span class={piece.style}>{piece.text}</span> : piece.text))}
            {line.cut > 0 && <i class="faint"> … and {line.cut.toLocaleString("en-US")} characters</i>}
          </div>
        ))}
        {tail.length > 0 && !text && <div class="line">{tail.map((piece) => (piece.style ? <span class={piece.style}>{piece.text}</span> : piece.text))}</div>}
        {all.length === 0 && tail.length === 0 && <p class="note">{state === "asking" ? "Asking krond…" : output?.problem.value ? plain(output.problem.value) : ended ? "It printed nothing." : "Nothing yet."}</p>}
      </div>
      {!sticks && !ended && <button type="button" class="jump" onClick={() => setSticks(true)}>Follow</button>}
    </Panel>
  );
}
