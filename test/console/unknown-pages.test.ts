import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BrowserContext, Page, Request } from "playwright-core";
import { assistantsPage } from "../../demo/console/assistants/assistants-page.ts";
import { simulatorPage } from "../../demo/console/simulator-page.ts";
import { consolePages } from "../../src/outlets/console/pages.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { runCommand } from "../cli/run-command.ts";
import { demoFolder, enterConsole, type RunningDemo, startDemo } from "../demo/running-demo.ts";
import { receiver } from "../events/receiver.ts";
import { faultyFront } from "../set-up/faulty-front.ts";
import { suiteLifetime } from "../set-up/lifetime.ts";
import { addressOfEveryPage } from "./every-address.ts";
import { assertUnknown, greensOf, isLive } from "./unknown-page.ts";

const browser = browserOfFile();
const timeout = 1_200_000;
const pages = [...consolePages, simulatorPage(() => undefined), assistantsPage(() => undefined)];

describe("every page of the console, each in a tab of one browser", { skip, timeout }, () => {
  const suite = suiteLifetime();
  let folder: string;
  let demo: RunningDemo;
  let front: Awaited<ReturnType<typeof faultyFront>>;
  let context: BrowserContext;
  let tabs: Page[] = [];
  /** Requests of streams that have not ended. */
  const streams = new Set<Request>();
  /** A closed tab reports the end of nothing. */
  const openStreams = () => [...streams].filter((stream) => !stream.frame().page().isClosed()).length;

  before(async () => {
    folder = demoFolder(suite);
    demo = await startDemo(suite, folder);
    front = await faultyFront(suite, demo.baseUrl);
    const hook = await receiver(suite as never);
    const added = await fetch(`${demo.baseUrl}/v3/webhooks`, {
      method: "POST",
      body: JSON.stringify({ url: hook.url }),
      headers: { authorization: `Bearer ${demo.secret("demo-access-token")}`, "content-type": "application/json" },
    });
    assert.equal(added.status, 201, await added.text());
    context = await browser().newContext({ colorScheme: "light", reducedMotion: "reduce" });
    context.setDefaultTimeout(120_000);
    context.on("request", (request) => {
      if (request.url().endsWith("/console/live")) streams.add(request);
    });
    context.on("requestfinished", (request) => streams.delete(request));
    context.on("requestfailed", (request) => streams.delete(request));
    const first = await context.newPage();
    await enterConsole(first, demo);
    // So that there is a report to show. It is written before the tests begin.
    await first.goto(`${demo.baseUrl}/console/system?do=verify`);
    await first.getByRole("dialog").getByRole("button", { name: "Verify" }).click();
    await first.getByText(/grade [AB]/).waitFor();
    const read = async (address: string) => (await context.request.get(demo.baseUrl + address)).text();
    const addresses = await addressOfEveryPage(pages, read);
    // The stream of this tab is not that of the others, which come by way of the front.
    await first.close();
    for (const address of addresses) {
      const tab = await context.newPage();
      await tab.goto(front.url + address);
      tabs.push(tab);
    }
  });
  after(async () => {
    await context?.close();
    suite.end();
  });

  const areLive = () => Promise.all(tabs.map(isLive));
  const areUnknown = async (why: RegExp) => {
    for (const tab of tabs) await assertUnknown(tab, why);
  };

  async function inSimulator(method: string, path: string, body?: object) {
    const answer = await fetch(`${demo.simulatorUrl}/simulator/${path}`, {
      method,
      ...(body && { body: JSON.stringify(body), headers: { "content-type": "application/json" } }),
    });
    assert.ok(answer.ok, `${path}: ${answer.status}`);
  }

  it("is live, with one stream for all; when its tab is closed, another one takes the stream", async () => {
    await areLive();
    assert.ok(tabs.length >= 20, `${tabs.length} tabs`);
    assert.equal(openStreams(), 1);
    const greens = await Promise.all(tabs.map(greensOf));
    assert.ok(greens.flat().length > 0, "what is live is green");
    const [leader, ...others] = tabs;
    const address = leader!.url();
    await leader!.close();
    tabs = others;
    const isOpened = context.waitForEvent("request", (request) => request.url().endsWith("/console/live"));
    await isOpened.catch(() => undefined);
    await areLive();
    assert.equal(openStreams(), 1);
    const again = await context.newPage();
    await again.goto(address);
    tabs.push(again);
    await areLive();
    assert.equal(openStreams(), 1);
  });

  it("says so when the service answers 503", async () => {
    front.become("unavailable");
    await areUnknown(/answers with an error \(503\)/);
    front.become("open");
    await areLive();
  });

  it("says so when the stream is open but silent", async () => {
    front.become("silent streams");
    await areUnknown(/stream of changes is silent/);
    front.become("open");
    await areLive();
  });

  it("says so when the service stands still", async () => {
    demo.process.kill("SIGSTOP");
    await areUnknown(/does not answer|is silent/);
    demo.process.kill("SIGCONT");
    await areLive();
  });

  it("says so when the session has ended, and is live again after the next sign-in", async () => {
    const headers = { "sec-fetch-site": "same-origin" };
    await context.request.post(`${demo.baseUrl}/console/sign-out`, { headers, maxRedirects: 0, form: {} });
    await areUnknown(/You are signed out/);
    const { stdout } = await runCommand(["operator", "claim", "--json"], { environment: { BREEZEWAY_DATA: folder } });
    const [, claim] = /\/claim\/([\w-]+)/.exec(stdout)!;
    await context.request.get(`${demo.baseUrl}/demo/?c=${claim}`);
    await areLive();
  });

  it("shows nothing of a home as fine that the service does not hear from", async () => {
    await inSimulator("POST", "faults", { fault: "server-error", status: 503 });
    await inSimulator("POST", "faults", { fault: "drop" });
    const home = tabs.find((tab) => /\/homes\/\d/.test(tab.url()))!;
    await home.locator(".thermostat .says", { hasText: "Unknown" }).first().waitFor();
    for (const tab of tabs) {
      await tab.reload();
      await isLive(tab);
      const place = tab.url();
      const greens = (await greensOf(tab)).filter(
        (element) => /alarm|thermostat|>live<|All clear/i.test(element) && !element.includes('id="freshness"'),
      );
      assert.deepEqual(greens, [], place);
      assert.equal(await tab.getByText("All clear").count(), 0, place);
      assert.equal(await tab.locator(".state.good", { hasText: /^live$/i }).count(), 0, place);
      assert.equal(await tab.locator(".thermostat button:enabled").count(), 0, place);
    }
    await inSimulator("DELETE", "faults");
  });

  it("says so when the service was killed, and is live again by itself after the next start", async (t) => {
    demo.process.kill("SIGKILL");
    await demo.ended;
    await areUnknown(/error|does not answer/);
    await startDemo(t, folder, Number(new URL(demo.baseUrl).port));
    // Each start of the demo adds its outlets anew, and requests are kept in memory: pages of earlier ones say so.
    const isGone = (tab: Page) => /\/(assistants|requests)\/./.test(tab.url());
    await Promise.all(tabs.filter((tab) => !isGone(tab)).map(isLive));
    for (const tab of tabs.filter(isGone)) await assertUnknown(tab, /does not exist any more/);
  });
});
