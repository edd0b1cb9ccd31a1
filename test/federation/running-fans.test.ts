import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type FanHome, fanHome, madeFans, until } from "./made-fans.ts";
import { otherNode } from "./made-federation.ts";
import { flushPromises } from "./manual-runtime.ts";

const running: FanHome = { thermostats: { t1: { fanTimerActive: true } } };
/** A snapshot that changes, but not in the fan. */
const runningAway: FanHome = { ...running, away: "auto-away" };
const stopped: FanHome = { thermostats: { t1: { fanTimerActive: false } } };

/** A request for a fan that runs already. It is being sent. */
async function requestRunningFan(t: TestContext, isShared = false) {
  const made = await madeFans(t, { ...running, isShared });
  const timeBefore = await made.time("fanTimerActive");
  await made.runtime.advance(1_000);
  await made.write("true");
  const command = await made.sent(1);
  const requestTime = await made.time("requestWrite");
  return {
    ...made,
    command,
    /** True if a client that compares the two times trusts the fan's value. */
    isTimeLater: async () => (await made.time("fanTimerActive")) > requestTime,
    isTimeUnchanged: async () => (await made.time("fanTimerActive")) === timeBefore,
  };
}

describe("a request for a fan that runs already", () => {
  it("moves the fan's time if the snapshot comes after the answer", async (t) => {
    const { command, states, shows, request, isTimeLater, isTimeUnchanged } = await requestRunningFan(t);
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.ok(await isTimeUnchanged());
    await shows(running);
    assert.deepEqual(await states(), ["confirmed"]);
    assert.ok(await isTimeLater());
    assert.equal(await request(), null);
  });

  it("moves the fan's time with the answer if the snapshot comes before it", async (t) => {
    const { command, states, shows, request, isTimeLater, isTimeUnchanged, connector } = await requestRunningFan(t);
    const readsBefore = connector.reads.length;
    await shows(runningAway);
    assert.deepEqual([await states(), await request()], [["sending"], "true"]);
    assert.ok(await isTimeUnchanged());
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["confirmed"]));
    assert.ok(await isTimeLater());
    assert.equal(await request(), null);
    assert.equal(connector.reads.length, readsBefore, "the account is not read");
  });

  it("keeps the fan's time if it is refused after a snapshot has shown the fan", async (t) => {
    const { command, states, shows, request, isTimeUnchanged } = await requestRunningFan(t);
    await shows(runningAway);
    command.answers({ state: "rejected", message: "blocked" });
    await until(async () => assert.deepEqual(await states(), ["rejected"]));
    await shows(running);
    assert.ok(await isTimeUnchanged());
    assert.match((await request()) ?? "", /^error: blocked, true, /);
  });

  it("waits for another snapshot if the fan stopped between the first one and the answer", async (t) => {
    const { command, states, shows, shown, request } = await requestRunningFan(t);
    await shows(runningAway);
    await shows(stopped);
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.deepEqual([await shown("fanTimerActive"), await request()], ["false", null]);
    await shows(running);
    assert.deepEqual(await states(), ["confirmed"]);
  });

  it("is confirmed instead of unanswered if a snapshot has shown the fan since the sending", async (t) => {
    const { command, states, shows, request, isTimeLater } = await requestRunningFan(t);
    await shows(runningAway);
    command.answers({ state: "unanswered", detail: "" });
    await until(async () => assert.deepEqual(await states(), ["confirmed"]));
    assert.ok(await isTimeLater());
    assert.equal(await request(), null);
  });

  it("loses the error of a missing answer when a later snapshot shows the fan", async (t) => {
    const { command, states, shows, request, isTimeLater } = await requestRunningFan(t);
    command.answers({ state: "unanswered", detail: "" });
    await until(async () => assert.deepEqual(await states(), ["expired"]));
    assert.match((await request()) ?? "", /^error: no answer from the ecosystem, true, /);
    await shows(running);
    assert.deepEqual([await states(), await request()], [["confirmed"], null]);
    assert.ok(await isTimeLater());
  });

  it("leaves the confirmation to the next snapshot if the store was unavailable when the answer came", async (t) => {
    const { command, states, shows, connection, runtime, isTimeLater, isTimeUnchanged } = await requestRunningFan(t);
    await shows(runningAway);
    connection.isDown = true;
    command.answers({ state: "accepted" });
    await runtime.advance(100);
    connection.isDown = false;
    await runtime.advance(1_000);
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.ok(await isTimeUnchanged());
    await shows(running);
    assert.deepEqual(await states(), ["confirmed"]);
    assert.ok(await isTimeLater());
  });

  it("is settled without the fan's time if another node owns the link when the answer comes", async (t) => {
    const made = await requestRunningFan(t, true);
    const { command, states, shows, store, userId, deviceId, isTimeUnchanged } = made;
    await shows(runningAway);
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.ok(await isTimeUnchanged());
  });

  it("does not count a snapshot from before the sending", async (t) => {
    const made = await madeFans(t, running);
    const { connection, connector, runtime, write, sent, states, shown, time } = made;
    connection.isDown = true;
    connector.stream.brings(fanHome(runningAway));
    const isHeldUp = () => runtime.logLines.some(({ sentence }) => sentence.startsWith("a snapshot could not"));
    await until(() => assert.ok(isHeldUp()));
    connection.isDown = false;
    await runtime.advance(1);
    const timeBefore = await time("fanTimerActive");
    await write("true");
    const command = await sent(1);
    await runtime.advance(2_000);
    await until(async () => assert.equal(await shown("deviceId"), "t1"));
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.equal(await time("fanTimerActive"), timeBefore);
    await flushPromises();
  });
});
