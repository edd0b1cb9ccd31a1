import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { everything, readPermissions, visiblePart } from "../../simulator/clients/permissions.ts";
import { type AnyJson, first, simulatorWorld } from "./world.ts";

describe("a client's permissions", () => {
  it("with alarms only leave no thermostats key anywhere and no away", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account({ structures: [{}, {}] });
    const { clientId } = world.simulator.registerClient({ permissions: ["smoke-co-alarm:read"] });
    const token = world.simulator.issueToken(account.accountId, clientId);
    const { body } = await world.call("GET", "/", undefined, token);
    const text = JSON.stringify(body);
    for (const key of ["thermostats", "away", "postal_code", "eta", "rhr_enrollment", "wwn_security_state"]) {
      assert.ok(!text.includes(`"${key}":`), key);
    }
    assert.equal(Object.keys(body.devices.smoke_co_alarms).length, 4);
    assert.equal(first(body.structures).smoke_co_alarms.length, 2);
    assert.equal(first(body.structures).smoke_alarm_state, "ok");
    assert.equal(body.metadata.access_token, token);
    assert.equal((await world.call("GET", "/devices/thermostats", undefined, token)).status, 404);
    const stream = await account.stream("/", token);
    assert.deepEqual((await stream.next()).data.data, body);
    assert.equal((await account.stream("/devices/thermostats", token)).status, 404);
    await account.scene("leave");
    assert.deepEqual((await stream.next()).data.data, body);
  });

  const openings: [permissions: string[], devices: string[], structureKeys: string[]][] = [
    [[], [], []],
    [["thermostat:read"], ["thermostats"], ["thermostats"]],
    [["away:read"], [], ["away"]],
    [["away:read-write"], [], ["away"]],
    [["eta:read"], [], ["eta", "eta_begin"]],
    [["postal-code:read"], [], ["postal_code"]],
    [["security:read"], [], ["wwn_security_state"]],
    [["energy:read"], [], ["peak_period_end_time", "peak_period_start_time", "rhr_enrollment"]],
  ];
  const always = ["country_code", "name", "structure_id", "time_zone", "wheres"];
  for (const [permissions, devices, keys] of openings) {
    it(`allow with ${permissions.join(", ") || "nothing"} exactly that`, async (t) => {
      const { simulator, account } = await simulatorWorld(t).then(async (world) => ({
        ...world,
        account: await world.account(),
      }));
      const seen: AnyJson = visiblePart(readPermissions(permissions), simulator.document(account.accountId));
      assert.deepEqual(Object.keys(seen.devices), devices);
      assert.deepEqual(Object.keys(first(seen.structures)).sort(), [...always, ...keys].sort());
    });
  }

  it("show everything unchanged, and any document without an error", () => {
    const documents: AnyJson[] = [{}, { devices: 5, structures: [1] }, { structures: { a: null }, devices: { x: 1 } }];
    for (const document of documents) {
      assert.equal(visiblePart(everything, document), document);
      assert.ok(visiblePart(["away:read"], document));
    }
    assert.deepEqual(visiblePart(["away:read"], { devices: { cameras: {}, $company: {} } }), { devices: {} });
  });

  it("to write include reading", () => {
    assert.deepEqual(readPermissions(["away:read", "away:read-write", "away:read"]), ["away:read-write"]);
  });

  it("without writing refuse a write with the published message, and reveal nothing about the document", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const document = await account.document();
    const thermostat = `/devices/thermostats/${first(document.devices.thermostats).device_id}`;
    const structure = `/structures/${first(document.structures).structure_id}`;
    const tokenFor = (permissions: string[]) =>
      world.simulator.issueToken(account.accountId, world.simulator.registerClient({ permissions }).clientId);
    const readOnly = tokenFor(["thermostat:read", "away:read"]);
    const alarmsOnly = tokenFor(["smoke-co-alarm:read"]);
    for (const token of [readOnly, alarmsOnly]) {
      for (const path of [thermostat, "/devices/thermostats/unknown"]) {
        const { status, body } = await world.call("PUT", path, { fan_timer_active: true }, token);
        assert.equal(status, 400);
        assert.equal(body.message, "No write permission(s) for field(s): fan_timer_active");
        assert.match(body.type, /#no-write-permission$/);
        assert.deepEqual(body.details, { fields: "fan_timer_active" });
      }
      const away = await world.call("PUT", `${structure}/away`, '"away"', token);
      assert.equal(away.body.message, "No write permission(s) for field(s): away");
    }
    const writer = tokenFor(["thermostat:read-write"]);
    assert.equal((await world.call("PUT", thermostat, { fan_timer_active: true }, writer)).status, 200);
    assert.equal((await world.call("PUT", structure, { away: "away" }, writer)).status, 400);
  });

  it("of an account change with a cancel event only on its own streams", async (t) => {
    const world = await simulatorWorld(t);
    const [account, neighbour] = [await world.account(), await world.account()];
    const { clientId } = world.simulator.registerClient({ permissions: ["away:read"] });
    const token = world.simulator.issueToken(account.accountId, clientId);
    const neighbours = world.simulator.issueToken(neighbour.accountId, clientId);
    const changed = await account.stream("/", token);
    const others = [await account.stream(), await neighbour.stream("/", neighbours)];
    for (const stream of [changed, ...others]) await stream.next();
    const permissions = ["thermostat:read"];
    const { body } = await account.control("PUT", "permissions", { clientId, permissions });
    assert.deepEqual(body, { permissions, streams: 1 });
    assert.deepEqual(await changed.next(), { event: "cancel", data: null });
    assert.equal(await changed.over, "ended");
    const again = await account.stream("/", token);
    const { devices, structures } = (await again.next()).data.data;
    assert.deepEqual(Object.keys(devices), ["thermostats"]);
    assert.ok(!("away" in first(structures)));
    await account.scene("leave");
    await neighbour.scene("leave");
    for (const stream of others) assert.equal((await stream.next()).event, "put");
    assert.equal(world.simulator.changePermissions(account.accountId, permissions, clientId), 0, "nothing changed");
    assert.equal((await account.control("PUT", "permissions", { clientId })).status, 400);
    assert.equal((await account.control("PUT", "permissions", { clientId: "x", permissions })).status, 404);
  });

  it("stay as granted until the owner consents again", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const { clientId, clientSecret } = world.simulator.registerClient({ permissions: ["away:read"] });
    const token = world.simulator.issueToken(account.accountId, clientId);
    const change = { permissions: ["thermostat:read"] };
    assert.equal((await world.call("PUT", `/simulator/clients/${clientId}/permissions`, change)).status, 200);
    const stream = await account.stream("/", token);
    assert.deepEqual((await stream.next()).data.data.devices, {});
    const code = world.simulator.issueCode(account.accountId, clientId);
    const query = new URLSearchParams({ client_id: clientId, client_secret: clientSecret, code });
    await world.call("POST", `/oauth2/access_token?grant_type=authorization_code&${query}`);
    assert.equal((await stream.next()).event, "cancel");
    const { body } = await world.call("GET", "/devices", undefined, token);
    assert.deepEqual(Object.keys(body), ["thermostats"]);
  });
});
