import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway } from "../../sdk/src/index.ts";
import { controlScope, ThingClient } from "../stories/thing-client.ts";
import { clientOfTenant, clientOfUser } from "../stories/v3-client.ts";
import { person, world } from "../stories/world.ts";
import { installedExample } from "./running-example.ts";

const files = ["main.ts", "cloud.ts", "registration.ts", "lamp.ts"];

describe("the example of a company's device cloud", () => {
  it("adds its ten lamps once, reports their states, carries out commands, and replaces lost lamps", {
    timeout: 120_000,
  }, async (t) => {
    const story = await world(t);
    const client = new ThingClient(await clientOfUser(() => story.service, "Story", person, controlScope));
    const company = await story.service.parts.oauth.addClient({
      ...{ tenant: "Story", name: "Lamps", kind: "enterprise", redirectUris: [], requiresPkce: false },
    });
    const example = await installedExample(t, "device-cloud", files);
    const environment = {
      BREEZEWAY_URL: story.service.baseUrl,
      CLIENT_ID: company.client.id,
      CLIENT_SECRET: company.secret,
    };
    const lit = async () => {
      const lamps = await client.ofKind("light");
      assert.equal(lamps.length, 10);
      return lamps.filter(({ traits }) => traits.onOff.state.on.value !== false).map(({ name }) => name);
    };

    const first = await example.start(environment, "main.ts");
    assert.match((await first.says(/^added/)).input, /^added 10 lamps/);
    assert.equal((await first.says(/^reported/)).input, "reported the states of 10 lamps");
    assert.deepEqual(await lit(), []);
    const { thingId } = (await client.ofKind("light")).find(({ name }) => name === "Kitchen wall");
    const sent = await client.send(thingId, "onOff", "set", { on: true });
    await first.says(/^Kitchen wall: power is on/);
    assert.equal((await client.receipt(sent)).state, "confirmed");
    assert.deepEqual(await lit(), ["Kitchen wall"]);
    await first.kill();

    const second = await example.start(environment, "main.ts");
    assert.equal((await second.says(/^(added|reported)/)).input, "reported the states of 10 lamps");
    assert.deepEqual(await lit(), []);
    const again = await client.send(thingId, "onOff", "set", { on: true });
    await second.says(/^Kitchen wall: power is on/);
    assert.equal((await client.receipt(again)).state, "confirmed");
    await second.kill();

    // The third process sends the request of the first one again, with the same key.
    const { accessToken } = await clientOfTenant(() => story.service, "Story");
    const administrator = new Breezeway({ baseUrl: story.service.baseUrl, accessToken });
    const devices = await administrator.getDevices({ deviceTypeName: "Lamp" });
    for (const { deviceId } of devices) await administrator.devices.remove(deviceId);
    const third = await example.start(environment, "main.ts");
    assert.equal((await third.says(/^reported/)).input, "reported the states of 10 lamps");
    assert.deepEqual(await lit(), []);
    await third.kill();
  });
});
