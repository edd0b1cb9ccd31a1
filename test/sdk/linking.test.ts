import assert from "node:assert/strict";
import { describe, it } from "node:test";
import {
  AmbiguousName,
  Breezeway,
  EcosystemRefused,
  type FederatedAccount,
  HomeNames,
  InvalidArgument,
  NotFound,
  type ThingAlert,
  type TriggerDefinition,
  UnknownName,
} from "../../sdk/src/index.ts";
import { receiver } from "../events/receiver.ts";
import { eventually } from "../stories/world.ts";
import { json, scripted, sdkWorld } from "./sdk-world.ts";

describe("updateFederatedToken", () => {
  it("links an account, or replaces the token of an existing link", async (t) => {
    const { bySecToken, accountToken, simulator, accountId } = await sdkWorld(t);
    const first = await bySecToken.updateFederatedToken("nest", accountToken);
    assert.equal(first.wasLinked, false);
    const again = await bySecToken.updateFederatedToken("nest", simulator.issueToken(accountId));
    assert.deepEqual(again, { deviceId: first.deviceId, DeviceId: String(first.deviceId), wasLinked: true });
    const status = await bySecToken.getLinkStatus("nest");
    assert.equal(status.deviceId, first.deviceId);
    const gone = await bySecToken.unlink("nest");
    assert.equal(gone.deviceId, first.deviceId);
    assert.equal((await bySecToken.updateFederatedToken("nest", simulator.issueToken(accountId))).wasLinked, false);
  });

  it("calls exactly one of its two callbacks", async (t) => {
    const { bySecToken, accountToken } = await sdkWorld(t);
    const linked = await new Promise<FederatedAccount>((resolve, reject) => {
      const answer = bySecToken.updateFederatedToken("nest", accountToken, resolve, reject);
      assert.equal(answer, undefined);
    });
    assert.ok(linked.deviceId > 0);
    const refused = await new Promise<unknown>((resolve, reject) => {
      bySecToken.updateFederatedToken("nest", "no such token", () => reject(new Error("linked")), resolve);
    });
    assert.ok(refused instanceof EcosystemRefused);
    const unsigned = await new Promise<unknown>((resolve, reject) => {
      const unauthenticated = new Breezeway({ baseUrl: "http://127.0.0.1:1" });
      unauthenticated.updateFederatedToken("nest", accountToken, reject, resolve);
    });
    assert.match(String(unsigned), /NotSignedIn: updateFederatedToken needs a secToken/);
  });

  const linkedAlready = () => json(409, { errorCode: 118, errorMessage: "linked already" });
  const notLinked = () => json(404, { errorCode: 119, errorMessage: "not linked" });
  const done = () => json(200, { DeviceId: "41" });

  it("switches the method after 118 and 119, and gives up when both repeat", async () => {
    const cases = [
      { answers: [done()], methods: ["POST"] },
      { answers: [linkedAlready(), done()], methods: ["POST", "PUT"] },
      { answers: [linkedAlready(), notLinked(), done()], methods: ["POST", "PUT", "POST"] },
      { answers: [linkedAlready(), notLinked(), linkedAlready()], methods: ["POST", "PUT", "POST"], code: 118 },
      { answers: [notLinked()], methods: ["POST"], code: 119 },
    ];
    for (const { answers, methods, code } of cases) {
      const { fetch, requests } = scripted(...answers);
      const client = new Breezeway({ baseUrl: "http://home.example", secToken: "s", fetch });
      client.setEcoCloudUrl("http://adaptor.example/v1/");
      const call = client.updateFederatedToken("nest", "e-token");
      if (code) await assert.rejects(call, { errorCode: code });
      else assert.equal((await call).deviceId, 41);
      assert.deepEqual(
        requests.map(({ method }) => method),
        methods,
      );
      for (const { url, headers, body } of requests) {
        assert.equal(url, "http://adaptor.example/v1/federatedtokens");
        assert.equal(headers.get("authorization"), "Bearer s");
        assert.equal(body, "anEcosystemName=nest&anAccessToken=e-token");
      }
    }
  });
});

describe("devices", () => {
  it("are the same by a secToken and by an access token", async (t) => {
    const { bySecToken, byAccessToken, linked, addLamp } = await sdkWorld(t);
    const deviceId = await linked();
    const lampId = await addLamp('Lamp <1> & "more"');
    await bySecToken.setDeviceAttribute(lampId, "note", 'a & b < c\r\n\t"d" 🏮');
    await byAccessToken.setDeviceAttributes(lampId, { power: true, level: 7 });
    const shortly = async (client: Breezeway) =>
      (await client.getDevices()).map(({ deviceId: id, deviceName }) => ({ id, deviceName }));
    assert.deepEqual(await shortly(bySecToken), await shortly(byAccessToken));
    for (const id of [deviceId, lampId]) {
      const [one, other] = [await bySecToken.getDevice(id), await byAccessToken.getDevice(id)];
      assert.deepEqual(one.attributes, other.attributes);
      assert.deepEqual([one.deviceTypeName, one.presenceInfo], [other.deviceTypeName, other.presenceInfo]);
    }
    const names = ["note", "power", "nothing"];
    const byName = await bySecToken.getDevice(lampId, { attributes: names });
    assert.equal(byName.attributes.note?.value, 'a & b < c\r\n\t"d" 🏮');
    const { attributes } = await byAccessToken.getDevice(lampId, { attributes: names });
    assert.deepEqual(attributes, byName.attributes);
    await bySecToken.setDeviceAttribute(lampId, "power", null);
    const erased = await bySecToken.getDevice(lampId, { attributes: ["power"] });
    const [last] = await lastChange(byAccessToken, lampId);
    assert.deepEqual(erased.attributes, { power: { value: null, updateTime: last } }, "the time of the erasure");
    await byAccessToken.setDeviceAttribute(lampId, "power", true);
    const since = await byAccessToken.getDevice(lampId, { since: attributes.note?.updateTime ?? 0 });
    assert.deepEqual(Object.keys(since.attributes).sort(), ["level", "power"]);
    const past: unknown[] = [];
    for await (const { name, value } of byAccessToken.getHistory(lampId)) past.push([name, value]);
    assert.equal(past.length, 5);
    const [userId = 0] = await byAccessToken.getUsers();
    assert.equal((await byAccessToken.getUser(userId)).userName, "ada");
  });
});

/** The time of the last change of a device, and its value. */
async function lastChange(client: Breezeway, deviceId: number): Promise<readonly [time: number, value: unknown]> {
  let last: readonly [number, unknown] = [0, undefined];
  for await (const { updateTime, value } of client.getHistory(deviceId)) last = [updateTime, value];
  return last;
}

describe("friendly names", () => {
  it("resolve to attribute names, for structures, thermostats and alarms", async (t) => {
    const { bySecToken, byAccessToken, linked } = await sdkWorld(t, {
      structures: [
        { name: "Mill", thermostats: 2, alarms: 1 },
        { name: "Barn", thermostats: 1, alarms: 0 },
      ],
    });
    const deviceId = await linked();
    const names = await bySecToken.getHomeNames(deviceId);
    assert.deepEqual(await byAccessToken.getLargeStrings(deviceId), await bySecToken.getLargeStrings(deviceId));
    const { devices } = await byAccessToken.getHomeNames(deviceId);
    assert.deepEqual(JSON.stringify(devices), JSON.stringify(names.devices), "an access token reads the same");
    const { attributes } = await bySecToken.getDevice(deviceId);
    assert.equal(names.devices.length, 4);
    for (const structure of names.structures) {
      assert.equal(attributes[structure.attribute("name")]?.value, structure.name);
      assert.equal(names.structure(structure.name), structure);
    }
    for (const device of names.devices) {
      assert.equal(attributes[device.attribute("name")]?.value, device.name);
      assert.equal(attributes[device.attribute("device_id")]?.value, device.id);
      const search = { kind: device.kind, structure: device.structure.name };
      assert.equal(names.device(device.name, search), device);
    }
    assert.throws(
      () => names.structure("Castle"),
      (error) => error instanceof UnknownName && /"Mill"/.test(error.message),
    );
  });

  it("are refused when no device or several have them", () => {
    const largeStrings = {
      labels: { Mill: "s1", "Mill (2)": "s2" },
      identifiers: {
        ...{ s1: ["2"], s2: ["1"] },
        t1: ["2", "thermostats", "Hall", "s1"],
        t2: ["1", "thermostats", "Hall", "s2"],
        a1: ["2", "smokeCoAlarms", "Hall", "s1"],
        gone: ["2", "thermostats", "Attic", "s1"],
      },
    };
    const id = (value: string) => ({ value, updateTime: 1 });
    const names = new HomeNames(largeStrings, {
      "d.structures[2].d.thermostats[7].device_id": id("t1"),
      "d.structures[1].d.thermostats[1].device_id": id("t2"),
      "d.structures[2].d.smokeCoAlarms[3].device_id": id("a1"),
    });
    assert.throws(() => names.device("Hall"), AmbiguousName);
    assert.throws(() => names.device("Hall", { structure: "Mill" }), AmbiguousName);
    assert.throws(() => names.device("Attic"), UnknownName);
    const found = names.device("Hall", { structure: "Mill", kind: "thermostats" });
    assert.equal(found.attribute("has_fan"), "d.structures[2].d.thermostats[7].has_fan");
    assert.equal(names.device("Hall", { kind: "smokeCoAlarms" }).index, 3);
  });
});

describe("addTrigger", () => {
  it("accepts the names of both platforms and of the web call, and its alerts fire", async (t) => {
    const { bySecToken, byAccessToken, linked, addLamp, simulator, accountId } = await sdkWorld(t);
    const [deviceId, lampId] = [await linked(), await addLamp()];
    const away = (await bySecToken.getHomeNames(deviceId)).structure("Mill").attribute("away");
    const common = { action: "attribute", operation: "regex", address: "", msg: "", autoDisarm: true } as const;
    const asAndroid = await bySecToken.addTrigger({
      ...{ ...common, deviceId, attrName: away, stringThreshold: "away|auto-away" },
      targetDeviceAttributes: [{ deviceId: lampId, attributeName: "power", value: 'off, "now"; really' }],
    });
    const asIos = await bySecToken.addTrigger({
      ...{ ...common, initWithDeviceId: deviceId, attributeName: away, stringThreshold: "home" },
      targetDeviceAttributes: `${lampId},power:"on"`,
    });
    const asWebCall = await bySecToken.addTrigger({
      ...{ ...common, devId: deviceId, attrName: away, stringThreshold: "nowhere", action: "email" },
    });
    const [first, second, third] = await bySecToken.getTriggers({ deviceId });
    assert.deepEqual([first?.triggerId, second?.triggerId, third?.triggerId], [asAndroid, asIos, asWebCall]);
    assert.deepEqual([third?.deviceId, third?.attrName], [deviceId, away]);
    await bySecToken.removeTrigger(asWebCall);
    const { triggerId: _, stringThreshold: __, targets: ___, ...one } = first!;
    assert.deepEqual(one, {
      ...{ deviceId, attrName: away, action: "attribute", operation: "regex", threshold: undefined, address: "" },
      ...{ msg: "", autoDisarm: true, disarmed: false, autoDelete: false, autoDisable: false, enable: true },
    });
    const power = async () => (await byAccessToken.getDevice(lampId)).attributes.power?.value;
    await simulator.playScene(accountId, { scene: "leave" });
    await eventually(t.signal, async () => assert.equal(await power(), 'off, "now"; really'));
    await simulator.playScene(accountId, { scene: "come-home" });
    await eventually(t.signal, async () => assert.equal(await power(), "on"));
    await bySecToken.setTriggerEnabled(asIos, false);
    await bySecToken.removeTrigger(asAndroid);
    assert.deepEqual(
      (await bySecToken.getTriggers()).map(({ triggerId, enable }) => ({ triggerId, enable })),
      [{ triggerId: asIos, enable: false }],
    );
    await assert.rejects(bySecToken.removeTrigger(asAndroid), NotFound);
  });

  it("refuses invalid definitions before anything is sent", async () => {
    const { fetch, requests } = scripted();
    const client = new Breezeway({ baseUrl: "http://home.example", secToken: "s", fetch });
    const rest = { operation: "equals", stringThreshold: "home" } as const;
    const wrong: readonly unknown[] = [
      { ...rest, deviceId: 1, initWithDeviceId: 2, attrName: "a" },
      { ...rest, deviceId: 1, attrName: "a", attributeName: "b" },
      { ...rest, attrName: "a" },
      { ...rest, deviceId: 1, attrName: "" },
      {
        ...rest,
        deviceId: 1,
        attrName: "a",
        targetDeviceAttributes: [{ deviceId: 2, attributeName: "b", value: "\\" }],
      },
    ];
    for (const definition of wrong) {
      await assert.rejects(client.addTrigger(definition as TriggerDefinition), InvalidArgument);
    }
    assert.deepEqual(requests, []);
  });
});

describe("alerts and webhooks of /v3", () => {
  it("are listed to the last page", async () => {
    const page = (alertId: number, cursor?: string) => json(200, { alerts: [{ alertId }], cursor });
    const { fetch, requests } = scripted(page(1, "next"), page(2));
    const client = new Breezeway({ baseUrl: "http://home.example", accessToken: "t", fetch });
    assert.deepEqual(await client.alerts.list({ deviceId: 7 }), [{ alertId: 1 }, { alertId: 2 }]);
    const queries = requests.map(({ url }) => new URL(url).search);
    assert.deepEqual(queries, ["?deviceId=7", "?deviceId=7&cursor=next"]);
  });

  it("are created, listed, changed and removed", async (t) => {
    const { byAccessToken, addLamp } = await sdkWorld(t, { allowsPrivateWebhooks: true });
    const deviceId = await addLamp();
    const definition = { deviceId, attrName: "level", operation: ">", threshold: 5, action: "email" } as const;
    const created = await byAccessToken.alerts.create({ ...definition, msg: "high" });
    assert.deepEqual(await byAccessToken.alerts.list({ deviceId }), [created]);
    const changed = await byAccessToken.alerts.change(created.alertId, { ...definition, threshold: 6 });
    assert.deepEqual([changed.threshold, changed.msg], [6, ""]);
    assert.deepEqual(await byAccessToken.alerts.get(created.alertId), changed);
    await byAccessToken.alerts.remove(created.alertId);
    assert.deepEqual(await byAccessToken.alerts.list(), []);

    const { secret, ...webhook } = await byAccessToken.webhooks.add({
      url: "http://127.0.0.1:9/",
      deviceIds: [deviceId],
    });
    assert.ok(secret.length > 20);
    assert.deepEqual(await byAccessToken.webhooks.list(), [webhook]);
    await byAccessToken.webhooks.remove(webhook.webhookId);
    assert.deepEqual(await byAccessToken.webhooks.list(), []);
  });

  it("watch fields of things, and are listed when things are asked for", async (t) => {
    const { byAccessToken, addLamp, linked } = await sdkWorld(t);
    await linked();
    const lamp = await addLamp();
    const { value: alarm } = await byAccessToken.things({ kind: "alarm" }).next();
    const { thingId, deviceId } = alarm!;
    const definition = { thingId, field: "smoke.state", operation: "equals", action: "email" } as const;
    const created = await byAccessToken.alerts.create({ ...definition, stringThreshold: "alarm" });
    assert.deepEqual([created.thingId, created.field, created.deviceId], [thingId, "smoke.state", deviceId]);
    const level = { deviceId: lamp, attrName: "level", operation: ">", threshold: 5, action: "email" } as const;
    const other = await byAccessToken.alerts.create(level);
    assert.deepEqual(await byAccessToken.alerts.list(), [other]);
    assert.deepEqual(await byAccessToken.alerts.list({ things: true }), [created, other]);
    assert.deepEqual(await byAccessToken.alerts.list({ things: true, thingId }), [created]);
    const changed = await byAccessToken.alerts.change(created.alertId, { ...definition, stringThreshold: "warning" });
    assert.deepEqual(await byAccessToken.alerts.get<ThingAlert>(created.alertId), changed);
    const { alert, value } = await byAccessToken.alerts.explain<ThingAlert>(created.alertId);
    assert.deepEqual([alert.stringThreshold, value], ["warning", "clear"]);
    const tried = await byAccessToken.alerts.dryRun({ ...definition, stringThreshold: "clear" });
    assert.deepEqual([tried.events, tried.firings.length], [1, 1]);
    await byAccessToken.alerts.remove(created.alertId);
    assert.deepEqual(await byAccessToken.alerts.list({ things: true }), [other]);
  });

  it("explain themselves, and a dry run shows when a definition would have fired", async (t) => {
    const { byAccessToken, addLamp } = await sdkWorld(t);
    const deviceId = await addLamp();
    const definition = { deviceId, attrName: "level", operation: ">", threshold: 5, action: "email" } as const;
    const { alertId } = await byAccessToken.alerts.create(definition);
    for (const level of [4, 7]) await byAccessToken.setDeviceAttribute(deviceId, "level", level);
    const { alert, value, conditionIsTrue, explanation, evaluations } = await byAccessToken.alerts.explain(alertId);
    assert.deepEqual([alert.alertId, value, conditionIsTrue, typeof explanation], [alertId, "7", true, "string"]);
    assert.deepEqual(
      evaluations.map((seen) => [seen.value, seen.outcome]),
      [
        ["7", "fired"],
        ["4", "unmet"],
      ],
    );
    const ran = await byAccessToken.alerts.dryRun({ ...definition, threshold: 3 });
    assert.deepEqual([ran.events, ran.firings.map((firing) => firing.value)], [2, ["4", "7"]]);
    const [first] = ran.firings;
    const later = await byAccessToken.alerts.dryRun({ ...definition, threshold: 3 }, { from: first!.time });
    assert.deepEqual([later.events, later.firings], [1, ran.firings.slice(1)]);
    assert.equal((await byAccessToken.alerts.list()).length, 1, "a dry run creates nothing");
  });

  it("show their deliveries, and send one again", async (t) => {
    const { byAccessToken, addLamp } = await sdkWorld(t, { allowsPrivateWebhooks: true });
    const deviceId = await addLamp();
    const hook = await receiver(t);
    const { webhookId } = await byAccessToken.webhooks.add({ url: hook.url });
    await byAccessToken.setDeviceAttribute(deviceId, "level", 7);
    await eventually(t.signal, async () => {
      const states = (await byAccessToken.webhooks.deliveries(webhookId)).map(({ state }) => state);
      assert.deepEqual(states, ["delivered"]);
    });
    const [delivered] = await byAccessToken.webhooks.deliveries(webhookId);
    assert.deepEqual([delivered!.type, delivered!.deviceId, delivered!.attempts], ["attribute", deviceId, 1]);
    const again = await byAccessToken.webhooks.resend(webhookId, delivered!.deliveryId);
    assert.equal(again.messageId, delivered!.messageId);
    await hook.until(2);
    assert.deepEqual(new Set(hook.received.map(({ headers }) => headers["webhook-id"])), new Set([again.messageId]));
  });
});
