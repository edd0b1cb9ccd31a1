import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { provisioningWorld } from "./world.ts";

describe("a company's own device", () => {
  it("is added with a room and first values, renamed, moved and removed over HTTP", async (t) => {
    const { world, send, lamp, logOf } = await provisioningWorld(t);
    const attributes = { power: "on", level: 40, note: null };
    const added = await send("POST", "/v3/devices", { json: lamp({ room: "Hall", attributes }) });
    assert.equal(added.status, 201);
    const { deviceId } = added.body;
    const read = () => send("GET", `/v3/devices/${deviceId}`);
    assert.deepEqual(added.body, (await read()).body);
    assert.deepEqual(
      {
        ...added.body,
        attributes: Object.entries<{ value: unknown }>(added.body.attributes).map(([name, { value }]) => [name, value]),
      },
      {
        deviceId,
        userId: world.userId,
        deviceName: "Hall lamp",
        room: "Hall",
        deviceTypeName: "Lamp",
        presenceInfo: 1,
        stale: false,
        attributes: [
          ["level", "40"],
          ["power", "on"],
        ],
      },
    );
    const renamed = await send("PATCH", `/v3/devices/${deviceId}`, { json: { deviceName: "Spot" } });
    assert.deepEqual([renamed.status, renamed.body.deviceName, renamed.body.room], [200, "Spot", "Hall"]);
    assert.deepEqual(renamed.body, (await read()).body);
    const moved = await send("PATCH", `/v3/devices/${deviceId}`, { json: { room: null } });
    assert.ok(!("room" in moved.body));
    assert.deepEqual(moved.body, (await read()).body);
    const log = await logOf(deviceId);
    assert.deepEqual(
      log.map(([kind, { what, cause }]) => [kind, what ?? cause]),
      [
        ["device", "added"],
        ["attribute", { by: "administrator" }],
        ["device", "changed"],
        ["device", "changed"],
      ],
    );
    const removed = await send("DELETE", `/v3/devices/${deviceId}`);
    assert.deepEqual([removed.status, removed.text], [204, ""]);
    assert.equal((await read()).status, 404);
    assert.deepEqual(await logOf(deviceId), [["device", { what: "removed" }]]);
  });

  it("is managed by enterprise clients of its tenant alone", async (t) => {
    const { world, send, lamp, enterpriseToken } = await provisioningWorld(t);
    const { deviceId } = (await send("POST", "/v3/devices", { json: lamp() })).body;
    const path = `/v3/devices/${deviceId}`;
    const foreign = await enterpriseToken("Other");
    const user = (await world.tokens()).access_token;
    const calls = [
      ["POST", "/v3/devices", lamp()],
      ["PATCH", path, { room: "Cellar" }],
      ["DELETE", path, undefined],
    ] as const;
    for (const [method, address, json] of calls) {
      const byUser = await send(method, address, { json, token: user });
      assert.deepEqual([byUser.status, byUser.body.error], [403, "enterprise_only"], method);
      const byForeigner = await send(method, address, { json, token: foreign });
      assert.equal(byForeigner.status, 404, method);
    }
    const nobody = await send("POST", "/v3/devices", { json: lamp({ userId: world.strangerId }) });
    assert.deepEqual([nobody.status, nobody.body.error], [404, "not_found"]);
    assert.equal((await send("GET", path)).body.room, undefined);
  });

  it("is added once, changed once and removed once however often the request is repeated with its key", async (t) => {
    const { send, lamp, devicesOf, logOf } = await provisioningWorld(t);
    const before = (await devicesOf()).length;
    const add = () => send("POST", "/v3/devices", { json: lamp({ attributes: { power: "on" } }), key: "add" });
    const [first, again] = [await add(), await add()];
    assert.deepEqual([again.status, again.body], [201, first.body]);
    assert.equal(again.headers.get("idempotency-replayed"), "true");
    assert.equal((await devicesOf()).length, before + 1);
    const other = await send("POST", "/v3/devices", { json: lamp({ deviceName: "Another" }), key: "add" });
    assert.deepEqual([other.status, other.body.error], [422, "idempotency_key_reused"]);
    const path = `/v3/devices/${first.body.deviceId}`;
    const rename = () => send("PATCH", path, { json: { deviceName: "Spot" }, key: "rename" });
    assert.deepEqual((await rename()).body, (await rename()).body);
    assert.equal((await logOf(first.body.deviceId)).filter(([, { what }]) => what === "changed").length, 1);
    const remove = () => send("DELETE", path, { key: "remove" });
    assert.deepEqual([(await remove()).status, (await remove()).status], [204, 204]);
  });

  it("is refused with a sentence when a member is missing, unknown or malformed", async (t) => {
    const { send, lamp, devicesOf } = await provisioningWorld(t);
    const before = (await devicesOf()).length;
    for (const json of [
      [],
      {},
      lamp({ deviceName: "" }),
      lamp({ deviceName: 7 }),
      lamp({ deviceTypeName: "x".repeat(129) }),
      lamp({ deviceTypeName: "EcosystemAccount" }),
      lamp({ room: "bell\u0007" }),
      lamp({ room: "" }),
      lamp({ userId: { id: 1 } }),
      lamp({ colour: "red" }),
      lamp({ attributes: [] }),
      lamp({ attributes: { power: {} } }),
      lamp({ attributes: { "": "on" } }),
    ]) {
      const refused = await send("POST", "/v3/devices", { json });
      assert.deepEqual([refused.status, refused.body.error], [400, "invalid_request"], JSON.stringify(json));
    }
    const large = await send("POST", "/v3/devices", { json: lamp({ attributes: { power: "x".repeat(8_193) } }) });
    assert.equal(large.status, 413);
    assert.equal((await devicesOf()).length, before);
    const { deviceId } = (await send("POST", "/v3/devices", { json: lamp() })).body;
    for (const json of [{}, { deviceName: null }, { room: 1 }, { deviceTypeName: "Fan" }]) {
      assert.equal((await send("PATCH", `/v3/devices/${deviceId}`, { json })).status, 400, JSON.stringify(json));
    }
  });

  it("is added with others in one transaction, with at most 10,000 attributes in all", async (t) => {
    const { send, lamp, devicesOf } = await provisioningWorld(t);
    const attributes = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`a${n}`, "x"]));
    const line = (count: number) => `${JSON.stringify(lamp({ attributes: attributes(count) }))}\n`;
    const headers = { "content-type": "application/x-ndjson" };
    const add = (body: string) => send("POST", "/v3/devices:batch", { body, headers });
    const refused = await add(`${line(100).repeat(100)}${line(1)}`);
    assert.deepEqual([refused.status, refused.body.error], [409, "limit_reached"]);
    assert.equal(
      refused.body.error_description,
      "The devices have more than 10000 attributes in all. No device was added. Send fewer, or use mode=each.",
    );
    assert.equal((await devicesOf()).length, 0);
    assert.equal((await add(line(100).repeat(100))).status, 200);
    assert.equal((await devicesOf()).length, 100);
  });

  it("of a linked account can be neither renamed nor removed", async (t) => {
    const { world, send } = await provisioningWorld(t);
    const { userId } = world;
    const account = { userId, typeName: "EcosystemAccount", name: "Nest account", isVirtual: true };
    const id = await world.service.parts.store.transaction((tx) => tx.devices.add(account));
    const renamed = await send("PATCH", `/v3/devices/${id}`, { json: { deviceName: "Mine" } });
    const removed = await send("DELETE", `/v3/devices/${id}`);
    assert.deepEqual([renamed.status, renamed.body.error], [409, "conflict"]);
    assert.deepEqual([removed.status, removed.body.error], [409, "conflict"]);
    assert.match(removed.body.error_description, /Disconnect the account instead/);
  });
});
