// The page of `kron web --service` over TLS (tests/web/secure_page_test.py): a token is traded for a cookie that no script
// sees, what changes something needs the page's word besides, and logging out is the end of it.
import assert from "node:assert/strict";
import { PATIENCE, ask, browser, run, see, until, watch } from "./browser.mjs";

// Its certificate is of its own making.
const context = await browser.newContext({ viewport: { width: 1440, height: 900 }, reducedMotion: "reduce", ignoreHTTPSErrors: true });
context.setDefaultTimeout(PATIENCE);
await context.addInitScript(() => {
  window.violations = [];
  addEventListener("securitypolicyviolation", (event) => window.violations.push(event.violatedDirective));
});
const page = watch(await context.newPage());
const { address, token, wrong } = await ask("place");
const ours = async () => (await context.cookies()).filter(({ name }) => name.startsWith("__Host-kron-"));
const press = (key) => page.keyboard.press(key);
async function offer(secret) {
  await page.locator("input[type=password]").fill(secret);
  await press("Enter");
}
// What a script of the page gets for asking by itself, with the browser's cookies and nothing else.
const status = (method, path, headers = {}) =>
  page.evaluate(async ([method, path, headers]) => (await fetch(path, { method, headers, ...(method === "POST" ? { body: "{}" } : {}) })).status, [method, path, headers]);
let cookie;

await run({
  async "a wrong token opens nothing"() {
    await page.goto(address);
    await offer(wrong);
    await see("Wrong", "[role=alert]", page);
    assert.deepEqual(await ours(), []);
  },
  async "a token opens the page, and becomes a cookie that no script sees"() {
    await offer(token);
    await page.waitForSelector("h1.verdict");
    const found = await ours();
    assert.equal(found.length, 1);
    cookie = found[0];
    const { httpOnly, secure, sameSite, path, domain } = cookie;
    assert.deepEqual({ httpOnly, secure, sameSite, path, domain }, { httpOnly: true, secure: true, sameSite: "Strict", path: "/", domain: "127.0.0.1" });
    const seen = await page.evaluate(() => `${document.cookie} ${JSON.stringify(localStorage)} ${JSON.stringify(sessionStorage)} ${location.href} ${document.documentElement.outerHTML}`);
    for (const secret of [token, cookie.value]) assert.ok(!seen.includes(secret));
  },
  async "the cookie alone looks, and changes nothing"() {
    assert.equal(await status("GET", "/api/v1/jobs"), 200);
    assert.equal(await status("POST", "/api/v1/jobs/hello/trigger", { "Content-Type": "application/json" }), 403);
    assert.equal(await status("POST", "/api/v1/jobs/hello/trigger", { "Content-Type": "application/json", "X-Kron-CSRF": "0".repeat(64) }), 403);
    assert.equal(await status("POST", "/api/v1/jobs/hello/trigger", { "Content-Type": "text/plain" }), 415);
    assert.deepEqual(await ask("requested"), { by: [] });
  },
  async "the page acts with its word, as the token's owner"() {
    await page.evaluate(() => (location.hash = "/jobs/hello"));
    await see("hello", "h1", page);
    await page.getByRole("button", { name: /Run now/ }).click();
    await page.locator("dialog[open] button.main").click();
    await page.waitForSelector(".output");
    await see("exit 0", ".words", page);
    assert.deepEqual(await ask("requested"), { by: ["token ada"] });
  },
  async "a page that is loaded again is still logged in"() {
    await page.goto(address);
    await page.waitForSelector("h1.verdict");
    assert.equal((await ours()).length, 1);
    await until(async () => (await ask("streams")).count > 0, "it follows events");
  },
  async "whoever logs out takes the cookie away, and it is good for nothing"() {
    await press("Control+k");
    await page.waitForSelector(".palette input");
    await page.keyboard.type("log out");
    await see("Log out", ".palette", page);
    await press("Enter");
    await page.waitForSelector("input[type=password]");
    assert.deepEqual(await ours(), []);
    assert.deepEqual(await ask("replay", { cookie: `${cookie.name}=${cookie.value}` }), { status: 401 });
    assert.deepEqual(await page.evaluate(() => window.violations), []);
  },
});
