import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandDeadlines } from "../../src/home/command-states.ts";
import { homeWith, structure, thermostat } from "../home/home-parts.ts";
import { fanHome, fanShown, madeFans, until } from "./made-fans.ts";
import { flushPromises, noonMs } from "./manual-runtime.ts";

const noAnswer = /^error: no answer from the ecosystem, true, /;
const on = { thermostats: { t1: { fanTimerActive: true } } };
const off = { thermostats: { t1: { fanTimerActive: false } } };

describe("the fan state in the stream", () => {
  it("confirms an accepted request", async (t) => {
    const { write, sent, shows, states, request } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await shows(on);
    assert.deepEqual(await states(), ["confirmed"]);
    assert.equal(await request(), null);
  });

  it("confirms a request that was accepted before the latest one was written", async (t) => {
    const { write, sent, shows, states, request } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await write("false");
    const second = await sent(2);
    await shows(on);
    assert.deepEqual(await states(), ["confirmed", "sending"]);
    assert.equal(await request(), "false", "the value belongs to the latest request");
    second.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["confirmed", "accepted"]));
    await shows(off);
    assert.deepEqual(await states(), ["confirmed", "confirmed"]);
    assert.equal(await request(), null);
  });

  it("confirms a request without an answer yet, and erases it", async (t) => {
    const { write, sent, shows, states, request, runtime } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    await runtime.advance(20_000);
    await shows(on);
    await until(async () => assert.equal(await request(), null));
    assert.deepEqual(await states(), ["confirmed"]);
    command.answers({ state: "unanswered", detail: "" });
    await flushPromises();
    await runtime.advance(35_000);
    assert.deepEqual(await states(), ["confirmed"]);
    assert.equal(await request(), null);
  });

  it("yields to a refusal: then something else had started the fan", async (t) => {
    const { write, sent, shows, states, request } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    await shows(on);
    await shows(off);
    command.answers({ state: "rejected", message: "not by you" });
    await until(async () => assert.deepEqual(await states(), ["rejected"]));
    assert.match((await request()) ?? "", /^error: not by you, true, /);
  });

  it("clears the text of a request that had no answer, however late", async (t) => {
    const { write, sent, shows, states, request, runtime, receipts } = await madeFans(t);
    await write("true");
    await sent(1);
    await runtime.advance(30_000);
    await until(async () => assert.match((await request()) ?? "", noAnswer));
    await runtime.advance(600_000);
    await shows(on);
    await until(async () => assert.equal(await request(), null));
    assert.deepEqual(await states(), ["confirmed"]);
    assert.equal((await receipts())[0]?.text, null);
  });

  it("leaves the text of a later refusal alone", async (t) => {
    const { write, sent, shows, states, request, runtime } = await madeFans(t);
    await write("true");
    await sent(1);
    await runtime.advance(30_000);
    await until(async () => assert.match((await request()) ?? "", noAnswer));
    await write("banana");
    await shows(on);
    assert.deepEqual(await states(), ["confirmed", "rejected"]);
    assert.match((await request()) ?? "", /^error: Invalid value for fan_timer_active, banana, /);
  });

  it("does not settle a request of the other value", async (t) => {
    const { write, sent, shows, states, request } = await madeFans(t);
    await write("false");
    await sent(1);
    await shows(on);
    assert.deepEqual(await states(), ["sending"]);
    assert.equal(await request(), "false");
  });

  it("does not settle a request when another thermostat has the slot now", async (t) => {
    const { write, sent, shows, states, shown } = await madeFans(t);
    await write("true");
    await sent(1);
    const others = Array.from({ length: 20 }, (_, i) => [`n${i}`, { fanTimerActive: true }] as const);
    await shows({ thermostats: Object.fromEntries(others) });
    assert.notEqual(await shown("deviceId"), "t1");
    assert.equal(await shown("fanTimerActive"), "true");
    assert.deepEqual(await states(), ["sending"]);
  });
});

describe("an echo that was received before the request was sent", () => {
  for (const outcome of ["sending", "accepted"] as const) {
    it(`doesn't close it, though it is stored later, when it is ${outcome}`, async (t) => {
      const { write, sent, states, request, shown, connector, connection, runtime } = await madeFans(t);
      connection.isDown = true;
      connector.stream.brings(fanShown(true));
      const isHeldUp = () => runtime.logLines.some(({ sentence }) => sentence.startsWith("a snapshot could not"));
      await until(() => assert.ok(isHeldUp()));
      connection.isDown = false;
      await runtime.advance(1);
      await write("true");
      const command = await sent(1);
      assert.equal(await shown("fanTimerActive"), "false", "the lane has not tried again");
      if (outcome === "accepted") command.answers({ state: "accepted" });
      await until(async () => assert.deepEqual(await states(), [outcome]));
      await runtime.advance(2_000);
      await until(async () => assert.equal(await shown("fanTimerActive"), "true"));
      assert.deepEqual(await states(), [outcome]);
      assert.equal(await request(), outcome === "sending" ? "true" : null);
    });
  }
});

describe("a snapshot without the thermostat that was received before the request was sent", () => {
  it("doesn't contradict it, though it is stored after the ecosystem has accepted it", async (t) => {
    const { write, sent, states, shown, connector, connection, runtime } = await madeFans(t);
    connection.isDown = true;
    connector.stream.brings(fanHome({ thermostats: {} }));
    const isHeldUp = () => runtime.logLines.some(({ sentence }) => sentence.startsWith("a snapshot could not"));
    await until(() => assert.ok(isHeldUp()));
    connection.isDown = false;
    await runtime.advance(1);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.equal(await shown("deviceId"), "t1", "the lane has not tried again");
    await runtime.advance(2_000);
    await until(async () => assert.equal(await shown("deviceId"), null));
    assert.deepEqual(await states(), ["accepted"]);
  });
});

describe("an accepted request", () => {
  const taken = async (t: Parameters<typeof madeFans>[0]) => {
    const made = await madeFans(t);
    await made.write("true");
    (await made.sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await made.states(), ["accepted"]));
    return made;
  };

  it("is contradicted when the fan stops again at once", async (t) => {
    const { shows, states, request } = await taken(t);
    await shows(on);
    await shows(off);
    assert.deepEqual(await states(), ["contradicted"]);
    assert.equal(await request(), null);
  });

  it("is still confirmed when the fan stops after its time", async (t) => {
    const { shows, states, receipts, runtime } = await taken(t);
    await shows(on);
    const settledMs = (await receipts())[0]!.settledMs!;
    await runtime.advance(settledMs + commandDeadlines.showMs - runtime.nowMs());
    await shows(off);
    assert.deepEqual(await states(), ["confirmed"]);
  });

  it("is contradicted when the stream keeps showing the other state for a minute", async (t) => {
    const { states, runtime, receipts } = await taken(t);
    await runtime.advance(59_000);
    assert.deepEqual(await states(), ["accepted"]);
    await runtime.advance(2_000);
    await until(async () => assert.deepEqual(await states(), ["contradicted"]));
    assert.ok(((await receipts())[0]?.settledMs ?? 0) >= noonMs + 60_000);
  });

  it("is contradicted as soon as its thermostat is gone", async (t) => {
    const { write, sent, shows, states, receipts } = await taken(t);
    await write("false");
    (await sent(2)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted", "accepted"]));
    await shows({ thermostats: { t2: {} } });
    assert.deepEqual(await states(), ["contradicted", "contradicted"]);
    assert.ok((await receipts()).every(({ settledMs, text }) => settledMs !== null && text === null));
  });

  it("is contradicted when its thermostat was gone before the answer", async (t) => {
    const { write, sent, shows, states } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    await shows({ thermostats: {} });
    assert.deepEqual(await states(), ["sending"], "only the answer says whether it was accepted");
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["contradicted"]));
  });

  it("that was settled as such stays so when its thermostat is gone later", async (t) => {
    const { connector, states, receipts, runtime, shown } = await taken(t);
    connector.stream.ends("closed");
    connector.pauseBetweenMs = 120_000;
    await runtime.advance(70_000);
    await until(async () => assert.notEqual((await receipts())[0]?.settledMs, null));
    while (connector.streams.length < 2) await runtime.advance(10_000);
    connector.stream.brings(fanHome({ thermostats: {} }));
    await until(async () => assert.equal(await shown("deviceId"), null));
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("stays accepted when its thermostat is in another structure now", async (t) => {
    const { states, connector, shown, runtime, receipts } = await taken(t);
    const structures = { s1: structure(), s2: structure() };
    const thermostats = { t1: thermostat("s2"), t2: thermostat("s1") };
    // Another thermostat is gone in the same snapshot.
    connector.stream.brings(homeWith({ structures, thermostats: { ...thermostats, t3: thermostat("s1") } }));
    connector.stream.brings(homeWith({ structures, thermostats }));
    await until(async () => assert.equal(await shown("deviceId"), null));
    await runtime.advance(61_000);
    await until(async () => assert.notEqual((await receipts())[0]?.settledMs, null));
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("is confirmed after a minute when the fan ran already and no snapshot came", async (t) => {
    const { write, sent, states, runtime } = await madeFans(t, on);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await runtime.advance(61_000);
    await until(async () => assert.deepEqual(await states(), ["confirmed"]));
  });

  it("moves the time of a fan that ran already once", async (t) => {
    const { write, sent, states, connector, time } = await madeFans(t, on);
    const before = await time("fanTimerActive");
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    connector.stream.brings(fanShown(true));
    await until(async () => assert.deepEqual(await states(), ["confirmed"]));
    const confirmed = await time("fanTimerActive");
    assert.ok(confirmed > (await time("requestWrite")) && confirmed > before);
    connector.stream.brings(fanShown(true));
    await flushPromises();
    assert.equal(await time("fanTimerActive"), confirmed);
  });

  it("is confirmed by a plain read when the fan ran already and the stream only repeats itself", async (t) => {
    const { write, sent, states, connector, runtime, time, federation } = await madeFans(t, on);
    const before = await time("fanTimerActive");
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    connector.stream.repeats();
    await runtime.advance(2_200);
    connector.lastRead.resolve(fanShown(true));
    await until(async () => assert.deepEqual(await states(), ["confirmed"]));
    assert.ok((await time("fanTimerActive")) > before);
    assert.equal([...federation.keeper.standings()][0]?.state, "live", "the stream had kept nothing back");
  });

  it("moves no time when the snapshot shows that the fan has stopped, or another thermostat in the slot", async (t) => {
    const { write, sent, states, shows, connector, time } = await madeFans(t, on);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await shows(off);
    const stopped = await time("fanTimerActive");
    connector.stream.brings(fanShown(false));
    await flushPromises();
    assert.equal(await time("fanTimerActive"), stopped);
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("stays accepted while the link is not live, and is confirmed when a snapshot shows the fan", async (t) => {
    const { connector, states, runtime, bringLive } = await taken(t);
    connector.stream.ends("closed");
    connector.pauseBetweenMs = 120_000;
    await runtime.advance(90_000);
    assert.deepEqual(await states(), ["accepted"]);
    while (connector.streams.length < 2) await runtime.advance(10_000);
    await bringLive(fanShown(true));
    await until(async () => assert.deepEqual(await states(), ["confirmed"]));
  });

  it("stays accepted when a later request was accepted before the minute was over", async (t) => {
    const { write, sent, states, runtime } = await taken(t);
    await write("false");
    (await sent(2)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted", "accepted"]));
    await runtime.advance(70_000);
    await until(async () => assert.deepEqual(await states(), ["accepted", "confirmed"]));
  });
});
