import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { commitOn } from "../../src/devices/commit.ts";
import type { CommandOutcome } from "../../src/ecosystems/connector.ts";
import { fanGate } from "../../src/federation/commands/fan-gate.ts";
import { overdue } from "../../src/federation/commands/fan-outcome.ts";
import { commandDeadlines } from "../../src/home/command-states.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { heartbeat } from "../../src/nodes/membership.ts";
import { thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { heldPatterns } from "../alerts/made-matching.ts";
import { silent } from "../contracts/store/home.ts";
import { madeFans, until } from "./made-fans.ts";
import { otherNode } from "./made-federation.ts";
import { flushPromises, noonMs } from "./manual-runtime.ts";
import { type StoredLink, storeLinks } from "./stored-links.ts";

const noon = "2026-01-01T12:00:00.000Z";
const noAnswer = /^error: no answer from the ecosystem, true, \d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/;

describe("a fan request that is being sent", () => {
  it("is marked as sent, durably, before it is sent, with the account's token and the thermostat's id", async (t) => {
    const { write, request, sent, receipts } = await madeFans(t);
    await write("true");
    const { token, thermostatId, isOn } = await sent(1);
    assert.deepEqual({ token, thermostatId, isOn }, { token: "c.token", thermostatId: "t1", isOn: true });
    const [receipt] = await receipts();
    assert.deepEqual([receipt?.state, receipt?.sentMs, receipt?.settledMs], ["sending", noonMs, null]);
    assert.equal(await request(), "true");
  });

  it("is erased when the ecosystem accepts it", async (t) => {
    const { write, request, sent, receipts } = await madeFans(t);
    await write("false");
    const command = await sent(1);
    assert.equal(command.isOn, false);
    command.answers({ state: "accepted" });
    await until(async () => assert.equal(await request(), null));
    const [receipt] = await receipts();
    assert.deepEqual([receipt?.state, receipt?.text], ["accepted", null]);
  });

  it("is contradicted when the state that it caused still differs two seconds later, and confirmed when it does not", async (t) => {
    const { write, sent, states, runtime, shows } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "accepted", caused: Promise.resolve() });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await runtime.advance(commandDeadlines.causedMs - 1);
    assert.deepEqual(await states(), ["accepted"]);
    await runtime.advance(1);
    await until(async () => assert.deepEqual(await states(), ["contradicted"]));
    await write("true");
    const second = await sent(2);
    await shows({ thermostats: { t1: { fanTimerActive: true } } });
    second.answers({ state: "accepted", caused: Promise.resolve() });
    await runtime.advance(commandDeadlines.causedMs);
    await until(async () => assert.deepEqual(await states(), ["contradicted", "confirmed"]));
  });

  it("on SQLite is sent at once after a quiet hour, and settled within a second of its last deadline", async (t) => {
    const { write, sent, states, runtime, store } = await madeFans(t);
    const reads = t.mock.method(store, "read");
    const readsIn = async (ms: number) => {
      const before = reads.mock.callCount();
      await runtime.advance(ms);
      return reads.mock.callCount() - before;
    };
    await runtime.advance(3_600_000);
    const whenQuiet = await readsIn(60_000);
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await runtime.advance(commandDeadlines.showMs - 1_000);
    assert.deepEqual(await states(), ["accepted"]);
    await runtime.advance(2_000);
    await until(async () => assert.deepEqual(await states(), ["contradicted"]));
    assert.ok((await readsIn(10_000)) > whenQuiet, "a node that has nothing to send hardly reads");
  });

  it("keeps the ecosystem's words when it is refused, commas and all", async (t) => {
    const { write, request, sent, receipts } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "rejected", message: "No, no,\r\nand no\0" });
    await until(async () => assert.equal(await request(), `error: No, no, and no\uFFFD, true, ${noon}`));
    const [receipt] = await receipts();
    assert.deepEqual([receipt?.state, receipt?.text], ["rejected", "No, no, and no\uFFFD"]);
  });

  it("says that the account must be linked again when the token is no longer valid", async (t) => {
    const { write, request, sent } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "unauthorized" });
    await until(async () => assert.equal(await request(), `error: The account must be linked again, true, ${noon}`));
  });

  it("has no answer after 30 seconds, says so, and is never sent again", async (t) => {
    const { write, request, sent, runtime, states, connector } = await madeFans(t);
    await write("true");
    await sent(1);
    await runtime.advance(29_999);
    assert.equal(await request(), "true");
    await runtime.advance(1);
    const at = "2026-01-01T12:00:30.000Z";
    await until(async () => assert.equal(await request(), `error: no answer from the ecosystem, true, ${at}`));
    assert.deepEqual(await states(), ["expired"]);
    await runtime.advance(600_000);
    assert.equal(connector.actions.length, 1);
  });

  it("has no answer when the connection breaks, and says so at once", async (t) => {
    const { write, request, sent } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "unanswered", detail: "no answer (ECONNRESET)" });
    await until(async () => assert.match((await request()) ?? "", noAnswer));
  });

  it("has no answer from a connector that fails, at once, and the fault is reported as its link's", async (t) => {
    const { write, request, sent, runtime, connector } = await madeFans(t);
    await write("true");
    (await sent(1)).breaks(new Error("a mistake"));
    await until(async () => assert.match((await request()) ?? "", noAnswer));
    await runtime.advance(35_000);
    assert.equal(connector.actions.length, 1);
    assert.deepEqual(
      runtime.logLines.filter(({ level }) => level === "error").map(({ fields }) => (fields as { kind: string }).kind),
      ["command"],
    );
  });

  it("is sent though requests of accounts that can't be reached wait before it", async (t) => {
    const openToken = (sealed: string) => {
      if (sealed.startsWith("sealed")) throw new Error("a value was sealed with key abc");
      return sealed;
    };
    const { write, sent, store, runtime, federation } = await madeFans(t, { openToken });
    const locked = await storeLinks(store, 3, () => ({}));
    await store.transaction(async (tx) => {
      for (const { userId, deviceId } of locked) {
        for (let attribute = 0; attribute < 40; attribute++) {
          const command = { userId, deviceId, attribute, thermostatId: "t1", value: "true", text: null };
          const requestedMs = runtime.nowMs();
          await tx.fanRequests.add({ ...command, state: "queued", requestedMs, settledMs: null });
        }
      }
    });
    await federation.keeper.start();
    await runtime.advance(1_000);
    await write("true");
    await runtime.advance(1_000);
    await sent(1);
  });

  it("is sent while the settlement of another user's request waits for costly patterns, which stopping gives up", {
    timeout: 60_000,
  }, async (t) => {
    const costly = new Set<DeviceId>();
    const held = heldPatterns(({ deviceId }) => costly.has(deviceId));
    const { write, sent, store, runtime, federation, states } = await madeFans(t, { react: held.react });
    const others = await storeLinks(store, 2, () => ({}));
    const [slow, quick] = others as [StoredLink, StoredLink];
    costly.add(slow.deviceId);
    await store.transaction(async (tx) => {
      for (const { userId, deviceId } of others) {
        const [attribute, id] = [thermostatAttribute(1, 1, "requestWrite"), thermostatAttribute(1, 1, "deviceId")];
        const written = [
          { key: attribute, value: "true" },
          { key: id, value: "t1" },
        ];
        await tx.attributes.write(userId, deviceId, noonMs, written);
        const command = { userId, deviceId, attribute, thermostatId: "t1", value: "true", text: null };
        await tx.fanRequests.add({ ...command, state: "queued", requestedMs: noonMs, settledMs: null });
      }
    });
    await runtime.advance(2 * commandDeadlines.sweepMs);
    await until(() => assert.equal(held.waiting(), 1));
    await write("true");
    await sent(1);
    assert.deepEqual(await states(), ["sending"]);
    const stateOf = async ({ userId, deviceId }: StoredLink) => (await federation.receipts(userId, deviceId))[0]?.state;
    await until(async () => assert.equal(await stateOf(quick), "expired"));
    await runtime.advance(5_000);
    assert.deepEqual([await stateOf(slow), held.waiting()], ["queued", 1], "later looks leave it alone");
  });

  it("is sent while another user's request can't be settled, which is tried again with growing pauses", async (t) => {
    const broken = new Set<DeviceId>();
    let tries = 0;
    const { store, runtime, write, sent, federation } = await madeFans(t, {
      react: async (_tx, { deviceId }) => {
        if (!broken.has(deviceId)) return [];
        tries += 1;
        throw new TypeError("a mistake");
      },
    });
    const [other] = (await storeLinks(store, 1, () => ({}))) as [StoredLink];
    const { userId, deviceId } = other;
    broken.add(deviceId);
    await store.transaction(async (tx) => {
      const [attribute, id] = [thermostatAttribute(1, 1, "requestWrite"), thermostatAttribute(1, 1, "deviceId")];
      const written = [
        { key: attribute, value: "true" },
        { key: id, value: "t1" },
      ];
      await tx.attributes.write(userId, deviceId, noonMs, written);
      const command = { userId, deviceId, attribute, thermostatId: "t1", value: "true", text: null };
      await tx.fanRequests.add({ ...command, state: "queued", requestedMs: noonMs, settledMs: null });
    });
    for (let passedMs = 0; passedMs < commandDeadlines.sweepMs + 30_000; passedMs += 500) {
      await runtime.advance(500);
      for (let turn = 0; turn < 20; turn++) await flushPromises();
    }
    assert.ok(tries >= 3 && tries <= 6, `${tries} tries`);
    await write("true");
    await sent(1);
    broken.clear();
    await runtime.advance(60_000);
    await until(async () => assert.equal((await federation.receipts(userId, deviceId))[0]?.state, "expired"));
  });

  it("records nothing when the account was unlinked meanwhile", async (t) => {
    const { write, sent, federation, userId, runtime } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    const { removed } = await federation.unlink(userId, "nest");
    assert.equal(removed.commands, 1);
    command.answers({ state: "accepted" });
    await flushPromises();
    await runtime.advance(35_000);
    assert.deepEqual(
      runtime.logLines.filter(({ level }) => level === "error"),
      [],
    );
  });

  it("writes nothing about a thermostat that has left its slot", async (t) => {
    const { write, request, sent, shows, states } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    await shows({ thermostats: {} });
    command.answers({ state: "rejected", message: "Thermostat is not online" });
    await until(async () => assert.deepEqual(await states(), ["rejected"]));
    assert.equal(await request(), null);
  });
});

describe("the outcome of a fan request", () => {
  it("waits for a store that can't be reached", async (t) => {
    const { write, request, sent, connection, runtime, states } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    connection.isDown = true;
    command.answers({ state: "rejected", message: "Not today" });
    await flushPromises();
    await runtime.advance(10_000);
    assert.deepEqual(await states(), ["sending"]);
    connection.isDown = false;
    await runtime.advance(1_000);
    await until(async () => assert.match((await request()) ?? "", /^error: Not today, true, /));
  });

  it("replaces what another node recorded without knowing it", async (t) => {
    for (const outcome of [{ state: "accepted" }, { state: "rejected", message: "Not today" }] as const) {
      const { write, request, sent, states, receipts, store, runtime } = await madeFans(t, { isShared: true });
      await runtime.advance(500);
      await write("true");
      const command = await sent(1);
      const [row] = await receipts();
      const expired = `error: no answer from the ecosystem, true, ${noon}`;
      await store.transaction(async (tx) => {
        await tx.fanRequests.change(row!, ["sending"], { state: "expired", text: "…", settledMs: noonMs });
        await tx.attributes.write(row!.userId, row!.deviceId, noonMs + 1, [{ key: row!.attribute, value: expired }]);
      });
      command.answers(outcome);
      await until(async () => assert.deepEqual(await states(), [outcome.state]));
      if (outcome.state === "accepted") assert.equal(await request(), null);
      else assert.match((await request()) ?? "", /^error: Not today, true, /);
    }
  });

  it("of an old request doesn't overwrite what a newer one shows", async (t) => {
    const { write, request, sent, receipts, store, states } = await madeFans(t);
    await write("true");
    const old = await sent(1);
    const [row] = await receipts();
    await store.transaction((tx) =>
      tx.fanRequests.change(row!, ["sending"], { state: "expired", text: "…", settledMs: noonMs }),
    );
    await write("true");
    await sent(2);
    old.answers({ state: "rejected", message: "the old one" });
    await until(async () => assert.deepEqual(await states(), ["rejected", "sending"]));
    assert.equal(await request(), "true");
  });
});

describe("a sweep", () => {
  it("leaves requests alone that were settled after its read", async (t) => {
    const { write, sent, receipts, states, request, store } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    const [found] = await receipts();
    command.answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    assert.deepEqual(await store.transaction((tx) => overdue(tx, found!, noonMs + 60_000, true)), []);
    const removed = { ...found!, id: 9_999 };
    assert.deepEqual(await store.transaction((tx) => overdue(tx, removed, noonMs + 60_000, true)), []);
    assert.deepEqual(await states(), ["accepted"]);
    assert.equal(await request(), null);
  });
});

describe("a node that stops", () => {
  it("waits a little for outstanding answers", async (t) => {
    const { write, request, sent, federation, runtime, states } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    const stopped = federation.stop();
    await runtime.advance(2_000);
    command.answers({ state: "accepted" });
    await stopped;
    assert.equal(await request(), null);
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("records a missing answer when it takes too long, and sends nothing more", async (t) => {
    const { write, request, sent, federation, runtime, connector } = await madeFans(t);
    await write("true");
    await sent(1);
    const stopped = federation.stop();
    await runtime.advance(3_000);
    await stopped;
    assert.match((await request()) ?? "", noAnswer);
    await write("true");
    await runtime.advance(5_000);
    assert.equal(connector.actions.length, 1);
  });

  it("waits for its look at the queue", async (t) => {
    const { federation, store } = await madeFans(t);
    const held = Promise.withResolvers<void>();
    const read = store.read.bind(store);
    const heldRead: typeof store.read = async (body) => {
      await held.promise;
      return read(body);
    };
    t.mock.method(store, "read", heldRead);
    federation.fans.wake();
    let isStopped = false;
    const stopped = federation.fans.stop().then(() => {
      isStopped = true;
    });
    await flushPromises();
    const wasStopped = isStopped;
    held.resolve();
    await stopped;
    assert.equal(wasStopped, false);
  });

  it("settles nothing afterwards by a state that a request has caused", async (t) => {
    const { write, sent, federation, runtime, states } = await madeFans(t);
    await write("true");
    (await sent(1)).answers({ state: "accepted", caused: Promise.resolve() });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await federation.fans.stop();
    await runtime.advance(2 * commandDeadlines.causedMs);
    await flushPromises();
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("doesn't wait for a store that can't be reached", async (t) => {
    const { write, sent, federation, runtime, connection, states } = await madeFans(t);
    await write("true");
    const command = await sent(1);
    connection.isDown = true;
    command.answers({ state: "accepted" });
    const stopped = federation.fans.stop();
    await runtime.advance(3_000);
    await stopped;
    assert.deepEqual(await states(), ["sending"], "the next start settles it");
  });
});

describe("a node that stops while alerts on the outcome wait for costly patterns", { timeout: 60_000 }, () => {
  async function stopped(t: TestContext, outcome: CommandOutcome) {
    let isCostly = false;
    const held = heldPatterns(() => isCostly);
    const made = await madeFans(t, { react: held.react });
    const { write, sent, request, federation, runtime } = made;
    await write("true");
    const command = await sent(1);
    isCostly = true;
    command.answers(outcome);
    await until(() => assert.equal(held.waiting(), 1));
    const stopping = federation.fans.stop();
    await runtime.advance(3_000);
    await stopping;
    assert.equal(await request(), "true");
    isCostly = false;
    return made;
  }

  it("keeps the ecosystem's words, and the next start shows them", async (t) => {
    const refusal = { state: "rejected", message: "Not today", retryAfterMs: 60_000 } as const;
    const { federation, states, receipts, request } = await stopped(t, refusal);
    assert.deepEqual(await states(), ["sending"]);
    await federation.fans.start();
    const [receipt] = await receipts();
    assert.deepEqual([receipt?.state, receipt?.text], ["rejected", "Not today"]);
    assert.equal(receipt?.blockedUntilMs, noonMs + 63_000);
    assert.match((await request()) ?? "", /^error: Not today, true, /);
  });

  it("keeps that the ecosystem accepted, and the next start erases the request", async (t) => {
    const { federation, states, request, runtime } = await stopped(t, { state: "accepted" });
    assert.deepEqual(await states(), ["accepted"]);
    await federation.fans.start();
    await runtime.advance(commandDeadlines.showMs);
    await until(async () => assert.equal(await request(), null));
    assert.deepEqual(await states(), ["contradicted"]);
  });
});

describe("a lone node that starts", () => {
  it("settles what it was sending before the restart, whatever the clock says now", async (t) => {
    const { write, request, sent, receipts, store, federation, runtime, states, connector } = await madeFans(t);
    await write("true");
    await sent(1);
    const stopped = federation.fans.stop();
    await runtime.advance(3_000);
    await stopped;
    const [row] = await receipts();
    // As if it had been killed, and then the clock was set back.
    await store.transaction(async (tx) => {
      await tx.fanRequests.change(row!, ["expired"], { state: "sending", text: null, settledMs: null });
      await tx.attributes.write(row!.userId, row!.deviceId, noonMs + 10, [{ key: row!.attribute, value: "true" }]);
    });
    runtime.jump(-3_600_000);
    await federation.fans.start();
    assert.deepEqual(await states(), ["expired"]);
    assert.match((await request()) ?? "", noAnswer);
    assert.equal(connector.actions.length, 1);
  });

  it("sends recent requests that were not sent yet, and expires old ones", async (t) => {
    for (const [agoMs, isSent] of [
      [10_000, true],
      [60_000, false],
    ] as const) {
      const { write, request, federation, runtime, states, connector } = await madeFans(t);
      await federation.fans.stop();
      await write("true");
      runtime.jump(agoMs);
      await federation.fans.start();
      if (isSent) await until(async () => assert.deepEqual(await states(), ["sending"]));
      else await until(async () => assert.deepEqual(await states(), ["expired"]));
      assert.equal(connector.actions.length, isSent ? 1 : 0);
      assert.match((await request()) ?? "", isSent ? /^true$/ : noAnswer);
    }
  });
});

describe("a node among others", () => {
  it("doesn't contradict an accepted request by a state from before its start", async (t) => {
    const { write, sent, receipts, states, runtime, followAgain } = await madeFans(t, { isShared: true });
    await write("true");
    (await sent(1)).answers({ state: "accepted" });
    await until(async () => assert.deepEqual(await states(), ["accepted"]));
    await followAgain();
    await runtime.advance(commandDeadlines.showMs + 1_000);
    await until(async () => assert.notEqual((await receipts())[0]?.settledMs, null));
    assert.deepEqual(await states(), ["accepted"]);
  });

  it("sends what was written elsewhere for a link of its own, within a second", async (t) => {
    const { store, connector, runtime, deviceId, userId } = await madeFans(t, { isShared: true });
    const elsewhere = commitOn({
      store,
      gates: [fanGate({ connectors: new Map([["nest", connector]]), stateOf: () => undefined })],
      reactions: [],
      committed() {},
      report: silent,
    });
    const changes = [{ key: thermostatAttribute(1, 1, "requestWrite"), value: "true" }];
    await elsewhere({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
    assert.deepEqual(connector.actions, []);
    await runtime.advance(999);
    await until(() => assert.equal(connector.actions.length, 1));
  });

  it("doesn't send when another node has claimed the link since its read", async (t) => {
    const { store, userId, deviceId, write, runtime, connector, states } = await madeFans(t, { isShared: true });
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
    await write("true");
    await runtime.advance(2_000);
    assert.deepEqual(connector.actions, []);
    assert.deepEqual(await states(), ["queued"]);
  });

  it("doesn't send with an epoch of its own that is over", async (t) => {
    const { store, userId, deviceId, write, runtime, connector, membership, states } = await madeFans(t, {
      isShared: true,
    });
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, membership.id));
    await write("true");
    await runtime.advance(1_000);
    assert.deepEqual(connector.actions, []);
    assert.deepEqual(await states(), ["queued"]);
  });

  it("settles what a dead node left as sent or unsent, within 35 seconds", async (t) => {
    const { store, userId, deviceId, write, runtime, connector, states, receipts, request } = await madeFans(t, {
      isShared: true,
      thermostats: { t1: {}, t2: {} },
    });
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
    await write("true", 1);
    await write("true", 2);
    const left = (await receipts())[0]!;
    await store.transaction((tx) => tx.fanRequests.change(left, ["queued"], { state: "sending", sentMs: noonMs }));
    await runtime.advance(33_000);
    assert.deepEqual(await states(), ["queued", "sending"]);
    await runtime.advance(2_000);
    await until(async () => assert.deepEqual(await states(), ["expired", "expired"]));
    assert.match((await request(1)) ?? "", noAnswer);
    assert.match((await request(2)) ?? "", noAnswer);
    assert.deepEqual(connector.actions, []);
  });

  it("that gets a link late has an outcome for its request within 35 seconds of the write", async (t) => {
    for (const [lateMs, isSent] of [
      [19_000, true],
      [21_000, false],
    ] as const) {
      const { federation, write, runtime, connector, states, request, sent } = await madeFans(t, {
        isShared: true,
      });
      await federation.fans.stop();
      await write("true");
      await runtime.advance(lateMs);
      await federation.fans.start();
      if (isSent) await sent(1);
      await runtime.advance(34_900 - lateMs);
      await until(async () => assert.deepEqual(await states(), ["expired"]));
      assert.match((await request()) ?? "", noAnswer);
      assert.equal(connector.actions.length, isSent ? 1 : 0);
    }
  });

  it("settles what a dead node sent late within 35 seconds of the write", async (t) => {
    const { store, userId, deviceId, write, runtime, states, receipts } = await madeFans(t, { isShared: true });
    await store.transaction((tx) => tx.links.takeOver(userId, deviceId, otherNode));
    await write("true");
    await runtime.advance(19_000);
    const left = (await receipts())[0]!;
    const change = { state: "sending", sentMs: noonMs + 19_000 } as const;
    await store.transaction((tx) => tx.fanRequests.change(left, ["queued"], change));
    await runtime.advance(15_900);
    await until(async () => assert.deepEqual(await states(), ["expired"]));
  });

  it("goes on sending after it was cut off from the store for longer than its lease", async (t) => {
    const { write, connection, runtime, membership, sent, federation } = await madeFans(t, { isShared: true });
    await federation.keeper.start();
    connection.isDown = true;
    await runtime.advance(heartbeat.leaseMs + 5_000);
    assert.equal(membership.isAlive, false);
    connection.isDown = false;
    await runtime.advance(heartbeat.everyMs);
    await until(() => assert.equal(membership.isAlive, true));
    await write("true");
    await runtime.advance(2_000);
    await sent(1);
  });
});
