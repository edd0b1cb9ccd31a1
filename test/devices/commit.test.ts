import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { chainLimits, commitOn, type DeviceUpdate, type Gate, type Reaction } from "../../src/devices/commit.ts";
import type { Cause } from "../../src/model/cause.ts";
import { NotFound, OwnershipLost } from "../../src/model/errors.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome, node } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { watchedStore } from "./watched-store.ts";

const byEcosystem = { by: "ecosystem" } as const;
const byAlert = { by: "alert", alert: 1, hop: 1 } as const;

/** A home with two lamps, and commits to them whose statements and log lines are noted. */
async function committing(store: OpenStore, reactions: readonly Reaction[] = []) {
  const home = await makeHome(store, { devices: 2 });
  const watched = watchedStore(store);
  const { report, logLines } = manualRuntime();
  const urgencies: boolean[] = [];
  const commit = commitOn({
    store: watched,
    reactions,
    committed: (_, isUrgent) => urgencies.push(isUrgent),
    report,
  });
  return {
    ...home,
    lamp: home.devices[0]!,
    other: home.devices[1]!,
    ...watched,
    report,
    said: logLines,
    urgencies,
    commit,
  };
}

const on = (test: (home: Awaited<ReturnType<typeof committing>>) => Promise<void>) =>
  onStore(sqliteHarness, async (store) => test(await committing(store)));

function named(deviceId: DeviceId, count: number): DeviceUpdate {
  return { deviceId, changes: Array.from({ length: count }, (_, i) => ({ key: `name ${i}`, value: "x" })) };
}

/** Answers the first commit with these updates, as an alert would. */
function once(updates: readonly DeviceUpdate[]): Reaction {
  return async (_tx, { hop }) => (hop === 0 ? updates.map((update) => ({ ...update, cause: byAlert })) : []);
}

describe("a commit", () => {
  it("has the priority of its request, and its listener hears whether it was urgent", () =>
    on(async ({ commit, userId, byClient, lamp, priorities, urgencies }) => {
      const request = { userId, cause: byClient, updates: [named(lamp, 1)] };
      const becomesUrgent = new AbortController().signal;
      await commit(request);
      await commit({ ...request, urgent: true });
      await commit({ ...request, becomesUrgent });
      const ownership = { owner: node("elsewhere"), epoch: 1, deviceId: lamp };
      await assert.rejects(commit({ ...request, ownership }), OwnershipLost);
      assert.deepEqual(priorities, [
        { urgent: false, background: false, groupedBy: undefined },
        { urgent: true, background: false, groupedBy: undefined },
        { urgent: false, background: false, becomesUrgent, groupedBy: undefined },
        // What a link's owner commits may share a transaction with commits of other users.
        { urgent: false, background: true, groupedBy: userId },
      ]);
      assert.deepEqual(urgencies, [false, true, false]);
    }));

  it("is refused for a user who does not exist, also when it writes nothing", () =>
    on(async ({ commit, byClient }) => {
      await assert.rejects(commit({ userId: 999 as UserId, cause: byClient, updates: [] }), NotFound);
    }));

  it("of one update of the ecosystem sends everything that it reads in one round trip", () =>
    on(async ({ commit, userId, lamp, statements }) => {
      await commit({ userId, cause: byEcosystem, updates: [named(lamp, 1)] });
      const reads = statements.filter(({ name }) => /lock|find|some/.test(name));
      assert.deepEqual(
        reads.map(({ name, answersBefore }) => [name, answersBefore]),
        [
          ["users.lock", 0],
          ["devices.lock", 0],
          ["attributes.some", 0],
        ],
      );
    }));

  it("locks each device once, ascending by id, together with the user", () =>
    on(async ({ commit, userId, byClient, lamp, other, statements }) => {
      await commit({ userId, cause: byClient, updates: [named(other, 1), named(lamp, 1), named(other, 2)] });
      const locks = statements.filter(({ name }) => name === "devices.lock");
      assert.deepEqual(locks, [{ name: "devices.lock", parameters: [userId, [lamp, other]], answersBefore: 0 }]);
      assert.ok(statements.every(({ name }) => name !== "devices.find"));
    }));

  it("of the ecosystem changes nothing when a blank attribute stays blank", () =>
    on(async ({ commit, userId, byClient, lamp }) => {
      const updates = [{ deviceId: lamp, changes: [{ key: "colour", value: null }] }];
      assert.deepEqual(await commit({ userId, cause: byEcosystem, updates }), []);
      const [erased] = await commit({ userId, cause: byClient, updates });
      assert.deepEqual(erased?.changes, [{ key: "colour", value: null, before: null }]);
    }));

  it("to a linked account's device may write any number of attributes, and none of them counts", () =>
    onStore(sqliteHarness, async (store) => {
      const { commit, userId } = await committing(store);
      const account = { userId, typeName: "EcosystemAccount", name: "Nest account", isVirtual: true };
      const deviceId = await store.transaction((tx) => tx.devices.add(account));
      const changes = Array.from({ length: limits.attributesPerDevice + 1 }, (_, key) => ({ key, value: "x" }));
      await commit({ userId, cause: byEcosystem, updates: [{ deviceId, changes }] });
      const usage = await store.transaction((tx) => tx.attributeUsage.ofDevice(userId, deviceId));
      assert.equal(usage, undefined);
      assert.equal((await store.read((tx) => tx.attributes.all(userId, deviceId))).length, changes.length);
    }));

  it("drops a write of an alert beyond a limit, reports it, and keeps the change that fired the alert", () =>
    onStore(sqliteHarness, async (store) => {
      const updates: DeviceUpdate[] = [];
      const { commit, userId, byClient, lamp, other, said } = await committing(store, [once(updates)]);
      await store.transaction(async (tx) => {
        await tx.attributes.write(userId, other, 1, named(other, limits.attributesPerDevice).changes);
        await tx.devices.setLastTime(userId, other, 1);
      });
      updates.push({ deviceId: other, changes: [{ key: "new", value: "1" }] }, named(lamp, 2));
      const commits = await commit({ userId, cause: byClient, updates: [named(lamp, 1)] });
      assert.deepEqual(
        commits.map(({ deviceId, cause, changes }) => [deviceId, cause.by, changes.length]),
        [
          [lamp, "client", 1],
          [lamp, "alert", 2],
        ],
      );
      assert.deepEqual(
        said.map(({ level, sentence }) => [level, sentence]),
        [["warn", "a write of an alert was dropped at a limit"]],
      );
    }));

  it("counts the writes of all reactions towards the limit of its chain", () =>
    onStore(sqliteHarness, async (store) => {
      const answers: DeviceUpdate[] = [];
      const react: Reaction = async (_tx, { hop }) =>
        answers.slice(hop, hop + 1).map((one) => ({ ...one, cause: byAlert }));
      const { commit, userId, byClient, lamp, other } = await committing(store, [react]);
      answers.push(named(other, 150), named(lamp, 50), named(other, 1));
      const commits = await commit({ userId, cause: byClient, updates: [named(lamp, 1)] });
      assert.deepEqual(
        commits.map(({ changes }) => changes.length),
        [1, 150, 50],
      );
    }));

  it("passes a write through its gates in order, unless the write is the ecosystem's", () =>
    onStore(sqliteHarness, async (store) => {
      const { userId, byClient, lamp, report } = await committing(store);
      const append =
        (text: string): Gate =>
        async (_tx, _device, { changes }) =>
          changes.map(({ key, value }) => ({ key, value: `${value}${text}` }));
      const gates = [append(" first"), append(" second")];
      const commit = commitOn({ store, gates, reactions: [], committed: () => undefined, report });
      const write = async (cause: Cause) =>
        (await commit({ userId, cause, updates: [named(lamp, 1)] }))[0]?.changes[0]?.value;
      assert.equal(await write(byClient), "x first second");
      assert.equal(await write(byEcosystem), "x");
    }));

  it("reports a chain of reactions that was stopped at its limit, and no shorter one", () =>
    onStore(sqliteHarness, async (store) => {
      const updates: DeviceUpdate[] = [];
      const { commit, userId, byClient, lamp, other, said } = await committing(store, [once(updates)]);
      const request = { userId, cause: byClient, updates: [named(lamp, 1)] };
      updates.push(named(other, chainLimits.writes));
      assert.equal((await commit(request)).length, 2);
      assert.deepEqual(said, []);
      updates.push(named(lamp, 1));
      assert.equal((await commit(request)).length, 2);
      assert.deepEqual(
        said.map(({ level, sentence }) => [level, sentence]),
        [["warn", "a chain of reactions was stopped at its limit"]],
      );
    }));
});
