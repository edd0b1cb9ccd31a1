import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AnyJson, first, simulatorWorld } from "./world.ts";

describe("a scene", () => {
  it("reports what it changed and changes nothing else", async (t) => {
    const account = await (await simulatorWorld(t)).account({ structures: [{}, {}] });
    const before = await account.document();
    const [, second] = Object.keys(before.structures);
    const { status, body } = await account.scene("leave", { structure: 2 });
    assert.equal(status, 200);
    assert.deepEqual(body, { applied: true, scene: "leave", revision: 2, structure: second, away: "away" });
    before.structures[second!].away = "away";
    assert.deepEqual(await account.document(), before);
  });

  for (const [scene, away] of Object.entries({ leave: "away", "auto-away": "auto-away", "come-home": "home" })) {
    it(`${scene} sets away to ${away}`, async (t) => {
      const account = await (await simulatorWorld(t)).account();
      await account.scene(away === "home" ? "leave" : "come-home");
      await account.scene(scene);
      assert.equal(first((await account.document()).structures).away, away);
    });
  }

  const alarms = {
    smoke: ["smoke_alarm_state", "emergency", "red"],
    "smoke-warning": ["smoke_alarm_state", "warning", "yellow"],
    "co-emergency": ["co_alarm_state", "emergency", "red"],
    "co-warning": ["co_alarm_state", "warning", "yellow"],
  } as const;
  for (const [scene, [field, state, color]] of Object.entries(alarms)) {
    it(`${scene} raises one alarm, its colour and its structure until it is cleared`, async (t) => {
      const account = await (await simulatorWorld(t)).account({ structures: [{}, {}] });
      const { body } = await account.scene(scene, { structure: 2, alarm: 2 });
      const { devices, structures } = await account.document();
      const [quiet, loud] = Object.values<AnyJson>(structures);
      assert.equal(body.alarm, loud.smoke_co_alarms[1]);
      assert.equal(devices.smoke_co_alarms[body.alarm][field], state);
      assert.equal(devices.smoke_co_alarms[body.alarm].ui_color_state, color);
      assert.equal(loud[field], state);
      assert.equal(quiet[field], "ok");
      await account.scene("clear");
      const cleared = await account.document();
      assert.equal(cleared.devices.smoke_co_alarms[body.alarm].ui_color_state, "green");
      assert.equal(cleared.structures[loud.structure_id][field], "ok");
    });
  }

  it("takes devices offline and brings them back", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const { body: thermostat } = await account.scene("thermostat-offline", { thermostat: 2 });
    const { body: alarm } = await account.scene("alarm-offline");
    const { devices } = await account.document();
    assert.equal(devices.thermostats[thermostat.thermostat].is_online, false);
    assert.equal(devices.smoke_co_alarms[alarm.alarm].ui_color_state, "gray");
    await account.scene("thermostat-online", { thermostat: thermostat.thermostat });
    await account.scene("alarm-online", { alarm: alarm.alarm });
    const back = await account.document();
    assert.equal(back.devices.thermostats[thermostat.thermostat].is_online, true);
    assert.equal(back.devices.smoke_co_alarms[alarm.alarm].ui_color_state, "green");
  });

  it("removes a device and returns it as it was", async (t) => {
    const account = await (await simulatorWorld(t)).account({ structures: [{ thermostats: 1, alarms: 1 }] });
    const before = await account.document();
    await account.scene("remove-thermostat");
    await account.scene("remove-alarm");
    const removed = await account.document();
    assert.deepEqual(removed.devices, {});
    assert.ok(!("thermostats" in first(removed.structures)) && !("smoke_co_alarms" in first(removed.structures)));
    await account.scene("return");
    await account.scene("return");
    assert.deepEqual(await account.document(), before);
    assert.equal((await account.scene("return")).status, 409);
  });

  it("removes a structure with its devices and returns both", async (t) => {
    const account = await (await simulatorWorld(t)).account({ structures: [{}, { thermostats: 1, alarms: 3 }] });
    const before = await account.document();
    await account.scene("remove-structure", { structure: 2 });
    const removed = await account.document();
    assert.equal(Object.keys(removed.structures).length, 1);
    assert.equal(Object.keys(removed.devices.smoke_co_alarms).length, 2);
    await account.scene("return-structure");
    assert.deepEqual(await account.document(), before);
    assert.equal((await account.scene("return-structure")).status, 409);
  });

  it("returns a device to the first structure when its own is gone", async (t) => {
    const account = await (await simulatorWorld(t)).account({ structures: [{}, {}] });
    const { body } = await account.scene("remove-alarm", { structure: 2 });
    await account.scene("remove-structure", { structure: 2 });
    await account.scene("return");
    const { devices, structures } = await account.document();
    assert.equal(devices.smoke_co_alarms[body.alarm].structure_id, first(structures).structure_id);
    assert.ok(first(structures).smoke_co_alarms.includes(body.alarm));
  });

  it("moves an alarm, and its emergency with it", async (t) => {
    const account = await (await simulatorWorld(t)).account({ structures: [{}, {}] });
    const { body } = await account.scene("smoke");
    await account.scene("move", { alarm: body.alarm });
    const { devices, structures } = await account.document();
    const [from, to] = Object.values<AnyJson>(structures);
    assert.deepEqual([from.smoke_alarm_state, to.smoke_alarm_state], ["ok", "emergency"]);
    assert.equal(devices.smoke_co_alarms[body.alarm].structure_id, to.structure_id);
    assert.ok(devices.smoke_co_alarms[body.alarm].where_id in to.wheres);
  });

  it("fills the account up to two structures with 20 thermostats and 18 alarms each", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    await account.scene("fill-up");
    const { structures, devices } = await account.document();
    assert.equal(Object.keys(structures).length, 2);
    for (const structure of Object.values<AnyJson>(structures)) {
      assert.deepEqual([structure.thermostats.length, structure.smoke_co_alarms.length], [20, 18]);
    }
    assert.equal(Object.keys(devices.thermostats).length, 40);
  });

  it("renames and adds", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    await account.scene("rename", { name: "Villa" });
    await account.scene("rename", { name: "Cellar", alarm: 2 });
    const { body: added } = await account.scene("add-thermostat");
    await account.scene("add-alarm");
    await account.scene("add-structure", { name: "Barn", thermostats: 0, alarms: 2 });
    const { structures, devices } = await account.document();
    const [villa, barn] = Object.values<AnyJson>(structures);
    assert.deepEqual([villa.name, barn.name, barn.smoke_co_alarms.length], ["Villa", "Barn", 2]);
    assert.deepEqual([villa.thermostats[2], villa.smoke_co_alarms.length], [added.thermostat, 3]);
    assert.equal(devices.smoke_co_alarms[villa.smoke_co_alarms[1]].name, "Cellar");
  });

  it("plays random steps as one put, or separately as one put each", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const together = await account.scene("random", { steps: 50 });
    assert.deepEqual([together.body.revision, together.body.changes.length], [2, 50]);
    const stream = await account.stream();
    await stream.next();
    const separate = await account.scene("random", { steps: 150, separately: true });
    assert.deepEqual([separate.body.revision, separate.body.changes.length], [152, 100]);
    for (let i = 0; i < 150; i++) assert.equal((await stream.next()).event, "put");
  });

  it("is listed with its meaning and its arguments", async (t) => {
    const { call } = await simulatorWorld(t);
    const { scenes } = (await call("GET", "/simulator/scenes")).body;
    const names = scenes.map((scene: AnyJson) => scene.name);
    for (const name of ["leave", "smoke", "clear", "return-structure", "fill-up", "random"])
      assert.ok(names.includes(name));
    for (const scene of scenes) assert.match(scene.meaning, /^[A-Z].*\.$/);
    assert.ok("steps" in scenes.find((scene: AnyJson) => scene.name === "random").arguments);
  });

  it("is refused when its name or an argument is wrong, and then changes nothing", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const before = await account.document();
    const unknown = await account.scene("earthquake");
    assert.deepEqual([unknown.status, unknown.body.error], [404, "unknown_scene"]);
    assert.match(unknown.body.message, /leave, come-home/);
    const wrong: [string, object][] = [
      ["leave", { structure: 0 }],
      ["leave", { structure: 2 }],
      ["leave", { structure: "constructor" }],
      ["leave", { structure: null }],
      ["leave", { place: 1 }],
      ["smoke", { alarm: 1.5 }],
      ["smoke", { alarm: {} }],
      ["rename", {}],
      ["rename", { name: 5 }],
      ["random", { steps: 0 }],
      ["random", { steps: "many", separately: true }],
      ["random", { separately: "yes" }],
      ["add-structure", { alarms: 1e6 }],
    ];
    for (const [scene, args] of wrong) {
      const { status, body } = await account.scene(scene, args);
      assert.deepEqual([status, body.error], [400, "bad_argument"], `${scene} ${JSON.stringify(args)}`);
    }
    for (const body of [[], "x", { scene: 7 }, {}]) {
      assert.equal((await account.control("POST", "scene", JSON.stringify(body))).status, 400);
    }
    assert.equal((await account.scene("move")).status, 409);
    assert.deepEqual(await account.document(), before);
  });

  it("leaves an account at three structures: a fourth is impossible", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account({ structures: [{}, {}] });
    await account.scene("remove-structure", { structure: 2 });
    assert.equal((await account.scene("add-structure")).status, 200);
    assert.equal((await account.scene("add-structure")).status, 200);
    for (const scene of ["add-structure", "return-structure"]) {
      const { status, body } = await account.scene(scene);
      assert.deepEqual([status, body.error], [409, "impossible"], scene);
    }
    const { status } = await world.call("POST", "/simulator/accounts", { structures: [{}, {}, {}, {}] });
    assert.equal(status, 409);
    assert.equal((await account.scene("fill-up")).status, 200);
  });
});
