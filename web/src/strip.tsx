// The last outcomes of a job, as a strip: the oldest first, one mark each.
import type { JSX } from "preact";
import { MARK_WORDS, type Mark } from "./data";

const MARKS: Record<string, Mark> = { "+": "ok", x: "fail", t: "fail", "?": "unknown", s: "skip", m: "miss", n: "none", o: "over", r: "run" };
const TALL: Record<Mark, [number, number]> = { ok: [4, 8], run: [4, 8], over: [7, 2], skip: [6, 4], fail: [1, 14], unknown: [1, 14], miss: [1, 14], none: [1, 14] };

// null: the history cannot be asked yet, which is not the same as nothing.
export function Outcomes({ letters }: { letters: string | null | undefined }): JSX.Element | null {
  if (letters === undefined) return null;
  if (letters === null) return <span class="faint" title="krond is still reading the record">·</span>;
  if (letters === "") return null;
  const marks = [...letters].map((letter) => MARKS[letter] ?? "unknown");
  const counts = new Map<Mark, number>();
  for (const mark of marks) counts.set(mark, (counts.get(mark) ?? 0) + 1);
  const label = `Last ${marks.length}: ${[...counts].map(([mark, count]) => `${count} ${MARK_WORDS[mark]}`).join(", ")}`;
  return (
    <svg class="strip" width={marks.length * 6} viewBox={`0 0 ${marks.length * 6} 16`} role="img" aria-label={label}>
      <title>{label}</title>
      {marks.map((mark, i) => <rect x={i * 6} y={TALL[mark][0]} width="4" height={TALL[mark][1]} rx="1.5" fill={`var(--${mark === "unknown" ? "fail" : mark})`} />)}
    </svg>
  );
}
