import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { Plan } from "../../src/home/command-plan.ts";
import { commandDeadlines } from "../../src/home/command-states.ts";
import { thermostatKey } from "../../src/home/reported-things.ts";
import { heartbeat } from "../../src/nodes/membership.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { homeWith, structure } from "../home/home-parts.ts";
import { heatedHome, madeCommands } from "./made-commands.ts";
import { until } from "./made-fans.ts";
import { madeFederation, otherNode } from "./made-federation.ts";
import { flushPromises } from "./manual-runtime.ts";
import { followBy } from "./stored-links.ts";

const accepted = { state: "accepted" } as const;
const shared = { isShared: true };

describe("a command to a thing", () => {
  it("is marked as sent, durably, before it is sent, and is confirmed when the ecosystem shows its result", async (t) => {
    const { send, sent, receipt, becomes, shows, thingId } = await madeCommands(t);
    const queued = await send("thermostat", "setTarget", { celsius: 21.7 });
    assert.deepEqual([queued.thingId, queued.state, queued.sentMs], [thingId, "queued", null]);
    const action = await sent(1);
    const { token, key, step } = action;
    assert.deepEqual({ token, key }, { token: "c.token", key: "thermostat/t1" });
    assert.deepEqual(step, { trait: "thermostat", set: { targetCelsius: 21.5, heatCelsius: 21.5 } });
    assert.equal((await receipt(queued.id)).state, "sending");
    action.answers(accepted);
    await becomes(queued, "accepted");
    await shows({ targetCelsius: 21.5, heatCelsius: 21.5 });
    const confirmed = await becomes(queued, "confirmed");
    assert.notEqual(confirmed.settledMs, null);
  });

  it("of an alert is stored for the things that the user has, and sent when its transaction is durable", async (t) => {
    const { store, federation, userId, thingId, sent } = await madeCommands(t);
    const command = { trait: "fanTimer", command: "start", params: {} } as const;
    const receipts = await store.transaction(async (tx) => {
      await tx.users.lock(userId);
      return federation.control.admit(tx, userId, ["t_unknown", thingId], { command, clientId: null });
    });
    assert.deepEqual(
      receipts.map((receipt) => [receipt.thingId, receipt.state]),
      [[thingId, "queued"]],
    );
    federation.control.wake();
    assert.deepEqual((await sent(1)).step, { trait: "fanTimer", set: { active: true } });
  });

  it("of an alert reaches the thing that the alert names, if the user has it", async (t) => {
    const { store, federation, userId, thingId } = await madeCommands(t);
    const reached = (id: string) =>
      store.read((tx) => federation.control.reached(tx as never, userId, { thingId: id }, 10));
    assert.deepEqual(await reached(thingId), [thingId]);
    assert.deepEqual(await reached("t_unknown"), []);
  });

  it("is confirmed at once when the thing shows its result already", async (t) => {
    const { send, sent, becomes } = await madeCommands(t);
    const command = await send("thermostat", "setTarget", { celsius: 20 });
    (await sent(1)).answers(accepted);
    await becomes(command, "confirmed");
  });

  it("is not confirmed by a change that shows something else", async (t) => {
    const { send, sent, becomes, receipt, shows } = await madeCommands(t);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await shows({ heatCelsius: 19, targetCelsius: 19 });
    assert.equal((await receipt(command.id)).state, "accepted");
    await shows({ heatCelsius: 19, targetCelsius: 19, fanTimerActive: true });
    await becomes(command, "confirmed");
  });

  it("is contradicted when a state that it caused still differs two seconds later, long before its deadline", async (t) => {
    const { send, sent, becomes, receipt, shows, runtime } = await madeCommands(t);
    const command = await send("thermostat", "setTarget", { celsius: 22 });
    const caused = Promise.withResolvers<void>();
    (await sent(1)).answers({ state: "accepted", caused: caused.promise });
    await becomes(command, "accepted");
    await shows({ heatCelsius: 21, targetCelsius: 21 });
    await runtime.advance(commandDeadlines.causedMs + 1_000);
    assert.equal((await receipt(command.id)).state, "accepted");
    caused.resolve();
    await runtime.advance(commandDeadlines.causedMs - 500);
    assert.equal((await receipt(command.id)).state, "accepted");
    await runtime.advance(500);
    await becomes(command, "contradicted");
  });

  it("is confirmed when the state that it caused becomes right within two seconds", async (t) => {
    const { send, sent, becomes, receipt, shows, runtime } = await madeCommands(t);
    const command = await send("thermostat", "setTarget", { celsius: 22 });
    (await sent(1)).answers({ state: "accepted", caused: Promise.resolve() });
    await becomes(command, "accepted");
    await shows({ heatCelsius: 21, targetCelsius: 21 });
    await runtime.advance(1_000);
    await shows({ heatCelsius: 22, targetCelsius: 22 });
    await becomes(command, "confirmed");
    await runtime.advance(commandDeadlines.causedMs);
    assert.equal((await receipt(command.id)).state, "confirmed");
  });

  it("is not confirmed by a snapshot that was received before it was sent", async (t) => {
    const { send, sent, becomes, receipt, connector, store, federation } = await madeCommands(t);
    const held = Promise.withResolvers<void>();
    const holding = store.transaction(() => held.promise);
    // The snapshot waits for the store, and the command after it.
    connector.stream.brings(heatedHome({ fanTimerActive: true }));
    const sending = send("fanTimer", "start");
    await flushPromises();
    held.resolve();
    await holding;
    const command = await sending;
    const action = await sent(1);
    assert.equal(federation.commands.sentAt(Number(command.id.slice(1))), 0);
    connector.stream.brings(heatedHome({ fanTimerActive: false }));
    await flushPromises();
    action.answers({ state: "unanswered", detail: "no answer" });
    await becomes(command, "expired");
    assert.equal((await receipt(command.id)).error?.code, "noAnswer");
  });

  it("has no answer after 30 seconds, also from a connector that ignores its signal, and the next one is sent", {
    timeout: 20_000,
  }, async (t) => {
    const { send, sent, becomes, receipt, runtime, connector } = await madeCommands(t);
    connector.ignoresSignals = true;
    const silent = await send("thermostat", "setTarget", { celsius: 22 });
    await sent(1);
    await runtime.advance(29_999);
    assert.equal((await receipt(silent.id)).state, "sending");
    const next = await send("fanTimer", "start");
    await runtime.advance(1);
    assert.equal((await becomes(silent, "expired")).error?.code, "noAnswer");
    (await sent(2)).answers(accepted);
    await becomes(next, "accepted");
  });

  it("is sent when the one before it was answered", async (t) => {
    const { send, sent, connector, becomes } = await madeCommands(t);
    const mode = await send("thermostat", "setMode", { mode: "cool" });
    const first = await sent(1);
    const target = await send("thermostat", "setTarget", { celsius: 23 });
    const fan = await send("fanTimer", "start");
    await flushPromises();
    assert.equal(connector.actions.length, 1);
    first.answers(accepted);
    // The target is for the mode that the ecosystem has accepted and not shown yet.
    const second = await sent(2);
    assert.deepEqual(second.step, { trait: "thermostat", set: { targetCelsius: 23, coolCelsius: 23 } });
    second.answers({ state: "rejected", message: "not now" });
    assert.deepEqual((await becomes(target, "rejected")).error?.code, "refused");
    (await sent(3)).answers(accepted);
    await becomes(fan, "accepted");
    await becomes(mode, "accepted");
  });

  it("joins one that asks for the same, and replaces one of its kind that was not sent", async (t) => {
    const { send, sent, connector, becomes, receipt } = await madeCommands(t);
    const fan = await send("fanTimer", "start");
    const running = await sent(1);
    assert.equal((await send("fanTimer", "start")).id, fan.id);
    const twenty = await send("thermostat", "setTarget", { celsius: 22 });
    const replacing = await send("thermostat", "setTarget", { celsius: 23 });
    const replaced = await receipt(twenty.id);
    assert.deepEqual([replaced.state, replaced.error?.code], ["rejected", "superseded"]);
    running.answers(accepted);
    const { step, answers } = await sent(2);
    assert.deepEqual(step, { trait: "thermostat", set: { targetCelsius: 23, heatCelsius: 23 } });
    answers(accepted);
    await becomes(replacing, "accepted");
    assert.equal(connector.actions.length, 2);
  });

  it("is refused as busy behind four others", async (t) => {
    const { send, sent } = await madeCommands(t);
    await send("fanTimer", "start");
    await sent(1);
    await send("thermostat", "setMode", { mode: "cool" });
    await send("thermostat", "setTarget", { celsius: 24 });
    await send("fanTimer", "stop");
    const fifth = await send("thermostat", "setMode", { mode: "off" });
    assert.deepEqual([fifth.state, fifth.error?.code], ["rejected", "busy"]);
  });

  it("counts those that wait when it raises a target, and is refused while the state is stale", async (t) => {
    const { send, sent, connector } = await madeCommands(t);
    await send("fanTimer", "start");
    const fan = await sent(1);
    await send("thermostat", "adjustTarget", { deltaCelsius: 1 });
    await send("thermostat", "adjustTarget", { deltaCelsius: 1 });
    fan.answers(accepted);
    assert.deepEqual((await sent(2)).step, { trait: "thermostat", set: { targetCelsius: 22, heatCelsius: 22 } });
    connector.stream.ends("closed");
    await until(async () => {
      const refused = await send("thermostat", "adjustTarget", { deltaCelsius: 1 });
      assert.equal(refused.error?.code, "stale");
    });
  });

  it("is checked again when it is sent", async (t) => {
    const { send, sent, connector, becomes, shows } = await madeCommands(t);
    await send("fanTimer", "start");
    const fan = await sent(1);
    const target = await send("thermostat", "setTarget", { celsius: 22 });
    await shows({ mode: "eco", baseMode: "heat" });
    fan.answers(accepted);
    const refused = await becomes(target, "rejected");
    assert.deepEqual([refused.error?.code, refused.sentMs], ["notInMode", null]);
    assert.equal(connector.actions.length, 1);
  });

  it("of two steps sends the second when the first was accepted, and never repeats one", async (t) => {
    const home = heatedHome({ mode: "eco", baseMode: "heat" });
    const { send, sent, becomes, shows, connector } = await madeCommands(t, { endsEcoFirst: true, home });
    const command = await send("thermostat", "setMode", { mode: "cool" });
    const first = await sent(1);
    assert.deepEqual(first.step, { trait: "thermostat", set: { mode: "heat", baseMode: null } });
    first.answers(accepted);
    const second = await sent(2);
    assert.deepEqual(second.step, { trait: "thermostat", set: { mode: "cool" } });
    second.answers(accepted);
    await becomes(command, "accepted");
    await shows({ mode: "cool", targetCelsius: 25 });
    await becomes(command, "confirmed");
    assert.equal(connector.actions.length, 2);
  });

  it("of two steps has ended when the first is refused, and expires when the node stops between them", async (t) => {
    const home = heatedHome({ mode: "eco", baseMode: "heat" });
    const { send, sent, becomes, connector, federation } = await madeCommands(t, { endsEcoFirst: true, home });
    const refused = await send("thermostat", "setMode", { mode: "cool" });
    (await sent(1)).answers({ state: "rejected", message: "no" });
    await becomes(refused, "rejected");
    const command = await send("thermostat", "setMode", { mode: "cool" });
    const first = await sent(2);
    const stopped = federation.commands.stop();
    first.answers({ state: "unanswered", detail: "the connection was lost" });
    await stopped;
    assert.equal((await becomes(command, "expired")).error?.code, "noAnswer");
    await federation.commands.start();
    await flushPromises();
    assert.equal(connector.actions.length, 2);
  });

  it("is contradicted when the ecosystem still shows another state after a minute", async (t) => {
    const { send, sent, becomes, runtime } = await madeCommands(t);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await runtime.advance(commandDeadlines.showMs + 1_000);
    await becomes(command, "contradicted");
  });

  it("is contradicted as soon as the ecosystem says that its thing is gone", async (t) => {
    const { send, sent, becomes, brings } = await withoutThermostat(t);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await brings();
    const { error, settledMs } = await becomes(command, "contradicted");
    assert.deepEqual([error, settledMs === null], [null, false]);
  });

  it("is refused when its thing is gone", async (t) => {
    const { send, brings, connector } = await withoutThermostat(t);
    await brings();
    const refused = await send("fanTimer", "start");
    assert.deepEqual([refused.state, refused.error?.code], ["rejected", "unknownThing"]);
    assert.equal(connector.actions.length, 0);
  });

  it("is refused when the ecosystem no longer accepts the account's token", async (t) => {
    const { send, sent, becomes, runtime, connector } = await madeCommands(t);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers({ state: "unauthorized" });
    assert.equal((await becomes(command, "rejected")).error?.code, "needsReauth");
    await runtime.advance(commandDeadlines.sweepMs + commandDeadlines.showMs);
    assert.equal(connector.actions.length, 1);
  });

  it("is contradicted when the ecosystem accepts it for a thing that is gone", async (t) => {
    const { send, sent, becomes, receipt, brings } = await withoutThermostat(t);
    // The last values of the thing show what is asked for.
    const command = await send("thermostat", "setTarget", { celsius: 20 });
    const action = await sent(1);
    await brings();
    assert.equal((await receipt(command.id)).state, "sending", "only the answer says whether it was accepted");
    action.answers(accepted);
    await becomes(command, "contradicted");
  });

  it("whose answer is late is not confirmed by the last values of a thing that is gone", async (t) => {
    const { send, sent, becomes, receipt, brings } = await withoutThermostat(t);
    const command = await send("thermostat", "setTarget", { celsius: 20 });
    (await sent(1)).answers({ state: "unanswered", detail: "" });
    await becomes(command, "expired");
    await brings();
    assert.equal((await receipt(command.id)).state, "expired");
  });

  it("stays accepted, and settled, when the link was not live at the end of that minute", async (t) => {
    const { send, sent, becomes, receipt, connector, runtime } = await madeCommands(t);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    connector.pauseBetweenMs = 600_000;
    connector.stream.ends("closed");
    await runtime.advance(commandDeadlines.showMs + 1_000);
    await until(async () => assert.notEqual((await receipt(command.id)).settledMs, null));
    assert.equal((await receipt(command.id)).state, "accepted");
  });

  it("is not confirmed by a state from before the start, and is when the stream has shown it again", async (t) => {
    const { send, sent, becomes, receipt, connector, runtime, followAgain, bringLive } = await madeCommands(t, shared);
    await followAgain();
    const command = await send("thermostat", "setTarget", { celsius: 20 });
    (await sent(1)).answers({ state: "accepted", caused: Promise.resolve() });
    await becomes(command, "accepted");
    await runtime.advance(commandDeadlines.causedMs + 1_000);
    assert.equal((await receipt(command.id)).state, "accepted");
    await bringLive(heatedHome());
    await runtime.advance(commandDeadlines.showMs + 1_000);
    await becomes(command, "confirmed");
    assert.equal(connector.actions.length, 1);
  });

  it("is not contradicted by a state from before the start: it stays accepted, and settled", async (t) => {
    const { send, sent, becomes, receipt, runtime, followAgain } = await madeCommands(t, shared);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await followAgain();
    await runtime.advance(commandDeadlines.showMs + 1_000);
    await until(async () => assert.notEqual((await receipt(command.id)).settledMs, null));
    assert.equal((await receipt(command.id)).state, "accepted");
  });

  it("is settled by the state that a living other owner follows", async (t) => {
    const { send, sent, becomes, federation, store, userId, deviceId, runtime } = await madeCommands(t, shared);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await followBy(store, otherNode, userId, deviceId);
    await federation.keeper.drop(deviceId);
    for (let passedMs = 0; passedMs <= commandDeadlines.showMs; passedMs += heartbeat.everyMs) {
      await store.transaction((tx) => tx.nodes.beat(otherNode));
      await runtime.advance(heartbeat.everyMs);
    }
    await becomes(command, "contradicted");
  });

  it("is not settled by the state before a takeover, while the new owner has no stream", async (t) => {
    const made = await madeCommands(t, shared);
    const { send, sent, becomes, receipt, federation, store, userId, deviceId, runtime } = made;
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
    await federation.keeper.drop(deviceId);
    for (let passedMs = 0; passedMs <= commandDeadlines.showMs; passedMs += heartbeat.everyMs) {
      await store.transaction((tx) => tx.nodes.beat(otherNode));
      await runtime.advance(heartbeat.everyMs);
    }
    await until(async () => assert.notEqual((await receipt(command.id)).settledMs, null));
    assert.equal((await receipt(command.id)).state, "accepted");
  });

  it("that the link's owner before sent is confirmed when the new owner sees its result", async (t) => {
    const { becomes, store, userId, deviceId, thingId, shows } = await madeCommands(t);
    const params = { celsius: 21.5 };
    const command = { trait: "thermostat", command: "setTarget", params } as const;
    const plan: Plan = {
      steps: [{ trait: "thermostat", set: { targetCelsius: 21.5 } }],
      expected: [{ trait: "thermostat", field: "targetCelsius", value: 21.5, tolerance: 0.25 }],
      absolute: command,
    };
    const id = await store.transaction(async (tx) => {
      const requestedMs = await tx.clock.nowMs();
      const texts = { command: JSON.stringify(command), plan: JSON.stringify(plan), error: null, clientId: null };
      const row = { userId, deviceId, thingId, key: thermostatKey("t1"), ...texts, requestedMs, settledMs: null };
      const id = await tx.thingCommands.add({ ...row, state: "queued" });
      const added = await tx.thingCommands.find(userId, deviceId, id);
      await tx.thingCommands.change(added!, ["queued"], { state: "accepted", step: 1, sentMs: requestedMs });
      return id;
    });
    await shows({ targetCelsius: 21.5 });
    await becomes({ id: `c${id}` }, "confirmed");
  });

  it("that the link's owner before sent is looked for until its deadline, however long this node has run", async (t) => {
    const { federation, runtime, linkLive } = await madeFederation(t);
    const { keeper } = federation;
    await runtime.advance(3_600_000);
    const deviceId = await linkLive();
    const mayInherit = () => keeper.mayInheritCommands(deviceId, commandDeadlines.showMs);
    await runtime.advance(commandDeadlines.showMs - 1);
    assert.ok(mayInherit());
    await runtime.advance(1);
    assert.equal(mayInherit(), false);
  });

  it("is remembered for ten minutes as sent to its device, and then forgotten", async (t) => {
    const { send, sent, becomes, runtime, federation, deviceId } = await madeCommands(t);
    assert.equal(federation.commands.hasSentTo(deviceId), false);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers(accepted);
    await becomes(command, "accepted");
    await runtime.advance(9 * 60_000);
    assert.ok(federation.commands.hasSentTo(deviceId));
    await runtime.advance(3 * 60_000);
    for (let turn = 0; turn < 20; turn++) await flushPromises();
    assert.equal(federation.commands.hasSentTo(deviceId), false);
    assert.equal(federation.commands.sentAt(Number(command.id.slice(1))), undefined);
  });

  it("is settled by a newer one of its kind that the ecosystem accepted", async (t) => {
    const { send, sent, becomes, receipt, shows } = await madeCommands(t);
    const older = await send("thermostat", "setTarget", { celsius: 22 });
    (await sent(1)).answers(accepted);
    await becomes(older, "accepted");
    const newer = await send("thermostat", "setTarget", { celsius: 23 });
    (await sent(2)).answers(accepted);
    await becomes(newer, "accepted");
    assert.notEqual((await receipt(older.id)).settledMs, null);
    await shows({ targetCelsius: 23, heatCelsius: 23 });
    await becomes(newer, "confirmed");
    assert.equal((await receipt(older.id)).state, "accepted");
  });

  it("that no node could send in time was not carried out, and says so", async (t) => {
    const { send, federation, runtime, becomes, connector } = await madeCommands(t);
    await federation.commands.stop();
    const command = await send("fanTimer", "start");
    await runtime.advance(commandDeadlines.sweepMs + 1_000);
    await federation.commands.start();
    assert.equal((await becomes(command, "expired")).error?.code, "notSent");
    assert.equal(connector.actions.length, 0);
  });

  it("is refused for a thing that is offline, or whose account must be linked again", async (t) => {
    const { send, shows, connector } = await madeCommands(t);
    await shows({ isOnline: false });
    assert.equal((await send("fanTimer", "start")).error?.code, "offline");
    connector.stream.ends("unauthorized");
    await until(async () => assert.equal((await send("fanTimer", "start")).error?.code, "needsReauth"));
    assert.equal(connector.actions.length, 0);
  });
});

/** A commanded thermostat that the ecosystem will no longer list. */
async function withoutThermostat(t: TestContext) {
  const made = await madeCommands(t);
  const { connector, store, userId, thingId } = made;
  return {
    ...made,
    /** The stream brings the home without it, and waits until that is stored. */
    async brings() {
      connector.stream.brings(homeWith({ structures: { s1: structure() } }));
      await until(async () => {
        const [thing] = await store.read((tx) => tx.things.some(userId, [thingId]));
        assert.notEqual(thing?.goneMs ?? null, null);
      });
    },
  };
}

describe("a command and a fan request to the same thermostat", () => {
  const requestWrite = thermostatAttribute(1, 1, "requestWrite");

  it("share what runs: equal ones join, others wait or are refused in the words of fan requests", async (t) => {
    const { commit, userId, deviceId, send, sent, connector, federation, becomes, shows } = await madeCommands(t);
    const write = (value: string) =>
      commit({
        userId,
        cause: { by: "client", user: userId },
        updates: [{ deviceId, changes: [{ key: requestWrite, value }] }],
      });
    await write("true");
    const fan = await sent(1);
    const joined = await send("fanTimer", "start");
    assert.match(joined.id, /^f\d+$/);
    assert.equal(joined.state, "sending");
    const stop = await send("fanTimer", "stop");
    await flushPromises();
    assert.equal(connector.actions.length, 1);
    await write("false");
    const refused = (await federation.receipts(userId, deviceId))[0]!;
    assert.deepEqual([refused.state, refused.text], ["rejected", "Another request is running"]);
    fan.answers(accepted);
    await becomes(joined, "accepted");
    await shows({ fanTimerActive: true });
    await becomes(joined, "confirmed");
    const stopping = await sent(2);
    assert.deepEqual(stopping.step, { trait: "fanTimer", set: { active: false } });
    // A request that arrives while the command is being sent waits for it.
    await write("false");
    await flushPromises();
    assert.equal(connector.actions.length, 2);
    stopping.answers(accepted);
    await becomes(stop, "accepted");
    const last = await sent(3);
    assert.deepEqual(last.step, { trait: "fanTimer", set: { active: false } });
    last.answers(accepted);
  });

  it("wait for each other without being looked at all the time", async (t) => {
    const { commit, userId, deviceId, send, sent, store } = await madeCommands(t);
    await send("thermostat", "setTarget", { celsius: 22 });
    const command = await sent(1);
    const transactions = t.mock.method(store, "transaction");
    const changes = [{ key: requestWrite, value: "true" }];
    await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
    for (let turn = 0; turn < 100; turn++) await flushPromises();
    const count = transactions.mock.callCount();
    assert.ok(count <= 5, `${count} transactions`);
    command.answers(accepted);
    (await sent(2)).answers(accepted);
  });

  it("are listed together, the newest first", async (t) => {
    const { commit, userId, deviceId, thingId, caller, send, sent, becomes, federation, runtime } =
      await madeCommands(t);
    const write = (value: string) => {
      const changes = [{ key: requestWrite, value }];
      return commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
    };
    await write("true");
    (await sent(1)).answers(accepted);
    await runtime.advance(1_000);
    const command = await send("thermostat", "setTarget", { celsius: 22 });
    (await sent(2)).answers(accepted);
    await becomes(command, "accepted");
    await runtime.advance(1_000);
    await write("false");
    const listed = await federation.control.receipts(caller, thingId);
    assert.deepEqual(
      listed.map(({ id, command: { trait, command } }) => [id[0], trait, command]),
      [
        ["f", "fanTimer", "stop"],
        ["c", "thermostat", "setTarget"],
        ["f", "fanTimer", "start"],
      ],
    );
  });

  it("share the time for which the ecosystem blocks the thermostat", async (t) => {
    const { commit, userId, deviceId, send, sent, becomes, federation } = await madeCommands(t);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers({ state: "rejected", message: "blocked", retryAfterMs: 60_000 });
    await becomes(command, "rejected");
    const changes = [{ key: requestWrite, value: "true" }];
    await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
    const [refused] = await federation.receipts(userId, deviceId);
    assert.match(refused!.text ?? "", /^blocked until /);
    const next = await send("thermostat", "setMode", { mode: "off" });
    assert.deepEqual([next.state, next.error?.code], ["rejected", "rateLimited"]);
  });
});
