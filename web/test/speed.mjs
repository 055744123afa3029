// The page with 10,000 jobs (tests/web/speed_test.py).
import assert from "node:assert/strict";
import { go, isDrawn, logIn, median, page, run, say, see, slowness, text, until } from "./browser.mjs";

const LONG = 100; // milliseconds of one task, at rest
const WINDOWS = 5;
const WINDOW = 1500; // milliseconds
const rows = () => page.locator(".rows .all .row");

// The longest task in each of some windows in which nobody does anything.
const atRest = () =>
  page.evaluate(async ([windows, length]) => {
    const longest = [];
    for (let i = 0; i < windows; ++i) {
      let most = 0;
      const observer = new PerformanceObserver((list) => list.getEntries().forEach((entry) => (most = Math.max(most, entry.duration))));
      observer.observe({ type: "longtask" });
      await new Promise((resolve) => setTimeout(resolve, length));
      observer.disconnect();
      longest.push(most);
    }
    return longest;
  }, [WINDOWS, WINDOW]);

async function restsAt(view) {
  const tasks = await atRest();
  const slow = await slowness();
  say(`${view} at rest: tasks of at most ${tasks.map(Math.round)} ms; this machine is ${slow.toFixed(2)} times as slow as a quiet one`);
  assert.ok(median(tasks) <= LONG * slow, `${view}: ${tasks.map(Math.round)} ms`);
}

await run({
  async "the overview draws them all, and rests"() {
    await logIn();
    await until(() => isDrawn(".picture canvas"), "the timeline");
    await see("10,000", "nav");
    await restsAt("Overview");
  },
  async "all of them are in the list, of which few rows are in the page"() {
    await go("/jobs");
    await until(async () => (await text(".bar")).includes("10,000") && !(await text(".bar")).includes("…"), "10,000 jobs");
    assert.ok((await rows().count()) <= 60, `${await rows().count()} rows`);
    await restsAt("Jobs");
  },
  async "the list is scrolled to its end, and to anywhere"() {
    const names = (await page.evaluate(() => [...document.querySelectorAll(".rows .all .row .name")].map((each) => each.textContent)));
    assert.deepEqual(names, [...names].sort());
    const view = page.locator(".rows .view");
    const steps = [];
    for (const part of [0.1, 0.35, 0.6, 0.85, 1]) {
      steps.push(await view.evaluate(async (box, share) => {
        const begun = performance.now();
        box.scrollTop = share * box.scrollHeight;
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return performance.now() - begun;
      }, part));
      // There is a row at the middle of what is in sight.
      assert.ok(await view.evaluate((box) => {
        const { left, top, height } = box.getBoundingClientRect();
        return document.elementFromPoint(left + 200, top + height / 2)?.closest(".row") !== null;
      }), `rows at ${part}`);
      assert.ok((await rows().count()) <= 60);
    }
    await see("team-t/job-9999".replace("9999", "9979"), ".rows .all");
    const slow = await slowness();
    say(`scrolled in ${steps.map(Math.round)} ms`);
    assert.ok(median(steps) <= LONG * slow, `${steps.map(Math.round)} ms`);
  },
  async "the filter finds one of 10,000 while it is typed"() {
    const took = [];
    for (const [typed, found] of [["team-c/", 500], ["job-77", 111], ["number 4242", 1], ["is:paused", 0], ["", 10_000]]) {
      took.push(await page.locator("#filter").evaluate(async (field, value) => {
        const begun = performance.now();
        field.value = value;
        field.dispatchEvent(new Event("input", { bubbles: true }));
        await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
        return performance.now() - begun;
      }, typed));
      const told = typed ? `${found.toLocaleString("en-US")} of 10,000` : "10,000";
      await until(async () => (await text(".bar")).includes(told), `${told} for ${typed}`);
    }
    const slow = await slowness();
    say(`filtered in ${took.map(Math.round)} ms`);
    assert.ok(median(took) <= LONG * slow, `${took.map(Math.round)} ms`);
  },
  async "a job is found by the palette, opened, and its view rests"() {
    await page.keyboard.press("Control+k");
    await page.waitForSelector(".palette input");
    await page.keyboard.type("job-4242");
    await see("team-c/job-4242", ".palette");
    await page.keyboard.press("Enter");
    await see("team-c/job-4242", "h1");
    await until(() => isDrawn("[aria-label='Next period'] canvas"), "its window");
    await restsAt("Job");
  },
});
