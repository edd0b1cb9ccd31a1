import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../../src/model/ids.ts";
import { readStrictly } from "../../platform/strict-xml.ts";
import { eventually } from "../../stories/world.ts";
import { addUser, type House, houseOfFile, send, untilLive } from "./house.ts";

const house = houseOfFile({ structures: [{ name: "Home", thermostats: 1, alarms: 1 }] }, prepare);
const away = "d.structures[1].a.away";
let [account, lamp, foreign] = [0, 0, 0];

async function prepare(prepared: House): Promise<void> {
  const { link, addLamp, simulator } = prepared;
  account = await link();
  lamp = await addLamp("Hall lamp");
  const bobs = await addUser(prepared, { name: "bob", password: "another word" });
  const { token } = simulator.addAccount({ seed: 2, structures: [{}] } as never);
  foreign = Number((await bobs.federate("POST", token)).body.DeviceId);
  await untilLive(prepared);
}

/** The parameters of the interface's example, for one structure and one alert. */
const definition = (change: Readonly<Record<string, string>> = {}) => ({
  secToken: house().client.secToken,
  devId: String(account),
  action: "attribute",
  attrName: away,
  operation: "equals",
  stringThreshold: "home",
  address: "",
  msg: "",
  autoDisarm: "true",
  autoDelete: "false",
  autoDisable: "false",
  enable: "true",
  targetDeviceAttributes: `${lamp},power:"on"`,
  ...change,
});

async function addTrigger(change: Readonly<Record<string, string>> = {}): Promise<string> {
  const { client } = house();
  const answer = await client.call("addTrigger", definition(change));
  assert.ok(answer.addTriggerResponse, JSON.stringify(answer));
  return answer.addTriggerResponse.triggerId;
}

async function trigger(triggerId: string) {
  const { client } = house();
  const answer = await client.call("getTrigger", { secToken: client.secToken, triggerId });
  return answer.getTriggerResponse.trigList;
}

const removeTrigger = (triggerId: string) => {
  const { client } = house();
  return client.call("removeTrigger", { secToken: client.secToken, triggerId });
};

describe("getDeviceList", () => {
  it("2.8, 4.4: answers in XML with the published elements, the virtual device like an ordinary one", async () => {
    const { service, client } = house();
    const query = new URLSearchParams({ secToken: client.secToken });
    const { status, body } = await send(`${service.baseUrl}/zdk/services/zamapi/getDeviceList?${query}`);
    assert.equal(status, 200);
    const { name, children } = readStrictly(body);
    assert.equal(name, "ns1:getDeviceListResponse");
    const elements = ["devId", "devName", "typeId", "sleepMode", "appID", "userID"];
    for (const entry of children) {
      assert.deepEqual([entry.name, entry.children.map((child) => child.name)], ["devList", elements]);
    }
    const texts = children.map((entry) => entry.children.slice(0, 2).map(({ text }) => text));
    assert.deepEqual(texts, [
      [String(account), "Nest account"],
      [String(lamp), "Hall lamp"],
    ]);
  });
});

describe("setDeviceAttribute", () => {
  it("4.4: writes true to fan_timer_active.requestWrite, and the ecosystem gets the command", async (t) => {
    const { client, simulator, accountId } = house();
    const name = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
    const write = { secToken: client.secToken, devId: String(account), name, value: "true" };
    const answer = await client.call("setDeviceAttribute", write);
    assert.equal(answer.setDeviceAttributeResponse.retCode, "0");
    await eventually(t.signal, () => {
      const bodies = simulator.log().flatMap((one) => (one.kind === "command" ? [one] : []));
      assert.deepEqual(
        bodies.map((one) => [one.accountId, one.body]),
        [[accountId, '{"fan_timer_active":true}']],
      );
    });
  });
});

describe("addTrigger", () => {
  it("4.4: takes every published parameter, and getTrigger returns the same definition", async () => {
    const { secToken: _, targetDeviceAttributes, ...sent } = definition();
    const triggerId = await addTrigger();
    assert.match(triggerId, /^[1-9]\d*$/);
    const shown = await trigger(triggerId);
    for (const [name, value] of Object.entries(sent)) assert.equal(shown[name], value, name);
    const { deviceID, attributeName, value } = shown.targetAttributesList;
    assert.equal(`${deviceID},${attributeName}:"${value}"`, targetDeviceAttributes);
    await removeTrigger(triggerId);
  });

  for (const [operation, threshold, matches, others] of [
    ["regex", "away|auto-away", ["away", "auto-away"], ["home"]],
    ["regex", "home", ["home"], ["away", "auto-away"]],
    ["equals", "away", ["away"], ["home", "auto-away"]],
    ["equals", "home", ["home"], ["away", "auto-away"]],
  ] as const) {
    it(`4.4: with ${operation} ${threshold} fires for ${matches.join(" and ")}, not for ${others.join(" or ")}`, async (t) => {
      const triggerId = await addTrigger({ operation, stringThreshold: threshold });
      for (const state of [...others, ...matches]) {
        await lampIs("?");
        await presence(t.signal, others[0]);
        await presence(t.signal, state);
        assert.equal(await lampState(), (matches as readonly string[]).includes(state) ? "on" : "?", state);
      }
      await removeTrigger(triggerId);
    });
  }

  it("4.4, 6: with two alerts a lamp follows the presence: on when it becomes home, off when away", async (t) => {
    await presence(t.signal, "auto-away");
    const on = await addTrigger({ operation: "regex" });
    const target = `${lamp},power:"off"`;
    const whenAway = { operation: "regex", stringThreshold: "away|auto-away", targetDeviceAttributes: target };
    const off = await addTrigger(whenAway);
    for (const [state, expected] of [
      ["home", "on"],
      ["away", "off"],
      ["home", "on"],
      ["auto-away", "off"],
    ] as const) {
      await presence(t.signal, state);
      assert.equal(await lampState(), expected, state);
    }
    for (const id of [on, off]) await removeTrigger(id);
  });

  it("4.4: writes to the destination device that the target names, not to the virtual device", async (t) => {
    const { user, addLamp } = house();
    const other = await addLamp("Other lamp");
    await presence(t.signal, "away");
    const triggerId = await addTrigger({ targetDeviceAttributes: `${other},mode:"warm, bright"` });
    await lampIs("?");
    await presence(t.signal, "home");
    assert.equal((await user.attributes(other)).mode?.value, "warm, bright");
    assert.equal(await lampState(), "?");
    assert.ok(!("mode" in (await user.attributes(account as DeviceId))));
    await removeTrigger(triggerId);
  });

  it("6: reaches no device of another user, as watched device or as target", async () => {
    const { client } = house();
    for (const change of [{ devId: String(foreign) }, { targetDeviceAttributes: `${foreign},power:"on"` }]) {
      const answer = await client.call("addTrigger", definition(change));
      assert.equal(String(answer.requestFault.errorCode), "109");
    }
  });

  it("4.4: does not fire while it is not enabled, nor twice before it is armed again", async (t) => {
    await presence(t.signal, "away");
    const triggerId = await addTrigger({ enable: "false" });
    await lampIs("?");
    await presence(t.signal, "home");
    assert.equal(await lampState(), "?");
    await removeTrigger(triggerId);

    const power = { devId: String(lamp), attrName: "level", stringThreshold: "7" };
    const armed = await addTrigger({ ...power, autoDisarm: "true" });
    await write({ level: "7" });
    assert.equal(await lampState(), "on");
    await lampIs("?");
    await write({ level: "7" });
    assert.equal(await lampState(), "?");
    await write({ level: "1" });
    await write({ level: "7" });
    assert.equal(await lampState(), "on");
    await removeTrigger(armed);
  });

  for (const [member, shown] of [
    ["autoDelete", undefined],
    ["autoDisable", "false"],
  ] as const) {
    it(`4.4: with ${member} fires once`, async () => {
      const triggerId = await addTrigger({
        devId: String(lamp),
        attrName: "level",
        stringThreshold: "7",
        autoDisarm: "false",
        [member]: "true",
      });
      await lampIs("?");
      await write({ level: "7" });
      assert.equal(await lampState(), "on");
      await lampIs("?");
      await write({ level: "7" });
      assert.equal(await lampState(), "?");
      const { client } = house();
      const answer = await client.call("getTrigger", { secToken: client.secToken, triggerId });
      assert.equal(answer.getTriggerResponse?.trigList.enable, shown);
      if (shown !== undefined) await removeTrigger(triggerId);
    });
  }
});

const write = (values: object) => house().user.write(lamp as DeviceId, values);
const lampIs = (power: string) => write({ power });
const lampState = async () => (await house().user.attributes(lamp as DeviceId)).power?.value;

/** Sets the presence in the ecosystem, and waits until the virtual device shows it. Firings are stored with it. */
async function presence(signal: AbortSignal, state: string): Promise<void> {
  const { simulator, accountId, user } = house();
  // biome-ignore lint/suspicious/noExplicitAny: the document is the ecosystem's
  const document = structuredClone(simulator.document(accountId)) as any;
  for (const structure of Object.values<{ away: string }>(document.structures)) structure.away = state;
  simulator.replaceDocument(accountId, document);
  await eventually(signal, async () => assert.equal((await user.attributes(account as DeviceId))[away]?.value, state));
}
