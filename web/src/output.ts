// The output of a run, as it comes: a ring of lines in memory, however much there is. It is read from near its end, and
// after a break from where it was; who writes faster than anybody reads is followed at his end only.
import { signal } from "@preact/signals";
import { type Line, Terminal } from "./ansi";
import { ApiError, open } from "./api";

export interface OutputLine {
  number: number;
  pieces: Line;
  cut: number; // characters of it that are not kept
}
const MOST_BYTES = 2 << 20; // that are kept, and asked for at first
const FAST = 5_000_000; // bytes in a second that nobody reads …
const FAST_TAIL = 256 << 10; // … so that only so many of them are asked for …
const FAST_PAUSE = 500; // … at a time, and so many milliseconds later again
const RETRY = 1000;
const SHOW_PAUSE = 80; // between two looks at what came
const SLICE = 12; // milliseconds before the page gets its turn
const LINE_COST = 24; // of a line beside its text
const CUT = " bytes cut here]\n"; // krond says so where bytes are missing
const NO_LINE: OutputLine = { number: 0, pieces: [], cut: 0 };
const sizeOf = (line: OutputLine): number => line.pieces.reduce((sum, piece) => sum + piece.text.length, LINE_COST);
const wait = (pause: number): Promise<unknown> => new Promise((resolve) => setTimeout(resolve, pause));

export class Output {
  readonly lines = signal<OutputLine[]>([]);
  readonly open = signal<Line>([]);
  readonly state = signal<"asking" | "following" | "ended" | "away">("asking");
  readonly skipped = signal(0); // bytes before the first line that is kept
  readonly isFast = signal(false);
  readonly problem = signal("");
  private kept: OutputLine[] = [];
  private first = 0; // of the kept that is not dropped yet
  private size = 0;
  private count = 0;
  private missed = 0; // bytes before the first of the kept
  private at = NaN; // the next byte to come, counted as the run wrote them; NaN: not known
  private dirty = 0;
  private decoder = new TextDecoder();
  private terminal = new Terminal(() => undefined);
  private readonly stop = new AbortController();

  constructor(private readonly runId: string) {
    void this.follow();
  }

  close(): void {
    this.stop.abort();
    clearTimeout(this.dirty);
  }

  private add(pieces: Line, cut: number): void {
    const line = { number: ++this.count, pieces, cut };
    // What krond left out because it came faster than it was read.
    const [, left] = pieces.length === 1 ? (/^\[kron: (\d+) bytes cut here]$/.exec(pieces[0]!.text) ?? []) : [];
    this.missed += Number(left ?? 0);
    this.kept.push(line);
    this.size += sizeOf(line);
    while (this.size > MOST_BYTES && this.first < this.kept.length - 1) {
      const old = this.kept[this.first]!;
      this.kept[this.first++] = NO_LINE;
      this.size -= sizeOf(old);
      this.missed += sizeOf(old) - LINE_COST + old.cut + 1;
    }
    // Now and then, so that a line costs no more than itself.
    if (this.first > 1000 && this.first > this.kept.length / 2) {
      this.kept = this.kept.slice(this.first);
      this.first = 0;
    }
  }
  private show(): void {
    this.dirty ||= window.setTimeout(() => {
      this.dirty = 0;
      this.lines.value = this.kept.slice(this.first);
      this.open.value = this.terminal.open;
      this.skipped.value = this.missed;
    }, SHOW_PAUSE);
  }

  // Until the run has ended and all of it is here; krond's absence is waited out.
  private async follow(): Promise<void> {
    while (!this.stop.signal.aborted) {
      try {
        if (await (this.isFast.value ? this.readEnd() : this.read())) break;
      } catch (error) {
        if (this.stop.signal.aborted) return;
        this.problem.value = error instanceof ApiError ? error.problem.detail : "The connection broke off.";
        if (error instanceof ApiError && !error.isAway) {
          this.state.value = "ended";
          return;
        }
        this.state.value = "away";
        await wait(RETRY);
      }
    }
    this.terminal.end();
    this.show();
    this.state.value = "ended";
  }

  // What is here goes on where the answer begins, or is forgotten. A host that does not say where gives all of it.
  private async ask(query: string, stop: AbortSignal): Promise<Response> {
    const response = await open(`runs/${this.runId}/output?${query}`, { signal: stop });
    const first = response.headers.get("Kron-Output-First");
    if (first === null || Number(first) !== this.at) {
      [this.kept, this.first, this.size, this.missed] = [[], 0, 0, Number(first)];
      this.terminal = new Terminal((pieces, cut) => this.add(pieces, cut));
      this.decoder = new TextDecoder();
    }
    this.at = first === null ? NaN : Number(first);
    this.state.value = "following";
    this.problem.value = "";
    return response;
  }
  private take(bytes: Uint8Array): void {
    const text = this.decoder.decode(bytes, { stream: true });
    this.at = text.includes(CUT) ? NaN : this.at + bytes.length;
    this.terminal.feed(text);
    this.show();
  }

  // Whether that was all of it.
  private async read(): Promise<boolean> {
    const mine = new AbortController();
    const response = await this.ask(`follow=true&tail=${MOST_BYTES}${this.at >= 0 ? `&from=${this.at}` : ""}`, AbortSignal.any([this.stop.signal, mine.signal]));
    const reader = response.body!.getReader();
    // What was there already may come as fast as it likes.
    let [begun, fresh, turn] = [performance.now(), -MOST_BYTES, performance.now()];
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return true;
      this.take(value);
      fresh += value.length;
      if (fresh > FAST && this.at >= 0) {
        this.isFast.value = true;
        mine.abort();
        return false;
      }
      const time = performance.now();
      if (time - begun > 1000) [begun, fresh] = [time, Math.min(fresh, 0)];
      if (time - turn < SLICE) continue;
      await wait(0);
      turn = performance.now();
    }
  }

  // The end of what there is now.
  private async readEnd(): Promise<boolean> {
    const before = this.at;
    await wait(FAST_PAUSE);
    const response = await this.ask(`tail=${FAST_TAIL}`, this.stop.signal);
    this.take(new Uint8Array(await response.arrayBuffer()));
    this.isFast.value = this.at >= 0 && !(this.at - before < (FAST * FAST_PAUSE) / 1000);
    return false;
  }
}

// The last lines, as text.
export async function linesOf(runId: string, mostBytes: number): Promise<string[]> {
  const response = await open(`runs/${runId}/output`, { headers: { Range: `bytes=-${mostBytes}` } });
  const lines: string[] = [];
  const terminal = new Terminal((line) => lines.push(line.map((piece) => piece.text).join("")));
  terminal.feed(await response.text());
  terminal.end();
  return lines;
}
