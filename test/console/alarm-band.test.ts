import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Page } from "playwright-core";
import { assertAccessible } from "../browser/axe.ts";
import { browserOfFile, skip } from "../browser/world.ts";
import { eventually, person } from "../stories/world.ts";
import { type ConsoleWorld, consoleWorld } from "./console-world.ts";
import { operatorTab } from "./operator-tab.ts";

const browser = browserOfFile();
const maple = { structures: [{ name: "Maple Street", thermostats: 1, alarms: 1 }] };

const at = ({ house }: ConsoleWorld) => ({ world: { baseUrl: house.service.baseUrl } });
const bandOf = (tab: Page) => tab.getByRole("alert").filter({ hasText: "Smoke emergency" });
const play = ({ house }: ConsoleWorld, scene: "smoke" | "smoke-warning" | "clear") =>
  house.simulator.playScene(house.accountId, { scene });
const tenantOf = async ({ house }: ConsoleWorld) =>
  (await house.service.parts.identity.findUser(house.userId)).tenantId;

describe("a smoke alarm that sounds", () => {
  it("is a band on every page, a red row, the first that needs attention, and gone when the air is clear", {
    skip,
  }, async (t) => {
    const made = await consoleWorld(t, maple);
    const { house } = made;
    const { baseUrl } = house.service;
    await operatorTab(browser(), at(made), await made.owner(), {}, async (first) => {
      const paths = ["", "/events", "/users", "/homes"];
      const tabs = [first, ...(await Promise.all(paths.slice(1).map(() => first.context().newPage())))];
      for (const [nth, path] of paths.entries()) {
        await tabs[nth]!.goto(`${baseUrl}/console${path}`);
        await tabs[nth]!.locator("#freshness", { hasText: "live" }).waitFor();
        assert.equal(await bandOf(tabs[nth]!).count(), 0, path);
      }
      const owner = await first.context().newPage();
      await owner.goto(`${baseUrl}/account/${await tenantOf(made)}`);
      await owner.getByLabel("User name").fill(person.name);
      await owner.getByLabel("Password").fill(person.password);
      await owner.getByRole("button", { name: "Sign in" }).click();
      await owner.getByRole("heading", { name: "Your account" }).waitFor();
      assert.equal(await bandOf(owner).count(), 0);

      await play(made, "smoke");
      for (const tab of tabs) {
        await tab.bringToFront();
        await bandOf(tab).getByText("Maple Street").waitFor();
        await bandOf(tab).getByText("ada").waitFor();
      }
      await assertAccessible(tabs[3]!);
      await owner.bringToFront();
      await owner.reload();
      await bandOf(owner).getByText("Maple Street").waitFor();
      await assertAccessible(owner);
      const attention = first.locator(".needs li").first();
      await attention.getByText("Smoke emergency").waitFor();
      await tabs[3]!.locator("tr.is-grave", { hasText: "Smoke or CO alarm" }).waitFor();

      await first.bringToFront();
      await bandOf(first).getByRole("link").click();
      await first.locator(".alarm.red:target").waitFor();
      assert.equal(await bandOf(first).count(), 1, "the page of the home has one band");
      await play(made, "clear");
      for (const tab of tabs) {
        await tab.bringToFront();
        await bandOf(tab).waitFor({ state: "detached" });
      }
      assert.equal(await tabs[3]!.locator("tr.is-grave").count(), 0);
      await owner.bringToFront();
      await owner.reload();
      assert.equal(await bandOf(owner).count(), 0);
    });
  });

  it("is known to those alone who reach its tenant, and a warning is listed after an emergency", async (t) => {
    const made = await consoleWorld(t, { structures: [{ name: "Maple Street", thermostats: 0, alarms: 2 }] });
    const { house, run, owner, invited } = made;
    await run("tenant add", { name: "Other" });
    const seeing = [await owner(), await invited("vera", { role: "viewer" })];
    const foreign = await invited("max", { role: "tenantAdmin", tenant: ["Other"] });
    const [one, other] = await house.service.parts.things
      .page({ kind: "user", userId: house.userId }, { afterDevice: 0, afterThing: "", kind: "alarm" })
      .then(({ things }) => things.map(({ name }) => name));
    assert.ok(one && other);
    await house.simulator.playScene(house.accountId, { scene: "smoke-warning", alarm: 1 });
    await house.simulator.playScene(house.accountId, { scene: "co-emergency", alarm: 2 });
    const alarmsFor = async (browser: (typeof seeing)[number]) => (await browser.call("GET", "/alarms")).body;
    await eventually(t.signal, async () => assert.equal((await alarmsFor(seeing[0]!)).alarms.length, 2));
    for (const browser of seeing) {
      const { alarms, isComplete } = await alarmsFor(browser);
      assert.deepEqual(
        alarms.map(({ level, sensors, homeName }: Record<string, unknown>) => [level, sensors, homeName]),
        [
          ["alarm", ["carbonMonoxide"], "Maple Street"],
          ["warning", ["smoke"], "Maple Street"],
        ],
      );
      assert.equal(isComplete, true);
      assert.match(await (await browser.get("/console/users")).text(), /CO emergency: .*Smoke warning: /s);
    }
    assert.deepEqual(await alarmsFor(foreign), { alarms: [], isComplete: true });
    assert.doesNotMatch(await (await foreign.get("/console/users")).text(), /class="band"/);
    const findings = (await seeing[0]!.call("GET", "/attention")).body.findings;
    assert.deepEqual(
      findings
        .slice(0, 2)
        .map(({ kind, level, sentence }: Record<string, string>) => [kind, level, sentence!.split(":")[0]]),
      [
        ["alarm", "bad", "CO emergency"],
        ["alarm", "bad", "Smoke warning"],
      ],
    );
    const sounding = (await seeing[0]!.call("GET", "/links?alarm=true")).body.links;
    assert.deepEqual(
      sounding.map(({ userId, alarm }: Record<string, unknown>) => [userId, alarm]),
      [[house.userId, true]],
    );
  });

  it("stays while its link is not live, as of the last confirmation", async (t) => {
    const made = await consoleWorld(t, maple);
    const { house, owner } = made;
    const operator = await owner();
    await play(made, "smoke");
    const shows = async (path: string, words: RegExp) =>
      eventually(t.signal, async () => assert.match(await (await operator.get(path)).text(), words));
    await shows("/console/users", /Smoke emergency: /);
    house.simulator.revokeToken(house.accountToken);
    await shows("/console/users", /Smoke emergency: .* as of <time [^>]+>[^<]+ ago<\/time>, unknown now/s);
    await shows(
      `/console/homes/${house.userId}/nest`,
      /Smoke emergency: .*>as of <time [^>]+>[^<]+ ago<\/time>, unknown now/s,
    );
  });

  it("leaves room for other homes: the band names three, and leads to the rest", async (t) => {
    const { house, owner } = await consoleWorld(t, {
      structures: [{ name: "Maple Street", thermostats: 0, alarms: 5 }],
    });
    const operator = await owner();
    for (let alarm = 1; alarm <= 5; alarm++) {
      await house.simulator.playScene(house.accountId, { scene: "smoke", alarm });
    }
    await eventually(t.signal, async () => {
      const page = await (await operator.get("/console/clients")).text();
      assert.equal(page.match(/Smoke emergency: /g)?.length, 3);
      assert.match(page, /<a href="\/console\/homes\?alarm=true">and 2 more<\/a>/);
    });
    assert.match(await (await operator.get("/console/homes?alarm=true")).text(), /is-grave/);
  });
});
