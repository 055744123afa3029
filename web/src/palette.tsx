// Everything by its name (Ctrl-K), and the keys (?).
import { signal } from "@preact/signals";
import type { JSX } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";
import { pause, reload, resumeJobs, runNow } from "./actions";
import { logOut } from "./api";
import { jobs, jobsComplete, loadJobs } from "./data";
import { status } from "./live";
import { go } from "./route";
import { plain } from "./text";
import { nextTheme } from "./theme";

export const palette = signal(false);
export const help = signal(false);

interface Entry {
  text: string;
  hint: string;
  act: () => void;
}

function entries(query: string): Entry[] {
  const text = query.trim().toLowerCase();
  const found: Entry[] = [];
  if (/^[0-9a-f]{6,64}$/.test(text)) found.push({ text: `Run ${text}`, hint: "by its id", act: () => go(`/runs/${text}`) });
  const verbs: [string, (name: string) => void][] = [["run ", runNow], ["pause ", (name) => pause([name])], ["resume ", (name) => resumeJobs([name])]];
  const verb = verbs.find(([word]) => text.startsWith(word));
  const wanted = verb ? text.slice(verb[0].length) : text;
  for (const name of jobs.value.keys()) {
    if (!name.toLowerCase().includes(wanted)) continue;
    found.push(verb ? { text: plain(name), hint: `${verb[0].trim()}…`, act: () => verb[1](name) } : { text: plain(name), hint: "job", act: () => go(`/jobs/${encodeURIComponent(name)}`) });
    if (found.length > 40) break;
  }
  const fixed: Entry[] = [
    { text: "Overview", hint: "g o", act: () => go("/") },
    { text: "Jobs", hint: "g j", act: () => go("/jobs") },
    { text: "Jobs that failed", hint: "is:failing", act: () => go("/jobs?q=is%3Afailing") },
    { text: "Runs", hint: "g r", act: () => go("/runs") },
    { text: "Tasks", hint: "g t", act: () => go("/tasks") },
    { text: "Try lines", hint: "g y", act: () => go("/try") },
    ...(status.value?.cluster ? [{ text: "Cluster", hint: "g c", act: () => go("/cluster") }] : []),
    { text: "Reload the job files…", hint: "", act: reload },
    { text: "Other colours", hint: "", act: nextTheme },
    { text: "Keys", hint: "?", act: () => (help.value = true) },
    { text: "Log out", hint: "", act: () => void logOut() },
  ];
  return [...fixed.filter((entry) => text !== "" && entry.text.toLowerCase().includes(text)), ...found, ...(text === "" ? fixed : [])].slice(0, 40);
}

export function Palette(): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  useEffect(() => {
    if (!palette.value) return;
    setQuery("");
    setAt(0);
    dialog.current?.showModal();
    if (!jobsComplete.value) void loadJobs();
  }, [palette.value]);
  if (!palette.value) return null;
  const found = entries(query);
  const choose = (entry: Entry | undefined): void => {
    dialog.current?.close();
    entry?.act();
  };
  return (
    <dialog ref={dialog} class="palette" aria-label="Find a job, run or action" onClose={() => (palette.value = false)} onClick={(event) => event.target === dialog.current && dialog.current?.close()}>
      <input
        autofocus
        role="combobox"
        aria-expanded="true"
        aria-controls="palette-list"
        aria-activedescendant={`entry-${at}`}
        aria-label="Find a job, run or action"
        placeholder="A job, the id of a run, or: run, pause, resume …"
        value={query}
        onInput={(event) => {
          setQuery(event.currentTarget.value);
          setAt(0);
        }}
        onKeyDown={(event) => {
          if (event.key === "ArrowDown") setAt(Math.min(found.length - 1, at + 1));
          else if (event.key === "ArrowUp") setAt(Math.max(0, at - 1));
          else if (event.key === "Enter") choose(found[at]);
          else return;
          event.preventDefault();
        }}
      />
      <ul id="palette-list" role="listbox" aria-label="Found">
        {found.map((entry, i) => (
          <li id={`entry-${i}`} role="option" aria-selected={i === at} onClick={() => choose(entry)} onMouseEnter={() => setAt(i)}>
            <span class="cut">{entry.text}</span>
            <span class="faint">{entry.hint}</span>
          </li>
        ))}
      </ul>
    </dialog>
  );
}

const KEYS: [string, string][] = [
  ["/", "filter"],
  ["Ctrl-K", "find anything, do anything"],
  ["g o · g j · g r", "Overview, Jobs, Runs"],
  ["g t · g y · g c", "Tasks, Try, Cluster"],
  ["j k ↵", "down, up, open"],
  ["x · X", "select a job, all that are shown"],
  ["r", "run the job now…"],
  ["p", "pause or resume…"],
  ["e", "explain the next period"],
  ["w", "why not?"],
  ["l", "output of the last run"],
  ["b", "as written or as spread"],
  ["+ − ← → 0", "the time axis, with the picture in focus"],
  ["z", "your time, the job's, or UTC"],
  ["Esc", "back out"],
];
export function Help(): JSX.Element | null {
  const dialog = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (help.value) dialog.current?.showModal();
  }, [help.value]);
  if (!help.value) return null;
  return (
    <dialog ref={dialog} aria-labelledby="help-title" onClose={() => (help.value = false)}>
      <h2 id="help-title">Keys</h2>
      <dl class="kv keys">{KEYS.map(([key, what]) => <><dt><kbd>{key}</kbd></dt><dd>{what}</dd></>)}</dl>
      <p class="soft">Whatever changes something asks first. Everything here is also on the command line: <code>kron --help</code>.</p>
      <div class="buttons"><button type="button" autofocus onClick={() => dialog.current?.close()}>Close</button></div>
    </dialog>
  );
}
