import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { removeDevice } from "../../src/provisioning/operator-devices.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { type Answered, assertRefused, madeV3, noonMs } from "./made-v3.ts";

const request = "d.structures[1].d.thermostats[1].fan_timer_active.requestWrite";
const secret = "bwa_not-for-anybodys-eyes";

/** Alice's lamp, which is red, and her linked account with a thermostat. */
async function lampAndAccount(t: TestContext) {
  const made = await madeV3(t);
  const { alice, put, get } = made;
  const lamp = await made.addDevice(alice);
  const account = await made.addDevice(alice, "EcosystemAccount");
  await made.mirror(alice, account, [{ key: thermostatAttribute(1, 1, "deviceId"), value: "t-1" }]);
  await put("alice", lamp, { colour: "red" });
  const attributes = async (deviceId: DeviceId) => (await get("alice", `/v3/devices/${deviceId}`)).body.attributes;
  /** Asserts one clear error and no change, neither in the store nor for a reader. */
  const assertRefusedWhole = async (
    deviceId: DeviceId,
    send: () => Promise<Answered>,
    status: number,
    code: string,
  ) => {
    const before = [await made.stored(alice, deviceId), await attributes(deviceId)];
    assertRefused(await send(), status, code, secret);
    assert.deepEqual([await made.stored(alice, deviceId), await attributes(deviceId)], before);
  };
  return { ...made, lamp, account, attributes, assertRefusedWhole };
}

describe("an update", () => {
  it("answers OK, and what was written is read as text, with the one time of the update", async (t) => {
    const { put, lamp, attributes, clock } = await lampAndAccount(t);
    clock.nowMs += 5;
    const values = {
      s: "text",
      t: true,
      f: false,
      n: 7,
      z: -0,
      d: 0.1,
      e: 1e21,
      m: -2.5,
      u: "Küche 💡\n\t",
      x: "<&>\"'",
    };
    const { status, body } = await put("alice", lamp, values);
    assert.equal(status, 200);
    assert.deepEqual(body, { status: "OK" });
    const { colour, ...written } = await attributes(lamp);
    assert.deepEqual(colour, { value: "red", updateTime: noonMs });
    const texts = { s: "text", t: "true", f: "false", n: "7", z: "0", d: "0.1", e: "1e+21", m: "-2.5" };
    const expected = { ...texts, u: values.u, x: values.x };
    const shown = Object.entries<{ value: string; updateTime: number }>(written);
    assert.deepEqual(Object.fromEntries(shown.map(([name, { value }]) => [name, value])), expected);
    assert.deepEqual(new Set(shown.map(([, { updateTime }]) => updateTime)), new Set([noonMs + 5]));
  });

  it("with null or an empty text erases", async (t) => {
    const { put, get, lamp, attributes } = await lampAndAccount(t);
    await put("alice", lamp, { level: "1" });
    assert.equal((await put("alice", lamp, { colour: null, level: "", absent: null })).status, 200);
    assert.deepEqual(await attributes(lamp), {});
    const { body } = await get("alice", `/v3/devices/${lamp}?since=0`);
    const erased = { value: null, updateTime: noonMs + 2 };
    assert.deepEqual(body.attributes, { absent: erased, colour: erased, level: erased });
  });

  it("gets a later time and a log entry with its author even when the value is the same", async (t) => {
    const { put, lamp, attributes, stored, alice } = await lampAndAccount(t);
    await put("alice", lamp, { colour: "red" });
    await put("acme", lamp, { colour: "red" });
    assert.deepEqual(await attributes(lamp), { colour: { value: "red", updateTime: noonMs + 2 } });
    const { log } = await stored(alice, lamp);
    assert.deepEqual(
      log.map(({ timeMs, body }) => [timeMs - noonMs, JSON.parse(body).cause]),
      [
        [0, { by: "client", user: alice }],
        [1, { by: "client", user: alice }],
        [2, { by: "administrator" }],
      ],
    );
  });

  it("of a linked account requests the fan, in either spelling", async (t) => {
    const { put, account, attributes } = await lampAndAccount(t);
    for (const spelling of [request, request.replace("thermostats", "thermostat")]) {
      for (const [value, shown] of [
        ["true", "true"],
        [true, "true"],
        [false, "false"],
        ["ü".repeat(256), "ü".repeat(256)],
      ] as const) {
        assert.equal((await put("alice", account, { [spelling]: value })).status, 200);
        assert.equal((await attributes(account))[request].value, shown);
      }
      assert.equal((await put("alice", account, { [spelling]: null })).status, 200);
      assert.ok(!(request in (await attributes(account))));
    }
  });

  it("accepts the largest sizes: 128 characters of name, 8,192 bytes of value, 65,536 bytes of body", async (t) => {
    const { put, lamp, attributes } = await lampAndAccount(t);
    const value = "ü".repeat(4_096);
    assert.equal((await put("alice", lamp, { ["🏠".repeat(128)]: value, ["n".repeat(128)]: "x" })).status, 200);
    assert.equal((await attributes(lamp))["🏠".repeat(128)].value, value);
    const body = JSON.stringify({ colour: "blue" });
    assert.equal((await put("alice", lamp, body.padEnd(65_536, " "))).status, 200);
    assert.equal((await attributes(lamp)).colour.value, "blue");
  });

  it("accepts names such as __proto__ as ordinary names", async (t) => {
    const { put, lamp, call } = await lampAndAccount(t);
    const body =
      '{"__proto__": "a", "constructor": "b", "access_token": "c", "1": "d", " ": "e", "$1": "f", "\\u00fc": "g"}';
    assert.equal((await put("alice", lamp, body)).status, 200);
    const shown = await (await call("alice", `/v3/devices/${lamp}`)).text();
    for (const part of [
      '"__proto__":{"value":"a"',
      '"constructor":{"value":"b"',
      '"1":{"value":"d"',
      '" ":{"value":"e"',
      '"ü":{"value":"g"',
    ]) {
      assert.ok(shown.includes(part), part);
    }
    assert.equal(({} as { value?: unknown }).value, undefined);
  });
});

describe("a refused update changes nothing", () => {
  it("when its body is not a flat object of names and values", async (t) => {
    const { put, lamp, assertRefusedWhole } = await lampAndAccount(t);
    const bodies = [
      "",
      "{}",
      "[]",
      '[{"colour": "blue"}]',
      '"colour"',
      "7",
      "null",
      "true",
      "{",
      '{"colour": "blue",}',
      "{'colour': 'blue'}",
      '{"colour": "blue"} {"colour": "green"}',
      '{"colour": NaN}',
      '{"colour": "blue", "level": {}}',
      '{"colour": "blue", "level": []}',
      '{"colour": "blue", "level": {"deep": 1}}',
      '{"colour": "blue", "level": 1e999}',
      '{"colour": "blue", "level": -1e999}',
      '{"colour": "blue", "colour": "green"}',
      '{"colour": "blue", "level": "1", "\\u0063olour": "green"}',
      `{"${secret}": {"colour": "blue"}}`,
      `{"colour": ["${secret}"]}`,
      `${'{"a":'.repeat(5_000)}1${"}".repeat(5_000)}`,
    ];
    for (const body of bodies) {
      await assertRefusedWhole(lamp, () => put("alice", lamp, body), 400, "invalid_request");
    }
  });

  it("when its body is {name, value} and the device has neither attribute; the refusal shows the right form", async (t) => {
    const { put, lamp, account, attributes, assertRefusedWhole } = await lampAndAccount(t);
    for (const device of [lamp, account]) {
      const send = () => put("alice", device, { name: request, value: "true" });
      await assertRefusedWhole(device, send, 400, "invalid_request");
      assert.match((await send()).body.error_description, /\{"<attribute>": <value>\}/);
    }
    const bodies = [{ name: "Hall" }, { name: "Porch", value: "1" }, { value: "2", name: null }];
    for (const body of bodies) assert.equal((await put("alice", lamp, body)).status, 200);
    assert.equal((await attributes(lamp)).value.value, "2");
  });

  it("and names the attribute whose value is invalid, unless the name may be a secret in the wrong place", async (t) => {
    const { put, lamp } = await lampAndAccount(t);
    const refusalOf = async (name: string) =>
      (await put("alice", lamp, JSON.stringify({ [name]: { deep: 1 } }))).body.error_description;
    const allowed = "must be a string, a number, true, false or null.";
    assert.equal(await refusalOf("power"), `The value of power ${allowed}`);
    assert.equal(await refusalOf(secret), `The value of each attribute ${allowed}`);
  });

  it("when one of its names or values can't be stored", async (t) => {
    const { put, lamp, assertRefusedWhole } = await lampAndAccount(t);
    const wrong = [
      { "": "nameless" },
      { ["n".repeat(129)]: "x" },
      { ["🏠".repeat(129)]: "x" },
      { "line\nbreak": "x" },
      { "tab\t": "x" },
      { "nul\0": "x" },
      { "\u007f": "x" },
      { "half \ud83d": "x" },
      { "\uffff": "x" },
      { level: `nul\0${secret}` },
      { level: `bell\u0007${secret}` },
      { level: "escape\u001b[31m" },
      { level: "half \ud83d" },
      { level: "halves \udc69\ud83d" },
      { level: "\ufffe" },
    ];
    for (const one of wrong) {
      const body = { colour: "blue", ...one };
      await assertRefusedWhole(lamp, () => put("alice", lamp, body), 400, "invalid_request");
    }
  });

  it("when a value or the body is too large", async (t) => {
    const { put, lamp, account, assertRefusedWhole } = await lampAndAccount(t);
    for (const level of ["x".repeat(8_193), "ü".repeat(4_097), "🏠".repeat(2_049)]) {
      await assertRefusedWhole(lamp, () => put("alice", lamp, { colour: "blue", level }), 413, "value_too_large");
    }
    const long = { [request]: "x".repeat(8_193) };
    await assertRefusedWhole(account, () => put("alice", account, long), 413, "value_too_large");
    const body = JSON.stringify({ colour: "blue" }).padEnd(65_537, " ");
    await assertRefusedWhole(lamp, () => put("alice", lamp, body), 413, "body_too_large");
  });

  it("when it isn't JSON, or doesn't say so", async (t) => {
    const { call, lamp, assertRefusedWhole } = await lampAndAccount(t);
    const send = (contentType: string, body: string | Buffer) => async () => {
      const init = { method: "PUT", headers: { "content-type": contentType }, body };
      const answer = await call("alice", `/v3/devices/${lamp}`, init);
      return { status: answer.status, headers: answer.headers, body: await answer.json() };
    };
    const json = '{"colour": "blue"}';
    const types = [
      "application/x-www-form-urlencoded",
      "text/plain",
      "text/json",
      "application/xml",
      "multipart/form-data",
    ];
    for (const type of [...types, "application/merge-patch+json", "application/jsonp"]) {
      await assertRefusedWhole(lamp, send(type, json), 415, "unsupported_media_type");
    }
    await assertRefusedWhole(lamp, send("application/json", Buffer.from([0x7b, 0xff, 0x7d])), 400, "invalid_request");
    const { status } = await send("Application/JSON; charset=utf-8", json)();
    assert.equal(status, 200);
  });

  it("when a linked account has no such attribute, which is reported before a read-only one", async (t) => {
    const { put, account, assertRefusedWhole } = await lampAndAccount(t);
    const readOnly = "d.structures[1].a.away";
    const unknown = [
      "colour",
      "d.structures[3].a.away",
      request.replace("[1].fan", "[21].fan"),
      request.toUpperCase(),
      secret,
      "__proto__",
      "",
    ];
    for (const name of unknown) {
      const body = `{"${readOnly}": "home", "${request}": "true", "${name}": "x"}`;
      await assertRefusedWhole(account, () => put("alice", account, body), 404, "unknown_attribute");
    }
    for (const name of [readOnly, "o.totalStructures", request.replace(".requestWrite", "")]) {
      const body = { [request]: "true", [name]: null };
      await assertRefusedWhole(account, () => put("alice", account, body), 403, "read_only_attribute");
    }
  });

  it("when it spells one attribute twice, or a fan request can't be stored", async (t) => {
    const { put, account, assertRefusedWhole } = await lampAndAccount(t);
    const both = { [request]: "true", [request.replace("thermostats", "thermostat")]: "true" };
    await assertRefusedWhole(account, () => put("alice", account, both), 400, "invalid_request");
    for (const value of ["x".repeat(257), "true\n", "\u0085", "a\tb", "nul\0", "\ud83d"]) {
      const body = { [request]: value };
      await assertRefusedWhole(account, () => put("alice", account, body), 400, "invalid_request");
    }
  });

  it("when it has no token, or a token in the query or the form", async (t) => {
    const { call, url, lamp, assertRefusedWhole } = await lampAndAccount(t);
    const json = { method: "PUT", headers: { "content-type": "application/json" }, body: '{"colour": "blue"}' };
    const form = new URLSearchParams({ access_token: secret, colour: "blue" });
    const answered = async (answer: Response) => ({
      status: answer.status,
      headers: answer.headers,
      body: await answer.json(),
    });
    const path = `/v3/devices/${lamp}`;
    const inQuery = `${path}?access_token=${secret}`;
    for (const token of ["alice", undefined] as const) {
      await assertRefusedWhole(lamp, async () => answered(await call(token, inQuery, json)), 400, "invalid_request");
      const inForm = { method: "PUT", body: form };
      await assertRefusedWhole(lamp, async () => answered(await call(token, path, inForm)), 400, "invalid_request");
      assertRefused(await answered(await call(token, inQuery)), 400, "invalid_request", secret);
    }
    await assertRefusedWhole(lamp, async () => answered(await fetch(`${url}${path}`, json)), 401, "missing_token");
    const nobody = { ...json, headers: { ...json.headers, authorization: `Bearer ${secret}` } };
    await assertRefusedWhole(lamp, async () => answered(await fetch(`${url}${path}`, nobody)), 401, "invalid_token");
  });

  it("when its device is removed at the same time: the device is then unknown", async (t) => {
    const { put, lamp, account, states, store, alice, devices, stored } = await lampAndAccount(t);
    const removal = removeDevice(store, states, alice, lamp);
    const write = devices.write({ kind: "user", userId: alice }, lamp, [{ name: "colour", value: "blue" }]);
    await removal;
    await assert.rejects(write, { code: "unknown_device" });
    assertRefused(await put("alice", lamp, { colour: "blue" }), 404, "unknown_device");
    assert.deepEqual((await stored(alice, lamp)).attributes, []);
    assert.ok((await stored(alice, account)).device);
  });
});
