import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import type { BrowserContext, Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { runCommand } from "../cli/run-command.ts";
import { suiteLifetime } from "../set-up/lifetime.ts";
import { eventually } from "../stories/world.ts";
import { demoFolder, enterConsole, type RunningDemo, startDemo } from "./running-demo.ts";

const browser = browserOfFile();
const timeout = 300_000;
const kinds = ["alexa", "google-home"] as const;

/** The pages of the demo's assistants in a tab, and what a person does there. */
async function opened(demo: RunningDemo, context: BrowserContext) {
  const tab = await context.newPage();
  await enterConsole(tab, demo);
  const newest = tab.locator(".exchange").first();
  return {
    tab,
    newest,
    open: async (kind: (typeof kinds)[number]) => {
      await tab.goto(`${demo.baseUrl}/console/simulated-assistants?kind=${kind}`);
      await tab.locator("#example-0").waitFor();
    },
    say: async (sentence: string) => {
      await tab.getByLabel("Sentence", { exact: true }).fill(sentence);
      await tab.getByRole("button", { name: "Say it" }).click();
    },
    isAnswered: (said: string, outcome: string, words: RegExp | string = "") =>
      newest.locator(`:scope[data-outcome=${outcome}]`).filter({ hasText: said }).filter({ hasText: words }).waitFor(),
  };
}

describe("the pages of the demo's assistants", { skip, timeout }, () => {
  const suite = suiteLifetime();
  let folder: string;
  let demo: RunningDemo;
  let context: BrowserContext;
  let page: Awaited<ReturnType<typeof opened>>;
  let tab: Page;

  before(async () => {
    folder = demoFolder(suite);
    demo = await startDemo(suite, folder);
    context = await browser().newContext({ reducedMotion: "reduce" });
    page = await opened(demo, context);
    tab = page.tab;
  });
  after(async () => {
    await context?.close();
    suite.end();
  });

  const faults = async (method: string, fault?: object) => {
    const body = fault && { body: JSON.stringify(fault), headers: { "content-type": "application/json" } };
    assert.ok((await fetch(`${demo.simulatorUrl}/simulator/faults`, { method, ...body })).ok);
  };

  for (const kind of kinds) {
    it(`fit and are accessible, on every width, light and dark: ${kind}`, async () => {
      await page.open(kind);
      await tab.locator("#example-0").click();
      await tab.locator(".exchange[data-outcome=done] details[open] pre").nth(1).waitFor();
      await tab.getByText("Sentences that are understood").click();
      for (const width of [390, 768, 1440]) {
        for (const colorScheme of ["light", "dark"] as const) {
          await tab.setViewportSize({ width, height: 900 });
          await tab.emulateMedia({ colorScheme });
          const shown = await tab.evaluate<number>("document.documentElement.scrollWidth");
          assert.ok(shown <= width, `${kind} is ${shown} wide at ${width}`);
          await assertAccessible(tab);
        }
      }
    });
  }

  it("work by keyboard alone, and keep what is typed and opened while the page changes", async () => {
    await page.open("alexa");
    const focusOn = async (id: string) => {
      for (let presses = 0; presses < 40; presses += 1) {
        if ((await tab.evaluate("document.activeElement.id")) === id) return;
        await tab.keyboard.press("Tab");
      }
      assert.fail(`the focus did not come to ${id}`);
    };
    await focusOn("sentence");
    await tab.keyboard.type("make the den warmer");
    await tab.keyboard.press("Enter");
    await page.isAnswered("make the den warmer", "done");
    assert.equal(await tab.evaluate("document.activeElement.id"), "sentence", "the focus stays");
    // The page may show the outcome before the answer to the form has come.
    await tab.waitForFunction("document.getElementById('sentence').value === ''");
    await tab.keyboard.type("half a sen");
    const older = tab.locator(".exchange details:not([open])").first();
    const id = await older.getAttribute("id");
    await older.locator("summary").click();
    await tab.locator("#discover").click();
    await page.isAnswered("Discover devices", "done", /I found \d+ devices/);
    assert.equal(await tab.locator(`#${id}[open]`).count(), 1);
    assert.equal(await tab.getByLabel("Sentence", { exact: true }).inputValue(), "half a sen");
  });

  it("keep what is typed while the answer to a sentence is on its way", async () => {
    await page.open("alexa");
    const { promise: isLet, resolve: letAnswer } = Promise.withResolvers<void>();
    await tab.route("**/*", async (route) => {
      if (route.request().method() === "POST") await isLet;
      await route.fallback();
    });
    try {
      const sentence = tab.getByLabel("Sentence", { exact: true });
      await sentence.fill("make the den warmer");
      await sentence.press("Enter");
      await tab.getByText("Sending …").waitFor();
      await sentence.fill("make the den cooler");
      letAnswer();
      await page.isAnswered("make the den warmer", "done");
      await tab.getByText("Sending …").waitFor({ state: "detached" });
      assert.equal(await sentence.inputValue(), "make the den cooler");
    } finally {
      await tab.unrouteAll();
    }
  });

  it("show what is discovered by room, and what is left out and why", async () => {
    await page.open("alexa");
    const known = tab.locator("#part-devices");
    await known.getByRole("heading", { name: "Den", exact: true }).waitFor();
    await known.getByText("fan on and off").first().waitFor();
    await known.getByText(/Alexa has no interface for smoke and carbon monoxide/).waitFor();
    await page.open("google-home");
    await known.getByText("tells smoke and carbon monoxide").first().waitFor();
    await known.getByText("A home is not a device.").waitFor();
  });

  it("tell a refusal in words, with the maker's own code", async () => {
    await page.open("alexa");
    await page.say("set the den to 60");
    await page.isAnswered("set the den to 60", "refused", /TEMPERATURE_VALUE_OUT_OF_RANGE/);
    await page.open("google-home");
    await page.say("set the den to 60");
    await page.isAnswered("set the den to 60", "refused", /out of range\. \(valueOutOfRange\)/);
    await page.say("turn on the fan");
    await page.isAnswered("turn on the fan", "notSent", /Which one: Den \(.*\) fan, Hallway \(.*\) fan\?/);
  });

  it("show an answer in progress, and its outcome when it comes", async () => {
    for (const [kind, mode] of [
      ["alexa", "eco"],
      ["google-home", "heat"],
    ] as const) {
      await page.open(kind);
      await faults("POST", { fault: "keep-alives-only" });
      await page.say(`set the den to ${mode}`);
      await page.isAnswered(`set the den to ${mode}`, "inProgress");
      await faults("DELETE");
      await faults("POST", { fault: "drop" });
      await page.isAnswered(`set the den to ${mode}`, "done", /Received later/);
      await faults("DELETE");
    }
  });

  it("show reports as they come, and the notification of an alarm", async () => {
    await page.open("google-home");
    await runCommand(["sim", "trigger", "smoke", "--simulator", demo.simulatorUrl], {});
    await tab.locator("#part-reports li", { hasText: "Notification of" }).first().waitFor();
    await tab.locator("#part-house dd", { hasText: "Smoke emergency" }).waitFor();
    await runCommand(["sim", "trigger", "clear", "--simulator", demo.simulatorUrl], {});
    await tab.locator("#part-house dd", { hasText: "Smoke emergency" }).waitFor({ state: "detached" });
  });

  it("show no state as current while the ecosystem can't be reached", async (t) => {
    await page.open("alexa");
    await faults("POST", { fault: "server-error", status: 503 });
    await faults("POST", { fault: "drop" });
    await tab.locator("#part-house dd", { hasText: "Unknown" }).first().waitFor();
    await tab.locator("#part-devices .told", { hasText: "Not reachable" }).first().waitFor();
    await page.say("what is the temperature in the den");
    await page.isAnswered("what is the temperature", "unknown", /not reachable. The last known state/);
    await page.say("turn on the den fan");
    await page.isAnswered("turn on the den fan", "refused", /ENDPOINT_UNREACHABLE/);
    await assertAccessible(tab);
    await faults("DELETE");
    const unknown = tab.locator("#part-house dd", { hasText: "Unknown" });
    await eventually(t.signal, async () => assert.equal(await unknown.count(), 0));
  });

  it("work without script", async () => {
    const plain = await browser().newContext({ javaScriptEnabled: false });
    await plain.addCookies(await context.cookies());
    const without = await plain.newPage();
    await without.goto(`${demo.baseUrl}/console/simulated-assistants?kind=google-home`);
    await without.getByLabel("Sentence", { exact: true }).fill("is the lamp on");
    await without.getByRole("button", { name: "Say it" }).click();
    await without
      .locator(".exchange")
      .first()
      .filter({ hasText: "is the lamp on" })
      .filter({ hasText: "Done" })
      .waitFor();
    await without.getByRole("button", { name: "Discover" }).click();
    await without.locator(".exchange").first().filter({ hasText: "Sync my devices" }).waitFor();
    assert.equal(new URL(without.url()).search, "?kind=google-home");
    await plain.close();
  });

  it("are closed to other browsers and to forms of other sites", async () => {
    const url = `${demo.baseUrl}/console/simulated-assistants`;
    assert.equal(new URL((await fetch(url)).url).pathname, "/console/sign-in");
    const [{ name, value } = { name: "", value: "" }] = await context.cookies();
    const body = new URLSearchParams({ act: "say", sentence: "turn off the lamp" });
    const headers = { cookie: `${name}=${value}`, origin: "https://elsewhere.example" };
    assert.equal((await fetch(url, { method: "POST", body, headers })).status, 403);
  });

  it("say that the access was withdrawn, and show nothing as current then", async () => {
    const environment = { BREEZEWAY_DATA: folder };
    const { stdout } = await runCommand(["outlet", "list", "--json"], { environment });
    const { outlets } = JSON.parse(stdout) as { outlets: { outlet: string; kind: string }[] };
    assert.deepEqual(outlets.map(({ kind }) => kind).sort(), ["alexa", "google-home"]);
    for (const { outlet } of outlets) await runCommand(["outlet", "remove", outlet], { environment });
    for (const kind of kinds) {
      await page.open(kind);
      await tab.locator("#discover").click();
      await page.newest.locator(":scope[data-outcome=refused]").waitFor();
      await tab.getByText(/can’t use the account/).waitFor();
      await tab.getByRole("button", { name: "Link again" }).waitFor();
      await tab.locator("#part-devices .told", { hasText: "Unknown" }).first().waitFor();
      assert.equal(await tab.locator("#part-devices .told").filter({ hasNotText: "Unknown" }).count(), 0);
    }
  });

  it("are linked anew by the next start, without a second outlet; a dead service is shown as such", async (t) => {
    demo.process.kill("SIGKILL");
    await demo.ended;
    await tab.locator("#freshness", { hasText: /^As of/ }).waitFor();
    assert.equal(await tab.getByRole("button", { name: "Say it" }).isEnabled(), false);
    const again = await startDemo(t, folder, Number(new URL(demo.baseUrl).port));
    await tab.locator("#freshness", { hasText: "Live" }).waitFor();
    // The assistant knows the devices when it is linked.
    await tab.locator("#part-devices .told").filter({ hasNotText: "Unknown" }).first().waitFor();
    assert.equal(await tab.getByText(/can’t use the account/).count(), 0);
    await page.say("turn on the lamp");
    await page.isAnswered("turn on the lamp", "done");
    again.process.kill("SIGKILL");
    await again.ended;
    const third = await startDemo(t, folder, Number(new URL(demo.baseUrl).port));
    const { stdout } = await runCommand(["outlet", "list", "--json"], { environment: { BREEZEWAY_DATA: folder } });
    assert.equal((JSON.parse(stdout) as { outlets: unknown[] }).outlets.length, 2);
    third.process.kill("SIGINT");
    assert.equal(await third.ended, 0);
  });
});

describe("the assistants of other ecosystems", { skip, timeout }, () => {
  for (const [ecosystem, sentence, leftOut] of [
    ["home-assistant", "dim the ceiling to 30 percent", "Thermostat (thermostat)"],
    ["google-device-access", "turn on the lamp", "Hall (thermostat)"],
  ] as const) {
    it(`get nothing back that came from Google: ${ecosystem}`, async (t) => {
      const demo = await startDemo(t, demoFolder(t), 0, {}, ["--ecosystem", ecosystem]);
      const context = await browser().newContext();
      t.after(() => context.close());
      const page = await opened(demo, context);
      await page.open("google-home");
      await page.say(sentence);
      await page.isAnswered(sentence, "done");
      const entry = page.tab.locator(".left-out li", { hasText: leftOut });
      await entry.getByText(/It came from Google/).waitFor();
    });
  }
});
