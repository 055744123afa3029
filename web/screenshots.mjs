// Pictures of the page of a krond that runs the jobs of examples/demo (scripts/screenshots).
//   node screenshots.mjs ADDRESS DIRECTORY
import { join } from "node:path";
import { chromium } from "playwright-core";

const [address, directory] = process.argv.slice(2);
const PATIENCE = 60_000;

const browser = await chromium.launch({ executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium", args: ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--font-render-hinting=none", "--lang=en-GB"], env: { ...process.env, LANGUAGE: "en_GB" } });
const context = await browser.newContext({ viewport: { width: 1440, height: 960 }, deviceScaleFactor: 1.5, reducedMotion: "reduce", timezoneId: "Europe/Paris", locale: "en-GB" });
context.setDefaultTimeout(PATIENCE);
const page = await context.newPage();
// What this machine is called is nobody's business.
await page.route("**/api/v1/session", async (route) => {
  const response = await route.fetch();
  await route.fulfill({ response, json: { ...(await response.json()), host: "atlas-2" } });
});

const text = (selector) => page.locator(selector).first().innerText().catch(() => "");
async function until(what) {
  for (const end = Date.now() + PATIENCE; !(await what()); await page.waitForTimeout(100)) if (Date.now() > end) throw new Error(`never: ${what}`);
}
async function take(name, view, isThere, { theme = "light", height = 960 } = {}) {
  await page.setViewportSize({ width: 1440, height });
  await page.emulateMedia({ colorScheme: theme });
  await page.evaluate((hash) => (location.hash = hash), view);
  await until(isThere);
  // What was said at the edge, and what is drawn after what is asked for.
  await until(async () => (await page.locator(".toasts > div").count()) === 0);
  await page.waitForTimeout(1500);
  await page.screenshot({ path: join(directory, `${name}.png`) });
}

const isDrawn = () =>
  page.locator("main canvas").first().evaluate((canvas) => canvas.getContext("2d").getImageData(0, 0, canvas.width, canvas.height).data.some((part) => part !== 0)).catch(() => false);

await page.goto(address);
const overview = async () => (await text("h1.verdict")).includes("need") && (await text(".picture")).includes("spread: peak") && (await text(".stat")).includes("failed");
await take("overview", "/", overview, { height: 960 });
await take("overview-dark", "/", overview, { height: 960, theme: "dark" });
// Of the periods that come, one in whose window not everything is allowed.
const isRefused = async () => {
  const told = await text("[aria-label='Next period']");
  if (!told.includes("of the window is allowed")) return false;
  if (!told.includes("100 %")) return true;
  await page.locator("[aria-label='Next period'] .seg button").last().click();
  return false;
};
await take("job", "/jobs/web%2Fsitemap", isRefused, { height: 1010 });
const lines = ["0 * * * * @win(after,30m) @avoid(between=02:15-02:45) name=report/hourly command=/usr/bin/report", '*/15 6-20 * * 1-5 @tz(Europe/Paris) @win(after,10m) name=shop/prices command="/usr/bin/prices --all"'];
await take("try", `/try?text=${encodeURIComponent(lines.join("\n"))}`, async () => (await text("main")).includes("On top of what runs here") && (await isDrawn()), { height: 760 });
await page.evaluate(() => (location.hash = "/jobs/search%2Fcrawl"));
await page.locator("main a[href^='#/runs/']").first().click();
await take("run", new URL(page.url()).hash.slice(1), async () => (await text(".output")).includes("bytes"), { height: 700, theme: "dark" });
await browser.close();
