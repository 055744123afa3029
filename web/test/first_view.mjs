// How soon there is something to see (tests/web/speed_test.py).
import assert from "node:assert/strict";
import { context, logIn, median, page, run, say, slowness, until } from "./browser.mjs";

const SOON = 1000; // milliseconds
const THROTTLE = 4;
const MOST_REQUESTS = 3;

await run({
  async "the first picture is there within a second on a machine of a quarter of the speed"() {
    await logIn();
    const control = await context.newCDPSession(page);
    await control.send("Emulation.setCPUThrottlingRate", { rate: THROTTLE });
    const seen = [];
    for (let i = 0; i < 5; ++i) {
      await page.reload();
      seen.push(await until(() => page.evaluate(() => {
        const [mark] = performance.getEntriesByName("picture");
        if (!mark) return null;
        const asked = performance.getEntriesByType("resource").filter((entry) => entry.name.includes("/api/v1/") && entry.startTime < mark.startTime);
        return { at: mark.startTime, asked: asked.map((entry) => entry.name), served: asked.reduce((sum, entry) => sum + entry.responseStart - entry.requestStart, 0) };
      }), "the picture"));
    }
    await control.send("Emulation.setCPUThrottlingRate", { rate: 1 });
    const slow = await slowness();
    // The fewest: where a frame takes more than a second and a half, the page asks on without it.
    const fewest = Math.min(...seen.map(({ asked }) => asked.length));
    assert.ok(fewest <= MOST_REQUESTS, seen[0].asked.join("\n"));
    const at = median(seen.map((each) => each.at));
    say(`the first picture after ${Math.round(at)} ms, of which ${Math.round(median(seen.map((each) => each.served)))} ms waiting for answers; this machine is ${slow.toFixed(2)} times as slow as a quiet one`);
    assert.ok(at <= SOON * slow, `${seen.map((each) => Math.round(each.at))} ms`);
  },
});
