// Two outputs side by side: this run's, and that of the last run before it that succeeded.
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { get } from "../api";
import type { Run, RunPage } from "../api_types";
import { linesOf } from "../output";
import { Panel, Time } from "../parts";
import { plain } from "../text";

const MOST_BYTES = 1 << 20;
const SHOWN = 400; // lines around the difference

// Numbers differ from run to run (times, sizes): lines that differ in nothing else are the same.
const shape = (line: string): string => line.replace(/\d+/g, "0").trimEnd();
// The first line that differs; the length of the shorter one where it only ends earlier; -1: none does.
export function firstDifference(a: string[], b: string[]): number {
  const shorter = Math.min(a.length, b.length);
  for (let i = 0; i < shorter; ++i) if (shape(a[i]!) !== shape(b[i]!)) return i;
  return a.length === b.length ? -1 : shorter;
}

interface Pair {
  good: Run;
  mine: string[];
  theirs: string[];
}
export function Compare({ run, onClose }: { run: Run; onClose: () => void }): JSX.Element {
  const [pair, setPair] = useState<Pair | null>(null);
  const [problem, setProblem] = useState("");
  const at = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const look = async (): Promise<void> => {
      const found = await get<RunPage>(`runs?limit=1&result=succeeded&job=${encodeURIComponent(run.job)}&before=${run.number}`);
      const good = found.runs[0];
      if (!good?.runId) throw new Error("No run before this one succeeded.");
      const [mine, theirs] = await Promise.all([linesOf(run.runId!, MOST_BYTES), linesOf(good.runId, MOST_BYTES)]);
      setPair({ good, mine, theirs });
    };
    look().catch((error: unknown) => setProblem((error as Error).message));
  }, [run.runId]);
  useEffect(() => at.current?.scrollIntoView({ block: "center" }), [pair]);
  const differs = pair ? firstDifference(pair.mine, pair.theirs) : -1;
  const first = Math.max(0, differs - SHOWN / 2);
  const side = (title: JSX.Element, lines: string[], isMine: boolean): JSX.Element => (
    <div>
      <h3>{title}</h3>
      {first > 0 && <p class="note">{first} lines before these are the same.</p>}
      {lines.slice(first, first + SHOWN).map((line, i) => (
        <div class={`line ${first + i === differs ? "differs" : ""}`} {...(first + i === differs && isMine ? { ref: at } : {})}>{first + i === differs && <span class="sr">First difference: </span>}{line || " "}</div>
      ))}
      {differs === lines.length && <div class="line differs" {...(isMine ? { ref: at } : {})}><i>it ends here</i></div>}
    </div>
  );
  return (
    <Panel title="Compared with the last success" class="gap" more={<button type="button" class="quiet" onClick={onClose}>Close</button>}>
      {problem && <p class="note">{plain(problem)}</p>}
      {!pair && !problem && <p class="note">Asking krond…</p>}
      {pair && (
        <>
          <p class="note">{differs < 0 ? "They are the same, but for numbers." : `Line ${differs + 1} is the first that differs. Numbers are not compared.`}</p>
          <div class="beside" tabIndex={0} role="region" aria-label="Both outputs">
            {side(<>This run, <Time at={run.startedAt} /></>, pair.mine, true)}
            {side(<><a class="in" href={`#/runs/${pair.good.runId}`}>Succeeded</a>, <Time at={pair.good.startedAt} /></>, pair.theirs, false)}
          </div>
        </>
      )}
    </Panel>
  );
}
