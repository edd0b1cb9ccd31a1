import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { attributeEntry } from "../../src/devices/log-entries.ts";
import { structureAttribute } from "../../src/virtual-device/attribute-names.ts";
import { type Answered, assertRefused, madeV3, type Token } from "./made-v3.ts";

const awayName = "d.structures[1].a.away";
const away = structureAttribute(1, "away");

/** Alice's linked account and lamp, and calls in JSON. */
async function house(t: TestContext) {
  const made = await madeV3(t);
  const account = await made.addDevice(made.alice, "EcosystemAccount");
  const lamp = await made.addDevice(made.alice);
  const send = async (token: Token, method: string, path: string, body?: unknown): Promise<Answered> => {
    const response = await made.call(token, path, {
      method,
      ...(body !== undefined && {
        headers: { "content-type": "application/json" },
        body: typeof body === "string" ? body : JSON.stringify(body),
      }),
    });
    return { status: response.status, headers: response.headers, body: await response.json() };
  };
  const definition = {
    deviceId: account,
    attrName: awayName,
    operation: "regex",
    stringThreshold: "away|auto-away",
    action: "attribute",
    targets: [{ deviceId: lamp, attrName: "power", value: "off" }],
    autoDisarm: true,
  };
  const create = async (change: object = {}, token: Token = "alice") =>
    send(token, "POST", "/v3/alerts", { ...definition, ...change });
  const show = (value: string | null) => made.mirror(made.alice, account, [{ key: away, value }]);
  return { ...made, account, lamp, send, definition, create, show };
}

describe("/v3/alerts", () => {
  it("creates an alert and shows it, alone and in lists", async (t) => {
    const { create, send, definition, account, lamp, clock } = await house(t);
    const made = await create({ address: "a", msg: "m" });
    assert.equal(made.status, 201);
    assert.deepEqual(made.body, {
      alertId: made.body.alertId,
      ...definition,
      address: "a",
      msg: "m",
      autoDelete: false,
      autoDisable: false,
      enable: true,
      disarmed: false,
      disabledReason: null,
      createdTime: clock.nowMs,
      firedTime: null,
      firings: 0,
    });
    assert.deepEqual((await send("alice", "GET", `/v3/alerts/${made.body.alertId}`)).body, made.body);
    const numeric = await create({ operation: ">=", threshold: 2, attrName: "o.totalStructures" });
    assert.deepEqual([numeric.body.threshold, "stringThreshold" in numeric.body], [2, false]);
    const alerts = [made.body, numeric.body];
    assert.deepEqual((await send("alice", "GET", "/v3/alerts")).body, { alerts });
    assert.deepEqual((await send("acme", "GET", `/v3/alerts?deviceId=${account}`)).body, { alerts });
    assert.deepEqual((await send("alice", "GET", `/v3/alerts?deviceId=${lamp}`)).body, { alerts: [] });
    assert.deepEqual((await send("bob", "GET", "/v3/alerts")).body, { alerts: [] });
    assertRefused(await send("acme", "GET", "/v3/alerts"), 400, "invalid_request");
  });

  it("changes a whole definition, and removes it", async (t) => {
    const { create, send, definition, lamp } = await house(t);
    const { alertId } = (await create()).body;
    const targets = [{ deviceId: lamp, attrName: "power", value: null }];
    const changed = await send("alice", "PUT", `/v3/alerts/${alertId}`, { ...definition, targets, enable: false });
    assert.deepEqual([changed.status, changed.body.targets, changed.body.enable], [200, targets, false]);
    assert.deepEqual((await send("alice", "GET", `/v3/alerts/${alertId}`)).body, changed.body);
    const moved = { ...definition, deviceId: lamp, attrName: "power" };
    assertRefused(await send("alice", "PUT", `/v3/alerts/${alertId}`, moved), 400, "invalid_request");
    assert.deepEqual((await send("alice", "DELETE", `/v3/alerts/${alertId}`)).body, { status: "OK" });
    for (const [method, body] of [["GET"], ["DELETE"], ["PUT", definition]] as const) {
      assertRefused(await send("alice", method, `/v3/alerts/${alertId}`, body), 404, "unknown_trigger");
    }
    assert.ok((await create()).body.alertId > alertId);
  });

  it("refuses an invalid alert with a sentence, and creates nothing", async (t) => {
    const { create, send, lamp, account, addDevice, bob } = await house(t);
    const foreign = await addDevice(bob);
    const to = (attrName: unknown, value: unknown = "x", deviceId: unknown = lamp) => ({
      targets: [{ deviceId, attrName, value }],
    });
    const refused: readonly (readonly [status: number, code: string, change: object])[] = [
      [400, "invalid_request", { deviceId: "1" }],
      [404, "unknown_device", { deviceId: 0 }],
      [404, "unknown_device", { deviceId: 2 ** 40 }],
      [404, "unknown_device", { deviceId: 1.5 }],
      [404, "unknown_device", { deviceId: foreign }],
      [404, "unknown_attribute", { attrName: "power" }],
      [404, "unknown_attribute", { attrName: "" }],
      [400, "invalid_request", { attrName: 7 }],
      [400, "invalid_request", { operation: "matches" }],
      [400, "invalid_request", { stringThreshold: "(" }],
      [400, "invalid_request", { operation: "<", threshold: "7" }],
      [400, "invalid_request", { autoDisarm: 1 }],
      [400, "invalid_request", { action: "" }],
      [400, "invalid_request", { msg: "\ud800" }],
      [400, "invalid_request", { msg: "\u0000" }],
      [400, "invalid_request", { colour: "red" }],
      [400, "invalid_request", { targets: [] }],
      [400, "invalid_request", { targets: {} }],
      [400, "invalid_request", { targets: ["x"] }],
      [400, "invalid_request", { targets: [{ deviceId: lamp, attrName: "power" }] }],
      [400, "invalid_request", to("power", {})],
      [400, "invalid_request", to("po\u0007wer")],
      [404, "unknown_device", to("power", "x", foreign)],
      [403, "read_only_attribute", to(awayName, "x", account)],
      [404, "unknown_attribute", to("power", "x", account)],
      [413, "value_too_large", to("power", "x".repeat(8_193))],
    ];
    for (const [status, code, change] of refused) assertRefused(await create(change), status, code);
    for (const body of ["[]", '"x"', "null"]) {
      assertRefused(await send("alice", "POST", "/v3/alerts", body), 400, "invalid_request");
    }
    assert.deepEqual((await send("alice", "GET", "/v3/alerts")).body, { alerts: [] });
  });

  it("hides alerts of others: reading, changing, explaining and removing them answer as if they did not exist", async (t) => {
    const { create, call, definition, send } = await house(t);
    const { alertId } = (await create()).body;
    const body = JSON.stringify(definition);
    const put = { method: "PUT", headers: { "content-type": "application/json" }, body };
    const seen = new Set<string>();
    for (const token of ["bob", "carol", "other"] as const) {
      for (const id of [alertId, 999_999, 0, "x", "99999999999"]) {
        for (const [path, init] of [[""], ["/explain"], ["", { method: "DELETE" }], ["", put]] as const) {
          const answer = await call(token, `/v3/alerts/${id}${path}`, init);
          const text = (await answer.text()).replace(answer.headers.get("x-request-id")!, "…");
          seen.add(`${answer.status} ${text}`);
        }
      }
    }
    assert.deepEqual(
      [...seen],
      ['404 {"error":"unknown_trigger","error_description":"Trigger does not exist.","request_id":"…"}'],
    );
    const foreign = new Set<string>();
    for (const token of ["bob", "carol", "other"] as const) {
      for (const path of ["/v3/alerts", "/v3/alerts/dry-run"]) {
        const { status, body } = await send(token, "POST", path, definition);
        foreign.add(`${status} ${body.error}`);
      }
    }
    assert.deepEqual([...foreign], ["404 unknown_device"]);
    assert.equal((await send("acme", "GET", `/v3/alerts/${alertId}`)).status, 200);
    assert.equal((await send("alice", "GET", `/v3/alerts/${alertId}`)).body.enable, true);
  });
});

describe("the explanation of an alert", () => {
  it("shows its state and the events that it evaluated, newest first", async (t) => {
    const { create, send, show, definition } = await house(t);
    const { alertId } = (await create()).body;
    const explain = async () => (await send("alice", "GET", `/v3/alerts/${alertId}/explain`)).body;
    const before = await explain();
    assert.deepEqual(
      [before.value, before.conditionIsTrue, before.explanation, before.evaluations],
      [null, false, "It is armed, and fires when its condition becomes true.", []],
    );
    for (const value of ["home", "away", "auto-away"]) await show(value);
    const fired = await explain();
    assert.match(fired.explanation, /^It fired at 2026-01-01T12:00:00\.\d{3}Z and is disarmed until /);
    assert.deepEqual(
      fired.evaluations.map(({ value, outcome }: { value: string; outcome: string }) => `${value} ${outcome}`),
      ["auto-away ignored", "away fired", "home unmet"],
    );
    assert.deepEqual([fired.alert.disarmed, fired.alert.firings, fired.conditionIsTrue], [true, 1, true]);
    await send("alice", "PUT", `/v3/alerts/${alertId}`, { ...definition, enable: false });
    assert.equal((await explain()).explanation, "It is disabled.");
  });
});

describe("a list of alerts", () => {
  it("comes in pages of 100, of a user and of a device, without a gap and without a repetition", async (t) => {
    const { create, send, lamp } = await house(t);
    const button = { deviceId: lamp, attrName: "button", operation: "equals", stringThreshold: "on", targets: [] };
    const made: number[] = [];
    for (let i = 0; i < 205; i++) {
      const onLamp = i % 41 === 0 ? { ...button, action: "note" } : {};
      made.push((await create(onLamp)).body.alertId);
    }
    const pagesOf = async (query: string) => {
      const pages: number[][] = [];
      for (let cursor = ""; ; ) {
        const { status, body } = await send("alice", "GET", `/v3/alerts?${query}${cursor}`);
        assert.equal(status, 200, JSON.stringify(body));
        pages.push(body.alerts.map(({ alertId }: { alertId: number }) => alertId));
        if (body.cursor === undefined) return pages;
        cursor = `&cursor=${body.cursor}`;
      }
    };
    const whole = await pagesOf("");
    assert.deepEqual(
      whole.map(({ length }) => length),
      [100, 100, 5],
    );
    assert.deepEqual(whole.flat(), made);
    assert.deepEqual(await pagesOf(`deviceId=${lamp}`), [made.filter((_, i) => i % 41 === 0)]);
    for (const cursor of ["-1", "zzzzzz", "zzzzzzz", "0", "a b", "1&cursor=2"]) {
      assertRefused(await send("alice", "GET", `/v3/alerts?cursor=${cursor}`), 400, "invalid_request");
    }
  });
});

describe("a dry run", () => {
  it("reads a long period page by page, and nothing outside of it", async (t) => {
    const { send, definition, store, alice, account } = await house(t);
    const presences = Array.from({ length: 1_203 }, (_, i) => (i % 2 === 0 ? "away" : "home"));
    await store.transaction(async (tx) => {
      for (const [i, value] of presences.entries()) {
        await tx.log.append(attributeEntry(alice, account, i + 1, { by: "ecosystem" }, [{ key: away, value }]));
      }
    });
    const run = async (stretch: object) =>
      (await send("alice", "POST", "/v3/alerts/dry-run", { ...definition, ...stretch })).body;
    const all = await run({});
    assert.deepEqual([all.events, all.firings.length, all.firings.at(-1).time], [1_203, 602, 1_203]);
    const some = await run({ from: 500, to: 1_001 });
    assert.deepEqual([some.events, some.firings[0].time, some.firings.at(-1).time], [501, 501, 1_001]);
  });

  it("shows exactly the firings of a live alert, for every kind of alert and any period", async (t) => {
    const { create, send, show, definition, account, store, alice, lamp, put } = await house(t);
    const kinds: object[] = [];
    for (const condition of [
      { operation: "regex", stringThreshold: "away|auto-away" },
      { operation: "regex", stringThreshold: ".*" },
      { operation: "equals", stringThreshold: "home" },
    ]) {
      for (const flags of [{}, { autoDisarm: true }, { autoDisable: true }, { autoDelete: true, autoDisarm: true }]) {
        kinds.push({ ...condition, autoDisarm: false, ...flags, action: "note", targets: [] });
      }
    }
    const values = ["home", "away", "auto-away", null, "home", "unknown", "away", "away", "home", null, "auto-away"];
    for (const value of values) await show(value);
    const live: { readonly alertId: number; readonly from: number; readonly kind: object }[] = [];
    let from = 0;
    for (const kind of kinds) {
      const { alertId } = (await create(kind)).body;
      from = (await store.read((tx) => tx.devices.find(alice, account)))!.lastTimeMs;
      live.push({ alertId, from, kind });
      for (const value of values.toReversed()) await show(value);
    }
    const log = await store.read((tx) => tx.log.ofDevice(alice, account));
    const fired = log
      .filter(({ kind }) => kind === "alert")
      .map(({ timeMs, body }) => ({ timeMs, ...JSON.parse(body) }));
    assert.ok(fired.length > 50);
    for (const { alertId, from, kind } of live) {
      const { status, body } = await send("alice", "POST", "/v3/alerts/dry-run", { ...definition, ...kind, from });
      assert.equal(status, 200);
      const made = fired.filter(({ alert }) => alert === alertId);
      assert.deepEqual(
        body.firings,
        made.map(({ timeMs, value }) => ({ time: timeMs, value })),
        JSON.stringify(kind),
      );
      const half = made[Math.floor(made.length / 2)]!.timeMs;
      const until = await send("alice", "POST", "/v3/alerts/dry-run", { ...definition, ...kind, from, to: half });
      assert.deepEqual(
        until.body.firings.map(({ time }: { time: number }) => time),
        made.filter(({ timeMs }) => timeMs <= half).map(({ timeMs }) => timeMs),
      );
    }
    // Writes of a client count each time, also with the same value.
    const button = {
      deviceId: lamp,
      attrName: "button",
      operation: "equals",
      stringThreshold: "on",
      autoDisarm: false,
    };
    for (const value of ["on", "on", "off", "on"]) await put("alice", lamp, { button: value });
    const { body } = await send("alice", "POST", "/v3/alerts/dry-run", { ...button, action: "note" });
    assert.deepEqual([body.events, body.firings.length], [4, 3]);
  });

  it("creates nothing and writes nothing", async (t) => {
    const { send, definition, show, stored, alice, lamp } = await house(t);
    await show("away");
    const { body } = await send("alice", "POST", "/v3/alerts/dry-run", definition);
    assert.deepEqual([body.events, body.firings.length], [1, 1]);
    assert.deepEqual((await send("alice", "GET", "/v3/alerts")).body, { alerts: [] });
    assert.deepEqual((await stored(alice, lamp)).attributes, []);
    const disabled = await send("alice", "POST", "/v3/alerts/dry-run", { ...definition, enable: false });
    assert.deepEqual(disabled.body.firings, []);
    for (const change of [{ from: -1 }, { to: "now" }, { from: 1.5 }]) {
      const refused = await send("alice", "POST", "/v3/alerts/dry-run", { ...definition, ...change });
      assertRefused(refused, 400, "invalid_request");
    }
  });
});
