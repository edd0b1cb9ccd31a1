import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { startService } from "../../src/service/service.ts";
import { silent } from "../contracts/store/home.ts";
import { fanHouse } from "./fan-client.ts";
import { deployments, eventually, longSuiteOn } from "./world.ts";

const minutes = 60_000;
const on = { status: 200, body: '{"fan_timer_active":true}' };
const off = { status: 200, body: '{"fan_timer_active":false}' };

/** The refusals in the table of the ecosystem's protocol, and a few more. */
const refusals: readonly (readonly [
  what: string,
  fault: Readonly<Record<string, string | number>>,
  message: string,
])[] = [
  ["away", { reason: "away" }, "Cannot change fan_timer_active while structure is away"],
  ["in a safety shutoff", { reason: "safety-shutoff" }, "Cannot activate fan during smoke/co safety shutoff"],
  ["offline", { reason: "offline" }, "Thermostat is not online"],
  ["without a fan", { reason: "no-fan" }, "Thermostat does not have a fan"],
  ["not its to write", { reason: "no-write-permission" }, "No write permission(s) for field(s): fan_timer_active"],
  ["in its own words", { message: "Sorry, not now, not ever, true, 2026" }, "Sorry, not now, not ever, true, 2026"],
  ["on two lines", { message: "first\r\nsecond", status: 403 }, "first second"],
  ["with 500", { message: "internal error", status: 500 }, "internal error"],
  ["with 503", { message: "try, later", status: 503 }, "try, later"],
];

for (const database of longSuiteOn("sqlite", deployments)) {
  describe(`a fan request on ${database}`, () => {
    it("starts the fan and stops it again, is confirmed by the stream, and sends each command once", async (t) => {
      const { fan, received, receipts } = await fanHouse(t, { database });
      await fan.request("true");
      await eventually(t.signal, async () => assert.deepEqual(await fan.check(), { is: "running" }));
      assert.equal((await fan.read(".requestWrite"))?.value, null);
      // A second request while the fan runs: the client's check works again, and so does the receipt.
      await fan.request("true");
      await eventually(t.signal, async () => assert.deepEqual(await fan.check(), { is: "running" }));
      await fan.request("false");
      await eventually(t.signal, async () => assert.equal((await fan.read(""))?.value, "false"));
      await eventually(t.signal, async () =>
        assert.deepEqual(await receipts(), [
          { value: "false", state: "confirmed", text: null },
          { value: "true", state: "confirmed", text: null },
          { value: "true", state: "confirmed", text: null },
        ]),
      );
      assert.equal((await fan.read(".requestWrite"))?.value, null);
      assert.deepEqual(received(), [on, on, off]);
    });

    it("keeps the message of each refusal of the ecosystem, and is sent once", async (t) => {
      const { fan, received, receipts, story } = await fanHouse(t, { database });
      for (const [what, fault, message] of refusals) {
        story.simulator.addFault({ fault: "reject-fan", times: 1, ...fault });
        await fan.request("true");
        const state = await fan.outcome(t.signal);
        assert.deepEqual([state.is, "message" in state && state.message], ["error", message], what);
        assert.deepEqual((await receipts())[0], { value: "true", state: "rejected", text: message });
      }
      assert.equal(received().length, refusals.length);
      assert.notEqual((await fan.read(""))?.value, "true");
    });

    it("is refused without asking the ecosystem, visibly when the write is answered, when the service knows a reason", async (t) => {
      const { fan, received, story, deviceId } = await fanHouse(t, { database });
      const { simulator, accountId } = story;
      const refused = async (value: string, message: string, y = 1) => {
        await fan.request(value, y);
        const state = await fan.check(y);
        assert.deepEqual([state.is, "message" in state && state.message], ["error", message]);
      };
      await refused("banana, please", "Invalid value for fan_timer_active");
      await refused("true", "Thermostat not found", 9);
      await simulator.playScene(accountId, { scene: "leave" });
      await eventually(t.signal, async () => {
        const attributes = (await story.client.device(deviceId)).attributes;
        assert.equal(attributes.get("d.structures[1].a.away")?.value, "away");
      });
      await refused("true", "Cannot change fan_timer_active while structure is away");
      assert.deepEqual(received(), []);
      await fan.request(null);
      assert.equal((await fan.read(".requestWrite"))?.value, null);
    });

    it("says that the account must be linked again after the token was revoked", async (t) => {
      const { fan, story, received } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "unauthorized", requests: "write", times: 1 });
      await fan.request("true");
      const state = await fan.outcome(t.signal);
      assert.deepEqual("message" in state && state.message, "The account must be linked again");
      story.simulator.endAccess(story.accountId);
      await eventually(t.signal, async () => assert.equal((await story.client.linkStatus()).state, "needs_reauth"));
      await fan.request("true");
      const again = await fan.check();
      assert.deepEqual("message" in again && again.message, "The account must be linked again");
      assert.equal(received().length, 1);
    });

    it("says that there was no answer when the connection breaks after it was sent", async (t) => {
      const { fan, story, received, receipts } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "reset-after-body", times: 1 });
      await fan.request("true");
      const state = await fan.outcome(t.signal);
      assert.deepEqual("message" in state && state.message, "no answer from the ecosystem");
      assert.equal((await receipts())[0]?.state, "expired");
      assert.deepEqual(received(), [{ status: null, body: on.body }]);
    });

    it("runs the fan when the ecosystem executed it before the connection broke", async (t) => {
      const { fan, story, received, receipts } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "reset-after-body", carriedOut: true, times: 1 });
      await fan.request("true");
      await eventually(t.signal, async () => {
        assert.deepEqual(await fan.check(), { is: "running" });
        assert.equal((await fan.read(".requestWrite"))?.value, null);
        assert.equal((await receipts())[0]?.state, "confirmed");
      });
      assert.equal(received().length, 1);
    });

    it("without an answer says so after 30 s, is never sent again, and loses that error when a later snapshot shows the fan", {
      timeout: minutes,
    }, async (t) => {
      const { fan, story, received, receipts } = await fanHouse(t, { database, clockSpeed: 20 });
      story.simulator.addFault({ fault: "withhold-answer", times: 1 });
      story.simulator.addFault({ fault: "keep-alives-only" });
      await fan.request("true");
      const state = await fan.outcome(t.signal);
      assert.deepEqual("message" in state && state.message, "no answer from the ecosystem");
      assert.equal((await receipts())[0]?.state, "expired");
      story.simulator.clearFaults();
      await story.simulator.playScene(story.accountId, { scene: "drift" });
      await eventually(t.signal, async () => {
        assert.deepEqual(await fan.check(), { is: "running" });
        assert.equal((await fan.read(".requestWrite"))?.value, null);
        assert.equal((await receipts())[0]?.state, "confirmed");
      });
      assert.equal(received().length, 1);
    });

    it("whose answer takes 40 s counts as unanswered until the stream shows the fan", {
      timeout: minutes,
    }, async (t) => {
      const { fan, story, received, receipts } = await fanHouse(t, { database, clockSpeed: 20, hasProxy: true });
      story.proxy.delayMs = 2_000;
      await fan.request("true");
      const state = await fan.outcome(t.signal);
      assert.deepEqual("message" in state && state.message, "no answer from the ecosystem");
      await eventually(t.signal, async () => {
        assert.deepEqual(await fan.check(), { is: "running" });
        assert.equal((await receipts())[0]?.state, "confirmed");
      });
      assert.equal((await fan.read(".requestWrite"))?.value, null);
      assert.equal(received().length, 1);
    });

    it("that is accepted and then undone is contradicted, and no error is shown", async (t) => {
      const { fan, story, received, receipts } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "accept-then-revert", afterMs: 200, times: 1 });
      await fan.request("true");
      await eventually(t.signal, async () => assert.equal((await receipts())[0]?.state, "contradicted"));
      await eventually(t.signal, async () => assert.equal((await fan.read(""))?.value, "false"));
      assert.deepEqual(await fan.check(), { is: "no error" });
      assert.equal(received().length, 1);
    });

    it("too many is blocked until the time that the ecosystem names, without another call", async (t) => {
      const { fan, story, received } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "too-many-requests", requests: "write", seconds: 60, times: 1 });
      await fan.request("true");
      const first = await fan.outcome(t.signal);
      assert.deepEqual("message" in first && first.message, "blocked");
      await fan.request("true");
      const second = await fan.check();
      assert.match("message" in second ? second.message : "", /^blocked until \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
      assert.equal(received().length, 1);
      await fan.request("true", 2);
      await eventually(t.signal, async () => assert.deepEqual(await fan.check(2), { is: "running" }));
      assert.equal(received().length, 2);
    });

    it("too many is forwarded again when the ecosystem names no time", async (t) => {
      const { fan, story, received } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "too-many-requests", requests: "write", retryAfter: "none", times: 1 });
      await fan.request("true");
      const state = await fan.outcome(t.signal);
      assert.deepEqual("message" in state && state.message, "blocked");
      await fan.request("true");
      await eventually(t.signal, async () => assert.deepEqual(await fan.check(), { is: "running" }));
      assert.equal(received().length, 2);
    });

    it("over the ecosystem's own limit is refused by the ecosystem once, and by the service afterwards", async (t) => {
      const { fan, received } = await fanHouse(t, { database, ecosystem: { writesPerHour: 2 } });
      for (const value of ["true", "false", "true"]) {
        await fan.request(value);
        await fan.outcome(t.signal);
      }
      const third = await fan.check();
      assert.deepEqual("message" in third && third.message, "blocked");
      await fan.request("false");
      const fourth = await fan.check();
      assert.match("message" in fourth ? fourth.message : "", /^blocked until /);
      assert.deepEqual(
        received().map(({ status }) => status),
        [200, 200, 429],
      );
    });

    it("joins a running request for the same value, is refused for the other value, and is sent once", {
      timeout: minutes,
    }, async (t) => {
      const { fan, story, received, receipts } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "withhold-answer", times: 1 });
      story.simulator.addFault({ fault: "keep-alives-only" });
      await fan.request("true");
      await eventually(t.signal, async () => assert.equal(received().length, 1));
      await Promise.all(Array.from({ length: 5 }, () => fan.request("true")));
      await fan.request("false");
      assert.equal((await fan.read(".requestWrite"))?.value, "true");
      await fan.request("true");
      story.simulator.clearFaults();
      await story.simulator.playScene(story.accountId, { scene: "drift" });
      await eventually(t.signal, async () => assert.equal((await fan.read(".requestWrite"))?.value, null));
      await eventually(t.signal, async () =>
        assert.deepEqual(await receipts(), [
          { value: "false", state: "rejected", text: "Another request is running" },
          { value: "true", state: "confirmed", text: null },
        ]),
      );
      assert.equal(received().length, 1);
    });

    it("that runs when the service stops has an outcome, before or after the next start", async (t) => {
      const { fan, story, received } = await fanHouse(t, { database });
      story.simulator.addFault({ fault: "withhold-answer", times: 1 });
      story.simulator.addFault({ fault: "keep-alives-only" });
      await fan.request("true");
      await eventually(t.signal, async () => assert.equal(received().length, 1));
      await story.restart();
      const state = await fan.check();
      // The first snapshot of the new stream may have cleared the error by now.
      if (state.is === "error") assert.equal(state.message, "no answer from the ecosystem");
      story.simulator.clearFaults();
      story.simulator.drop(story.accountId);
      await eventually(t.signal, async () => {
        assert.deepEqual(await fan.check(), { is: "running" });
        assert.equal((await fan.read(".requestWrite"))?.value, null);
      });
      assert.equal(received().length, 1);
    });
  });
}

describe("two nodes on one database", () => {
  it("send a fan request once, whichever of them it was written to", { timeout: minutes }, async (t) => {
    const { fan, received, story } = await fanHouse(t, { database: "postgres" });
    const second = await startService(story.config, silent);
    t.after(() => second.stop());
    const there = fan.at(second.baseUrl);
    assert.equal(second.parts.federation.keeper.followed, 0, "the first owns the link");
    await there.request("true");
    await eventually(t.signal, async () => assert.deepEqual(await there.check(), { is: "running" }));
    await Promise.all([
      fan.request("true", 2),
      there.request("true", 2),
      fan.request("true", 2),
      there.request("true", 2),
    ]);
    await eventually(t.signal, async () => assert.deepEqual(await there.check(2), { is: "running" }));
    assert.equal(received().length, 2);
    await there.request("banana", 3);
    const state = await there.check(3);
    assert.deepEqual("message" in state && state.message, "Invalid value for fan_timer_active");
  });
});
