import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { UserId } from "../../src/model/ids.ts";
import { reportOf } from "../alerts/made-thing-alerts.ts";
import { type AlarmFields, alarmThing } from "../home/home-parts.ts";
import { type Answered, assertRefused, madeV3, type Token } from "./made-v3.ts";

/** Linked accounts of Alice and Bob with a smoke alarm each, a lamp of Alice, and calls in JSON. */
async function house(t: TestContext) {
  const made = await madeV3(t);
  const show = (userId: UserId, deviceId: number, thingId: string, fields: Partial<AlarmFields> = {}) =>
    made.commit({
      userId,
      cause: { by: "ecosystem" },
      updates: [{ deviceId: deviceId as never, changes: [], things: [reportOf(thingId, alarmThing(fields))] }],
    });
  const account = await made.addDevice(made.alice, "EcosystemAccount");
  const lamp = await made.addDevice(made.alice);
  await show(made.alice, account, "t_alice");
  await show(made.bob, await made.addDevice(made.bob, "EcosystemAccount"), "t_bob");
  const send = async (token: Token, method: string, path: string, body?: unknown): Promise<Answered> => {
    const json = { headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const response = await made.call(token, path, { method, ...(body !== undefined && json) });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const definition = {
    thingId: "t_alice",
    field: "smoke.state",
    operation: "equals",
    stringThreshold: "alarm",
    action: "attribute",
    targets: [{ deviceId: lamp, attrName: "power", value: "on" }],
    autoDisarm: true,
  };
  const onAttribute = { deviceId: lamp, attrName: "power", operation: "equals", stringThreshold: "on", action: "note" };
  const create = (change: object = {}, token: Token = "alice") =>
    send(token, "POST", "/v3/alerts", { ...definition, ...change });
  const listed = async (query = "", token: Token = "alice") => {
    const { status, body } = await send(token, "GET", `/v3/alerts${query}`);
    assert.equal(status, 200, JSON.stringify(body));
    return body.alerts.map(({ alertId }: { alertId: number }) => alertId);
  };
  return { ...made, account, lamp, send, definition, onAttribute, create, listed, show };
}

describe("/v3/alerts on things", () => {
  it("names the action of an alert with commands alone `command`, also in a change and a dry run", async (t) => {
    const { create, send, definition, onAttribute } = await house(t);
    const commands = [{ kind: "thermostat", trait: "fanTimer", command: "start", params: { minutes: 15 } }];
    const withoutActs = { targets: undefined, action: undefined };
    const made = await create({ ...withoutActs, commands });
    assert.deepEqual([made.status, made.body.action, made.body.commands], [201, "command", commands]);
    const { action, ...rule } = onAttribute;
    assert.deepEqual((await send("alice", "POST", "/v3/alerts", { ...rule, commands })).body.action, "command");
    const path = `/v3/alerts/${made.body.alertId}`;
    const named = await send("alice", "PUT", path, { ...definition, action, targets: [], commands });
    assert.equal(named.body.action, action);
    const unnamed = await send("alice", "PUT", path, { ...definition, ...withoutActs, commands });
    assert.equal(unnamed.body.action, "command");
    const dryRun = { ...definition, ...withoutActs, commands };
    assert.equal((await send("alice", "POST", "/v3/alerts/dry-run", dryRun)).status, 200);
    for (const refused of [{}, { commands: [] }, { targets: definition.targets, commands }]) {
      const answer = await create({ ...withoutActs, ...refused });
      assertRefused(answer, 400, "invalid_request");
      assert.match(answer.body.error_description, /action/);
    }
  });

  it("creates an alert on a thing and shows it, alone and in lists that ask for things", async (t) => {
    const { create, send, definition, onAttribute, account, lamp, clock, listed } = await house(t);
    const made = await create({ msg: "m" });
    assert.deepEqual(
      [made.status, made.body],
      [
        201,
        {
          alertId: made.body.alertId,
          deviceId: account,
          ...definition,
          address: "",
          msg: "m",
          autoDelete: false,
          autoDisable: false,
          enable: true,
          disarmed: false,
          disabledReason: null,
          createdTime: clock.nowMs,
          firedTime: null,
          firings: 0,
        },
      ],
    );
    const { alertId } = made.body;
    assert.deepEqual((await send("alice", "GET", `/v3/alerts/${alertId}`)).body, made.body);
    assert.deepEqual((await send("acme", "GET", `/v3/alerts/${alertId}`)).body, made.body);
    const other = (await send("alice", "POST", "/v3/alerts", onAttribute)).body.alertId;
    assert.deepEqual(await listed(), [other]);
    assert.deepEqual(await listed(`?deviceId=${account}`), []);
    assert.deepEqual(await listed("?things=false"), [other]);
    assert.deepEqual(await listed("?things=true"), [alertId, other]);
    assert.deepEqual(await listed("?things=true&thingId=t_alice"), [alertId]);
    assert.deepEqual(await listed(`?things=true&deviceId=${account}`), [alertId]);
    assert.deepEqual(await listed(`?things=true&deviceId=${lamp}`, "acme"), [other]);
    assert.deepEqual(await listed("?things=true&thingId=t_alice", "acme"), [alertId]);
    assert.deepEqual(await listed("?things=true", "bob"), []);
  });

  it("pages over alerts of both kinds", async (t) => {
    const { create, send, onAttribute, listed } = await house(t);
    const ids: number[] = [];
    for (let i = 0; i < 102; i++) {
      const added = i % 3 === 0 ? await send("alice", "POST", "/v3/alerts", onAttribute) : await create();
      ids.push(added.body.alertId);
    }
    const { body } = await send("alice", "GET", "/v3/alerts?things=true");
    const first = body.alerts.map(({ alertId }: { alertId: number }) => alertId);
    assert.deepEqual(first, ids.slice(0, 100));
    assert.deepEqual(await listed(`?things=true&cursor=${body.cursor}`), ids.slice(100));
  });

  it("fires, explains itself and says when it would have fired", async (t) => {
    const { create, send, definition, show, alice, account, stored, lamp } = await house(t);
    const { alertId } = (await create()).body;
    const explained = async () => (await send("alice", "GET", `/v3/alerts/${alertId}/explain`)).body;
    const before = await explained();
    assert.deepEqual([before.value, before.conditionIsTrue, before.evaluations], ["clear", false, []]);
    await show(alice, account, "t_alice", { smokeAlarmState: "emergency" });
    const { attributes } = await stored(alice, lamp);
    assert.deepEqual(
      attributes.map(({ key, value }) => [key, value]),
      [["power", "on"]],
    );
    const after = await explained();
    const { firedTime } = after.alert;
    assert.deepEqual([after.value, after.conditionIsTrue, after.alert.firings], ["alarm", true, 1]);
    assert.deepEqual(after.evaluations, [{ time: firedTime, value: "alarm", outcome: "fired" }]);
    const tried = await send("alice", "POST", "/v3/alerts/dry-run", definition);
    assert.deepEqual([tried.status, tried.body], [200, { events: 2, firings: [{ time: firedTime, value: "alarm" }] }]);
    const later = await send("alice", "POST", "/v3/alerts/dry-run", { ...definition, from: firedTime });
    assert.deepEqual(later.body, { events: 0, firings: [] });
  });

  it("replaces a definition, refuses to move the alert to another thing, and removes it", async (t) => {
    const { create, send, definition, onAttribute, show, alice, account } = await house(t);
    await show(alice, account, "t_second");
    const { alertId } = (await create()).body;
    const path = `/v3/alerts/${alertId}`;
    const next = { ...definition, field: "smoke.word", stringThreshold: "emergency", enable: false };
    const changed = await send("alice", "PUT", path, next);
    assert.deepEqual([changed.status, changed.body.field, changed.body.enable], [200, "smoke.word", false]);
    assert.deepEqual((await send("alice", "GET", path)).body, changed.body);
    for (const moved of [{ ...definition, thingId: "t_second" }, onAttribute]) {
      assertRefused(await send("alice", "PUT", path, moved), 400, "invalid_request");
    }
    const other = (await send("alice", "POST", "/v3/alerts", onAttribute)).body.alertId;
    assertRefused(await send("alice", "PUT", `/v3/alerts/${other}`, definition), 400, "invalid_request");
    assert.deepEqual((await send("alice", "DELETE", path)).body, { status: "OK" });
    for (const [method, body] of [["GET"], ["DELETE"], ["PUT", definition]] as const) {
      assertRefused(await send("alice", method, path, body), 404, "unknown_trigger");
    }
  });

  it("refuses a mistake with a sentence, and creates nothing", async (t) => {
    const { create, send, lamp, listed } = await house(t);
    const refused: readonly (readonly [status: number, code: string, change: object])[] = [
      [404, "unknown_thing", { thingId: "t_bob" }],
      [404, "unknown_thing", { thingId: "t_nobody" }],
      [404, "unknown_thing", { thingId: "" }],
      [404, "unknown_thing", { thingId: "t_\u0000" }],
      [400, "invalid_request", { thingId: 7 }],
      [400, "invalid_request", { thingId: null }],
      [400, "invalid_request", { thingId: undefined }],
      [400, "invalid_request", { field: undefined }],
      [400, "invalid_request", { field: 7 }],
      [400, "invalid_request", { field: "smoke" }],
      [400, "invalid_request", { field: "smoke.colour" }],
      [400, "invalid_request", { field: "thermostat.mode" }],
      [400, "invalid_request", { stringThreshold: "emergency" }],
      [400, "invalid_request", { operation: ">", threshold: 3 }],
      [400, "invalid_request", { operation: "regex", stringThreshold: "(" }],
      [400, "invalid_request", { deviceId: lamp }],
      [400, "invalid_request", { attrName: "power" }],
      [400, "invalid_request", { action: "" }],
    ];
    for (const [status, code, change] of refused) assertRefused(await create(change), status, code);
    assertRefused(await send("alice", "GET", "/v3/alerts?thingId=t_alice"), 400, "invalid_request");
    assertRefused(await send("alice", "GET", "/v3/alerts?things=yes"), 400, "invalid_request");
    assertRefused(await send("alice", "GET", "/v3/alerts?things=true&thingId=t_bob"), 404, "unknown_thing");
    assertRefused(await send("acme", "GET", "/v3/alerts?things=true"), 400, "invalid_request");
    assert.deepEqual(await listed("?things=true"), []);
  });

  it("treats alerts and things of others like unknown ones", async (t) => {
    const { create, send, definition, listed } = await house(t);
    const { alertId } = (await create()).body;
    for (const token of ["bob", "carol", "other"] as const) {
      assertRefused(await create({}, token), 404, "unknown_thing");
      assertRefused(await send(token, "POST", "/v3/alerts/dry-run", definition), 404, "unknown_thing");
      assertRefused(await send(token, "GET", "/v3/alerts?things=true&thingId=t_alice"), 404, "unknown_thing");
      for (const [method, path, body] of [
        ["GET", ""],
        ["GET", "/explain"],
        ["DELETE", ""],
        ["PUT", "", definition],
      ] as const) {
        assertRefused(await send(token, method, `/v3/alerts/${alertId}${path}`, body), 404, "unknown_trigger");
      }
    }
    assert.deepEqual(await listed("?things=true"), [alertId]);
  });
});
