import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ScriptedBrowser } from "../oauth/scripted-browser.ts";
import { sdkWorld } from "../sdk/sdk-world.ts";
import { freePort } from "../set-up/free-port.ts";
import { eventually, person } from "../stories/world.ts";
import { installedExample } from "./running-example.ts";

const files = ["main.ts", "assistant.ts", "requests.ts", "things.ts", "sign-in.ts"];

describe("the example of a voice assistant", () => {
  it("links an account, lists its rooms, and says what came of each sentence", { timeout: 120_000 }, async (t) => {
    const home = await sdkWorld(t);
    await home.linked();
    const things = await Array.fromAsync(home.byAccessToken.things({ kind: "thermostat" }));
    const alarms = await Array.fromAsync(home.byAccessToken.things({ kind: "alarm" }));
    const [den, hall] = things.map(({ name }) => name!);
    const port = await freePort();
    const redirectUris = [`http://127.0.0.1:${port}/back`];
    const made = await home.story.service.parts.oauth.addClient({
      ...{ tenant: "Story", name: "Speaker", kind: "user", redirectUris, requiresPkce: true },
    });
    const example = await installedExample(t, "voice-assistant", files);
    const environment = {
      BREEZEWAY_URL: home.baseUrl,
      CLIENT_ID: made.client.id,
      CLIENT_SECRET: made.secret,
      PORT: String(port),
    };
    const play = (scene: string) => home.simulator.playScene(home.accountId, { scene });
    const assistant = await example.start(environment, "main.ts");
    /** Says the sentence until the answer fits: the service hears of the house a moment later. */
    const says = (sentence: string, words: RegExp) =>
      eventually(t.signal, async () => {
        assistant.hears(sentence);
        const [text] = await assistant.says(/.+/);
        assert.match(text, words, sentence);
      });

    const [, url] = await assistant.says(/^open (\S+)/);
    const back = await new ScriptedBrowser(() => home.baseUrl).authorize(url!, person);
    assert.equal(await (await fetch(back)).text(), "You can close this page.\n");
    const rooms = new Set([...things, ...alarms].map(({ room }) => room));
    for (let lines = rooms.size + things.length + alarms.length; lines > 0; lines -= 1) {
      await assistant.says(/^(\S.*:| {2}.+ \((thermostat|alarm)\): .+)$/);
    }

    const once = await example.start(environment, "main.ts", "is", "there", "smoke");
    await once.says(/^No\. /);
    await says(`turn on the ${den} fan`, /^The fan of .+ is running\.$/);
    await says(`set the ${den} to heat`, / is set to heat\.$/);
    await says(`set the ${den} to 21`, / is set to 21 degrees\.$/);
    await says(`set the ${den} to 60`, /^That was refused: .+/);
    await says(`what is the temperature in the ${den}`, /^It is [\d.]+ degrees at /);
    await says("turn on the fan of everything", /^I know nothing called "fan of everything" that can do this\.$/);
    await says("sing a song", /^I understand sentences such as: turn on the hall fan; /);
    await says("is there smoke", /^No\. .+ found no smoke\.$/);
    await play("smoke");
    await says("is there smoke", /^Yes: /);
    await play("clear");
    await play("leave");
    await says(`turn on the ${hall} fan`, /^That was refused: .+nobody is/);

    // The ecosystem takes the command and tells nothing about it: only its receipt knows.
    await play("come-home");
    await says(`set the ${den} to 20`, / is set to 20 degrees\.$/);
    home.simulator.addFault({ fault: "keep-alives-only" });
    await says(`set the ${den} to 22`, /^The command was accepted, but .+ does not show it yet\.$/);
    home.simulator.clearFaults();

    home.simulator.revokeToken(home.accountToken);
    await says(
      `what is the temperature in the ${den}`,
      /^I can't see .+ just now\. It was [\d.]+ degrees at \d\d:\d\d UTC\.$/,
    );
    await says("is there smoke", /^I don't know: I can't see /);
    await says(`turn off the ${den} fan`, /^That was refused: .+/);

    // It signs the user out everywhere.
    await home.story.service.parts.identity.setPassword(home.story.userId, "battery staple");
    await says("is there smoke", /^The access has ended\./);
  });
});
