import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { traitMapTemplates } from "../../src/home/trait-map-templates.ts";
import { provisioningWorld } from "../provisioning/world.ts";

const lampMap = traitMapTemplates.lamp;
const alarmMap = {
  kind: "alarm",
  traits: { smoke: { state: { attribute: "smoke", words: { clear: "ok", alarm: "fire" } } } },
};

async function ownWorld(test: Parameters<typeof provisioningWorld>[0]) {
  const { world, send, lamp, ...rest } = await provisioningWorld(test);
  const put = (name: string, json: unknown) => send("PUT", `/v3/device-types/${name}`, { json });
  const add = async (change: object) => (await send("POST", "/v3/devices", { json: lamp(change) })).body.deviceId;
  const write = (deviceId: number, json: object) => send("PUT", `/v3/devices/${deviceId}`, { json });
  const things = async (query = "", token?: string) =>
    (await send("GET", `/v3/things${query}`, token === undefined ? {} : { token })).body.things;
  return { world, send, put, add, write, things, ...rest };
}

describe("a company's own devices of a type with a trait map", () => {
  it("are things: listed, filtered, read since a time, logged beside their attributes, and gone with the map", async (t) => {
    const { world, send, put, add, write, things, logOf } = await ownWorld(t);
    const lampId = await add({ attributes: { power: "off" }, room: "Hall" });
    assert.deepEqual(await things(), [], "a device without a map is a thing");
    const set = await put("Lamp", lampMap);
    assert.deepEqual([set.status, set.body.deviceTypeName, set.body.map], [200, "Lamp", lampMap]);
    assert.deepEqual((await send("GET", "/v3/device-types/Lamp")).body, set.body);
    const reordered = Object.fromEntries(Object.entries(lampMap).toReversed());
    assert.deepEqual((await put("Lamp", reordered)).body, set.body, "an equal map was taken for a new one");
    assert.deepEqual((await send("GET", "/v3/device-types")).body, { deviceTypes: [set.body] });

    await world.service.parts.typeWork.run();
    const [thing] = await things();
    assert.match(thing.thingId, /^t_[\w-]{22}$/);
    assert.deepEqual(
      [thing.deviceId, thing.userId, thing.kind, thing.name, thing.room, thing.source, thing.stale],
      [lampId, world.userId, "light", "Hall lamp", "Hall", "own", false],
    );
    assert.equal(thing.traits.onOff.state.on.value, false);
    assert.equal(thing.traits.onOff.state.available.value, null);
    const path = `/v3/things/${thing.thingId}`;
    assert.deepEqual((await send("GET", path)).body, thing);
    for (const [query, count] of [
      ["?source=own", 1],
      ["?source=nest", 0],
      ["?kind=light", 1],
      ["?kind=fan", 0],
      ["?room=Hall", 1],
      ["?room=Attic", 0],
    ] as const) {
      assert.equal((await things(query)).length, count, query);
    }

    const sinceMs = thing.traits.onOff.state.on.updateTime;
    assert.deepEqual((await send("GET", `${path}?since=${sinceMs}`)).body.traits, {});
    assert.equal((await write(lampId, { power: "on" })).status, 200);
    assert.equal((await send("GET", `${path}?since=${sinceMs}`)).body.traits.onOff.state.on.value, true);
    const [, written] = (await logOf(lampId)).at(-1)!;
    assert.deepEqual(written.things, [{ thingId: thing.thingId, what: "state", fields: { "onOff.on": true } }]);
    assert.deepEqual(written.changes, [["power", "on"]]);
    const history = (await send("GET", `${path}/history`)).body.changes;
    assert.deepEqual(
      history.map(({ what, fields }: Readonly<Record<string, unknown>>) => [what, fields]),
      [
        ["added", {}],
        ["state", { "onOff.on": { value: true } }],
      ],
    );

    const second = await add({ deviceName: "Spot" });
    assert.deepEqual(
      (await logOf(second)).map(([kind, body]) => [kind, body.what ?? body.things[0].what]),
      [
        ["device", "added"],
        ["thing", "added"],
      ],
    );
    assert.equal((await send("DELETE", "/v3/device-types/Lamp")).status, 204);
    assert.deepEqual(await things(), []);
    assert.equal((await send("GET", path)).status, 404);
    assert.equal((await send("DELETE", "/v3/device-types/Lamp")).body.error, "unknown_device_type");
    await write(lampId, { power: "off" });
    assert.equal((await logOf(lampId)).at(-1)![1].things, undefined);
  });

  it("are listed in pages, type by type for the tenant and by device for a user", async (t) => {
    const { world, send, put } = await ownWorld(t);
    const token = (await world.tokens()).access_token;
    await put("Lamp", lampMap);
    await put("Smoke", alarmMap);
    const { store, provisioning } = world.service.parts;
    const { userId } = world;
    const { tenantId } = (await store.read((tx) => tx.users.byId(userId)))!;
    const devices = Array.from({ length: 250 }, (_, i) => ({
      userId,
      name: `d${i}`,
      typeName: i % 3 ? "Lamp" : "Smoke",
    }));
    await provisioning.addAll(tenantId, devices);
    for (const options of [{}, { token }]) {
      const names: string[] = [];
      let cursor: string | undefined;
      do {
        const query = cursor === undefined ? "" : `?cursor=${cursor}`;
        const { body } = await send("GET", `/v3/things${query}`, options);
        assert.ok(body.things.length <= 100);
        names.push(...body.things.map(({ name }: { readonly name: string }) => name));
        cursor = body.cursor;
      } while (cursor !== undefined);
      assert.deepEqual(names.toSorted(), devices.map(({ name }) => name).toSorted());
    }
    const alarms = (await send("GET", "/v3/things?kind=alarm&source=own")).body;
    assert.deepEqual([alarms.things.length, alarms.cursor], [84, undefined]);
  });

  it("fire alerts on their fields, and an alarm is committed before all others", async (t) => {
    const { world, put, add, write, things, send } = await ownWorld(t);
    await put("Smoke", alarmMap);
    const smokeId = await add({ deviceTypeName: "Smoke", attributes: { smoke: "ok" } });
    const lampId = await add({ attributes: { power: "off" } });
    const [{ thingId }] = await things("?kind=alarm");
    const alert = {
      thingId,
      field: "smoke.state",
      operation: "equals",
      stringThreshold: "alarm",
      action: "attribute",
      targets: [{ deviceId: lampId, attrName: "power", value: "on" }],
    };
    const added = await send("POST", "/v3/alerts", { json: alert });
    assert.equal(added.status, 201, added.text);
    const urgencies: boolean[] = [];
    const { store } = world.service.parts;
    const { transaction } = store;
    t.mock.method(store, "transaction", (body: never, priority: { urgent?: boolean } | undefined) => {
      urgencies.push(priority?.urgent === true);
      return transaction.call(store, body, priority);
    });
    await write(smokeId, { smoke: "fire" });
    assert.ok(urgencies.includes(true), "the alarm was not urgent");
    urgencies.length = 0;
    await write(smokeId, { smoke: "fire" });
    await write(smokeId, { smoke: "ok" });
    assert.ok(!urgencies.includes(true), "a repeated alarm or its end was urgent");
    assert.equal((await send("GET", `/v3/devices/${lampId}`)).body.attributes.power.value, "on");
    assert.equal((await send("DELETE", `/v3/devices/${smokeId}`)).status, 204);
    assert.equal((await send("GET", `/v3/alerts/${added.body.alertId}`)).status, 404);
  });

  it("are reported urgent by an unknown word, which is not clear", async (t) => {
    const { put, add, write, things } = await ownWorld(t);
    await put("Smoke", alarmMap);
    const id = await add({ deviceTypeName: "Smoke" });
    await write(id, { smoke: "sensor fault" });
    const [{ traits }] = await things();
    assert.deepEqual([traits.smoke.state.state.value, traits.smoke.state.word.value], ["unknown", "sensor fault"]);
  });

  it("are invisible to other tenants and users, and their maps to everyone but enterprise clients of the tenant", async (t) => {
    const { world, send, put, add, things, enterpriseToken } = await ownWorld(t);
    await put("Lamp", lampMap);
    await add({});
    const foreign = await enterpriseToken("Other");
    const user = (await world.tokens()).access_token;
    const [{ thingId }] = await things();
    assert.equal((await things("", user)).length, 1);
    assert.deepEqual(await things("", foreign), []);
    assert.equal((await send("GET", `/v3/things/${thingId}`, { token: foreign })).status, 404);
    assert.equal((await send("GET", "/v3/device-types/Lamp", { token: foreign })).status, 404);
    assert.equal((await send("DELETE", "/v3/device-types/Lamp", { token: foreign })).status, 404);
    for (const [method, path, json] of [
      ["GET", "", undefined],
      ["GET", "/Lamp", undefined],
      ["PUT", "/Lamp", lampMap],
      ["DELETE", "/Lamp", undefined],
    ] as const) {
      const answer = await send(method, `/v3/device-types${path}`, { token: user, ...(json && { json }) });
      assert.deepEqual([answer.status, answer.body.error], [403, "enterprise_only"], `${method} ${path}`);
    }
    const entries = await world.service.parts.identity.audit.list({ limit: 20 } as never);
    const audited = entries.filter(({ act }) => act === "device_type");
    assert.deepEqual(
      audited.map(({ detail }) => detail),
      [{ type: "Lamp", change: "set" }],
    );
  });

  it("refuse a map that can't be used, with the place of the mistake, and keep the map before", async (t) => {
    const { send, put } = await ownWorld(t);
    await put("Lamp", lampMap);
    const refused = await put("Lamp", {
      kind: "light",
      traits: { onOff: { on: { attribute: "power", wirtable: true } } },
    });
    assert.equal(refused.status, 400);
    assert.match(refused.text, /traits\.onOff\.on\.wirtable is unknown/);
    assert.deepEqual((await send("GET", "/v3/device-types/Lamp")).body.map, lampMap);
    assert.equal((await put("EcosystemAccount", lampMap)).status, 400);
    const words = Object.fromEntries(
      Array.from({ length: 64 }, (_, i) => [`${i}`.padStart(120, "a"), `${i}`.padStart(128, "b")]),
    );
    const large = {
      kind: "fan",
      traits: { fan: { mode: { attribute: "m", words } }, indicator: { color: { attribute: "c", words } } },
    };
    assert.equal((await put("Large", large)).body.error, "limit_reached");
  });
});
