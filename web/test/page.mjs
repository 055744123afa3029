// The page in a real browser, before a real krond: tests/web/page_test.py starts both, and does what is asked of it here
// on standard output, one line of JSON each way.
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { mkdir, readFile } from "node:fs/promises";
import { createRequire } from "node:module";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { chromium } from "playwright-core";

const PATIENCE = Number(process.env.KRON_TEST_PATIENCE ?? 120) * 1000;
const shots = process.env.KRON_SCREENSHOTS;
const axeSource = await readFile(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

const answers = createInterface({ input: process.stdin })[Symbol.asyncIterator]();
async function ask(what, more = {}) {
  console.log(JSON.stringify({ do: what, ...more }));
  const { value } = await answers.next();
  return JSON.parse(value);
}

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--no-first-run"],
});
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", timezoneId: "Europe/Paris" });
context.setDefaultTimeout(PATIENCE);
const wrong = []; // what no page may ever do
function watch(page) {
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
const page = watch(await context.newPage());
const { address } = await ask("address");
const base = address.replace(/#.*/, "");
const code = /#code=(.*)/.exec(address)[1];

async function until(what, message) {
  const end = Date.now() + PATIENCE;
  for (;;) {
    const found = await what();
    if (found) return found;
    if (Date.now() > end) throw new Error(`never: ${message}`);
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}
const go = async (route) => {
  await page.evaluate((hash) => (location.hash = hash), route);
};
const text = (selector) => page.locator(selector).first().innerText();
const see = (words, selector = "main") => until(async () => (await text(selector).catch(() => "")).includes(words), `${words} in ${selector}`);
// A canvas that shows something: its picture is not all of one colour.
const isDrawn = (selector) =>
  page.locator(selector).first().evaluate((canvas) => {
    const { data } = canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height);
    for (let i = 3; i < data.length; i += 4) if (data[i] !== 0) return true;
    return false;
  });

const tests = {
  async "a code opens a session, and is gone from the address"() {
    await page.goto(address);
    await page.waitForSelector("h1.verdict");
    assert.ok(!page.url().includes("code="), page.url());
    assert.deepEqual(await context.cookies(), []);
    assert.equal(await page.evaluate((secret) => JSON.stringify({ ...localStorage }).includes(secret), code), false);
    await see("are fine", "h1.verdict");
  },
  async "the overview shows what ran, what will, and what needs you"() {
    await ask("trigger", { job: "failing" });
    await see("failing", "aside");
    await see("needs you.", "h1.verdict");
    await until(() => isDrawn(".picture canvas"), "the timeline");
    await page.getByRole("button", { name: "As a list" }).click();
    await see("hello", ".picture table");
    await page.getByRole("button", { name: "As a list" }).click();
  },
  async "a run that starts is seen without asking"() {
    await go("/runs");
    await page.waitForSelector("main table");
    await ask("trigger", { job: "team/a.b" });
    await see("team/a.b", "main table");
  },
  async "a job is found, opened, paused and resumed by the keyboard alone"() {
    await page.keyboard.press("Escape");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("g");
    await page.keyboard.press("j");
    await page.waitForSelector("#filter");
    await page.keyboard.press("/");
    await page.keyboard.type("hello");
    await until(async () => (await page.locator(".rows .all .row").count()) === 1, "one row");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("j");
    await page.keyboard.press("Enter");
    await see("hello", "h1");
    await page.keyboard.press("p");
    await page.waitForSelector("dialog[open]");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Cancel");
    await page.keyboard.press("Escape");
    await until(async () => (await page.locator("dialog[open]").count()) === 0, "no dialog");
    assert.equal((await ask("job", { job: "hello" })).paused, null);
    await page.keyboard.press("p");
    await page.locator("dialog[open] button.main").focus();
    await page.keyboard.press("Enter");
    await see("paused", "h1");
    await until(async () => (await ask("job", { job: "hello" })).paused !== null, "the pause");
    await page.keyboard.press("p");
    await page.locator("dialog[open] button.main").click();
    await until(async () => (await ask("job", { job: "hello" })).paused === null, "its end");
  },
  async "a job is run now, and its output is there while it runs"() {
    await go("/jobs/lasting");
    await page.getByRole("button", { name: /Run now/ }).click();
    await page.locator("dialog[open] button.main").click();
    await page.waitForSelector(".output");
    await see("holding", ".output");
    await see("running", ".words");
    await page.getByRole("button", { name: "Kill…" }).click();
    const yes = page.locator("dialog[open] button.danger");
    assert.equal(await yes.isDisabled(), true);
    await page.locator("dialog[open] input").fill("lasting");
    await yes.click();
    await until(async () => !(await text(".words")).includes("running"), "its end");
  },
  async "what a program prints is text, whatever it is"() {
    const { runId } = await ask("trigger", { job: "hostile" });
    await go(`/runs/${runId}`);
    await see("</script><img src=x onerror=alert(1)>", ".output");
    await see("⟨U+202E⟩", ".output");
    assert.equal(await page.locator(".output img, .output script, .output a").count(), 0);
    assert.equal(await page.locator(".output .t-red").first().innerText(), "red");
    await see("characters", ".output");
    await go("/jobs/hostile");
    await see("<b>bold</b>", "main");
    assert.equal(await page.locator("main .words b, main img").count(), 0);
  },
  async "the palette finds jobs, and help lists the keys"() {
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".palette input");
    await page.keyboard.type("team");
    await see("team/a.b", ".palette");
    await page.keyboard.press("Enter");
    await see("team/a.b", "h1");
    await page.evaluate(() => document.activeElement?.blur());
    await page.keyboard.press("?");
    await see("Ctrl-K", "dialog[open]");
    await page.keyboard.press("Escape");
  },
  async "tabs share one stream of events"() {
    const tabs = [];
    for (let i = 0; i < 5; ++i) {
      const tab = watch(await context.newPage());
      await tab.goto(`${base}#/runs`);
      await tab.waitForSelector("main table");
      tabs.push(tab);
    }
    await until(async () => (await ask("streams")).count <= 1, "one stream for all");
    const before = await tabs[0].locator("main tbody tr").count();
    await ask("trigger", { job: "hello" });
    for (const tab of tabs.slice(-1)) await until(async () => (await tab.locator("main tbody tr").count()) > before, "the run in another tab");
    for (const tab of tabs) await tab.close();
    await page.bringToFront();
  },
  async "another server on this machine gets nothing, and can do nothing"() {
    const heard = [];
    const server = createServer((request, response) => {
      heard.push(JSON.stringify(request.headers) + request.url);
      response.setHeader("Content-Type", "text/html");
      response.end("<h1>Another</h1>");
    });
    await new Promise((resolve) => server.listen(0, "127.0.0.1", resolve));
    const before = (await ask("job", { job: "hello" })).last?.number;
    const token = await page.evaluate(() => localStorage.getItem("kron.session"));
    const other = await context.newPage();
    await other.goto(`http://127.0.0.1:${server.address().port}/`);
    const tried = await other.evaluate(async ([to, key]) => {
      const read = await fetch(`${to}api/v1/status`, { headers: { Authorization: `Bearer ${key}` } }).then(() => "read", () => "nothing");
      await fetch(`${to}api/v1/jobs/hello/trigger`, { method: "POST", mode: "no-cors" }).catch(() => undefined);
      const form = document.createElement("form");
      form.method = "post";
      form.action = `${to}api/v1/jobs/hello/trigger`;
      document.body.append(form);
      form.submit();
      return [read, localStorage.length, document.cookie];
    }, [base, token]);
    assert.deepEqual(tried, ["nothing", 0, ""]);
    await other.waitForLoadState();
    await other.close();
    assert.equal((await ask("job", { job: "hello" })).last?.number, before);
    for (const words of heard) assert.ok(!words.includes(token) && !words.includes(code) && !/cookie|authorization/i.test(words), words);
    server.close();
  },
  async "krond may go and come back, and the page says so"() {
    await go("/");
    await page.waitForSelector("h1.verdict");
    await ask("kill");
    await see("krond is away", "main");
    assert.equal(await page.locator(".picture.stale").count(), 1);
    await ask("start");
    await until(async () => !(await text("main")).includes("krond is away"), "krond's return");
    await until(async () => (await page.locator(".picture.stale").count()) === 0, "a fresh picture");
  },
  async "everything is accessible, in both themes, from a telephone to a wall"() {
    const views = ["/", "/jobs", "/jobs/hello", "/runs", "/tasks", "/try"];
    const found = [];
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      for (const view of views) {
        await page.setViewportSize({ width: 1440, height: 900 });
        await go(view);
        await page.waitForSelector("main h1, main h2");
        await until(async () => !(await text("main")).includes("Asking krond"), "the view");
        await page.evaluate(`${axeSource}; undefined`);
        const result = await page.evaluate(() => axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "wcag21aa", "best-practice"] }));
        for (const violation of result.violations) {
          if (violation.impact === "serious" || violation.impact === "critical") found.push(`${theme} ${view} ${violation.id}: ${violation.nodes.map((node) => `${node.target} ${node.failureSummary}`).join(" | ").slice(0, 600)}`);
        }
        for (const [name, width, height] of [["phone", 360, 740], ["desk", 1440, 900], ["wall", 3840, 2160]]) {
          await page.setViewportSize({ width, height });
          await page.waitForTimeout(150);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          if (over > 1) found.push(`${name} ${view}: ${over} px too wide`);
          if (shots) {
            await mkdir(shots, { recursive: true });
            await page.waitForTimeout(400);
            await page.screenshot({ path: join(shots, `${view === "/" ? "overview" : view.slice(1).replaceAll("/", "-")}-${name}-${theme}.png`) });
          }
        }
      }
    }
    assert.deepEqual(found, []);
  },
  async "without a session there is nothing to see"() {
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await see("needs a session", "main");
    const { address: next } = await ask("address");
    await page.getByPlaceholder("Code, or the whole address").fill(code);
    await page.getByRole("button", { name: "Enter" }).click();
    await see("used", "main");
    if (next !== address) {
      await page.getByPlaceholder("Code, or the whole address").fill(next);
      await page.getByRole("button", { name: "Enter" }).click();
      await page.waitForSelector("h1.verdict");
    }
  },
};

let failed = 0;
for (const [name, test] of Object.entries(tests)) {
  if (process.env.ONLY && !name.includes(process.env.ONLY) && !name.startsWith("a code opens")) continue;
  const begun = Date.now();
  try {
    await test();
    assert.deepEqual(wrong.splice(0), []);
    console.error(`ok ${name} (${Date.now() - begun} ms)`);
  } catch (error) {
    ++failed;
    console.error(`not ok ${name}: ${error.stack ?? error}`);
    if (shots) await page.screenshot({ path: join(shots, `failed-${failed}.png`) }).catch(() => undefined);
  }
}
await browser.close();
console.error(`${Object.keys(tests).length - failed} passed, ${failed} failed`);
process.exit(failed === 0 ? 0 : 1);
