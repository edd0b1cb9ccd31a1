import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type AnyJson, first, simulatorWorld } from "./world.ts";

describe("the control interface", () => {
  it("reports its state", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    await (await account.stream()).next();
    const { status, body } = await world.call("GET", "/simulator");
    assert.equal(status, 200);
    assert.deepEqual([body.status, body.accounts, body.streams], ["ok", 1, 1]);
  });

  it("gives each change a revision that is the same in document, scene, log and header", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const stream = await account.stream();
    await stream.next();
    const scene = await account.scene("leave");
    await stream.next();
    const { headers } = await account.control("GET", "document");
    const put = world.simulator.log().findLast((entry) => entry.kind === "put");
    assert.deepEqual([scene.body.revision, headers.get("x-revision"), put?.revision], [2, "2", 2]);
    assert.equal((await account.replace({})).body.revision, 3);
  });

  it("sends any object in place of the document", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const stream = await account.stream();
    await stream.next();
    const documents: AnyJson[] = [
      {},
      { devices: null, structures: [1, 2] },
      { devices: { thermostats: "none" }, metadata: 7 },
      { structures: { a: { structure_id: "b", thermostats: "x" } } },
      { devices: { thermostats: { a: null } } },
      JSON.parse('{"__proto__": {"x": 1}, "constructor": {}}'),
    ];
    for (const document of documents) {
      assert.equal((await account.replace(document)).status, 200);
      assert.deepEqual((await stream.next()).data.data, document);
      assert.deepEqual((await account.get("/")).body, document);
      assert.ok([409, 400].includes((await account.scene("leave")).status));
      assert.equal((await account.put("/devices/thermostats/a", { fan_timer_active: true })).status, 404);
    }
    for (const refused of ["[]", "7", "{", `${'{"a":'.repeat(10_000)}1${"}".repeat(10_000)}`]) {
      assert.equal((await account.replace(refused)).status, 400);
    }
    assert.equal((await world.call("GET", "/simulator/accounts")).status, 200);
  });

  it("plays scenes in a foreign document with the structure of an account", async (t) => {
    const account = await (await simulatorWorld(t)).account();
    const odd = { device_id: "t", structure_id: "s", is_online: true, has_fan: true, fan_timer_duration: "long" };
    const alarm = { device_id: "a", structure_id: "gone", odd: [] };
    const structure = { structure_id: "s", thermostats: ["t", "ghost"], wheres: 5, smoke_co_alarms: ["a"] };
    await account.replace({
      devices: { thermostats: { t: odd }, smoke_co_alarms: { a: alarm } },
      structures: { s: structure },
    });
    for (const scene of ["drift", "fan-on", "leave", "smoke", "add-thermostat", "add-alarm", "remove-structure"]) {
      assert.equal((await account.scene(scene)).status, 200, scene);
    }
    for (const scene of ["return-structure", "fill-up", "move", "clear"]) {
      assert.equal((await account.scene(scene)).status, 200, scene);
    }
    assert.equal((await account.scene("random", { steps: 500 })).status, 200);
    await account.replace({});
    assert.equal((await account.scene("random", { steps: 50 })).status, 200);
  });

  it("logs what was sent and received, in order, and never a token", async (t) => {
    const world = await simulatorWorld(t);
    const account = await world.account();
    const { structure_id: id } = first((await account.document()).structures);
    const stream = await account.stream();
    await stream.next();
    await account.scene("leave");
    await stream.next();
    await account.put(`/structures/${id}`, { away: "home" });
    await stream.next();
    await account.put(`/structures/${id}`, { name: account.token });
    await account.get(`/${account.token}?auth=${account.token}`);
    await account.get(`/${account.token.replaceAll("c", "%63")}`);
    await world.call("GET", `/structures?auth=${account.token}`);
    await world.call("DELETE", `/simulator/tokens/${account.token}`);
    await stream.next();
    const { entries, lastSequence } = (await world.call("GET", "/simulator/log")).body;
    const kinds = [
      "stream-opened",
      "put",
      "put",
      "scene",
      "command",
      "put",
      "command",
      "request",
      "request",
      "request",
    ];
    assert.deepEqual(
      entries.map((entry: AnyJson) => entry.kind),
      [...kinds, "stream-closed"],
    );
    assert.deepEqual(
      entries.map((entry: AnyJson) => entry.sequence),
      entries.map((_: AnyJson, place: number) => place + 1),
    );
    assert.ok(!JSON.stringify(entries).includes(account.token.slice(2, 20)));
    for (const entry of entries) assert.equal(entry.accountId, account.accountId);
    const later = await world.call("GET", `/simulator/log?after=${lastSequence - 1}`);
    assert.deepEqual(later.body.entries, entries.slice(-1));
    assert.equal((await world.call("GET", "/simulator/log?after=x")).status, 400);
  });

  it("removes an account with its tokens and streams, and never reuses its id", async (t) => {
    const world = await simulatorWorld(t);
    const [kept, removed] = [await world.account(), await world.account()];
    const stream = await removed.stream();
    await stream.next();
    assert.equal((await world.call("DELETE", `/simulator/accounts/${removed.accountId}`)).status, 204);
    assert.equal((await stream.next())?.event, "auth_revoked");
    assert.equal((await removed.get("/")).status, 401);
    assert.equal((await world.call("DELETE", `/simulator/accounts/${removed.accountId}`)).status, 404);
    assert.deepEqual(world.simulator.accountIds(), [kept.accountId]);
    assert.notEqual((await world.account()).accountId, removed.accountId);
  });

  it("keeps the last entries of the log only", async (t) => {
    const world = await simulatorWorld(t);
    const { accountId } = await world.account();
    for (let i = 0; i < 10_050; i++) await world.simulator.playScene(accountId, { scene: "leave" });
    const entries = world.simulator.log();
    assert.deepEqual([entries.length, entries[0]?.sequence, entries.at(-1)?.sequence], [10_000, 51, 10_050]);
  });

  it("answers unknown paths with a message", async (t) => {
    const { call } = await simulatorWorld(t);
    const calls: [string, string, number][] = [
      ["GET", "/simulator/nothing", 404],
      ["POST", "/simulator/accounts/x/y/z", 404],
      ["GET", "/simulator/accounts/nobody/document", 404],
      ["POST", "/simulator/accounts/__proto__/scene", 404],
      ["DELETE", "/simulator/log", 405],
      ["DELETE", "/simulator/tokens/c.none", 404],
    ];
    for (const [method, path, expected] of calls) {
      const { status, body } = await call(method, path);
      assert.equal(status, expected, path);
      assert.deepEqual(Object.keys(body), ["error", "message"]);
      assert.match(body.message, /^[A-Z].*\.$/);
    }
  });
});
