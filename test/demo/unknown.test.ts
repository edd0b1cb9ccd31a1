import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, devices, skip } from "../browser/world.ts";
import { faultyFront } from "../set-up/faulty-front.ts";
import { demoFolder, type RunningDemo, startDemo, suiteLifetime } from "./running-demo.ts";

const browser = browserOfFile();
const timeout = 180_000;

describe("the demo's console, when the state of the house is unknown", { skip, timeout }, () => {
  const suite = suiteLifetime();
  let demo: RunningDemo;
  let front: Awaited<ReturnType<typeof faultyFront>>;
  let context: BrowserContext;
  let tab: Page;

  before(async () => {
    demo = await startDemo(suite, demoFolder(suite));
    front = await faultyFront(suite, demo.baseUrl);
    context = await browser().newContext({ ...devices.desktop, colorScheme: "light", reducedMotion: "reduce" });
    tab = await context.newPage();
    await tab.goto(demo.consoleLink);
    await tab.goto(`${front.url}/demo/`);
    await isLive();
    if (await button("Come home").isVisible()) await button("Come home").click();
    await button("Run fan").first().click();
    await tab.locator("[data-until]").first().waitFor();
  });
  after(async () => {
    await context?.close();
    suite.end();
  });

  const button = (name: string) => tab.getByRole("button", { name, exact: true });

  async function inSimulator(method: string, path: string, body?: object) {
    const answer = await fetch(`${demo.simulatorUrl}/simulator/${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
    return answer;
  }
  const accountId = async () => JSON.parse(await (await inSimulator("GET", "accounts")).text()).accounts[0].accountId;

  async function isLive() {
    await tab.getByText(/^Live · /).waitFor();
    await tab.locator(".alarm.green", { hasText: "All clear" }).first().waitFor();
    assert.notDeepEqual(await greens(tab), []);
    assert.equal(await tab.locator("#unknown").textContent(), "");
  }

  /** The page says that the state is unknown, why and since when; nothing is green, and no countdown runs. */
  async function isUnknown(why: RegExp) {
    await tab.locator("#unknown", { hasText: why }).waitFor();
    assert.match((await tab.locator("#unknown").textContent())!, /^Unknown since \d\d:\d\d:\d\d UTC\. /);
    assert.match((await tab.locator("#live").textContent())!, /^Not live since \d\d:\d\d:\d\d UTC$/);
    assert.deepEqual(await greens(tab), []);
    for (const selector of [".alarm.green", ".is-running", ".is-home", "[data-until]"]) {
      assert.equal(await tab.locator(selector).count(), 0, selector);
    }
    assert.equal(await tab.getByText("All clear").count(), 0);
    assert.equal(
      await tab.locator(".thermostat .says, .alarm.gray .says").filter({ hasNotText: "Unknown" }).count(),
      0,
    );
    for (const was of await tab.locator(".tile .was").allTextContents()) assert.match(was, / at \d\d:\d\d:\d\d UTC$/);
  }

  it("says so when the session is lost, also during a smoke alarm", async () => {
    const cookies = await context.cookies();
    await context.clearCookies();
    await inSimulator("POST", `accounts/${await accountId()}/scene`, { scene: "smoke" });
    await isUnknown(/no longer signed in.*Press Enter/);
    assert.equal(await button("Run fan").or(button("Stop fan")).first().isEnabled(), false);
    await context.addCookies(cookies);
    await tab.locator(".alarm.red", { hasText: "Smoke emergency" }).waitFor();
    await isLive();
    await button("Clear the air").click();
    await button("Make smoke").waitFor();
  });

  it("says so when the service answers 503", async () => {
    front.become("unavailable");
    await isUnknown(/answers with an error \(503\)/);
    await assertAccessible(tab);
    front.become("open");
    await isLive();
  });

  it("says so when the stream is open but silent", async () => {
    front.become("silent streams");
    await isUnknown(/stream of events is silent/);
    front.become("open");
    await isLive();
  });

  it("says so when the service is stopped", async () => {
    demo.process.kill("SIGSTOP");
    await isUnknown(/does not answer/);
    demo.process.kill("SIGCONT");
    await isLive();
  });

  it("says so when the service cannot reach the home ecosystem", async () => {
    await inSimulator("POST", "faults", { fault: "server-error", status: 503 });
    await inSimulator("POST", "faults", { fault: "drop" });
    await isUnknown(/receives nothing from the home ecosystem/);
    const plain = await browser().newContext({ javaScriptEnabled: false });
    await plain.addCookies(await context.cookies());
    const page = await plain.newPage();
    await page.goto(`${demo.baseUrl}/demo/`);
    await page.locator("#unknown", { hasText: /^Unknown since/ }).waitFor();
    assert.deepEqual(await greens(page), [], "without a script too");
    await plain.close();
    await inSimulator("DELETE", "faults");
    await isLive();
  });

  it("keeps showing an alarm after the service was killed, says that the state is unknown, and sends no requests from its buttons", async () => {
    await button("Make smoke").click();
    await tab
      .getByRole("alert")
      .filter({ hasText: /^Smoke emergency/ })
      .waitFor();
    demo.process.kill("SIGKILL");
    await isUnknown(/error|does not answer/);
    assert.match((await tab.getByRole("alert").textContent())!, /^Smoke emergency: .* \(seen at \d\d:\d\d:\d\d UTC\)$/);
    assert.equal(await tab.locator(".alarm.red .says", { hasText: /^Smoke emergency$/ }).count(), 1);
  });
});

/** The elements that use the page's green, by their computed colours. */
function greens(tab: Page): Promise<readonly string[]> {
  return tab.evaluate(`[...document.body.querySelectorAll("*")].filter((element) => {
    const { color, backgroundColor, borderTopColor } = getComputedStyle(element);
    const dot = getComputedStyle(element, "::before").backgroundColor;
    return [color, backgroundColor, borderTopColor, dot].includes("rgb(27, 110, 60)");
  }).map((element) => element.outerHTML.slice(0, 80))`);
}
