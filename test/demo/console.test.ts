import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { BrowserContext, Page } from "playwright-core";
import { browserOfFile, devices, skip } from "../browser/world.ts";
import { greensOf } from "../console/unknown-page.ts";
import { suiteLifetime } from "../set-up/lifetime.ts";
import { assertGood } from "./looks.ts";
import { demoFolder, enterConsole, type RunningDemo, startDemo } from "./running-demo.ts";

const browser = browserOfFile();
const timeout = 300_000;

describe("the demo's console", { skip, timeout }, () => {
  const suite = suiteLifetime();
  let folder: string;
  let demo: RunningDemo;
  let context: BrowserContext;
  let tab: Page;
  const violations: string[] = [];
  const hosts = new Set<string>();

  before(async () => {
    folder = demoFolder(suite);
    demo = await startDemo(suite, folder);
    context = await browser().newContext({ ...devices.desktop, reducedMotion: "reduce" });
    context.on("weberror", (error) => violations.push(String(error.error())));
    context.on("console", (message) => {
      if (/Content Security Policy|Refused to|violates/i.test(message.text())) violations.push(message.text());
    });
    context.on("request", (request) => hosts.add(new URL(request.url()).origin));
    tab = await context.newPage();
  });
  after(async () => {
    await context?.close();
    suite.end();
  });

  const button = (name: string) => tab.getByRole("button", { name, exact: true });
  const isLive = () => tab.locator("#freshness", { hasText: "Live" }).waitFor();
  const isDone = (step: number) => tab.locator(`#step-${step}.is-done`).waitFor({ state: "attached" });
  const lamp = () => tab.locator("#part-lamp .says");

  it("opens with the link alone, once, and is closed to all others", async () => {
    for (const path of ["/", "/demo", "/demo/", "/demo/?c=guess", "/console/simulator"]) {
      const answer = await fetch(demo.baseUrl + path);
      assert.equal(new URL(answer.url).pathname, "/console/sign-in", path);
    }
    await enterConsole(tab, demo);
    await isLive();
    assert.ok(await tab.getByText("Test", { exact: true }).isVisible());
    const used = await fetch(demo.consoleLink);
    assert.equal(new URL(used.url).pathname, "/console/sign-in", "the link was used");
    assert.match(await used.text(), /press Enter in its terminal/);
    await tab.goto(demo.consoleLink);
    await tab.waitForURL(`${demo.baseUrl}/console/simulator`);
    const foreign = { method: "POST", body: new URLSearchParams({ act: "smoke" }) };
    const [{ name, value } = { name: "", value: "" }] = await context.cookies();
    const headers = { cookie: `${name}=${value}`, origin: "https://elsewhere.example" };
    assert.equal((await fetch(`${demo.baseUrl}/console/simulator`, { ...foreign, headers })).status, 403);
    const system = await (
      await fetch(`${demo.baseUrl}/console/system`, { headers: { cookie: headers.cookie } })
    ).text();
    assert.match(system, /BREEZEWAY_ECOSYSTEMS.*simulated at.*the demo/s);
    assert.match(system, /BREEZEWAY_DATA/);
  });

  it("has four steps that are checked off by events, and folds them away when all are done", async () => {
    await assertGood(tab);
    await button("Come home").click();
    await button("Leave home").click();
    await isDone(1);
    await lamp().filter({ hasText: "Off" }).waitFor();

    const fan = tab.locator(".thermostat").filter({ has: button("Run fan") });
    const tile = tab.locator(`[id="${await fan.first().getAttribute("id")}"]`);
    await tile.getByRole("button", { name: "Run fan" }).click();
    await tile.getByText(/carries out this command only while somebody is home, and nobody is\./).waitFor();
    await isDone(2);
    await assertGood(tab);

    await button("Come home").click();
    await tab.getByText("Somebody is home.").waitFor();
    await tile.getByRole("button", { name: "Run fan" }).click();
    await tile.locator(".is-reached", { hasText: "Confirmed" }).waitFor();
    await tile.getByText(/Fan runs/).waitFor();
    await isDone(3);

    const before = await lamp().textContent();
    await promisify(exec)((await tab.locator("#curl").textContent())!);
    await isDone(4);
    await lamp().filter({ hasNotText: before! }).waitFor();
    assert.equal(await tab.locator("#walked[open]").count(), 0);
    await tab.getByText("Four steps to begin with: all done").waitFor();
  });

  it("plays scenes: an emergency is a band with words, and a lost thermostat can't be commanded", async () => {
    await button("Make smoke").click();
    const band = tab.getByRole("alert").filter({ hasText: /^Smoke emergency: .*, Maple Street/ });
    await band.waitFor();
    await assertGood(tab);
    await button("Clear the air").click();
    await band.waitFor({ state: "detached" });
    await button("Take a thermostat offline").click();
    const lost = tab.locator(".thermostat").filter({ has: tab.locator(".says", { hasText: "Offline" }) });
    await lost.waitFor();
    assert.equal(await lost.locator("button:enabled").count(), 0);
    await button("Bring it back").click();
    await lost.waitFor({ state: "detached" });
  });

  it("has a page for the assistants: a sentence changes the house, and both messages are shown", async () => {
    await tab.getByRole("link", { name: "Simulated assistants" }).click();
    const newest = tab.locator(".exchange").first();
    const isAnswered = (said: string, outcome: string) =>
      newest.locator(`:scope[data-outcome=${outcome}]`).filter({ hasText: said }).waitFor();
    for (const [name, power, directive, answer] of [
      ["Alexa", "off", '"name": "TurnOff"', '"name": "Response"'],
      ["Google Home", "on", '"intent": "action.devices.EXECUTE"', '"status": "SUCCESS"'],
    ] as const) {
      await tab.getByRole("link", { name, exact: true }).click();
      await tab.getByRole("heading", { name: "Hall", exact: true }).waitFor();
      await tab.getByLabel("Sentence", { exact: true }).fill(`turn ${power} the lamp`);
      await tab.keyboard.press("Enter");
      await isAnswered(`turn ${power} the lamp`, "done");
      const words = { off: "Off", on: "On" }[power];
      await tab.locator("#part-house div", { hasText: "Hall lamp" }).filter({ hasText: words }).waitFor();
      for (const text of [directive, answer]) await newest.locator("pre", { hasText: text }).waitFor();
      const report = tab.locator("#part-reports li", { hasText: `Hall lamp: ${power}` });
      await report.first().waitFor();
      assert.equal(await tab.getByText(/bwa_|Atz[ar]\|/).count(), 0, "no token is shown");
      assert.equal(await tab.getByLabel("Sentence", { exact: true }).inputValue(), "");
      await assertGood(tab);
    }
    await tab.getByRole("link", { name: "Simulator", exact: true }).click();
    await isLive();
  });

  it("works without script", async () => {
    const plain = await browser().newContext({ javaScriptEnabled: false });
    await plain.addCookies(await context.cookies());
    const page = await plain.newPage();
    await page.goto(`${demo.baseUrl}/console/simulator`);
    await page.getByText(/^As of \d\d:\d\d:\d\d UTC$/).waitFor();
    assert.deepEqual(await greensOf(page), []);
    await page.getByRole("button", { name: "Leave home" }).click();
    assert.equal(page.url(), `${demo.baseUrl}/console/simulator`);
    await tab.getByText("Nobody is home.", { exact: true }).waitFor();
    await plain.close();
  });

  it("is live again by itself after kill -9, with the same session and the same steps", async (t) => {
    demo.process.kill("SIGKILL");
    await demo.ended;
    await tab.locator("#freshness", { hasText: /^As of/ }).waitFor();
    const again = await startDemo(t, folder, Number(new URL(demo.baseUrl).port));
    assert.equal(again.baseUrl, demo.baseUrl);
    await isLive();
    await tab.getByText("Four steps to begin with: all done").waitFor();
    await button("Come home").click();
    await tab.getByText("Somebody is home.").waitFor();
  });

  it("sent requests only to the service, and violated no rule of its own policy", () => {
    assert.deepEqual(violations, []);
    assert.deepEqual([...hosts], [demo.baseUrl]);
  });
});
