// Outputs that no page could hold (tests/web/output_test.py).
import assert from "node:assert/strict";
import { ask, go, logIn, page, press, rendererMemory, run, say, see, text, until } from "./browser.mjs";

const MOST_MEMORY = 300e6; // bytes of the tab
const MOST_LINES = 1000; // that are in the page at a time

await run({
  async "100 MB are followed within 300 MB, and what is left out is said"() {
    await logIn();
    const { runId } = await ask("trigger", { job: "much", waits: false });
    await go(`/runs/${runId}`);
    await see("ready", ".output");
    const before = await rendererMemory();
    let most = before;
    await ask("touch", { name: "go" });
    const begun = Date.now();
    await until(async () => {
      most = Math.max(most, await rendererMemory());
      return (await text(".output")).includes("the end");
    }, "the end of it");
    most = Math.max(most, await rendererMemory());
    say(`100 MB in ${Date.now() - begun} ms: ${Math.round(before / 1e6)} MB before, ${Math.round(most / 1e6)} MB at most`);
    assert.ok(most < MOST_MEMORY, `${most} bytes`);
    await see("of it are not shown here", ".output");
    const [, left] = /(\d+) MB of it are not shown/.exec(await text(".output .note"));
    assert.ok(Number(left) >= 90 && Number(left) <= 100, left);
    assert.ok((await page.locator(".output .line").count()) <= MOST_LINES + 1);
    // It is still a page that answers.
    await press("Escape");
    await see("Runs", "h1");
    await go(`/runs/${runId}`);
    await see("the end", ".output");
    await ask("touch", { name: "over" });
    await until(async () => !(await text(".words")).includes("running"), "its end");
    await ask("untouch", { name: "over" });
  },
  async "an output goes on where it was when krond has been away"() {
    const asked = [];
    page.on("request", (request) => request.url().includes("/output?") && asked.push(new URL(request.url()).searchParams.get("from")));
    const { runId } = await ask("trigger", { job: "counting", waits: false });
    await go(`/runs/${runId}`);
    await see("line 20", ".output");
    await ask("kill");
    await see("krond is away, trying", "section[aria-label=Output]");
    await ask("start");
    const last = async () => (await page.locator(".output .line").allInnerTexts()).length;
    const known = await last();
    await until(async () => (await last()) > known + 20, "more lines");
    await ask("touch", { name: "over" });
    await see("the end", ".output");
    const lines = (await page.locator(".output .line").allInnerTexts()).map((line) => line.trim()).filter((line) => line.startsWith("line"));
    assert.deepEqual(lines, lines.map((_, i) => `line ${i + 1}`));
    assert.equal(asked[0], null);
    assert.ok(asked.slice(1).some((from) => Number(from) > 100), String(asked));
  },
});
