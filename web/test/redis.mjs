// The page before a krond that shares its jobs with another on a Redis (tests/web/redis_test.py).
import assert from "node:assert/strict";
import { ask, confirm, go, isDrawn, leave, logIn, page, press, run, see, shot, text, until } from "./browser.mjs";

await run({
  async "the first view is that of any krond, and there is one view more"() {
    await logIn();
    await until(() => isDrawn(".picture canvas"), "the timeline");
    await page.getByRole("link", { name: "Cluster" }).waitFor();
    await leave();
    await press("g", "c");
    await see("Cluster", "h1");
  },
  async "the cluster's hosts are seen, and its link"() {
    await see("2 hosts on", ".bar");
    const rows = await page.locator("main tbody tr").allInnerTexts();
    assert.equal(rows.length, 2);
    for (const [i, host] of ["h1", "h2"].entries()) assert.match(rows[i], new RegExp(`${host}[\\s\\S]*\\bup\\b`));
    assert.match(rows[0], /this one/);
    await see("answers", "aside");
  },
  async "jobs of the shared list are run now, and their output comes from wherever they run"() {
    await go("/jobs");
    await until(async () => (await page.locator(".rows .all .row").count()) === 5, "five jobs");
    await go("/jobs/told");
    await see("told", "h1");
    await page.getByRole("button", { name: /Run now/ }).click();
    await confirm();
    await page.waitForSelector(".output");
    await see("two", ".output");
    await see("exit 0", ".words");
    assert.match(await text("aside"), /Host\s+h[12]/);
    await ask("trigger", { job: "failing" });
    await go("/runs");
    await see("failing", "main table");
    await see("told", "main table");
  },
  async "what another host was asked for is seen, followed and ended here"() {
    const { runId } = await ask("elsewhere", { job: "lasting" });
    await go("/cluster");
    await see("lasting", "[aria-label=Running]");
    assert.match(await text("[aria-label=Running]"), /on h[12]/);
    await shot("cluster-two");
    await go(`/runs/${runId}`);
    await see("holding", ".output");
    await see("running", ".words");
    await ask("let_go");
    await see("let go", ".output");
    await until(async () => !(await text(".words")).includes("running"), "its end");
  },
  async "names are text, whatever they are"() {
    const strange = "<script>alert(4)</script>/\u202eeman";
    const { runId } = await ask("trigger", { job: strange });
    for (const view of ["/", "/jobs", `/jobs/${encodeURIComponent(strange)}`, "/runs", `/runs/${runId}`]) {
      await go(view);
      await until(async () => (await text("main")).includes("⟨U+202E⟩eman") || (view === "/" && (await isDrawn(".picture canvas"))), `the name in ${view}`);
      assert.equal(await page.locator("main script").count(), 0);
      assert.ok(!(await text("main")).includes("\u202e"), view);
    }
    await press("Control+k");
    await page.waitForSelector(".palette input");
    await page.keyboard.type("<script");
    await see("⟨U+202E⟩eman", ".palette");
    await press("Escape");
  },
  async "a pause is one for all hosts"() {
    await go("/jobs/often");
    await see("often", "h1");
    await page.getByRole("button", { name: /Pause/ }).click();
    await page.locator("dialog[open] input").first().fill("moving house");
    await confirm();
    await see("paused", "h1");
    await see("until somebody resumes it", ".title");
    await until(async () => (await ask("other", { path: ["jobs", "often"] })).paused !== null, "the pause at the other host");
    await page.getByRole("button", { name: /Resume/ }).click();
    await confirm();
    await until(async () => (await ask("other", { path: ["jobs", "often"] })).paused === null, "its end there");
    await until(async () => !(await text("h1")).includes("paused"), "its end here");
  },
  async "a Redis that hangs is said, and its return"() {
    await go("/cluster");
    await ask("hang");
    await see("The link to Redis is down");
    await ask("go_on");
    await until(async () => !(await text("main")).includes("is down"), "the link");
    await see("answers", "aside");
  },
});
