// Where we are: everything is in the part of the address behind #, so one file serves every view.
import { computed, signal } from "@preact/signals";

export interface Route {
  view: string; // "", jobs, runs, tasks, try
  id: string; // of one job, run or task
  query: URLSearchParams;
}
function parse(): Route {
  const [path = "", query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [view = "", ...rest] = path.split("/");
  let id = "";
  try {
    id = decodeURIComponent(rest.join("/"));
  } catch {
    // No name of ours.
  }
  return { view, id, query: new URLSearchParams(query) };
}
const current = signal<Route>(parse());
addEventListener("hashchange", () => (current.value = parse()));
export const route = computed(() => current.value);

export function go(path: string): void {
  location.hash = path;
}
// Changes a parameter of the present view, without a step in the history.
export function setQuery(name: string, value: string): void {
  const { view, id, query } = current.value;
  const next = new URLSearchParams(query);
  if (value) next.set(name, value);
  else next.delete(name);
  const text = next.toString();
  history.replaceState(null, "", `#/${view}${id ? `/${encodeURIComponent(id)}` : ""}${text ? `?${text}` : ""}`);
  current.value = parse();
}
