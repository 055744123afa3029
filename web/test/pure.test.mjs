// The parts of the page that need no browser: compiled by esbuild, run by node.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const place = await mkdtemp(join(tmpdir(), "kron-page-"));
after(() => rm(place, { recursive: true }));
async function load(file) {
  const out = join(place, `${file.replaceAll("/", "_")}.mjs`);
  await build({ absWorkingDir: home, entryPoints: [`src/${file}.ts`], outfile: out, bundle: true, format: "esm", logLevel: "error" });
  return import(pathToFileURL(out).href);
}
const { Terminal, LONGEST_LINE } = await load("ansi");
const { plain, counted } = await load("text");
const { duration, counter, bytes } = await load("time");
const { Scale, ticks, roundUp } = await load("draw/scale");

function lines(...pieces) {
  const out = [];
  const terminal = new Terminal((line, cut) => out.push({ text: line.map((piece) => piece.text).join(""), styles: line.map((piece) => piece.style), cut }));
  for (const piece of pieces) terminal.feed(piece);
  terminal.end();
  return out;
}

test("colours are understood, and every other sequence is dropped", () => {
  assert.deepEqual(lines("\x1b[31mred\x1b[0m plain\n"), [{ text: "red plain", styles: ["t-red", ""], cut: 0 }]);
  assert.deepEqual(lines("\x1b[1;32mbold\n"), [{ text: "bold", styles: ["t-bold t-green"], cut: 0 }]);
  assert.equal(lines("a\x1b[2Jb\x1b[10;5Hc\x1b]0;title\x07d\x1b]8;;http://evil.example\x1b\\e\x1b]8;;\x1b\\f\n")[0].text, "abcdef");
  assert.equal(lines("\x1b[38;5;1mx\x1b[38;2;1;2;3my\x1b[48;5;200mz\n")[0].text, "xyz");
});

test("a style goes on in the next line, however the bytes are cut", () => {
  assert.deepEqual(lines("\x1b[3", "1mone\ntw", "o\n").map((line) => line.styles), [["t-red"], ["t-red"]]);
});

test("a progress bar is shown as it ended", () => {
  assert.deepEqual(lines("10%\r50%\r100%\ndone\r\n").map((line) => line.text), ["100%", "done"]);
});

test("what is no text is shown as what it is", () => {
  assert.equal(lines("a\u202eb\u0000c\n")[0].text, "a⟨U+202E⟩b⟨U+0000⟩c");
  assert.equal(plain("<b>\u202e\u200b"), "<b>⟨U+202E⟩⟨U+200B⟩");
});

test("a line without end costs no more than its beginning", () => {
  const [line] = lines(...Array.from({ length: 100 }, () => "x".repeat(100_000)), "\n");
  assert.equal(line.text.length, LONGEST_LINE);
  assert.equal(line.cut + line.text.length, 10_000_000);
});

test("durations are words", () => {
  for (const [ms, text] of [[0, "0 s"], [4, "4 ms"], [43_000, "43 s"], [312_000, "5 min 12 s"], [3 * 3600e3 + 300e3, "3 h 5 min"], [26 * 3600e3, "1 d 2 h"]]) assert.equal(duration(ms), text);
  assert.equal(counter(3_732_000), "1:02:12");
  assert.equal(bytes(999), "999 B");
  assert.equal(bytes(48_200), "48 KB");
  assert.equal(counted(1, "job"), "1 job");
  assert.equal(counted(1200, "job"), "1,200 jobs");
});

test("the axis has round times that do not touch", () => {
  const from = Date.parse("2026-11-17T12:07:00Z");
  for (const hours of [1, 3, 6, 12, 24, 48, 168]) {
    const scale = new Scale(from, from + hours * 3600e3, 100, 1100);
    const found = ticks(scale);
    assert.ok(found.length >= 3, `${hours} h: ${found.length}`);
    for (let i = 1; i < found.length; ++i) assert.ok(scale.x(found[i].t) - scale.x(found[i - 1].t) >= 40, `${hours} h`);
  }
  const scale = new Scale(0, 100, 0, 10);
  assert.equal(scale.t(scale.x(37)), 37);
  assert.deepEqual([1, 3, 17, 217].map(roundUp), [1, 5, 20, 500]);
});
