// The output of a run, as it comes: a ring of lines in memory, however much there is.
import { signal } from "@preact/signals";
import { type Line, Terminal } from "./ansi";
import { ApiError, open } from "./api";

export interface OutputLine {
  number: number;
  pieces: Line;
  cut: number; // characters of it that are not kept
}
const MOST_BYTES = 2 << 20; // that are kept
const RETRY = 1000;

export class Output {
  readonly lines = signal<OutputLine[]>([]);
  readonly open = signal<Line>([]);
  readonly state = signal<"asking" | "following" | "ended" | "away">("asking");
  readonly skipped = signal(0); // bytes before the first line that is kept
  readonly problem = signal("");
  private kept: OutputLine[] = [];
  private sizes: number[] = [];
  private size = 0;
  private count = 0;
  private dirty = 0;
  private readonly stop = new AbortController();
  private terminal = this.fresh();

  constructor(private readonly runId: string) {
    void this.follow();
  }

  close(): void {
    this.stop.abort();
    cancelAnimationFrame(this.dirty);
  }

  private fresh(): Terminal {
    return new Terminal((pieces, cut) => this.add(pieces, cut));
  }
  private add(pieces: Line, cut: number): void {
    const size = pieces.reduce((sum, piece) => sum + piece.text.length, 0) + 24;
    this.kept.push({ number: ++this.count, pieces, cut });
    this.sizes.push(size);
    this.size += size;
    let drop = 0;
    while (this.size > MOST_BYTES && drop < this.kept.length - 1) this.size -= this.sizes[drop++]!;
    if (drop > 0) {
      this.skipped.value += this.sizes.slice(0, drop).reduce((sum, part) => sum + part - 23, 0);
      this.kept = this.kept.slice(drop);
      this.sizes = this.sizes.slice(drop);
    }
  }
  private show(): void {
    this.dirty ||= requestAnimationFrame(() => {
      this.dirty = 0;
      this.lines.value = [...this.kept];
      this.open.value = this.terminal.open;
    });
  }

  // Until the run has ended and all of it is here; krond's absence is waited out.
  private async follow(): Promise<void> {
    while (!this.stop.signal.aborted) {
      try {
        await this.read();
        break;
      } catch (error) {
        if (this.stop.signal.aborted) return;
        this.problem.value = error instanceof ApiError ? error.problem.detail : "The connection broke off.";
        if (error instanceof ApiError && !error.isAway) {
          this.state.value = "ended";
          return;
        }
        this.state.value = "away";
        await new Promise((resolve) => setTimeout(resolve, RETRY));
      }
    }
    this.terminal.end();
    this.show();
    this.state.value = "ended";
  }

  private async read(): Promise<void> {
    const response = await open(`runs/${this.runId}/output?follow=true`, { signal: this.stop.signal });
    [this.kept, this.sizes, this.size, this.count] = [[], [], 0, 0];
    this.skipped.value = 0;
    this.terminal = this.fresh();
    this.state.value = "following";
    this.problem.value = "";
    const decoder = new TextDecoder();
    const reader = response.body!.getReader();
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      this.terminal.feed(decoder.decode(value, { stream: true }));
      this.show();
    }
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
