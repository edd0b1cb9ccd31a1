import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { sdkWorld } from "../sdk/sdk-world.ts";
import { freePort } from "../set-up/free-port.ts";
import { person } from "../stories/world.ts";
import { installedExample } from "./running-example.ts";

const files = ["main.ts", "engine.ts", "rules.ts", "sign-in.ts", "rules.json"];

describe("the example of a rule engine", () => {
  it("signs its user in, carries its rules out, and goes on where it was killed", { timeout: 120_000 }, async (t) => {
    const home = await sdkWorld(t);
    await home.linked();
    const lampId = await home.addLamp("Hall lamp");
    const port = await freePort();
    const redirectUris = [`http://127.0.0.1:${port}/back`];
    const made = await home.story.service.parts.oauth.addClient({
      ...{ tenant: "Story", name: "Rules", kind: "user", redirectUris, requiresPkce: true },
    });
    const example = await installedExample(t, "rule-engine", files);
    const environment = {
      BREEZEWAY_URL: home.baseUrl,
      CLIENT_ID: made.client.id,
      CLIENT_SECRET: made.secret,
      PORT: String(port),
    };
    const play = (scene: string) => home.simulator.playScene(home.accountId, { scene });
    const lamp = async () => (await home.byAccessToken.getDevice(lampId)).attributes.power?.value;

    const first = await example.start(environment, "main.ts", "rules.json");
    const [, url] = await first.says(/^open (\S+)/);
    const back = await new ScriptedBrowser(() => home.baseUrl).authorize(url!, person);
    assert.equal(await (await fetch(back)).text(), "You can close this page.\n");
    await first.says(/^following/);
    await play("smoke");
    await first.says(/^smoke turns the hall lamp on: Hall lamp, power is on/);
    assert.equal(await lamp(), "on");
    home.simulator.drop(home.accountId);
    await first.says(/^the home can't be seen since \d{4}-\S+Z: .+/);
    await first.says(/^the home is seen again/);
    await first.kill();

    await play("clear");
    const second = await example.start(environment, "main.ts", "rules.json");
    await second.says(/^the smoke is gone: Hall lamp, power is off/);
    assert.equal(await lamp(), "off");
    await second.kill();
  });
});
