// What a run prints, as it comes.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import type { Line } from "../ansi";
import { open } from "../api";
import { Output } from "../output";
import { Panel, say } from "../parts";
import { counted, plain } from "../text";
import { bytes } from "../time";

const SHOWN = 1000; // lines in the page at a time

export function OutputPanel({ id, bytes: size, ended }: { id: string; bytes: number; ended: boolean }): JSX.Element {
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
  }, [shown[shown.length - 1]?.number, tail, sticks, wraps]);
  const skipped = output?.skipped.value ?? 0;
  const problem = output?.problem.value ?? "";
  return (
    <Panel
      title="Output"
      more={
        <>
          <span class="soft num" role="status">{text ? `${counted(found.length, "line")}` : output?.isFast.value ? "too fast to follow: only its end is shown" : state === "following" && !ended ? "live" : state === "away" ? "krond is away, trying" : size ? bytes(size) : ""}</span>
          <input id="filter" type="search" placeholder="Find" aria-label="Find in the output" value={find} onInput={(event) => setFind(event.currentTarget.value)} />
          <button type="button" class="quiet" aria-pressed={wraps} onClick={() => setWraps(!wraps)}>Wrap</button>
          <button type="button" class="quiet" onClick={() => void download(id).catch((error: unknown) => say(String(error), true))}>Save</button>
        </>
      }
    >
      <div class={`output ${wraps ? "wraps" : ""}`} ref={box} tabIndex={0} role="log" aria-label="Output" aria-live="off" onScroll={(event) => {
        const view = event.currentTarget;
        setSticks(view.scrollHeight - view.scrollTop - view.clientHeight < 24);
      }}>
        {skipped > 0 && <p class="note">{bytes(skipped)} of it are not shown here; save it to have all of it.</p>}
        {found.length > SHOWN && <p class="note">{(found.length - SHOWN).toLocaleString("en-US")} lines before these.</p>}
        {shown.map((line) => (
          <div class="line" key={line.number}>
            <Pieces line={line.pieces} find={text} />
            {line.cut > 0 && <i class="faint"> … and {line.cut.toLocaleString("en-US")} characters</i>}
          </div>
        ))}
        {tail.length > 0 && !text && <div class="line"><Pieces line={tail} find="" /></div>}
        {all.length === 0 && tail.length === 0 && <p class="note">{state === "asking" ? "Asking krond…" : problem ? plain(problem) : ended ? "It printed nothing." : "Nothing yet."}</p>}
      </div>
      {!sticks && !ended && <button type="button" class="jump" onClick={() => setSticks(true)}>Follow</button>}
    </Panel>
  );
}

function Pieces({ line, find }: { line: Line; find: string }): JSX.Element {
  return <>{line.map((piece) => (piece.style ? <span class={piece.style}>{marked(piece.text, find)}</span> : marked(piece.text, find)))}</>;
}
function marked(text: string, find: string): string | JSX.Element {
  if (find === "") return text;
  const low = text.toLowerCase();
  // Letters whose small form is longer would shift what is marked.
  if (low.length !== text.length) return text;
  const parts: (string | JSX.Element)[] = [];
  let at = 0;
  for (let next = low.indexOf(find); next >= 0; next = low.indexOf(find, at)) {
    parts.push(text.slice(at, next), <mark>{text.slice(next, next + find.length)}</mark>);
    at = next + find.length;
  }
  return <>{parts}{text.slice(at)}</>;
}

async function download(id: string): Promise<void> {
  const response = await open(`runs/${id}/output`);
  const link = document.createElement("a");
  link.href = URL.createObjectURL(await response.blob());
  link.download = `${id}.txt`;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}
