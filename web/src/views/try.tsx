// Lines that are tried, and saved nowhere.
import type { JSX } from "preact";
import { useCallback, useEffect, useState } from "preact/hooks";
import { get, post } from "../api";
import type { Load, Trial } from "../api_types";
import { load, LOAD_HEIGHT } from "../draw/load";
import { Scale, ticks } from "../draw/scale";
import type { Shape } from "../draw/shapes";
import { Canvas, Panel, Time, say } from "../parts";
import { route } from "../route";
import { counted, plain } from "../text";
import { duration, now, utc, zone } from "../time";
import { sentence, timesIn } from "./job_why";

export const FIRST = '0 3 * * * @tz(Europe/Paris) @win(after,1h) name=hello command="echo hello"';

const isYaml = (text: string): boolean => /^\s*(jobs|defaults|calendars)\s*:/m.test(text);

export function Try(): JSX.Element {
  const [text, setText] = useState(route.value.query.get("text") ?? FIRST);
  const [answer, setAnswer] = useState<Trial | null>(null);
  const [problem, setProblem] = useState("");
  useEffect(() => {
    const mine = new AbortController();
    const timer = setTimeout(() => {
      post<Trial>("try", { text, source: isYaml(text) ? "yaml" : "kron" })
        .then((told) => {
          if (mine.signal.aborted) return;
          setAnswer(told);
          setProblem("");
        })
        .catch((error: unknown) => {
          if (mine.signal.aborted) return;
          setAnswer(null);
          setProblem((error as Error).message);
        });
    }, 400);
    return () => {
      mine.abort();
      clearTimeout(timer);
    };
  }, [text]);
  return (
    <>
      <div class="bar"><h1>Try</h1><span class="soft">Nothing here is saved: files are the truth. Copy what you like into a .kron or YAML file.</span></div>
      <div class="cols">
        <div>
          <Panel title="Lines of a job file" more={<button type="button" onClick={() => void navigator.clipboard.writeText(text).then(() => say("Copied."))}>Copy</button>}>
            <textarea class="mono" rows={7} spellcheck={false} aria-label="Lines of a job file" value={text} onInput={(event) => setText(event.currentTarget.value)} />
            {problem && <p class="alarm" role="status">{plain(problem)}</p>}
            {answer && answer.problems.length > 0 && <Problems answer={answer} />}
          </Panel>
          {answer && answer.jobs.length > 0 && <OnTop answer={answer} />}
        </div>
        <aside>
          {answer?.jobs.map((job, i) => (
            <Panel title={plain(job.identity)} class={i > 0 ? "gap" : ""}>
              <p class="note">{sentence(job.words)}{job.replaces ? " There is a job of this name: it would be replaced." : ""}</p>
              <ol class="list compact">
                {job.next.slice(0, 20).map((period) => <li><span /><span class="num">{period.chosenTime ? <Time at={period.chosenTime} /> : <span class="c-none">no time</span>}</span><span class="faint num">{period.chosenTime ? <Time at={period.chosenTime} ago /> : ""}</span></li>)}
              </ol>
              {job.next.length === 0 && <p class="note">{plain(job.nextProblem ?? "It has no periods that a clock foresees.")}</p>}
            </Panel>
          ))}
          {answer && answer.jobs.length === 0 && answer.problems.length === 0 && <Panel title="Nothing"><p class="note">There is no job in these lines.</p></Panel>}
        </aside>
      </div>
    </>
  );
}

// Each problem below the line that has it, with a mark at its column.
function Problems({ answer }: { answer: Trial }): JSX.Element {
  return (
    <div class="prose" role="status">
      {answer.problems.map((found) => (
        <div class="problem">
          {found.source && <pre>{`${plain(found.source)}\n${" ".repeat(Math.max(0, found.column - 1))}^`}</pre>}
          <p class={found.severity === "error" ? "c-fail" : found.severity === "warning" ? "c-skip" : "soft"}>{found.line > 0 ? `${found.line}:${found.column}: ` : ""}{found.severity}: {plain(found.message)}</p>
          {found.hint && <p class="soft">{plain(found.hint)}</p>}
        </div>
      ))}
    </div>
  );
}

const STEPS = [60, 300, 900, 1800, 3600, 7200, 14_400]; // seconds

// What runs here, and on top of it the next periods of the lines.
function OnTop({ answer }: { answer: Trial }): JSX.Element {
  const times = answer.jobs.flatMap((job) => job.next.flatMap((period) => (period.chosenTime ? [Date.parse(period.chosenTime)] : [])));
  // No further than krond itself has looked: it is asked for no more than it can say.
  const last = Math.min(Math.max(now() + 86_400_000, ...times), Date.parse(answer.load.until));
  const step = STEPS.find((candidate) => (last - now()) / 1000 / candidate <= 400) ?? 14_400;
  const columns = Math.ceil((last - now()) / 1000 / step) + 1;
  const [here, setHere] = useState<{ from: number; starts: number[] } | null>(null);
  useEffect(() => {
    const mine = new AbortController();
    const begin = Math.floor(now() / 1000 / step) * step * 1000;
    get<Load>(`load?from=${encodeURIComponent(utc(begin))}&for=${columns * step}s&step=${step}s`, mine.signal)
      .then((load) => setHere({ from: begin, starts: (load.after as { starts: number[] }).starts }))
      .catch(() => undefined);
    return () => mine.abort();
  }, [answer, columns, step]);
  const draw = useCallback(
    (width: number): { shapes: Shape[]; height: number } => {
      if (!here) return { shapes: [], height: LOAD_HEIGHT + 12 };
      const [from, until] = [here.from, here.from + columns * step * 1000];
      const scale = new Scale(from, until, 60, width - 16);
      const together = here.starts.slice();
      for (const t of times) {
        const column = Math.floor((t - from) / 1000 / step);
        if (column < together.length) together[column] = (together[column] ?? 0) + 1;
      }
      const shapes = load({ from, until, before: together, after: here.starts, actual: [] }, scale, now(), 1, LOAD_HEIGHT, "with these lines");
      for (const tick of ticks(scale, 90)) if (scale.x(tick.t) < scale.right - 24) shapes.push({ kind: "text", x: scale.x(tick.t), y: LOAD_HEIGHT + 4, text: tick.label, fill: "faint", align: "center" });
      return { shapes, height: LOAD_HEIGHT + 12 };
    },
    [here, zone.value],
  );
  const told = answer.load;
  return (
    <Panel title="On top of what runs here" class="gap">
      <p class="note">In {duration(Date.parse(told.until) - Date.parse(told.from))} these lines start {counted(told.starts, "time")}, the others {counted(told.startsHere, "time")}. That {timesIn(answer.text)}.</p>
      {times.length > 0 && <Canvas draw={draw} label={`Starts here, and with the next periods of these lines: ${answer.text}`} />}
      {times.length > 0 && <p class="note"><span class="key"><i class="k-after" />what runs here</span> <span class="key"><i class="k-before" />with the next {Math.max(...answer.jobs.map((job) => job.next.length))} periods of each line, per {duration(step * 1000)}</span></p>}
    </Panel>
  );
}
