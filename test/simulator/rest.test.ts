import assert from "node:assert/strict";
import { connect } from "node:net";
import { describe, it } from "node:test";
import { closed } from "../set-up/closed-socket.ts";
import { type AnyJson, first, simulatorWorld } from "./world.ts";

const errorPage = "https://developers.nest.com/documentation/cloud/error-messages";

describe("reading the account document", () => {
  it("accepts the path of every element", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const document = await account.document();
    const thermostat = first(document.devices.thermostats);
    const structure = first(document.structures);
    const path = `/devices/thermostats/${thermostat.device_id}`;
    assert.deepEqual((await account.get("/")).body, document);
    assert.deepEqual((await account.get(path)).body, thermostat);
    assert.equal((await account.get(`${path}/has_fan`)).body, true);
    assert.equal((await account.get(`${path}/name/`)).body, thermostat.name);
    const listed = await account.get(`/structures/${structure.structure_id}/thermostats/1`);
    assert.equal(listed.body, structure.thermostats[1]);
  });

  it("accepts a path with the suffix .json of old clients in reads, streams and writes", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const document = await account.document();
    const { device_id: id } = first(document.devices.thermostats);
    assert.deepEqual((await account.get("/.json")).body, document);
    assert.deepEqual((await account.get(`/devices/thermostats/${id}.json`)).body, document.devices.thermostats[id]);
    const stream = await account.stream(`/devices/thermostats/${id}/label.json`);
    await stream.next();
    assert.equal((await account.put(`/devices/thermostats/${id}.json`, { label: "Pianoforte" })).status, 200);
    assert.equal((await stream.next()).data.data, "Pianoforte");
    assert.equal((await account.get("/nothing.json")).status, 404);
  });

  it("reads the token from the header or from the query", async (t) => {
    const world = await simulatorWorld(t);
    const { token } = await world.account();
    assert.equal((await world.call("GET", `/metadata/client_version?auth=${token}`)).status, 200);
    assert.equal((await world.call("GET", "/metadata/client_version", undefined, token)).status, 200);
  });

  it("names the token with which it was read", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const { token: another } = (await account.control("POST", "tokens")).body;
    assert.notEqual(another, account.token);
    assert.equal((await account.get("/metadata/access_token")).body, account.token);
    assert.equal((await world.call("GET", "/metadata/access_token", undefined, another)).body, another);
    assert.equal((await world.call("GET", `/?auth=${another}`)).body.metadata.access_token, another);
  });

  it("is refused without a valid token", async (t) => {
    const { call } = await simulatorWorld(t);
    for (const token of [undefined, "c.wrong", "__proto__"]) {
      const { status, body } = await call("GET", "/", undefined, token);
      assert.equal(status, 401);
      const { instance, ...rest } = body;
      assert.deepEqual(rest, { error: "unauthorized", type: `${errorPage}#auth-error`, message: "unauthorized" });
      assert.match(instance, /^[0-9a-f]{8}-[0-9a-f-]{27}$/);
    }
  });

  it("is 404 for an unknown path", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    for (const path of ["/nothing", "/devices/thermostats/x", "/constructor", "/__proto__", "/structures/toString"]) {
      const { status, body } = await account.get(path);
      assert.equal(status, 404, path);
      assert.equal(body.message, "not found");
    }
    const structure = first(await account.document().then((document) => document.structures));
    assert.equal((await account.get(`/structures/${structure.structure_id}/thermostats/length`)).status, 404);
  });

  it("accepts no other methods than GET and PUT", async (t) => {
    const world = await simulatorWorld(t);
    const { token } = await world.account();
    for (const method of ["POST", "PATCH", "DELETE"]) {
      const { status, headers } = await world.call(method, "/", {}, token);
      assert.equal(status, 405);
      assert.equal(headers.get("allow"), "GET, PUT");
    }
  });

  it("survives any request", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    assert.equal((await account.get("/%E0%A4%A")).status, 400);
    assert.equal((await world.call("GET", "/simulator/accounts/%/document")).status, 400);
    const thermostat = first((await account.document()).devices.thermostats).device_id;
    for (const body of ["{", "", "[[", "\u0000", "NaN"]) {
      assert.equal((await account.put(`/devices/thermostats/${thermostat}`, body)).status, 400, body);
    }
    const large = await account.put(`/devices/thermostats/${thermostat}`, `"${"x".repeat(2 * 1024 * 1024)}"`);
    assert.equal(large.status, 413);
    for (const bytes of ["\u0000\u0001\r\n\r\n", "GET // HTTP/1.1\r\n\r\n", "CONNECT a HTTP/1.1\r\nHost: a\r\n\r\n"]) {
      const socket = connect(world.simulator.port, "127.0.0.1");
      socket.end(bytes);
      socket.resume();
      await closed(socket);
    }
    assert.equal((await world.call("GET", "/simulator")).body.status, "ok");
  });
});

describe("writing to the account document", () => {
  it("starts the fan for its duration, and a later put reports it", async (t) => {
    const nowMs = Date.UTC(2026, 4, 1, 12);
    const account = await (await simulatorWorld(t, { nowMs: () => nowMs, after: () => () => {} })).account();
    const { device_id: id } = first((await account.document()).devices.thermostats);
    const stream = await account.stream();
    await stream.next();
    const written = await account.put(`/devices/thermostats/${id}`, { fan_timer_active: true });
    assert.deepEqual([written.status, written.body], [200, { fan_timer_active: true }]);
    const running = (await stream.next()).data.data.devices.thermostats[id];
    assert.equal(running.fan_timer_active, true);
    assert.equal(running.fan_timer_timeout, "2026-05-01T12:15:00.000Z");
    await account.put(`/devices/thermostats/${id}/fan_timer_active`, false);
    const stopped = (await stream.next()).data.data.devices.thermostats[id];
    assert.equal(stopped.fan_timer_active, false);
    assert.equal(stopped.fan_timer_timeout, "1970-01-01T00:00:00.000Z");
  });

  it("sets a structure away and home", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const { structure_id: id } = first((await account.document()).structures);
    const stream = await account.stream(`/structures/${id}/away`);
    assert.equal((await stream.next()).data.data, "home");
    assert.deepEqual((await account.put(`/structures/${id}`, { away: "away" })).body, { away: "away" });
    assert.equal((await stream.next()).data.data, "away");
    await account.put(`/structures/${id}/away`, '"home"');
    assert.equal((await stream.next()).data.data, "home");
    assert.equal((await account.put(`/structures/${id}`, { away: "auto-away" })).status, 400);
    assert.equal((await account.put(`/structures/${id}`, { name: "x" })).body.details.fields, "name");
  });

  const refusals: {
    when: string;
    scene?: string;
    edit?: object;
    structureEdit?: object;
    write?: AnyJson;
    text: string;
    anchor?: string;
  }[] = [
    { when: "the structure is away", scene: "leave", text: "Cannot change fan_timer_active while structure is away" },
    {
      when: "the structure is auto-away",
      scene: "auto-away",
      write: { fan_timer_active: false },
      text: "Cannot change fan_timer_active while structure is away",
    },
    ...["unknown", "vacation", undefined].map((away) => ({
      when: `the structure's away is ${away}`,
      structureEdit: { away },
      text: "Cannot change fan_timer_active while structure is away",
    })),
    {
      when: "an alarm finds smoke",
      scene: "smoke",
      text: "Cannot activate fan during smoke/co safety shutoff",
      anchor: "safety-shutoff-on",
    },
    {
      when: "an alarm finds carbon monoxide",
      scene: "co-emergency",
      text: "Cannot activate fan during smoke/co safety shutoff",
      anchor: "safety-shutoff-on",
    },
    { when: "it is offline", scene: "thermostat-offline", text: "Thermostat is not online", anchor: "not-online" },
    { when: "it has no fan", edit: { has_fan: false }, text: "Thermostat does not have a fan" },
    {
      when: "another field is written",
      write: { fan_timer_active: true, humidity: 3, is_online: false },
      text: "No write permission(s) for field(s): humidity, is_online",
      anchor: "no-write-permission",
    },
    {
      when: "the value is no truth value",
      write: { fan_timer_active: "true" },
      text: "Invalid content sent",
      anchor: "invalid-content-sent",
    },
  ];
  for (const { when, scene, edit, structureEdit, write, text, anchor } of refusals) {
    it(`refuses the fan when ${when}`, async (t) => {
      const account = await (await simulatorWorld(t)).account();
      const document = await account.document();
      const { device_id: id } = first(document.devices.thermostats);
      if (scene) await account.scene(scene);
      if (edit || structureEdit) {
        Object.assign(document.devices.thermostats[id], edit);
        Object.assign(first(document.structures), structureEdit);
        await account.replace(document);
      }
      const before = await account.document();
      const { status, body } = await account.put(`/devices/thermostats/${id}`, write ?? { fan_timer_active: true });
      assert.equal(status, 400);
      assert.equal(body.message, text);
      assert.equal(body.error, text);
      assert.equal(body.type, anchor ? `${errorPage}#${anchor}` : errorPage);
      if (anchor === "no-write-permission") assert.deepEqual(body.details, { fields: "humidity, is_online" });
      assert.deepEqual(await account.document(), before);
    });
  }

  it("sets temperatures, mode, label and the fan's duration, and the values that depend on them", async (t) => {
    const nowMs = Date.UTC(2026, 4, 1, 12);
    const account = await (await simulatorWorld(t, { nowMs: () => nowMs, after: () => () => {} })).account();
    const document = await account.document();
    const { device_id: id, where_name: room } = first(document.devices.thermostats);
    Object.assign(document.devices.thermostats[id], { can_heat: true, can_cool: true, hvac_mode: "heat" });
    await account.replace(document);
    const stream = await account.stream(`/devices/thermostats/${id}`);
    await stream.next();
    const steps: [AnyJson, AnyJson][] = [
      [{ target_temperature_f: 68 }, { target_temperature_f: 68, target_temperature_c: 20 }],
      [{ target_temperature_c: 21.5 }, { target_temperature_f: 71, target_temperature_c: 21.5 }],
      [
        { hvac_mode: "heat-cool", target_temperature_low_c: 19, target_temperature_high_c: 24 },
        { hvac_mode: "heat-cool", target_temperature_low_f: 66, target_temperature_high_f: 75 },
      ],
      [{ hvac_mode: "eco" }, { hvac_mode: "eco", previous_hvac_mode: "heat-cool" }],
      [{ hvac_mode: "off" }, { hvac_mode: "off", previous_hvac_mode: "" }],
      [{ label: "Piano" }, { label: "Piano", name: `${room} (Piano)`, name_long: `${room} Thermostat (Piano)` }],
      [
        { fan_timer_duration: 60, fan_timer_active: true },
        { fan_timer_active: true, fan_timer_timeout: "2026-05-01T13:00:00.000Z" },
      ],
    ];
    for (const [write, expected] of steps) {
      const { status, body } = await account.put(`/devices/thermostats/${id}`, write);
      assert.deepEqual([status, body], [200, write]);
      const shown = (await stream.next()).data.data;
      assert.deepEqual({ ...shown, ...expected }, shown, JSON.stringify(write));
    }
  });

  it("refuses settings that the thermostat does not allow, with messages that are marked as the simulator's own", async (t) => {
    const account = await (await simulatorWorld(t, { writesPerHour: 1_000 })).account();
    const document = await account.document();
    const { device_id: id, structure_id: home } = first(document.devices.thermostats);
    const usual = { can_heat: true, can_cool: true, hvac_mode: "heat" };
    const refused: [text: RegExp, write: AnyJson, edit?: AnyJson, away?: string][] = [
      [/^Cannot set hvac_mode to cool: the thermostat cannot cool$/, { hvac_mode: "cool" }, { can_cool: false }],
      [/cannot heat$/, { hvac_mode: "heat-cool" }, { can_heat: false }],
      [/^Invalid content sent$/, { hvac_mode: "tropical" }],
      [/^target_temperature_c must be from 9 to 32$/, { target_temperature_c: 33 }],
      [/^Invalid content sent$/, { target_temperature_c: 20.3 }],
      [/not both$/, { target_temperature_c: 20, target_temperature_f: 68 }],
      [/while hvac_mode is eco$/, { target_temperature_c: 20 }, { hvac_mode: "eco" }],
      [/set high and low$/, { target_temperature_c: 20 }, { hvac_mode: "heat-cool" }],
      [/_high or _low while hvac_mode is heat$/, { target_temperature_high_c: 20 }],
      [/at least 1.5 C above/, { hvac_mode: "heat-cool", target_temperature_low_c: 20, target_temperature_high_c: 21 }],
      [/while structure is away$/, { target_temperature_c: 20 }, {}, "away"],
      [/from 20 to 22 while the thermostat is locked$/, { target_temperature_c: 24 }, { is_locked: true }],
      [/^fan_timer_duration must be one of: 15, /, { fan_timer_duration: 17 }],
      [/^Invalid content sent$/, { label: 7 }],
    ];
    for (const [text, write, edit = {}, away = "home"] of refused) {
      Object.assign(document.devices.thermostats[id], { is_locked: false, ...usual, ...edit });
      document.structures[home].away = away;
      await account.replace(document);
      const { status, body } = await account.put(`/devices/thermostats/${id}`, write);
      assert.equal(status, 400, JSON.stringify(write));
      assert.match(body.message, text);
      assert.deepEqual(body.details, { words: "the simulator's own" });
    }
    Object.assign(document.devices.thermostats[id], { ...usual, is_online: false });
    await account.replace(document);
    const offline = await account.put(`/devices/thermostats/${id}`, { target_temperature_c: 20 });
    assert.deepEqual([offline.body.message, offline.body.details], ["Thermostat is not online", undefined]);
  });

  it("lets a fan be stopped during an emergency, and started during one in another structure", async (t) => {
    const account = await (await simulatorWorld(t)).account({ structures: [{}, {}] });
    await account.scene("smoke", { structure: 1 });
    const { devices, structures } = await account.document();
    const [one, two] = Object.values<AnyJson>(structures);
    assert.equal(Object.keys(devices.thermostats).length, 4);
    const stop = await account.put(`/devices/thermostats/${one.thermostats[0]}`, { fan_timer_active: false });
    assert.equal(stop.status, 200);
    const start = await account.put(`/devices/thermostats/${two.thermostats[0]}`, { fan_timer_active: true });
    assert.equal(start.status, 200);
  });

  it("finds no thermostat under an unknown id and no permission elsewhere", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    assert.equal((await account.put("/devices/thermostats/constructor", { fan_timer_active: true })).status, 404);
    const { smoke_co_alarms: alarms } = (await account.document()).devices;
    const alarm = await account.put(`/devices/smoke_co_alarms/${first(alarms).device_id}`, { name: "x" });
    assert.match(alarm.body.message, /^No write permission/);
    assert.match((await account.put("/", {})).body.message, /^No write permission/);
  });
});
