import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type Attribute, Breezeway, type Command, InvalidArgument, parseFanError } from "../../sdk/src/index.ts";
import { json, scripted, sdkWorld } from "./sdk-world.ts";

const thermostat = (y: number) => `d.structures[1].d.thermostats[${y}]`;

for (const token of ["bySecToken", "byAccessToken"] as const) {
  describe(`runFan, ${token}`, () => {
    it("starts a fan, starts it again while it runs, and stops it, each time confirmed", async (t) => {
      const world = await sdkWorld(t);
      const deviceId = await world.linked();
      const client = world[token];
      const names = await world.bySecToken.getHomeNames(deviceId);
      const hall = names.devices.find(({ kind }) => kind === "thermostats")!;
      assert.deepEqual(await client.runFan(deviceId, hall), { done: true, isConfirmed: true });
      const { attributes } = await client.getDevice(deviceId);
      assert.equal(attributes[hall.attribute("fan_timer_active")]?.value, "true");
      assert.deepEqual(await client.runFan(deviceId, hall), { done: true, isConfirmed: true }, "it ran before");
      assert.deepEqual(await client.runFan(deviceId, hall, { on: false }), { done: true, isConfirmed: true });
      const old = hall.attribute("fan_timer_active").replace("thermostats", "thermostat");
      assert.equal((await client.runFan(deviceId, old)).done, true);
      const received = world.simulator.log().filter(({ kind }) => kind === "command");
      assert.equal(received.length, 4, "each was sent once");
    });

    it("reports a refusal with the message of the ecosystem, also with commas, or of the service", async (t) => {
      const world = await sdkWorld(t);
      const deviceId = await world.linked();
      const client = world[token];
      const message = "Sorry, not now, not ever, true, 2026";
      world.simulator.addFault({ fault: "reject-fan", times: 1, message });
      const refused = await client.runFan(deviceId, thermostat(1));
      assert.ok(!refused.done);
      assert.deepEqual({ ...refused.error, time: "" }, { message, badValue: "true", time: "", isUnanswered: false });
      assert.match(refused.error.time, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      const missing = await client.runFan(deviceId, thermostat(9));
      assert.equal(!missing.done && missing.error.message, "Thermostat not found");
      // An earlier refusal does not affect the next request.
      assert.equal((await client.runFan(deviceId, thermostat(1))).done, true);
    });

    it("reports that there was no answer", { timeout: 60_000 }, async (t) => {
      const world = await sdkWorld(t, { clockSpeed: 20 });
      const deviceId = await world.linked();
      world.simulator.addFault({ fault: "withhold-answer", times: 1 });
      world.simulator.addFault({ fault: "keep-alives-only" });
      const outcome = await world[token].runFan(deviceId, thermostat(2));
      assert.ok(!outcome.done);
      assert.deepEqual([outcome.error.message, outcome.error.isUnanswered], ["no answer from the ecosystem", true]);
    });
  });
}

describe("the check after a fan request", () => {
  const active = `${thermostat(1)}.fan_timer_active`;
  type Shown = readonly [active: Attribute, request: Attribute, receipt?: Partial<Command>];
  const at = (value: string | null, updateTime: number): Attribute => ({ value, updateTime });

  /** Runs a fan against the states that a fake service shows before and after the write, one per read. */
  async function outcomeOf(before: Shown, ...after: readonly Shown[]) {
    const device = ([one, other]: Shown) =>
      json(200, { deviceId: 1, attributes: { [active]: one, [`${active}.requestWrite`]: other } });
    const receipts = ([, , receipt]: Shown) =>
      json(200, { commands: receipt ? [{ name: `${active}.requestWrite`, value: "true", ...receipt }] : [] });
    const { fetch } = scripted(
      ...[device(before), json(200, { status: "OK" })],
      ...after.flatMap((shown) => [receipts(shown), device(shown)]),
    );
    return new Breezeway({ baseUrl: "http://home.example", accessToken: "t", fetch }).runFan(1, active, { waitMs: 0 });
  }

  it("trusts a running fan only when its time is later than the command", async () => {
    const stale = await outcomeOf(
      [at("true", 50), at(null, 40)],
      [at("true", 50), at("error: no, true, 2026-01-01T00:00:00.000Z", 61)],
    );
    assert.ok(!stale.done && stale.error.message === "no");
    const sameMoment = await outcomeOf(
      [at("false", 50), at(null, 40)],
      [at("true", 60), at("true", 60), { state: "sending", requestedTime: 60 }],
    );
    assert.ok(!sameMoment.done && sameMoment.error.isUnanswered);
    assert.deepEqual(await outcomeOf([at("true", 50), at(null, 40)], [at("true", 62), at(null, 61)]), {
      done: true,
      isConfirmed: true,
    });
  });

  it("goes on after the request when the service can't answer for a while", async () => {
    const device = (one: Attribute, other: Attribute) =>
      json(200, { deviceId: 1, attributes: { [active]: one, [`${active}.requestWrite`]: other } });
    const busy = json(503, { error: "store_unavailable" });
    const { fetch } = scripted(
      ...[device(at("false", 50), at(null, 40)), json(200, { status: "OK" }), busy, new Error("lost")],
      ...[json(200, { commands: [] }), device(at("true", 62), at(null, 61))],
    );
    const client = new Breezeway({ baseUrl: "http://home.example", accessToken: "t", fetch, retries: 0 });
    assert.deepEqual(await client.runFan(1, active), { done: true, isConfirmed: true });
  });

  it("uses the receipt when another request hides its own", async () => {
    const receipt = { state: "rejected", text: "Another request is running", settledTime: 0 } as const;
    const hidden = await outcomeOf([at("true", 50), at("false", 55)], [at("true", 50), at("false", 55), receipt]);
    assert.ok(!hidden.done);
    assert.equal(hidden.error.message, "Another request is running");
    const contradicted = await outcomeOf(
      [at("false", 1), at(null, 1)],
      [at("false", 1), at(null, 9), { state: "contradicted", text: null, settledTime: 9 }],
    );
    assert.ok(!contradicted.done && !contradicted.error.isUnanswered);
  });

  it("parses any error text", () => {
    const time = "2026-07-01T10:00:00.123Z";
    const cases: readonly (readonly [text: string, written: string, message: string, badValue: string])[] = [
      [`error: away, true, ${time}`, "true", "away", "true"],
      [`error: a, b, true, c, true, ${time}`, "true", "a, b, true, c", "true"],
      [`error: Invalid value, banana, please, ${time}`, "banana, please", "Invalid value", "banana, please"],
      [`error: other's, false, ${time}`, "true", "other's", "false"],
    ];
    for (const [text, written, message, badValue] of cases) {
      assert.deepEqual(parseFanError(text, written), { message, badValue, time, isUnanswered: false });
    }
    for (const odd of ["true", "", "errors: x"]) assert.equal(parseFanError(odd, "true"), undefined);
    for (const odd of ["error: ", "error: x", "error: , , "]) assert.ok(parseFanError(odd, "true"));
  });

  it("is only for thermostats", async () => {
    const client = new Breezeway({ baseUrl: "http://home.example", accessToken: "t", fetch: scripted().fetch });
    await assert.rejects(client.runFan(1, "d.structures[1].d.smokeCoAlarms[1]"), InvalidArgument);
  });
});
