// What the tests in a browser share. A test in Python starts krond and `kron web`, and does what is asked of it here on
// standard output, one line of JSON each way (tests/web/browser_host.py).
import assert from "node:assert/strict";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

export const PATIENCE = Number(process.env.KRON_TEST_PATIENCE ?? 120) * 1000;
export const SCALE = Number(process.env.KRON_TEST_SCALE ?? 1);
const shots = process.env.KRON_SCREENSHOTS;

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
export async function ask(what, more = {}) {
  console.log(JSON.stringify({ do: what, ...more }));
  const { value } = await answers.next();
  return JSON.parse(value);
}
export const say = (text) => console.error(text);

export const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-quic", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--no-first-run", "--js-flags=--expose-gc", "--enable-precise-memory-info"],
});
export const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", timezoneId: "Europe/Paris" });
context.setDefaultTimeout(PATIENCE);
await context.addInitScript(() => {
  window.violations = [];
  addEventListener("securitypolicyviolation", (event) => window.violations.push(`${event.violatedDirective} ${event.blockedURI}`));
});

const wrong = []; // what no page may ever do
export function watch(page) {
  page.on("pageerror", (error) => wrong.push(`error: ${error.stack ?? error}`));
  page.on("dialog", (dialog) => {
    wrong.push(`dialog: ${dialog.message()}`);
    void dialog.dismiss();
  });
  page.on("console", (message) => {
    if (/Content Security Policy|Trusted/i.test(message.text())) wrong.push(`policy: ${message.text()}`);
  });
  page.on("request", (request) => {
    if (new URL(request.url()).hostname !== "127.0.0.1") wrong.push(`request: ${request.url()}`);
  });
  return page;
}
export const page = watch(await context.newPage());

export async function until(what, message, patience = PATIENCE) {
  const end = Date.now() + patience;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never: ${message}`);
    await new Promise((resolve) => setTimeout(resolve, 30));
  }
}
export const go = (route) => page.evaluate((hash) => (location.hash = hash), route);
export const text = (selector, on = page) => on.locator(selector).first().innerText();
export const see = (words, selector = "main", on = page) => until(async () => (await text(selector, on).catch(() => "")).includes(words), `${words} in ${selector}`);
export const press = async (...keys) => {
  for (const key of keys) await page.keyboard.press(key);
};
// Keys mean letters only where nobody types.
export const leave = () => page.evaluate(() => document.activeElement?.blur());
// A canvas that shows something: its picture is not all of one colour.
export const isDrawn = (selector) =>
  page.locator(selector).first().evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 3; i < data.length; i += 4) if (data[i] !== 0) return true;
    return false;
  });
export async function confirm(kind = "main") {
  await page.locator(`dialog[open] button.${kind}`).click();
}
export async function shot(name) {
  if (!shots) return;
  await mkdir(shots, { recursive: true });
  await page.screenshot({ path: join(shots, `${name}.png`) });
}
export async function logIn() {
  const { address } = await ask("address");
  await page.goto(address);
  await page.waitForSelector("h1.verdict");
  return address;
}

export const median = (values) => [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)];

// How much longer the same work takes here and now than on the quiet machine on which the limits were set; at least 1.
// Twice the middle of it, because what is busy now was busier a moment ago.
const QUIET = 60; // milliseconds
export async function slowness() {
  const took = [];
  for (let i = 0; i < 5; ++i) {
    took.push(await page.evaluate(() => {
      const begun = performance.now();
      const texts = new Map();
      for (let n = 0; n < 60_000; ++n) texts.set(`job-${(n * 7919) % 60_000}`, n);
      [...texts.keys()].sort();
      return performance.now() - begun;
    }));
  }
  return Math.max(1, (2 * median(took)) / QUIET);
}

// Bytes of the largest tab, as the browser's own task manager counts them: without the files that all of them share.
const control = await browser.newBrowserCDPSession();
export async function rendererMemory() {
  const { processInfo } = await control.send("SystemInfo.getProcessInfo");
  const sizes = await Promise.all(
    processInfo
      .filter(({ type }) => type === "renderer")
      .map(async ({ id }) => [...(await readFile(`/proc/${id}/status`, "utf8").catch(() => "")).matchAll(/(?:RssAnon|RssShmem|VmSwap):\s+(\d+)/g)].reduce((sum, [, kilobytes]) => sum + Number(kilobytes) * 1024, 0)),
  );
  return Math.max(0, ...sizes);
}

const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
// What is serious of what a screen reader or a weak eye would meet.
export async function findings() {
  await page.evaluate(`${axeSource}; undefined`);
  const result = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"] }));
  return result.violations
    .filter((violation) => violation.impact === "serious" || violation.impact === "critical")
    .map((violation) => `${violation.id}: ${violation.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ").slice(0, 600)}`);
}

// Runs the tests in order, on one page; each leaves it where the next can begin anew.
export async function run(tests) {
  let failed = 0;
  for (const [name, test] of Object.entries(tests)) {
    if (process.env.ONLY && !new RegExp(process.env.ONLY).test(name) && Object.keys(tests)[0] !== name) continue;
    const begun = Date.now();
    try {
      await test();
      const violations = await page.evaluate(() => window.violations?.splice(0) ?? []).catch(() => []);
      assert.deepEqual([...wrong.splice(0), ...violations], []);
      console.error(`ok ${name} (${Date.now() - begun} ms)`);
    } catch (error) {
      ++failed;
      console.error(`not ok ${name}: ${error.stack ?? error}`);
      await shot(`failed-${failed}`).catch(() => undefined);
      wrong.splice(0);
      if (await page.locator("dialog[open]").count().catch(() => 0)) await press("Escape");
    }
  }
  await browser.close();
  console.error(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
  process.exit(failed === 0 ? 0 : 1);
}
