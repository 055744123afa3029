// What a program printed, as lines of coloured pieces. Colours and weight are understood; every other sequence of a
// terminal (cursor, title, links) is dropped, and a carriage return leaves the last state of a progress bar.
export interface Piece {
  text: string;
  style: string; // class names; empty: none
}
export type Line = Piece[];

export const LONGEST_LINE = 16 * 1024;
const SEQUENCE = /\u001b(?:\[([0-9;:]*)[ -/]*([@-~])|\][^\u0007\u001b]*(?:\u0007|\u001b\\)?|[PX^_][^\u001b]*(?:\u001b\\)?|[ -/]*[0-~])?/g;
const COLOURS = ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];

interface Style {
  bold: boolean;
  dim: boolean;
  italic: boolean;
  underline: boolean;
  colour: string;
}
const PLAIN: Style = { bold: false, dim: false, italic: false, underline: false, colour: "" };

function changed(style: Style, parameters: string): Style {
  let next = { ...style };
  const codes = parameters === "" ? [0] : parameters.split(/[;:]/).map((part) => Number(part) || 0);
  for (let i = 0; i < codes.length; ++i) {
    const code = codes[i]!;
    if (code === 0) next = { ...PLAIN };
    else if (code === 1) next.bold = true;
    else if (code === 2) next.dim = true;
    else if (code === 3) next.italic = true;
    else if (code === 4) next.underline = true;
    else if (code === 22) next.bold = next.dim = false;
    else if (code === 23) next.italic = false;
    else if (code === 24) next.underline = false;
    else if (code === 39) next.colour = "";
    else if (code >= 30 && code <= 37) next.colour = COLOURS[code - 30]!;
    else if (code >= 90 && code <= 97) next.colour = COLOURS[code - 90]!;
    else if (code === 38 || code === 48) {
      const palette = codes[i + 1] === 5;
      const number = codes[i + 2] ?? 0;
      if (code === 38 && palette && number < 16) next.colour = COLOURS[number % 8]!;
      i += palette ? 2 : codes[i + 1] === 2 ? 4 : 0;
    }
  }
  return next;
}

function classes(style: Style): string {
  const names: string[] = [];
  for (const name of ["bold", "dim", "italic", "underline"] as const) if (style[name]) names.push(`t-${name}`);
  if (style.colour) names.push(`t-${style.colour}`);
  return names.join(" ");
}

// Feeds text as it comes; finished lines go to `take`.
export class Terminal {
  private style: Style = { ...PLAIN };
  private rest = "";

  constructor(private readonly take: (line: Line, cut: number) => void) {}

  feed(text: string): void {
    let all = this.rest + text;
    for (let end = all.indexOf("\n"); end >= 0; end = all.indexOf("\n")) {
      this.finish(all.slice(0, end));
      all = all.slice(end + 1);
    }
    // A line without end must not eat the memory: its beginning is shown, the rest of it is passed over.
    this.rest = all.length > 2 * LONGEST_LINE ? all.slice(0, LONGEST_LINE) + all.slice(-16) : all;
    this.dropped += all.length - this.rest.length;
  }
  // What has no end yet.
  get open(): Line {
    return this.read(this.rest.slice(0, LONGEST_LINE), { ...this.style }).line;
  }
  end(): void {
    if (this.rest !== "") this.finish(this.rest);
    this.rest = "";
  }

  private dropped = 0;
  private finish(text: string): void {
    const cut = this.dropped + Math.max(0, text.length - LONGEST_LINE);
    this.dropped = 0;
    const { line, style } = this.read(text.slice(0, LONGEST_LINE), this.style);
    this.style = style;
    this.take(line, cut);
  }
  private read(text: string, from: Style): { line: Line; style: Style } {
    let style = from;
    let line: Line = [];
    const add = (part: string): void => {
      // Whatever stood there is overwritten: the text behind the last return counts, unless that ends the line.
      const trimmed = part.replace(/\r+$/, "");
      const back = trimmed.lastIndexOf("\r");
      if (back >= 0) line = [];
      const shown = clean(back >= 0 ? trimmed.slice(back + 1) : trimmed);
      if (shown !== "") line.push({ text: shown, style: classes(style) });
    };
    let at = 0;
    for (const found of text.matchAll(SEQUENCE)) {
      add(text.slice(at, found.index));
      at = found.index + found[0].length;
      if (found[2] === "m") style = changed(style, found[1] ?? "");
    }
    add(text.slice(at));
    return { line, style };
  }
}

const CONTROL = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g;
function clean(text: string): string {
  return text.replace(CONTROL, (c) => (c === "\u0008" ? "" : `⟨U+${c.charCodeAt(0).toString(16).toUpperCase().padStart(4, "0")}⟩`));
}
