import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import {
  alarmAttribute,
  attributeCount,
  attributeName,
  structureAttribute,
  structureSummary,
  thermostatAttribute,
  totalStructures,
} from "../../src/virtual-device/attribute-names.ts";
import { assertRefused, madeV3, noonMs } from "./made-v3.ts";

/** Alice's linked account: a structure with a thermostat and an alarm, mirrored at noon. */
async function linkedAccount(t: TestContext) {
  const made = await madeV3(t);
  const deviceId = await made.addDevice(made.alice, "EcosystemAccount", "Nest account");
  const mirror = (changes: Parameters<typeof made.mirror>[2]) => made.mirror(made.alice, deviceId, changes);
  await mirror([
    { key: totalStructures, value: "1" },
    { key: structureSummary(1, "totalThermostats"), value: "1" },
    { key: structureSummary(1, "totalAlarms"), value: "0" },
    { key: structureSummary(1, "warningsAll"), value: "false" },
    { key: structureAttribute(1, "name"), value: "Home" },
    { key: structureAttribute(1, "away"), value: "home" },
    { key: thermostatAttribute(1, 2, "deviceId"), value: "t-2" },
    { key: thermostatAttribute(1, 2, "name"), value: "7" },
    { key: thermostatAttribute(1, 2, "hasFan"), value: "true" },
    { key: alarmAttribute(1, 1, "coAlarmState"), value: "ok" },
  ]);
  const path = `/v3/devices/${deviceId}`;
  const attributes = async (query = "") => (await made.get("alice", `${path}${query}`)).body.attributes;
  return { ...made, deviceId, path, mirrorAccount: mirror, attributes };
}

const request = "d.structures[1].d.thermostats[2].fan_timer_active.requestWrite";

describe("a device", () => {
  it("that mirrors an account shows its type, its freshness, and the attributes that have a value", async (t) => {
    const { get, path, deviceId, freshness } = await linkedAccount(t);
    freshness.set(deviceId, { isPresent: false, isStale: true, confirmedTimeMs: noonMs - 5 });
    const at = (value: string | number) => ({ value, updateTime: noonMs });
    const { status, headers, body } = await get("alice", path);
    assert.equal(status, 200);
    assert.match(headers.get("content-type")!, /^application\/json/);
    assert.deepEqual(body, {
      deviceId,
      deviceName: "Nest account",
      deviceTypeName: "EcosystemAccount",
      presenceInfo: 0,
      stale: true,
      confirmedTime: noonMs - 5,
      attributes: {
        "o.totalStructures": at(1),
        "o.structures[1].totals.thermostats": at(1),
        "o.structures[1].totals.smokeCOAlarms": at(0),
        "o.structures[1].warnings.all": at("false"),
        "d.structures[1].a.name": at("Home"),
        "d.structures[1].a.away": at("home"),
        "d.structures[1].d.thermostats[2].device_id": at("t-2"),
        "d.structures[1].d.thermostats[2].name": at("7"),
        "d.structures[1].d.thermostats[2].has_fan": at("true"),
        "d.structures[1].d.smokeCoAlarms[1].co_alarm_state": at("ok"),
      },
    });
  });

  it("of any other kind is present, never stale, and has no confirmed time", async (t) => {
    const { get, put, addDevice, alice } = await madeV3(t);
    const deviceId = await addDevice(alice, "Lamp", "Küche 💡");
    await put("alice", deviceId, { colour: "red", level: 7, isOn: true });
    const at = (value: string) => ({ value, updateTime: noonMs });
    assert.deepEqual((await get("alice", `/v3/devices/${deviceId}`)).body, {
      deviceId,
      deviceName: "Küche 💡",
      deviceTypeName: "Lamp",
      presenceInfo: 1,
      stale: false,
      attributes: { colour: at("red"), level: at("7"), isOn: at("true") },
    });
  });

  it("names its user to an enterprise client, and is the same otherwise", async (t) => {
    const { get, path, alice } = await linkedAccount(t);
    for (const query of ["", "?attribute=o.totalStructures"]) {
      const own = (await get("alice", `${path}${query}`)).body;
      assert.ok(!("userId" in own));
      for (const _ of ["first", "again"]) {
        assert.deepEqual((await get("acme", `${path}${query}`)).body, { ...own, userId: alice });
      }
      assert.deepEqual((await get("alice", `${path}${query}`)).body, own);
    }
  });

  it("whose account was unlinked a moment ago is unknown", async (t) => {
    const { get, path, deviceId, freshness } = await linkedAccount(t);
    freshness.set(deviceId, undefined);
    assertRefused(await get("alice", path), 404, "unknown_device");
  });
});

describe("an attribute that is read by name", () => {
  const name = (spelling: string) => `attribute=${encodeURIComponent(spelling)}`;

  it("is in the answer under each spelling that the client used", async (t) => {
    const { attributes } = await linkedAccount(t);
    const at = (value: string | number) => ({ value, updateTime: noonMs });
    const spellings = [
      "d.structures[1].d.thermostat[2].name",
      "d.structures[1].d.thermostats[2].name",
      "d.structures[1].d.smokeCOAlarms[1].co_alarm_state",
      "o.structures[1].totals.smokeCOAlarms",
      "o.structures[1].totals.smokeCoAlarms",
    ];
    assert.deepEqual(await attributes(`?${[...spellings, spellings[0]!].map(name).join("&")}`), {
      "d.structures[1].d.thermostat[2].name": at("7"),
      "d.structures[1].d.thermostats[2].name": at("7"),
      "d.structures[1].d.smokeCOAlarms[1].co_alarm_state": at("ok"),
      "o.structures[1].totals.smokeCOAlarms": at(0),
      "o.structures[1].totals.smokeCoAlarms": at(0),
    });
  });

  it("is refused when no linked account has it, and not in the answer when it never had a value", async (t) => {
    const { attributes, get, path } = await linkedAccount(t);
    for (const unknown of ["nonsense", "d.structures[3].a.away", "D.structures[1].a.away", "__proto__", "\0", ","]) {
      for (const query of [name(unknown), `${name("d.structures[1].a.away")}&${name(unknown)}&since=0`]) {
        assertRefused(await get("alice", `${path}?${query}`), 404, "unknown_attribute");
      }
    }
    const answer = await attributes(`?attribute=&${name("d.structures[2].a.name")}&${name("d.structures[1].a.away")}`);
    assert.deepEqual(Object.keys(answer), ["d.structures[1].a.away"]);
  });

  it("may stand in a list with commas, unless the device has an attribute of that whole name", async (t) => {
    const { attributes, get, put, path, addDevice, alice } = await linkedAccount(t);
    const names = ["d.structures[1].a.away", "o.totalStructures"];
    for (const list of [names.join(","), names.join(", "), `,${names.join(",")},`]) {
      assert.deepEqual(Object.keys(await attributes(`?${name(list)}`)), names, list);
    }
    assertRefused(await get("alice", `${path}?${name("o.totalStructures,nonsense")}`), 404, "unknown_attribute");
    const lamp = await addDevice(alice);
    await put("alice", lamp, { a: 1, b: 2 });
    const ofLamp = async () => (await get("alice", `/v3/devices/${lamp}?${name("a,b,c")}`)).body.attributes;
    assert.deepEqual(Object.keys(await ofLamp()), ["a", "b"]);
    await put("alice", lamp, { "a,b,c": 3 });
    assert.deepEqual(Object.keys(await ofLamp()), ["a,b,c"]);
  });

  it("may be one of all 519 in one request", async (t) => {
    const { attributes } = await linkedAccount(t);
    const every = Array.from({ length: attributeCount }, (_, number) => name(attributeName(number)));
    assert.ok(every.join("&").length > 33_000);
    assert.equal(Object.keys(await attributes(`?${every.join("&")}`)).length, 10 + 1, "and the empty requestWrite");
  });

  it("is null, with the time of its erasure, when it was erased", async (t) => {
    const { attributes, mirrorAccount, clock, get, put, addDevice, alice } = await linkedAccount(t);
    clock.nowMs += 10;
    await mirrorAccount([{ key: structureAttribute(1, "away"), value: null }]);
    const erased = { value: null, updateTime: noonMs + 10 };
    assert.deepEqual(await attributes(`?${name("d.structures[1].a.away")}`), { "d.structures[1].a.away": erased });
    assert.ok(!("d.structures[1].a.away" in (await attributes())), "unasked, a blank one is left out");
    const lamp = await addDevice(alice);
    await put("alice", lamp, { power: "on" });
    clock.nowMs += 10;
    await put("alice", lamp, { power: null });
    const { body } = await get("alice", `/v3/devices/${lamp}?attribute=power&attribute=level`);
    assert.deepEqual(body.attributes, { power: { value: null, updateTime: noonMs + 20 } });
  });

  it("means all attributes when it is empty", async (t) => {
    const { attributes } = await linkedAccount(t);
    assert.deepEqual(await attributes("?attribute=&attribute"), await attributes());
  });

  it("is in the answer if it is a mapped thermostat's requestWrite, even when it is empty, with the time at which it became empty", async (t) => {
    const { attributes, put, deviceId, clock } = await linkedAccount(t);
    // Never written, it has been empty since the thermostat got its slot.
    const never = { [request]: { value: null, updateTime: noonMs } };
    assert.deepEqual(await attributes(`?${name(request)}`), never);
    assert.deepEqual(await attributes(`?${name(request)}&since=${noonMs - 1}`), never);
    assert.deepEqual(await attributes(`?${name(request)}&since=${noonMs}`), {});
    const other = request.replace("thermostats", "thermostat");
    assert.deepEqual(Object.keys(await attributes(`?${name(other)}`)), [other]);
    assert.ok(!(request in (await attributes())), "unasked, a blank one is left out");
    clock.nowMs += 1_000;
    await put("alice", deviceId, { [request]: "true" });
    await put("alice", deviceId, { [request]: null });
    assert.deepEqual(await attributes(`?${name(request)}`), { [request]: { value: null, updateTime: noonMs + 1_001 } });
    assert.deepEqual(await attributes(`?${name(request.replace("[2]", "[3]"))}`), {}, "no thermostat, no request");
  });

  it("is a name like any other on an ordinary device", async (t) => {
    const { get, put, addDevice, alice } = await madeV3(t);
    const deviceId = await addDevice(alice);
    await put(
      "alice",
      deviceId,
      '{"__proto__": "p", "constructor": "c", "d.structures[1].a.away": "home", "toString": 1}',
    );
    const query = ["__proto__", "d.structures[1].a.away", "hasOwnProperty", request].map(name).join("&");
    const { attributes } = (await get("alice", `/v3/devices/${deviceId}?${query}`)).body;
    const shown = Object.entries<{ value: unknown }>(attributes).map(([key, { value }]) => [key, value]);
    assert.deepEqual(shown, [
      ["__proto__", "p"],
      ["d.structures[1].a.away", "home"],
    ]);
  });
});

describe("reading since a time", () => {
  it("returns what changed strictly after it, and as null what became blank", async (t) => {
    const { attributes, mirrorAccount, clock } = await linkedAccount(t);
    clock.nowMs += 10;
    await mirrorAccount([
      { key: structureAttribute(1, "away"), value: "away" },
      { key: alarmAttribute(1, 1, "coAlarmState"), value: null },
      { key: totalStructures, value: null },
    ]);
    const updateTime = noonMs + 10;
    const changed = {
      "d.structures[1].a.away": { value: "away", updateTime },
      "d.structures[1].d.smokeCoAlarms[1].co_alarm_state": { value: null, updateTime },
      "o.totalStructures": { value: null, updateTime },
    };
    assert.deepEqual(await attributes(`?since=${noonMs}`), changed);
    assert.deepEqual(await attributes(`?since=${noonMs + 9}`), changed);
    assert.deepEqual(await attributes(`?since=${updateTime}`), {});
    assert.equal(Object.keys(await attributes("?since=0")).length, 10);
    assert.equal(Object.keys(await attributes("?since=")).length, 8, "empty is left out, and blank ones with it");
  });

  it("combines with names", async (t) => {
    const { attributes, mirrorAccount, clock } = await linkedAccount(t);
    clock.nowMs += 10;
    await mirrorAccount([{ key: structureAttribute(1, "away"), value: null }]);
    const names = ["d.structures[1].a.away", "d.structures[1].a.name", request].map((one) => `attribute=${one}`);
    const blank = { "d.structures[1].a.away": { value: null, updateTime: noonMs + 10 } };
    assert.deepEqual(await attributes(`?${names.join("&")}&since=${noonMs}`), blank);
    assert.deepEqual(await attributes(`?${names.join("&")}&since=0`), {
      ...blank,
      "d.structures[1].a.name": { value: "Home", updateTime: noonMs },
      [request]: { value: null, updateTime: noonMs },
    });
  });

  it("takes every integer from 0 to the largest of 64 bits, and none that is written otherwise", async (t) => {
    const { get, path, attributes } = await linkedAccount(t);
    for (const since of ["9007199254740991", "9007199254740993", "9223372036854775807"]) {
      assert.deepEqual(await attributes(`?since=${since}`), {}, since);
    }
    for (const since of ["0", "00", `000000000000000000000000${noonMs - 1}`]) {
      assert.equal(Object.keys(await attributes(`?since=${since}`)).length, 10, since);
    }
    const wrong = ["-1", "-0", "1.5", "1e3", "0x10", "abc", "%20", "+1", "1%20", "1,2", "NaN", "%D9%A1", "1%00"];
    for (const since of [...wrong, "9223372036854775808", "9".repeat(4_000)]) {
      assertRefused(await get("alice", `${path}?since=${since}`), 400, "invalid_request");
    }
    assertRefused(await get("alice", `${path}?since=1&since=1`), 400, "invalid_request");
    assertRefused(await get("alice", `${path}?since=1&since=`), 400, "invalid_request");
  });

  it("refuses a parameter with a misspelled name, and ignores unrelated ones", async (t) => {
    const { get, path, attributes } = await linkedAccount(t);
    for (const sent of [
      "attributes=x",
      "attribute[]=x",
      "Attribute=x",
      "atribute=x",
      "attr=x",
      "sinceMs=1",
      "snice=1",
    ]) {
      const answer = await get("alice", `${path}?${sent}`);
      assertRefused(answer, 400, "invalid_request");
      assert.match(answer.body.error_description, /almost (attribute|since)\..* attribute, since\.$/);
    }
    assertRefused(await get("alice", "/v3/devices?deviceType=Lamp"), 400, "invalid_request");
    assertRefused(await get("alice", "/v3/alerts?device_id=1"), 400, "invalid_request");
    assert.deepEqual(await attributes("?_=1&utm_source=mail&t=2"), await attributes());
  });
});
