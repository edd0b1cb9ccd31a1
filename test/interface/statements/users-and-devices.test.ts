import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../../src/model/ids.ts";
import { clientOfUser } from "../../stories/v3-client.ts";
import { type House, houseOfFile, person, send, tenant } from "./house.ts";

const house = houseOfFile({ structures: [{ thermostats: 1, alarms: 1 }] }, prepare);
const bob = { name: "bob", password: "another word" };
let [account, lamp] = [0 as DeviceId, 0 as DeviceId];
let bobId: number;

async function prepare(prepared: House): Promise<void> {
  const { link, addLamp, service } = prepared;
  account = await link();
  lamp = await addLamp("Hall lamp");
  bobId = await service.parts.identity.addUser({ tenant, ...bob, isAdmin: false });
}

const put = (body: string | undefined, deviceId: number = lamp) =>
  house().user.call(`/devices/${deviceId}`, {
    method: "PUT",
    ...(body !== undefined && { headers: { "content-type": "application/json" }, body }),
  });

describe("GET /v3/users", () => {
  it("2.3, 4.2: answers an array of integers: the user itself, or all users for an enterprise token", async () => {
    const { user, company, userId } = house();
    assert.deepEqual(await user.call("/users"), { status: 200, body: [userId] });
    assert.deepEqual(await company.call("/users"), { status: 200, body: [userId, bobId] });
    assert.ok([userId, bobId].every(Number.isInteger));
  });
});

describe("GET /v3/users/{userId}", () => {
  it("2.3, 4.2: answers the record of the user", async () => {
    const { user, userId } = house();
    const { status, body } = await user.call(`/users/${userId}`);
    assert.deepEqual([status, Object.keys(body)], [200, ["userId", "userName", "tenant", "createdTime"]]);
    assert.deepEqual([body.userId, body.userName, body.tenant], [userId, person.name, tenant]);
  });

  it("4.2, 7: answers an error object for another user, and for a text that is no id", async () => {
    for (const id of [bobId, 999, "x"]) {
      const { status, body } = await house().user.call(`/users/${id}`);
      assert.deepEqual([status, Object.keys(body)], [404, ["error", "error_description", "request_id"]]);
    }
  });
});

describe("GET /v3/devices", () => {
  it("2.4, 4.2: answers an object with the user's devices", async () => {
    const { status, body } = await house().user.call("/devices");
    assert.equal(status, 200);
    assert.deepEqual(
      body.devices.map((device: object) => Object.values(device)),
      [
        [account, "Nest account", "EcosystemAccount", 1],
        [lamp, "Hall lamp", "Lamp", 1],
      ],
    );
    assert.deepEqual(Object.keys(body.devices[0]), ["deviceId", "deviceName", "deviceTypeName", "presenceInfo"]);
  });

  it("4.2, 5: takes a device type: optional for a user's token, required for an enterprise token", async () => {
    const { user, company } = house();
    for (const client of [user, company]) {
      assert.deepEqual((await client.page({ deviceTypeName: "Lamp" })).ids, [lamp]);
    }
    assert.deepEqual((await user.page({})).ids, [account, lamp]);
    const refused = await company.call("/devices");
    assert.deepEqual([refused.status, refused.body.error], [400, "invalid_request"]);
    assert.match(refused.body.error_description, /deviceTypeName/);
  });

  it("4.2: leads from page to page by a cursor, with either kind of token", async () => {
    const { company, service } = house();
    const lines = Array.from({ length: 101 }, (_, n) =>
      JSON.stringify({ userId: bobId, deviceTypeName: "Switch", deviceName: `switch ${n}` }),
    );
    const batch = { method: "POST", headers: { "content-type": "application/x-ndjson" }, body: lines.join("\n") };
    assert.equal((await company.text("/devices:batch", batch)).status, 200);
    for (const client of [await clientOfUser(() => service, tenant, bob), company]) {
      const first = await client.page({ deviceTypeName: "Switch" });
      assert.equal(first.ids.length, 100);
      const last = await client.page({ cursor: first.cursor! });
      assert.deepEqual([last.ids.length, last.cursor], [1, undefined]);
      assert.ok(!first.ids.includes(last.ids[0]!));
    }
  });
});

describe("GET /v3/devices/{deviceId}", () => {
  it("2.4: has presence, id, name, type name, and attributes with value and time", async () => {
    for (const deviceId of [account, lamp]) {
      await put('{"power": "on"}');
      const { status, body } = await house().user.call(`/devices/${deviceId}`);
      assert.equal(status, 200);
      assert.ok(Number.isInteger(body.presenceInfo));
      assert.equal(body.deviceId, deviceId);
      assert.deepEqual([typeof body.deviceTypeName, typeof body.deviceName], ["string", "string"]);
      const attributes: object[] = Object.values(body.attributes);
      assert.ok(attributes.length > 0);
      for (const attribute of attributes) assert.deepEqual(Object.keys(attribute), ["value", "updateTime"]);
    }
  });

  it("2.4: has times as integers in milliseconds since 1970", async () => {
    await put('{"power": "on"}');
    const { updateTime } = (await house().user.attributes(lamp)).power!;
    assert.ok(Number.isInteger(updateTime) && updateTime > 1.7e12 && updateTime < 1e13);
  });

  it("4.2: has all attributes with values, or those that `attribute` names, which may be repeated", async () => {
    await put('{"power": "on", "level": 7, "colour": "red", "scene": ""}');
    const names = async (query: string) => {
      const { body } = await house().user.call(`/devices/${lamp}${query}`);
      return Object.keys(body.attributes).sort();
    };
    assert.deepEqual(await names(""), ["colour", "level", "power"]);
    assert.deepEqual(await names("?attribute=level"), ["level"]);
    assert.deepEqual(await names("?attribute=level&attribute=power"), ["level", "power"]);
  });

  it("4.2: has with `since` only the attributes that were updated after that time", async () => {
    await put('{"power": "on"}');
    await put('{"level": "9"}');
    const { user } = house();
    const { power, level } = await user.attributes(lamp);
    const since = (time: number, query = {}) => user.attributes(lamp, { since: String(time), ...query });
    assert.deepEqual(Object.keys(await since(power!.updateTime)), ["level"]);
    assert.deepEqual(Object.keys(await since(level!.updateTime)), []);
    assert.deepEqual(Object.keys(await since(power!.updateTime - 1, { attribute: "power" })), ["power"]);
  });

  it("4.2: requires neither `attribute` nor `since`, as the text of the interface says", async () => {
    assert.equal((await house().user.call(`/devices/${lamp}?attribute=&since=`)).status, 200);
  });

  it("4.2, 7: answers an error object for an id without a device", async () => {
    const { status, body } = await house().user.call("/devices/999");
    assert.deepEqual([status, body.error], [404, "unknown_device"]);
  });
});

describe("PUT /v3/devices/{deviceId}", () => {
  it("2.4, 4.2: updates one attribute or several, and answers the status OK", async () => {
    for (const values of [{ power: "off" }, { power: "on", colour: "blue" }]) {
      assert.deepEqual(await put(JSON.stringify(values)), { status: 200, body: { status: "OK" } });
      const shown = await house().user.attributes(lamp);
      for (const [name, value] of Object.entries(values)) assert.equal(shown[name]!.value, value);
    }
  });

  it("4.2: requires a body with pairs of name and value, and changes nothing without one", async () => {
    const before = await house().user.attributes(lamp);
    for (const body of [undefined, "{}", "[]", '"power"', "{"]) {
      const { status, body: refusal } = await put(body);
      assert.deepEqual([status, refusal.error], [400, "invalid_request"], String(body));
    }
    assert.deepEqual(await house().user.attributes(lamp), before);
  });

  it("1, 4.2: reaches devices of the token's user alone, or those of the whole tenant", async () => {
    const { service, company } = house();
    const stranger = await clientOfUser(() => service, tenant, bob);
    const body = '{"power": "on"}';
    const init = { method: "PUT", headers: { "content-type": "application/json" }, body };
    assert.equal((await stranger.call(`/devices/${lamp}`, init)).status, 404);
    assert.equal((await company.call(`/devices/${lamp}`, init)).status, 200);
  });
});

describe("every call of /v3", () => {
  const calls = [
    ["GET", "/v3/users"],
    ["GET", "/v3/users/1"],
    ["GET", "/v3/devices"],
    ["GET", "/v3/devices/1"],
    ["PUT", "/v3/devices/1"],
  ] as const;

  it("5, 7: needs an access token in the header Authorization, and else answers an error object", async () => {
    const { service, user } = house();
    for (const [method, path] of calls) {
      for (const [headers, query, status, error] of [
        [{}, "", 401, "missing_token"],
        [{ authorization: "Bearer bwa_unknown" }, "", 401, "invalid_token"],
        [{}, `?access_token=${user.accessToken}`, 400, "invalid_request"],
      ] as const) {
        const answer = await send(`${service.baseUrl}${path}${query}`, { method, headers });
        assert.deepEqual([answer.status, answer.body.error], [status, error], path);
        assert.equal(typeof answer.body.error_description, "string");
      }
    }
  });

  it("9: has the prefix /v3", async () => {
    const { service, user } = house();
    const headers = { authorization: `Bearer ${user.accessToken}` };
    for (const [method, path] of calls) {
      assert.equal((await send(`${service.baseUrl}${path.slice(3)}`, { method, headers })).status, 404);
    }
  });
});
