// Every view and action of the page (tests/web/page_test.py).
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { ask, confirm, context, findings, go, isDrawn, leave, logIn, page, press, run, see, shot, text, until, watch } from "./browser.mjs";

const LIVE = 1000; // milliseconds until what happens is seen
let address = "";
const base = () => address.replace(/#.*/, "");
const code = () => /#code=(.*)/.exec(address)[1];
const rows = () => page.locator(".rows .all .row").count();

// What stands around it may still move.
const asList = () => page.getByRole("button", { name: "As a list" }).dispatchEvent("click");

async function openJobs(filter) {
  await go("/jobs");
  await page.waitForSelector("#filter");
  await page.locator("#filter").fill(filter);
}

await run({
  async "a code opens a session, and is gone from the address"() {
    address = await logIn();
    assert.ok(!page.url().includes("code="), page.url());
    assert.deepEqual(await context.cookies(), []);
    assert.equal(await page.evaluate((secret) => JSON.stringify({ ...localStorage }).includes(secret), code()), false);
    await see("are fine", "h1.verdict");
  },
  async "three requests make the first picture"() {
    // The best of five: where a frame takes more than a second and a half, the page asks on without it.
    let asked = [];
    for (let i = 0; i < 5 && (i === 0 || asked.length > 3); ++i) {
      await page.reload();
      asked = await until(() => page.evaluate(() => {
        const [mark] = performance.getEntriesByName("picture");
        return mark && performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/api/v1/") && entry.startTime < mark.startTime).map((entry) => entry.name);
      }), "the picture");
    }
    assert.ok(asked.length <= 3, asked.join("\n"));
    assert.ok(await isDrawn(".picture canvas"));
  },
  async "the overview shows what ran, what will, and what needs you"() {
    await ask("trigger", { job: "failing" });
    await see("failing", "aside");
    await see("need", "h1.verdict");
    await until(() => isDrawn(".picture canvas"), "the timeline");
    await asList();
    await see("hello", ".picture table");
    await see("failing", ".picture table");
    await asList();
    await see("failed", ".stat");
  },
  async "the time axis moves by keys, and its range is in the address"() {
    await page.locator(".picture canvas").first().focus();
    await press("+");
    await until(() => page.url().includes("for=12h") || page.url().includes("for=30m"), "another range");
    await press("ArrowRight");
    await until(() => page.url().includes("from="), "another time");
    await press("0");
    await until(() => !page.url().includes("from="), "now");
    await leave();
    await press("b");
    await until(async () => (await page.locator("button.key").first().getAttribute("aria-pressed")) === "true", "as written");
    await press("b");
    await go("/");
  },
  async "the week of a clock change is drawn right, whether an hour is missing or comes twice"() {
    // The clocks jump from 02:00 to 03:00: the period is at the first instant behind the gap. Back in autumn, it is at the
    // first of the two times of its name, and only there.
    for (const [week, days, change] of [
      ["2027-03-26T00:00:00Z", { "Sat 27 Mar": "02:30:00", "Sun 28 Mar": "03:00:00", "Mon 29 Mar": "02:30:00" }, "2027-03-28T01:00:00Z"],
      ["2027-10-29T00:00:00Z", { "Sat 30 Oct": "02:30:00", "Sun 31 Oct": "02:30:00", "Mon 1 Nov": "02:30:00" }, "2027-10-31T01:00:00Z"],
    ]) {
      await go(`/?from=${week}&for=7d&order=name`);
      await asList();
      const times = await until(async () => {
        const found = await page.locator(".picture tbody tr", { hasText: "paris" }).allInnerTexts();
        return found.length >= 6 && found.some((row) => row.includes(Object.keys(days)[0])) && found;
      }, `the periods of paris from ${week}`);
      for (const [day, time] of Object.entries(days)) assert.deepEqual(times.filter((row) => row.includes(day)).map((row) => /\d\d:\d\d:\d\d/.exec(row)[0]), [time], day);
      await asList();
      await until(() => isDrawn(".picture canvas"), "the week");
      // The mark of the change is where it is: another colour than an hour before, above the lanes.
      const [at, before] = await page.locator(".picture canvas").first().evaluate((canvas, [from, t]) => {
        const ratio = canvas.width / canvas.clientWidth;
        const x = (time) => Math.round((164 + ((time - from) / (7 * 86_400_000)) * (canvas.clientWidth - 16 - 164)) * ratio);
        const colour = (time) => [...canvas.getContext("2d").getImageData(x(time), Math.round(24 * ratio), Math.round(5 * ratio), Math.round(4 * ratio)).data].some((part) => part > 0);
        return [colour(t), colour(t - 5 * 3_600_000)];
      }, [Date.parse(week), Date.parse(change)]);
      assert.deepEqual([at, before], [true, false], change);
      await shot(`clock-change-${week.slice(5, 7)}`);
    }
    await go("/");
  },
  async "a run that starts is seen within a second"() {
    await go("/runs");
    await page.waitForSelector("main table");
    const seen = [];
    for (let i = 0; i < 5; ++i) {
      const before = await page.locator("main tbody tr").count();
      const begun = Date.now();
      const { runId } = await ask("trigger", { job: "team/a.b", waits: false });
      await until(async () => (await page.locator("main tbody tr").count()) > before, "the run");
      seen.push(Date.now() - begun);
      // The page may see a run before it ends, and one that is active forbids another.
      await ask("ended", { run: runId });
    }
    // The best of five: the others tell of the machine.
    assert.ok(Math.min(...seen) < LIVE, `${seen} ms`);
  },
  async "a job is found, opened, paused with a note and resumed by the keyboard alone"() {
    await leave();
    await press("g", "j");
    await page.waitForSelector("#filter");
    await press("/");
    await page.keyboard.type("says hello");
    await until(async () => (await rows()) === 1, "one row");
    await press("Escape", "j", "Enter");
    await see("hello", "h1");
    await press("p");
    await page.waitForSelector("dialog[open]");
    assert.equal(await page.evaluate(() => document.activeElement?.textContent), "Cancel");
    await press("Escape");
    await until(async () => (await page.locator("dialog[open]").count()) === 0, "no dialog");
    assert.equal((await ask("job", { job: "hello" })).paused, null);
    await press("p");
    await page.locator("dialog[open] input").focus();
    await page.keyboard.type("<img src=x onerror=alert(3)> moving house");
    await page.locator("dialog[open] button.main").focus();
    await press("Enter");
    await see("paused", "h1");
    const { paused } = await ask("job", { job: "hello" });
    await see("moving house", ".title");
    assert.equal(paused.note, "<img src=x onerror=alert(3)> moving house");
    assert.ok(paused.by);
    assert.equal(await page.locator("main img").count(), 0);
    await leave();
    await press("p");
    await confirm();
    await until(async () => (await ask("job", { job: "hello" })).paused === null, "its end");
  },
  async "the rules of a job are shown, and what it waits for"() {
    await go("/jobs/slot%2Fruled");
    for (const rule of ["of one:1", "3 times at most, after 1m at first", "0,2", "failures in a row: 2", "spread over 5m"]) {
      await see(rule, "aside dl.kv");
    }
    const { runId } = await ask("trigger", { job: "slot/holder", waits: false });
    await leave();
    await press("r");
    await page.waitForSelector("dialog[open]");
    await page.click("dialog button.main");
    await see("slot/ruled waits for a slot of one.", ".toasts");
    await go("/jobs?q=slot%2Fruled");
    await see("waits for a slot of one", "main .rows");
    await ask("end", { run: runId });
  },
  async "many jobs are paused and resumed at once, after their number was typed"() {
    await openJobs("many/");
    await until(async () => (await text(".bar")).includes("25 of"), "the jobs of many/");
    await page.getByLabel("Select all that are shown").check();
    await see("25 jobs selected");
    await page.getByRole("button", { name: "Pause…" }).click();
    assert.equal(await page.locator("dialog[open] button.main").isDisabled(), true);
    await page.locator("dialog[open] input").first().fill("upgrade");
    await page.locator("dialog[open] input").last().fill("25");
    await confirm();
    await see("25 jobs are paused", ".toasts");
    await openJobs("many/ is:paused");
    await until(async () => (await text(".bar")).includes("25 of"), "25 that are paused");
    const { paused } = await ask("job", { job: "many/7" });
    assert.equal(paused.note, "upgrade");
    await page.getByRole("button", { name: "Resume…" }).click();
    await page.locator("dialog[open] input").last().fill("25");
    await confirm();
    await see("25 jobs are resumed", ".toasts");
    assert.equal((await ask("job", { job: "many/7" })).paused, null);
    await page.getByRole("button", { name: "Clear" }).click();
    await ask("trigger", { job: "failing" });
    await page.locator("#filter").fill("is:failing");
    await until(async () => (await text(".rows .all").catch(() => "")).includes("failing"), "the failing one");
  },
  async "a job says what it does in words, why its second is what it is, and why not"() {
    await go("/jobs/spread");
    await see("spread", "h1");
    assert.match(await text(".words"), /Europe.Paris, somewhere in the 3h after/);
    await until(() => isDrawn("[aria-label='Next period'] canvas"), "the window");
    await see("74 % of the window is allowed");
    await see("Clock change");
    assert.equal(await page.locator("section[aria-label=Coming] tbody tr").count(), 10);
    await go("/jobs/nothing-like-this");
    await see("There is no such job");
  },
  async "why it ran or did not is said as kron why says it"() {
    await ask("trigger", { job: "failing" });
    const { startedAt } = (await ask("get", { path: ["runs"] })).runs[0];
    const ahead = new Date(Date.now() + 86_400_000).toISOString().slice(0, 11);
    const seen = new Set();
    // A krond that takes its time: meanwhile the answer before must not pass for this one.
    const slow = (url) => url.pathname.endsWith("/why");
    await page.route(slow, async (request) => {
      await new Promise((done) => setTimeout(done, 300));
      await request.continue();
    });
    for (const [job, at] of [
      ["spread", "2026-03-01T11:34:00Z"], ["spread", `${ahead}23:00:00Z`], ["hello", `${ahead}10:15:00Z`], ["hello", `${ahead}10:07:00Z`],
      ["paris", "2027-03-28T01:30:00Z"], ["failing", startedAt], ["team/a.b", "2020-01-01T00:00:00Z"],
    ]) {
      await go(`/jobs/${encodeURIComponent(job)}`);
      await see(job, "h1");
      const local = await page.evaluate((t) => new Date(Date.parse(t) - new Date(t).getTimezoneOffset() * 60_000).toISOString().slice(0, 19), at);
      await page.locator("#why-at").fill(local);
      await page.getByRole("button", { name: "Ask", exact: true }).click();
      await page.waitForSelector(".why");
      assert.ok(page.url().includes("why="));
      // Times as krond says them, whatever the zone they are shown in.
      const said = await page.evaluate(() => {
        const copy = document.querySelector("[aria-label='Why, or why not?'] [role=status]").cloneNode(true);
        for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
        return copy.textContent;
      });
      const lines = (await ask("why", { job, at })).lines.map((line) => line.replaceAll("`", ""));
      seen.add(lines[0]);
      for (const line of lines) assert.ok(said.toLowerCase().includes(line.toLowerCase()), `${job} at ${at}: the page says\n${said}\nand kron why\n${line}`);
    }
    await page.unroute(slow);
    assert.ok(seen.size >= 6, [...seen].join("\n"));
  },
  async "a job is run now, and its output is there while it runs"() {
    await go("/jobs/lasting");
    await page.getByRole("button", { name: /Run now/ }).click();
    await confirm();
    await page.waitForSelector(".output");
    await see("holding", ".output");
    await see("running", ".words");
    await page.getByRole("button", { name: "Kill…" }).click();
    const yes = page.locator("dialog[open] button.danger");
    assert.equal(await yes.isDisabled(), true);
    await page.locator("dialog[open] input").last().fill("lasting");
    await yes.click();
    await until(async () => !(await text(".words")).includes("running"), "its end");
  },
  async "a failed run is compared with the last that succeeded"() {
    await ask("succeed");
    await ask("trigger", { job: "flaky" });
    await ask("fail");
    const { runId } = await ask("trigger", { job: "flaky" });
    await go(`/runs/${runId}`);
    await page.getByRole("button", { name: "Compare with the last success" }).click();
    await see("Line 3 is the first that differs");
    assert.match(await text(".beside .differs"), /no rate for CHF/);
    await page.getByLabel("Find in the output").fill("rate");
    await until(async () => (await page.locator(".output .line").count()) === 1, "one line");
    assert.equal(await text(".output mark"), "rate");
    const [saved] = await Promise.all([page.waitForEvent("download"), page.getByRole("button", { name: "Save" }).click()]);
    assert.equal(saved.suggestedFilename(), `${runId}.txt`);
  },
  async "what a program prints is text, whatever it is"() {
    const { runId } = await ask("trigger", { job: "hostile" });
    await go(`/runs/${runId}`);
    await see("behind it", ".output");
    assert.match(await text(".output"), /<\/script><img src=x onerror=alert\(1\)>\s+red link\s+⟨U\+202E⟩right to left/);
    assert.equal(await text(".output .t-red"), "red");
    assert.equal(await page.locator(".output img, .output script, .output a").count(), 0);
    await go("/jobs/hostile");
    await see("<b>bold</b>", "main");
    assert.equal(await page.locator("main .words b, main img").count(), 0);
    const wide = await ask("trigger", { job: "wide" });
    await go(`/runs/${wide.runId}`);
    await see("behind it", ".output");
    await see("characters", ".output");
    assert.ok((await text(".output")).length < 100_000);
  },
  async "tasks are seen, cancelled and tried again"() {
    await ask("submit", { task: "one" });
    await ask("submit", { task: "two" });
    await go("/tasks");
    await page.getByRole("link", { name: "one", exact: true }).waitFor();
    const row = page.locator("main tbody tr", { has: page.getByRole("link", { name: "one", exact: true }) });
    await row.getByRole("button", { name: "Cancel…" }).click();
    await confirm("danger");
    await until(async () => (await ask("get", { path: ["tasks", "one"] })).state === "COMPLETED", "the end of one");
    await ask("pending", { task: "two" });
    await go("/tasks/two");
    await see("no rate for CHF");
    await page.getByRole("button", { name: "Try again…" }).click();
    await confirm();
    await until(async () => (await ask("get", { path: ["tasks", "two"] })).state === "PENDING", "another attempt");
  },
  async "lines are tried, and nothing is saved"() {
    const { jobs } = await ask("get", { path: ["status"] });
    await go("/try");
    await see("hello", "aside");
    await see("On top of what runs here");
    await until(() => isDrawn("main canvas"), "the load");
    await page.locator("textarea").fill("0 25 * * * name=broken command=true");
    await see("^", ".problem pre");
    await see("error:", ".problem");
    assert.equal((await ask("get", { path: ["status"] })).jobs, jobs);
  },
  async "the palette finds jobs and does things, and help lists the keys"() {
    await press("Control+k");
    await page.waitForSelector(".palette input");
    await page.keyboard.type("team");
    await see("team/a.b", ".palette");
    await press("Enter");
    await see("team/a.b", "h1");
    await leave();
    await press("?");
    await see("Ctrl-K", "dialog[open]");
    await press("Escape");
    await press("Control+k");
    await page.waitForSelector(".palette input");
    await page.keyboard.type("run team");
    await see("run…", ".palette");
    await press("Enter");
    await see("Run team/a.b now?", "dialog[open]");
    await press("Escape");
  },
  async "every view is reached, and left, without a mouse"() {
    await ask("trigger", { job: "hello" });
    await leave();
    for (const [keys, heading] of [["gj", "Jobs"], ["gr", "Runs"], ["gt", "Tasks"], ["gy", "Try"], ["gc", "works alone"]]) {
      await leave();
      await press(...keys);
      await see(heading, heading === "works alone" ? "main" : "h1");
    }
    await leave();
    await press("g", "t");
    await page.waitForSelector("main tbody tr a");
    await press("j", "Enter");
    await page.waitForSelector("h1 .pill");
    await press("Escape");
    await see("Tasks", "h1");
    await leave();
    await press("g", "r");
    await page.waitForSelector("main tbody tr a");
    await press("j");
    assert.equal(await page.evaluate(() => document.activeElement?.closest("tbody") !== null), true);
    await until(async () => {
      if (await page.evaluate(() => document.activeElement.matches("a[href^='#/runs/']"))) return true;
      await press("Tab");
      return false;
    }, "a run");
    await press("Enter");
    await page.waitForSelector(".output");
    await press("Escape");
    await see("Runs", "h1");
    await press("z");
    assert.equal(await page.evaluate(() => localStorage.getItem("kron.zone")), "utc");
    await press("z");
    await leave();
    await press("g", "o");
    await page.waitForSelector("h1.verdict");
    // From the top of the page to the marks of the picture.
    await page.locator(".picture canvas").first().focus();
    await until(async () => {
      await press("ArrowDown");
      return (await text(".picture .sr[aria-live]")).includes("hello");
    }, "a mark");
    await press("Enter");
    await see("hello", "h1");
  },
  async "tabs share one stream of events"() {
    const tabs = [];
    for (let i = 0; i < 5; ++i) {
      const tab = watch(await context.newPage());
      await tab.goto(`${base()}#/runs`);
      await tab.waitForSelector("main table");
      tabs.push(tab);
    }
    await until(async () => (await ask("streams")).count === 1, "one stream for all");
    const before = await tabs[0].locator("main tbody tr").count();
    await ask("trigger", { job: "hello" });
    for (const tab of tabs) await until(async () => (await tab.locator("main tbody tr").count()) > before, "the run in another tab");
    assert.equal((await ask("streams")).count, 1);
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
    }, [base(), token]);
    assert.deepEqual(tried, ["nothing", 0, ""]);
    await other.waitForLoadState();
    await other.close();
    assert.equal((await ask("job", { job: "hello" })).last?.number, before);
    for (const words of heard) assert.ok(!words.includes(token) && !words.includes(code()) && !/cookie|authorization/i.test(words), words);
    server.close();
  },
  async "krond may go and come back, and nothing old looks new"() {
    await go("/");
    await page.waitForSelector("h1.verdict");
    await until(() => isDrawn(".picture canvas"), "the picture");
    await go("/jobs/hello");
    await see("hello", "h1");
    await ask("kill");
    await see("krond is away since", "main");
    assert.equal(await text("header .live"), "away");
    await leave();
    await press("r");
    await see("krond is away", ".toasts");
    await go("/");
    await page.waitForSelector(".picture.stale canvas");
    const picture = () => page.locator(".picture canvas").first().evaluate((canvas) => canvas.toDataURL());
    await until(() => isDrawn(".picture canvas"), "the old picture");
    const stopped = await picture();
    await page.waitForTimeout(2500);
    assert.ok((await picture()) === stopped);
    await ask("start");
    await until(async () => !(await text("main")).includes("krond is away"), "krond's return");
    await until(async () => (await page.locator(".picture.stale").count()) === 0, "a fresh picture");
    await ask("trigger", { job: "hello" });
    await go("/runs");
    await see("hello", "main table");
  },
  async "everything is accessible, in both themes, from a telephone to a wall"() {
    const { runId } = await ask("trigger", { job: "failing" });
    const views = { overview: "/", jobs: "/jobs", job: "/jobs/spread", run: `/runs/${runId}`, runs: "/runs", tasks: "/tasks", task: "/tasks/two", try: "/try", cluster: "/cluster" };
    const found = [];
    for (const theme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme: theme });
      for (const [name, view] of Object.entries(views)) {
        await page.setViewportSize({ width: 1440, height: 900 });
        await go(view);
        await page.waitForSelector("main h1, main h2");
        await until(async () => !(await text("main")).includes("Asking krond"), `the view ${name}`);
        for (const finding of await findings()) found.push(`${theme} ${view} ${finding}`);
        for (const [size, width, height] of [["phone", 360, 740], ["desk", 1440, 900], ["wall", 3840, 2160]]) {
          await page.setViewportSize({ width, height });
          await page.waitForTimeout(100);
          const over = await page.evaluate(() => document.documentElement.scrollWidth - document.documentElement.clientWidth);
          if (over > 1) found.push(`${size} ${view}: ${over} px too wide`);
          await shot(`${name}-${size}-${theme}`);
        }
      }
    }
    await page.setViewportSize({ width: 1440, height: 900 });
    for (const open of ["?", "Control+k"]) {
      await leave();
      await press(open);
      await page.waitForSelector("dialog[open]");
      for (const finding of await findings()) found.push(`${open} ${finding}`);
      await press("Escape");
    }
    assert.deepEqual(found, []);
  },
  async "the page of kron simulate draws the same load, and asks nobody for anything"() {
    const { path } = await ask("simulate");
    const alone = await context.newPage();
    const asked = [];
    alone.on("request", (request) => asked.push(request.url()));
    alone.on("pageerror", (error) => asked.push(String(error)));
    await alone.goto(`file://${path}`);
    const picture = () => alone.locator("canvas").evaluate((canvas) => canvas.toDataURL());
    const spread = await picture();
    await alone.keyboard.press("b");
    await until(async () => (await picture()) !== spread, "the load as written");
    await alone.keyboard.press("b");
    await until(async () => (await picture()) === spread, "the load as spread");
    await alone.keyboard.press("+");
    await until(async () => (await picture()) !== spread, "a closer look");
    assert.match(await alone.locator("#numbers").innerText(), /before\s+200\s+200/);
    assert.deepEqual(asked, [`file://${path}`]);
    await alone.close();
  },
  async "without a session there is nothing to see"() {
    await page.evaluate(() => localStorage.clear());
    await page.reload();
    await see("Paste a token", "main");
    await page.getByPlaceholder("Token, code, or the whole address").fill(code());
    await page.getByRole("button", { name: "Enter" }).click();
    await see("used", "main");
  },
});
