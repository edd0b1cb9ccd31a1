import assert from "node:assert/strict";
import { exec } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import type { BrowserContext, Locator, Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, devices, type Look, skip } from "../browser/world.ts";
import { sampleOf } from "../set-up/sample.ts";
import { demoFolder, type RunningDemo, startDemo, suiteLifetime } from "./running-demo.ts";

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
  const isConfirmed = (tile: Locator, command: string) =>
    tile
      .locator(".outcome")
      .filter({ hasText: `${command}, ` })
      .locator(".is-reached", { hasText: "Confirmed" })
      .waitFor();

  /** Plays a scene with the thermostat of this name. */
  async function play(scene: string, name: string) {
    const account = `${demo.simulatorUrl}/simulator/accounts/account-1`;
    type Document = { devices: { thermostats: Record<string, { name: string }> } };
    const { devices: known } = (await (await fetch(`${account}/document`)).json()) as Document;
    const [thermostat] = Object.entries(known.thermostats).find(([, one]) => one.name === name)!;
    const headers = { "content-type": "application/json" };
    const body = JSON.stringify({ scene, thermostat });
    assert.equal((await fetch(`${account}/scene`, { method: "POST", headers, body })).status, 200);
  }

  /** Opens the stream of the page. The result reads it until events of all these types have come. */
  async function stream() {
    const [{ name, value } = { name: "", value: "" }] = await context.cookies();
    const headers = { cookie: `${name}=${value}` };
    // The response is kept until the stream is read: Node cancels the unread body of a response that was collected.
    const response = await fetch(`${demo.baseUrl}/demo/events`, { headers });
    return async (...types: readonly string[]) => {
      let text = "";
      for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
        text += part;
        if (types.every((type) => text.includes(`event: ${type}\n`))) return;
      }
      assert.fail(`the stream ended without ${types.join(", ")}: ${text}`);
    };
  }
  const step = (number: number) => tab.locator(`#step-${number}.is-done`);

  it("opens only with the link, and the link works once", async () => {
    for (const path of ["/demo/", "/demo/events", "/demo/?claim=guess"]) {
      assert.equal((await fetch(demo.baseUrl + path)).status, 403, path);
    }
    await tab.goto(demo.consoleLink);
    assert.equal(tab.url(), `${demo.baseUrl}/demo/`, "the address doesn't keep the claim");
    await tab.getByText(/^Live · /).waitFor();
    assert.ok(await tab.getByText("Test", { exact: true }).isVisible());
    assert.equal((await fetch(demo.consoleLink, { redirect: "manual" })).status, 403, "the link was used");
    await tab.goto(demo.consoleLink);
    await button("Leave home").waitFor();
  });

  it("has four steps that are checked off by events", async () => {
    await assertGood(tab);
    await button("Leave home").click();
    await step(1).waitFor();
    assert.equal(await tab.locator("#lamp .power").textContent(), "off");

    const thermostat = tab.getByRole("article").filter({ has: button("Run fan") });
    const name = await thermostat.first().getByRole("heading").textContent();
    const tile = tab.getByRole("article", { name: name!, exact: true }).filter({ hasText: "Thermostat" });
    await tile.getByRole("button", { name: "Run fan" }).click();
    await tile
      .getByText(/The ecosystem carries out this command only while somebody is home, and nobody is\./)
      .waitFor();
    await step(2).waitFor();
    await assertGood(tab);

    await button("Come home").click();
    await button("Leave home").waitFor();
    await tile.getByRole("button", { name: "Run fan" }).click();
    await isConfirmed(tile, "Run fan");
    await tile.getByText(/Fan runs/).waitFor();
    await step(3).waitFor();

    const before = await tab.locator("#lamp .power").textContent();
    await promisify(exec)((await tab.locator("#curl").textContent())!);
    await step(4).waitFor();
    assert.notEqual(await tab.locator("#lamp .power").textContent(), before);
    await tab.locator("#happened").getByText("written by a client").first().waitFor();
  });

  it("raises a target and changes the mode by commands that the thermostat confirms", async () => {
    const tile = tab.locator(".thermostat").first();
    const thingId = (await tile.getAttribute("id"))!;
    const shown = async (field: string) => (await demo.get(`things/${thingId}`)).traits.thermostat.state[field].value;
    await tile.getByRole("button", { name: "Heat", exact: true }).click();
    await isConfirmed(tile, "Mode Heat");
    const before = await shown("targetCelsius");
    const untilHeard = await stream();
    await tile.getByRole("button", { name: "Warmer" }).click();
    await untilHeard("thing", "thingCommand");
    await isConfirmed(tile, "Warmer by 0.5 °C");
    await tile.getByText(`Heat, target ${before + 0.5} °C`).waitFor();
    assert.equal(await shown("targetCelsius"), before + 0.5);

    await tile.getByRole("button", { name: "Eco" }).click();
    await isConfirmed(tile, "Mode Eco");
    await tile.locator("[aria-pressed=true]", { hasText: "Eco" }).waitFor();
    assert.equal(await shown("mode"), "eco");
    assert.equal(await tile.getByRole("button", { name: "Warmer" }).isEnabled(), false);
    await assertGood(tab);
  });

  it("shows no value of a thermostat that is offline as current, and does not let it be commanded", async () => {
    const tile = tab.locator(".thermostat").first();
    await play("thermostat-offline", (await tile.getByRole("heading").textContent())!);
    await tile.locator(".says", { hasText: "Offline" }).waitFor();
    await tile.getByText(/°C.* at \d\d:\d\d:\d\d UTC$/).waitFor();
    for (const one of await tile.getByRole("button").all()) assert.equal(await one.isEnabled(), false);
    await assertGood(tab);
    await play("thermostat-online", (await tile.getByRole("heading").textContent())!);
    await tile.locator(".says", { hasText: "humidity" }).waitFor();
  });

  it("shows an emergency as an alarm with text, and returns to normal afterwards", async () => {
    await button("Make smoke").click();
    await tab
      .getByRole("alert")
      .filter({ hasText: /^Smoke emergency: .*, Maple Street$/ })
      .waitFor();
    await assertGood(tab);
    await button("Clear the air").click();
    await tab.getByRole("alert").waitFor({ state: "detached" });
  });

  it("filters its attributes while the user types, and works by keyboard", async () => {
    await tab.getByLabel("Filter").focus();
    await tab.keyboard.type("a.away");
    assert.deepEqual(await tab.locator("#attributes tr:visible th").allTextContents(), ["d.structures[1].a.away"]);
    await tab.getByLabel("Filter").fill("");
    await button("Leave home").focus();
    await tab.keyboard.press("Enter");
    await button("Come home").waitFor();
    assert.equal(await tab.evaluate("document.activeElement.textContent"), "Come home", "the focus stays where it was");
  });

  it("marks its values as stale while the ecosystem cannot be reached", async () => {
    const faults = (method: string, fault?: object) =>
      fetch(`${demo.simulatorUrl}/simulator/faults`, {
        method,
        ...(fault && { body: JSON.stringify(fault), headers: { "content-type": "application/json" } }),
      });
    await faults("POST", { fault: "server-error", status: 503 });
    await faults("POST", { fault: "drop" });
    await tab.getByText(/^Not live since/).waitFor();
    await faults("DELETE");
    await tab.getByText(/^Live · /).waitFor();
  });

  it("works without script: a snapshot with working buttons", async () => {
    const plain = await browser().newContext({ javaScriptEnabled: false });
    await plain.addCookies(await context.cookies());
    const page = await plain.newPage();
    await page.goto(`${demo.baseUrl}/demo/`);
    await page.getByText(/^Snapshot of \d\d:\d\d:\d\d UTC$/).waitFor();
    await page.getByRole("button", { name: "Come home" }).click();
    await page.getByRole("heading", { name: "Maple Street" }).waitFor();
    await button("Leave home").waitFor();
    const tile = page.locator(".thermostat").first();
    await tile.getByRole("button", { name: "Heat", exact: true }).click();
    await tile.getByText("Mode Heat, ").waitFor();
    await isConfirmed(tab.locator(".thermostat").first(), "Mode Heat");
    await page.reload();
    await tile.locator(".is-reached", { hasText: "Confirmed" }).waitFor();
    await plain.close();
  });

  it("refuses requests from other sites", async () => {
    const [{ name, value } = { name: "", value: "" }] = await context.cookies();
    const body = new URLSearchParams({ act: "smoke:t_1", form: "guess" });
    const headers = { cookie: `${name}=${value}` };
    assert.equal((await fetch(`${demo.baseUrl}/demo/do`, { method: "POST", body, headers })).status, 403);
  });

  it("reconnects automatically after kill -9, without gaps or duplicates", async (t) => {
    const happened = tab.locator("#happened li");
    const before = await happened.allTextContents();
    demo.process.kill("SIGKILL");
    await demo.ended;
    await tab.getByText(/^Not live since/).waitFor();
    const again = await startDemo(t, folder, Number(new URL(demo.baseUrl).port));
    assert.equal(again.baseUrl, demo.baseUrl);
    await tab.getByText(/^Live · /).waitFor();
    for (const number of [1, 2, 3, 4]) await step(number).waitFor();
    await button("Leave home").click();
    await button("Come home").waitFor();
    const after = await happened.allTextContents();
    assert.equal(new Set(after).size, after.length, "an entry is shown twice");
    assert.ok(after.includes(before[0]!), "an earlier entry is missing");
    const { attributes } = await again.get("devices/1");
    assert.equal(await tab.locator("#attributes tr").count(), Object.keys(attributes).length);
  });

  it("sent requests only to the service, and violated no rule of its own policy", () => {
    assert.deepEqual(violations, []);
    assert.deepEqual([...hosts], [demo.baseUrl]);
  });
});

let inspections = 0;

/** Checks the layout and axe on a phone in dark mode and on a desktop in light mode. */
async function assertGood(tab: Page): Promise<void> {
  const looks: readonly Look[] = [
    { device: "phone", scheme: "dark" },
    { device: "desktop", scheme: "light" },
  ];
  for (const { device, scheme } of sampleOf(looks, { everyNth: 2, from: inspections++ })) {
    await tab.setViewportSize(devices[device].viewport);
    await tab.emulateMedia({ colorScheme: scheme });
    await tab.evaluate("scrollTo(0, 0)");
    const width = await tab.evaluate<number>("document.documentElement.scrollWidth");
    assert.ok(width <= devices[device].viewport.width, `the page is ${width} wide`);
    await assertAccessible(tab);
  }
}
