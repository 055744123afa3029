// The parts of the page that need no browser: compiled by esbuild, run by node.
import assert from "node:assert/strict";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { build } from "esbuild";

// Zones are looked at in a place whose clocks change, and what a browser has is there, as far as modules ask for it.
process.env.TZ = "Europe/Paris";
const nothing = () => undefined;
Object.assign(globalThis, {
  window: globalThis,
  addEventListener: nothing,
  matchMedia: () => ({ matches: false, addEventListener: nothing }),
  localStorage: { getItem: () => null, setItem: nothing, removeItem: nothing },
  location: { hash: "" },
  document: { visibilityState: "hidden", addEventListener: nothing, documentElement: { dataset: {} } },
  dispatchEvent: nothing,
  innerHeight: 900,
  BroadcastChannel: class {},
});
const every = globalThis.setInterval;
globalThis.setInterval = (...words) => every(...words).unref();

const home = join(dirname(fileURLToPath(import.meta.url)), "..");
const place = await mkdtemp(join(tmpdir(), "kron-page-"));
after(() => rm(place, { recursive: true }));
async function load(file) {
  const out = join(place, `${file.replaceAll("/", "_")}.mjs`);
  await build({ absWorkingDir: home, entryPoints: [`src/${file.includes("views") ? `${file}.tsx` : `${file}.ts`}`], outfile: out, bundle: true, format: "esm", logLevel: "error" });
  return import(pathToFileURL(out).href);
}
const { Terminal, LONGEST_LINE } = await load("ansi");
const { plain, counted } = await load("text");
const { duration, counter, bytes, clockChanges, offsetOf, moment } = await load("time");
const { Scale, ticks, roundUp, roundDown } = await load("draw/scale");
const { timeline, overlapsOf } = await load("draw/timeline");
const drawLoad = (await load("draw/load")).load;
const { columnsOf, isTooWide } = await load("data");
const { matcher } = await load("views/jobs");
const { refusedSpans } = await load("views/job_next");
const { trendOf, worstOf, yearShapes } = await load("views/job_past");
const { timesIn, instantOf } = await load("views/job_why");
const { firstDifference } = await load("views/compare");
const { numbersOf } = await load("views/numbers");
const { Output } = await load("output");
const { awaited, rulesOf } = await load("rules");

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

const HOUR = 3600e3;
test("clock changes are found to the minute, and the axis has no hour that is not there", () => {
  const spring = Date.parse("2027-03-28T01:00:00Z");
  const autumn = Date.parse("2026-10-25T01:00:00Z");
  assert.deepEqual(clockChanges(spring - 50 * HOUR, spring + 50 * HOUR), [{ t: spring, by: 60 }]);
  assert.deepEqual(clockChanges(autumn - 50 * HOUR + 17_000, autumn + 50 * HOUR), [{ t: autumn, by: -60 }]);
  assert.deepEqual(clockChanges(spring + 1, spring + 24 * HOUR), []);
  assert.equal(offsetOf(spring), 120);
  assert.equal(offsetOf(spring - 1000), 60);
  const labels = (from, hours) => ticks(new Scale(from, from + hours * HOUR, 0, hours * 100)).map((tick) => tick.label);
  assert.deepEqual(labels(spring - 2 * HOUR, 4), ["Sun 28 Mar", "01:00", "03:00", "04:00", "05:00"]);
  assert.deepEqual(labels(autumn - 2 * HOUR, 4), ["01:00", "02:00", "02:00", "03:00", "04:00"]);
  // Midnights of the week are as far apart as the days are long.
  const week = ticks(new Scale(spring - 3 * 24 * HOUR, spring + 4 * 24 * HOUR, 0, 700)).filter((tick) => tick.isDay);
  assert.deepEqual(week.map((tick, i) => (i === 0 ? 0 : (tick.t - week[i - 1].t) / HOUR)), [0, 24, 24, 23, 24, 24, 24]);
});

test("the hour that comes twice is shaded, and one that is missing is a line", () => {
  const of = (change) => {
    const [from, until] = [change - 24 * HOUR, change + 24 * HOUR];
    return timeline({ from, until, columns: 288, lanes: [] }, new Scale(from, until, 0, 960), from, 100, 1).shapes;
  };
  const twice = of(Date.parse("2026-10-25T01:00:00Z")).find((shape) => shape.fill === "skip-soft");
  assert.equal(Math.round(twice.w), 20); // an hour of 48 on 960 pixels
  const missing = of(Date.parse("2027-03-28T01:00:00Z")).filter((shape) => shape.stroke === "skip");
  assert.deepEqual(missing.map((shape) => [shape.kind, Math.round(shape.x1)]), [["line", 481]]);
});

test("a lane shows windows, chosen seconds, and those that the run before will be in the way of", () => {
  const lane = { name: "a", jobs: 1, usual: 5000, mark: null, periods: [[0, 0, 600, 300], [3600, 3600, 4200, 3700], [7200, 7200, 7800, null]], runs: [[0, 0, null, "run", "id"]] };
  assert.deepEqual([...overlapsOf(lane, 100)], [0, 1]);
  assert.deepEqual([...overlapsOf({ ...lane, usual: 60 }, 100)], []);
  assert.deepEqual([...overlapsOf({ ...lane, usual: null }, 100)], []);
  const picture = { from: 0, until: 12 * HOUR, columns: 288, lanes: [lane] };
  const scale = new Scale(0, 12 * HOUR, 100, 1300);
  const drawn = timeline(picture, scale, 100_000, 100, 1);
  assert.equal(drawn.shapes.filter((shape) => shape.fill === "after").length, 2);
  assert.equal(timeline(picture, scale, 3600_000, 100, 1).shapes.filter((shape) => shape.fill === "after" && shape.opacity < 0.5).length, 1);
  assert.equal(drawn.shapes.filter((shape) => shape.mark === "none").length, 1);
  // As written, the marks are where the periods are.
  const written = timeline(picture, scale, 100_000, 100, 0).shapes.filter((shape) => shape.fill === "after");
  assert.deepEqual(written.map((shape) => Math.round(shape.x + 1.3)), [0, 3600].map((s) => Math.round(scale.x(s * 1000))));
});

test("many starts are marks or bars, and slide to where they were written", () => {
  const lane = { name: "h*", jobs: 200, usual: null, mark: null, density: [[1, 3], [2, 5]], windows: [[0, 1800]] };
  const picture = { from: 0, until: 24 * HOUR, columns: 288, lanes: [lane] };
  const scale = new Scale(0, 24 * HOUR, 100, 1300);
  const marks = (spread) => timeline(picture, scale, 0, 100, spread).shapes.filter((shape) => shape.kind === "rect" && shape.w === 2);
  assert.equal(marks(1).length, 8);
  assert.ok(marks(0).every((shape) => Math.abs(shape.x - 100) < 1));
  const bars = drawLoad({ from: 0, until: 24 * HOUR, before: [8, 0, 0], after: [0, 3, 5], actual: [] }, scale, 0, 1);
  assert.equal(bars.filter((shape) => shape.fill === "after").length, 2);
});

test("columns are round, and a day is left for an hour when it shows no spreading", () => {
  for (const [hours, step] of [[0.5, 5], [1, 10], [6, 60], [24, 300], [168, 1800], [336, 3600]]) assert.deepEqual(columnsOf(hours), { step, columns: (hours * 3600) / step });
  const flat = Array(288).fill(200);
  assert.equal(isTooWide({ before: flat, after: flat }), true);
  assert.equal(isTooWide({ before: [200, ...Array(287).fill(0)], after: Array(288).fill(1) }), false);
  assert.equal(isTooWide({ before: Array(288).fill(0), after: Array(288).fill(0) }), false);
  assert.deepEqual([1, 3, 17, 217].map(roundDown), [1, 2, 10, 200]);
});

test("jobs are found by words, beginnings, patterns and states", () => {
  const job = (identity, more = {}) => ({ identity, paused: null, suspended: false, running: 0, last: null, ...more });
  const jobs = [job("team/a"), job("my-team/b", { description: "Sends Invoices" }), job("host-12/backup", { paused: {} }), job("host-x/other", { running: 1, last: { outcome: "executed", state: "ended", exitCode: 3 } })];
  const found = (text) => jobs.filter(matcher(text)).map((one) => one.identity);
  assert.deepEqual(found("team/"), ["team/a"]);
  assert.deepEqual(found("team"), ["team/a", "my-team/b"]);
  assert.deepEqual(found("invoices"), ["my-team/b"]);
  assert.deepEqual(found("host-*/backup"), ["host-12/backup"]);
  assert.deepEqual(found("is:paused"), ["host-12/backup"]);
  assert.deepEqual(found("host is:failing is:running"), ["host-x/other"]);
  assert.deepEqual(found("(.*"), []);
});

test("what is refused lies between what is allowed", () => {
  const t = (text) => Date.parse(`2026-03-01T${text}Z`);
  const spans = [{ from: "2026-03-01T00:00:00Z", to: "2026-03-01T01:14:59Z" }, { from: "2026-03-01T02:00:00Z", to: "2026-03-01T02:59:59Z" }];
  assert.deepEqual(refusedSpans({ allowedSpans: spans }, t("00:00:00"), t("02:59:59")), [[t("01:15:00"), t("02:00:00")]]);
  assert.deepEqual(refusedSpans({ allowedSpans: [] }, t("00:00:00"), t("03:00:00")), [[t("00:00:00"), t("03:00:00")]]);
});

test("a trend is said where there is one", () => {
  const points = (took) => Array.from({ length: 20 }, (_, i) => ({ mark: "ok", took: took(i), at: i * 24 * HOUR }));
  assert.equal(Math.round(trendOf(points((i) => 3000 + 20 * i))), 20);
  assert.equal(trendOf(points((i) => (i % 2 ? 10 : 2000))), null);
  assert.equal(trendOf(points(() => 5)), null);
  assert.equal(trendOf(points((i) => i).slice(0, 9)), null);
});

test("a day of the year has the colour of the worst on it", () => {
  assert.equal(worstOf({ "+": 200, s: 1 }), "skip");
  assert.equal(worstOf({ "+": 1, x: 1, m: 3 }), "fail");
  assert.equal(worstOf({}), null);
  const at = Date.parse("2026-11-17T12:00:00Z");
  const { shapes } = yearShapes({ days: [{ day: "2026-11-16", counts: { m: 1 }, runs: 0, sumSeconds: 0, maxSeconds: 0 }] }, 1200, at);
  assert.equal(shapes.filter((shape) => shape.fill === "miss").length, 1);
  assert.equal(shapes.filter((shape) => shape.kind === "rect").length, 52 * 7 + 2); // to this Tuesday
});

test("times in what krond says are shown as all others", () => {
  const parts = timesIn("missed 2026-03-01T02:12:40Z, and <b>");
  assert.deepEqual(parts.map((part) => typeof part), ["string", "object", "string"]);
  assert.equal(parts[1].props.at, "2026-03-01T02:12:40Z");
  assert.equal(instantOf("2026-07-01T12:00"), Date.parse("2026-07-01T10:00:00Z"));
  assert.equal(instantOf("2026-12-01T12:00:30"), Date.parse("2026-12-01T11:00:30Z"));
  assert.match(moment(Date.parse("2020-03-01T02:12:40Z")), /^Sun 1 Mar 2020 03:12:40$/);
});

// Node 18 has neither ReadableStream.from nor AbortSignal.any.
AbortSignal.any ??= ([signal]) => signal;
function streamOf(pieces) {
  const each = pieces[Symbol.asyncIterator]?.() ?? pieces[Symbol.iterator]();
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await each.next();
      if (done) controller.close();
      else controller.enqueue(value);
    },
  });
}
// An output of which `answer` says what comes for a question: where it begins, and its pieces.
async function followed(answer, run) {
  const asked = [];
  globalThis.fetch = async (path) => {
    const query = new URL(path, "http://localhost").searchParams;
    asked.push(Object.fromEntries(query));
    const [first, pieces] = answer(query, asked.length);
    return new Response(streamOf(pieces), { headers: first === null ? {} : { "Kron-Output-First": String(first) } });
  };
  const output = new Output("id");
  const end = Date.now() + 60_000;
  while (output.state.value !== "ended") {
    assert.ok(Date.now() < end, "it never ended");
    run?.(output);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  await new Promise((resolve) => setTimeout(resolve, 120));
  return { asked, output, text: output.lines.value.map((line) => line.pieces.map((piece) => piece.text).join("")) };
}
const encoder = new TextEncoder();
async function* breaking(text) {
  yield encoder.encode(text);
  throw new Error("gone");
}

test("an output that broke off is followed from where it was", async () => {
  const { asked, text, output } = await followed((query, n) => (n === 1 ? [7, breaking("a\nb\u00e9")] : [Number(query.get("from")), [encoder.encode("c\nd\n")]]));
  assert.deepEqual(asked.map((query) => query.from), [undefined, "12"]);
  assert.deepEqual(text, ["a", "b\u00e9c", "d"]);
  assert.equal(output.skipped.value, 7);
  // What was cut meanwhile is told, and what stood before it is not shown as if it were next to it.
  const cut = await followed((query, n) => (n === 1 ? [0, breaking("a\nb\n")] : [100, [encoder.encode("z\n")]]));
  assert.deepEqual(cut.text, ["z"]);
  assert.equal(cut.output.skipped.value, 100);
  // A place that is not sure is not gone on from.
  const unsure = await followed((query, n) => (n === 1 ? [0, breaking("a\n[kron: 90 bytes cut here]\nb\n")] : [90, [encoder.encode("b\n")]]));
  assert.deepEqual(unsure.asked.map((query) => query.from), [undefined, undefined]);
  // Another host gives all of it, every time.
  const other = await followed((query, n) => [null, n === 1 ? breaking("a\nb") : [encoder.encode("a\nb\nc\n")]]);
  assert.deepEqual(other.text, ["a", "b", "c"]);
});

const LINE_OF_64 = `${"x".repeat(63)}\n`;
const PIECE = encoder.encode(LINE_OF_64.repeat(1024));
const HUNDRED = Math.ceil(100e6 / PIECE.length);

test("of 100 MB at a pace that can be read, the last lines are kept", async () => {
  const real = performance.now.bind(performance);
  let passed = 0; // milliseconds that nobody waits for
  performance.now = () => real() + passed;
  async function* paced() {
    for (let i = 0; i < HUNDRED; ++i) {
      passed += 20;
      yield PIECE;
    }
    yield encoder.encode("the end\n");
  }
  let most = 0;
  const before = process.memoryUsage().heapUsed;
  try {
    const { asked, output, text } = await followed(() => [0, paced()], () => (most = Math.max(most, process.memoryUsage().heapUsed - before)));
    assert.equal(asked.length, 1);
    assert.equal(text.at(-1), "the end");
    assert.equal(output.skipped.value + text.reduce((sum, line) => sum + line.length + 1, 0), HUNDRED * PIECE.length + 8);
    assert.ok(text.length < 30_000, `${text.length} lines`);
    assert.ok(most < 200e6, `${most} bytes`);
  } finally {
    performance.now = real;
  }
});

test("who writes faster than anybody reads is followed at his end", async () => {
  let written = 0;
  async function* all() {
    for (let i = 0; i < HUNDRED; ++i) {
      written += PIECE.length;
      yield PIECE;
    }
  }
  const { asked, output, text } = await followed((query, n) => {
    if (n === 1) return [0, all()];
    if (query.has("follow")) return [Number(query.get("from")), [encoder.encode("the end\n")]];
    // It goes on for two looks, and is over at the third.
    if (n < 4) written += 50e6;
    return [written - Number(query.get("tail")), [PIECE.slice(0, 64), PIECE.slice(0, Number(query.get("tail")) - 64)]];
  });
  assert.ok(written >= 100e6);
  assert.deepEqual(asked.map((query) => [query.follow === "true", Number(query.tail)]).slice(1, 4), [[false, 262144], [false, 262144], [false, 262144]]);
  assert.equal(asked.at(-1).follow, "true");
  assert.equal(text.at(-1), "the end");
  assert.ok(output.skipped.value >= 90e6, `${output.skipped.value}`);
  assert.equal(output.isFast.value, false);
});

test("the numbers of a day are sums, and say of how much of it", () => {
  const none = [null, 0, 0, 0];
  const told = numbersOf({ from: "2026-03-01T00:00:00Z", stepSeconds: 60, points: 4, series: { starts: [9, 3, 0, 1], succeeded: [null, 1, 0, 1], failed: [null, 1, 0, 0], timedOut: [null, 1, 0, 0], unknown: none, skipped: none, missed: none, noTime: none, delayP50: [null, 0.004, null, 2], delayP99: [null, 0.5, null, 2] } });
  assert.deepEqual([told.starts, told.minutes, told.usualDelay, told.worstDelay], [13, 3, 0.004, 2]);
  assert.deepEqual(Object.fromEntries(told.counts), { ok: 2, fail: 2, unknown: 0, skip: 0, miss: 0, none: 0 });
  assert.equal(numbersOf({ from: "", stepSeconds: 60, points: 1, series: {} }).usualDelay, null);
});

test("numbers are no difference between two outputs", () => {
  assert.equal(firstDifference(["12 files", "ok"], ["7 files", "ok"]), -1);
  assert.equal(firstDifference(["a", "b"], ["a", "c"]), 1);
  assert.equal(firstDifference(["a"], ["a", "b"]), 1);
});

test("the rules of a job are what its definition says, and else what krond does", () => {
  const plainJob = Object.fromEntries(rulesOf({}));
  assert.deepEqual(plainJob, { Late: "not at all: then missed", Overlap: "skipped while one runs" });
  const all = Object.fromEntries(
    rulesOf({
      policy: { deadline: "1h", concurrency: "queue", pauseAfter: 3, catchUpSpread: "5m" },
      timeout: "2h", retry: 3, backoff: "1m", fails_on: "stderr", success_exit: "0,2", pool: "db:4",
      notify: { on: ["failed", "missed", "recovered"], after: 2, to: ["ops", "mail"] },
      ping: "https://hc.example/secret", user: "www", env: { KEY: null },
    }, { maxRunning: 8, catchUpSpreadSeconds: 600 }),
  );
  assert.deepEqual(all, {
    Late: "up to 1h, then missed",
    "Late starts": "spread over 5m",
    Overlap: "waits for it",
    "Needs a slot": "of db:4 and of the host:8",
    "Time limit": "2h, then TERM, then KILL",
    "Tried again": "3 times at most, after 1m at first",
    "Fails on": "stderr",
    "Fine exits": "0,2",
    "Paused after": "failures in a row: 3",
    Tells: "ops, mail: failed, missed, recovered",
    Pings: "a check, not shown here",
    "Runs as": "www",
    Environment: "KEY",
  });
  const ofKrond = Object.fromEntries(rulesOf({}, { maxRunning: 8, catchUpSpreadSeconds: 600 }));
  assert.equal(ofKrond["Late starts"], "spread over 10 min");
  assert.equal(ofKrond["Needs a slot"], "of the host:8");
  assert.equal(Object.fromEntries(rulesOf({}, { maxRunning: 8 }, true))["Needs a slot"], undefined);
  assert.equal(Object.fromEntries(rulesOf({ policy: { catchUpSpread: "0s" } }, { catchUpSpreadSeconds: 600 }))["Late starts"], undefined);
  assert.equal(Object.fromEntries(rulesOf({ ping: null }))["Pings"], all["Pings"], "hidden by the API");
});

test("what waits says what for", () => {
  assert.equal(awaited({ for: "slot", pool: "db" }), "a slot of db");
  assert.equal(awaited({ for: "slot" }), "a slot of the host");
  assert.equal(awaited({ for: "run" }), "the run before it");
});
