// Lines that are tried, and saved nowhere.
import type { JSX } from "preact";
import { useState } from "preact/hooks";
import { ApiError, post } from "../api";
import { Panel, Time } from "../parts";
import { plain } from "../text";

interface Tried {
  problems?: { line?: number; column?: number; severity?: string; message: string }[];
  jobs?: { identity: string; words?: string; next?: { chosenTime?: string; nominalTime?: string }[] }[];
  text?: string;
}
const FIRST = '0 3 * * * @tz(Europe/Paris) @win(after,1h) name=hello command="echo hello"';

export function Try(): JSX.Element {
  const [text, setText] = useState(FIRST);
  const [answer, setAnswer] = useState<Tried | null>(null);
  const [problem, setProblem] = useState("");
  const ask = async (): Promise<void> => {
    try {
      setAnswer(await post<Tried>("try", { text }));
      setProblem("");
    } catch (error) {
      setAnswer(null);
      setProblem(error instanceof ApiError ? (error.status === 404 ? "This krond cannot try lines yet; `kron lint` and `kron next` do, on a file." : error.problem.detail) : String(error));
    }
  };
  return (
    <>
      <div class="bar"><h1>Try</h1><span class="soft">Nothing here is saved: files are the truth.</span></div>
      <Panel title="Lines of a job file" more={<button type="button" class="main" onClick={() => void ask()}>Try</button>}>
        <textarea class="mono" rows={6} spellcheck={false} aria-label="Lines of a job file" value={text} onInput={(event) => setText(event.currentTarget.value)} />
        {problem && <p class="alarm" role="status">{plain(problem)}</p>}
      </Panel>
      {answer && (
        <Panel title="What krond makes of it" class="gap">
          <ul class="list">{(answer.problems ?? []).map((found) => <li><span /><span class={found.severity === "error" ? "c-fail" : "c-skip"}>{found.line ? `${found.line}:${found.column ?? 1} ` : ""}{plain(found.message)}</span></li>)}</ul>
          {(answer.jobs ?? []).map((job) => (
            <div class="prose">
              <b>{plain(job.identity)}</b> <span class="soft">{plain(job.words ?? "")}</span>
              <ul>{(job.next ?? []).slice(0, 20).map((period) => <li class="num"><Time at={period.chosenTime ?? period.nominalTime} /></li>)}</ul>
            </div>
          ))}
        </Panel>
      )}
    </>
  );
}
