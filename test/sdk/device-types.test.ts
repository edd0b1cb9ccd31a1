import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { Breezeway } from "../../sdk/src/index.ts";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { provisioningWorld } from "../provisioning/world.ts";

describe("the SDK for a company's device types", () => {
  it("sets, reads, replaces, lists and removes trait maps, whatever characters a name has", async (t) => {
    const { world, acme, enterpriseToken } = await provisioningWorld(t);
    const { deviceTypes } = new Breezeway({ baseUrl: world.baseUrl, accessToken: acme });
    const { lamp, dimmer, plug } = traitMapTemplates;
    const name = "Lampe 50% / für außen?";
    const set = await deviceTypes.set(name, lamp);
    assert.deepEqual([set.deviceTypeName, set.map], [name, lamp]);
    assert.deepEqual(await deviceTypes.get(name), set);
    assert.deepEqual((await deviceTypes.set(name, dimmer)).map, dimmer);
    await deviceTypes.set("Plug", plug);
    const listed = await deviceTypes.list();
    assert.deepEqual(
      listed.map(({ deviceTypeName, map }) => [deviceTypeName, map]),
      [
        [name, dimmer],
        ["Plug", plug],
      ],
    );
    await world.service.parts.identity.addTenant({ name: "Rival" });
    const rival = new Breezeway({ baseUrl: world.baseUrl, accessToken: await enterpriseToken("Rival") });
    assert.deepEqual(await rival.deviceTypes.list(), []);
    await assert.rejects(rival.deviceTypes.remove("Plug"), { code: "unknown_device_type" });

    await deviceTypes.remove(name);
    await assert.rejects(deviceTypes.get(name), { code: "unknown_device_type", status: 404 });
    assert.deepEqual(
      (await deviceTypes.list()).map(({ deviceTypeName }) => deviceTypeName),
      ["Plug"],
    );
  });

  it("passes on which place of a map can't be used, and leaves the map that was set", async (t) => {
    const { world, acme } = await provisioningWorld(t);
    const { deviceTypes } = new Breezeway({ baseUrl: world.baseUrl, accessToken: acme });
    const { lamp } = traitMapTemplates;
    await deviceTypes.set("Lamp", lamp);
    const wrong = { ...lamp, traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "on" } } } } };
    await assert.rejects(deviceTypes.set("Lamp", wrong), { code: "invalid_request", message: /traits\.onOff\.on/ });
    assert.deepEqual((await deviceTypes.get("Lamp")).map, lamp);
  });
});
