import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outcome } from "../../src/assistants/assistant.ts";
import { waitAfter } from "../../src/assistants/reporter/attempt.ts";
import { removalMs } from "../../src/assistants/reporter/changes.ts";
import { reportTimes } from "../../src/assistants/reporter/report-times.ts";
import { sendDue } from "../../src/assistants/reporter/sending.ts";
import { sweepReports } from "../../src/assistants/reporter/sweep.ts";
import type { ThingChange } from "../../src/devices/thing-writes.ts";
import { outletId } from "../contracts/store/assistant-table-cases.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmed, changed, down, linked, stillGoing, taken } from "./made-assistant.ts";

describe("the reporter", () => {
  it("reports an alarm first and at once, other changes a second later, each thing once", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, sent, feed, log, grant, marks, dueNow } = await linked(store);
      await log(changed("t_a"));
      await log(changed("t_a"), alarmed("t_b"));
      assert.equal(await feed(), "done");
      assert.equal((await grant())?.dueMs, 0);
      assert.deepEqual(
        (await marks()).map(({ thingId }) => thingId),
        ["t_b"],
      );
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_b state alarm"]);
      const [left] = await marks(1_000);
      assert.equal(left?.thingId, "t_a");
      assert.equal((await grant())?.dueMs, left?.stateMs);
      await dueNow();
      assert.equal(await feed(), "done");
      assert.deepEqual((await marks(1_000)).length, 1, "a second run adds no mark twice");
    }));

  it("lets nothing but other emergencies go before an emergency in the store, from its claim to its end", () =>
    onStore(sqliteHarness, async (store) => {
      let stopping = new AbortController();
      let messages = 0;
      const { parts, key, dueNow } = await linked(store, async () => {
        messages += 1;
        if (messages === 3) stopping.abort();
        return taken;
      });
      let priorities = new Set<string>();
      const transaction: typeof store.transaction = (body, priority = {}) => {
        priorities.add(Object.keys(priority).join() || "ordinary");
        return store.transaction(body, priority);
      };
      const { assistant, settings } = await parts.outlets.find(key.outletId);
      const deliver: typeof assistant.deliver = async (message, to, signal) => {
        await to.keepCredential({ renewed: messages });
        return assistant.deliver(message, to, signal);
      };
      const watched = {
        ...parts,
        store: { ...store, read: store.read.bind(store), transaction },
        outlets: { find: async () => ({ assistant: { ...assistant, deliver }, settings }) },
      } as unknown as typeof parts;
      for (const [isUrgent, only] of [
        [true, "urgent"],
        [false, "soon"],
      ] as const) {
        [stopping, messages] = [new AbortController(), 0];
        // The first report is sent to its end. The second one is broken off after its first message.
        for (const sent of [2, 3]) {
          await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "", stateMs: 1 }, 1));
          await dueNow();
          priorities = new Set();
          await sendDue(watched, key, stopping.signal, isUrgent);
          assert.deepEqual([messages, [...priorities]], [sent, [only]]);
        }
      }
    }));

  it("reports an alarm that eases to a warning without a delay, and not as a new alarm", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, sent, feed, log } = await linked(store);
      const eased: ThingChange = {
        ...alarmed("t_a"),
        fields: [{ trait: "smoke", field: "state", value: "warning", isEased: true }],
      };
      await log(eased);
      await log(alarmed("t_b"), eased);
      await log(alarmed("t_a", "unknown"));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state unknown", "t_b state alarm"]);
    }));

  it("reports a new thing whose alarm sounds as added and with its state, in one message", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, sent, feed, log } = await linked(store);
      await log({ ...alarmed("t_a"), what: "added" });
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a sync alarm"]);
    }));

  it("does not lose a change that comes while it sends", () =>
    onStore(sqliteHarness, async (store) => {
      let during = async () => undefined as unknown;
      const { parts, key, sent, feed, log, marks } = await linked(store, async ({ thingIds }) => {
        if (thingIds[0] === "t_b") await during();
        return taken;
      });
      during = async () => {
        during = async () => undefined;
        await log(alarmed("t_a", "warning"));
        await feed();
      };
      await log(alarmed("t_a"), alarmed("t_b"));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state alarm", "t_b state alarm"]);
      assert.deepEqual(
        (await marks()).map(({ rises }) => rises.map(({ state }) => state)),
        [["warning"]],
      );
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent.at(-1), "t_a state warning");
      assert.deepEqual(await marks(), []);
    }));

  it("retries a failed report later, but at once when an emergency was logged during the attempt", () =>
    onStore(sqliteHarness, async (store) => {
      let during = async () => undefined as unknown;
      const { parts, key, feed, log, grant, marks } = await linked(store, async () => {
        await during();
        return down;
      });
      await log(alarmed("t_a"));
      await feed();
      await sendDue(parts, key, stillGoing);
      const { dueMs, attempts, problem } = (await grant())!;
      assert.ok(dueMs! > 0);
      assert.deepEqual([attempts, problem, (await marks()).length], [1, "down", 1]);
      await store.transaction((tx) => tx.assistantGrants.wakeResumed(key, 1));
      during = async () => {
        await log(alarmed("t_b"));
        await feed();
      };
      await sendDue(parts, key, stillGoing);
      assert.deepEqual([(await grant())?.dueMs, (await grant())?.attempts], [0, 2]);
    }));

  it("sends nothing more after the user has ended the link during a report", () =>
    onStore(sqliteHarness, async (store) => {
      let during = async () => undefined as unknown;
      const { parts, key, home, sent, feed, log, grant } = await linked(store, async () => {
        await during();
        return taken;
      });
      during = async () => {
        const [granted] = await store.read((tx) => tx.grants.ofUser(home.userId));
        await store.transaction((tx) => tx.grants.remove(granted!));
      };
      await log(alarmed("t_a"), alarmed("t_b"));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state alarm"]);
      assert.equal(await grant(), undefined);
      assert.equal(await sendDue(parts, key, stillGoing), false);
    }));

  it("forgets a user whom the assistant does not know", () =>
    onStore(sqliteHarness, async (store) => {
      const unknown: Outcome = { result: "forget", status: 404, text: "not linked" };
      const { parts, key, feed, log, grant, marks } = await linked(store, async () => unknown);
      await log(alarmed("t_a"), alarmed("t_b"));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.equal(await grant(), undefined);
      assert.deepEqual(await marks(), []);
      const [delivery] = await store.read((tx) => tx.assistantDeliveries.newest(outletId, undefined, 10));
      assert.deepEqual([delivery?.outcome, delivery?.status], ["forgotten", 404]);
    }));

  it("releases its claim on the grant when building the report took too long", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, runtime, sent, feed, log, grant } = await linked(store);
      await log(alarmed("t_a"));
      await feed();
      const { homes } = parts;
      const some = async () => {
        await runtime.advance(reportTimes.usedMs);
        return homes.some(key.userId, []);
      };
      const slow = { ...homes, some };
      await sendDue({ ...parts, homes: slow }, key, stillGoing);
      assert.deepEqual(sent, []);
      assert.equal((await grant())?.dueMs, 0);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state alarm"]);
    }));

  it("reports a gone thing at once as unreachable, and as removed 15 minutes later unless it is back", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, sent, feed, log, marks } = await linked(store);
      await log(changed("t_a", "gone"));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state"]);
      assert.deepEqual(await marks(removalMs - 5_000), []);
      assert.equal((await marks(removalMs)).length, 1);
      assert.deepEqual(await store.read(async (tx) => tx.assistantMarks.leaving(key, await tx.clock.nowMs())), ["t_a"]);
      await log(changed("t_a", "added"));
      await feed();
      const [back] = await marks(removalMs);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      assert.ok(back!.syncMs! < nowMs + removalMs / 2, "it is told as added, not as removed");
    }));

  it("reports all things of a home whose link turns stale, and again when it is live", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, home, sent, stale, things, grant } = await linked(store);
      const turn = (isStale: boolean) => {
        stale.splice(0, 1, ...(isStale ? [home.devices[0]!] : []));
        for (const [id, thing] of things) things.set(id, { ...thing, isStale });
      };
      turn(true);
      await sweepReports(parts as never, stillGoing);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent.splice(0), ["t_a state", "t_b state"]);
      assert.deepEqual((await grant())?.staleDevices, [home.devices[0]]);
      await store.transaction(async (tx) => {
        const feed = await tx.assistantMarks.lockFeed();
        await tx.assistantMarks.setFeed({ ...feed, sweptMs: 0 });
      });
      await sweepReports(parts as never, stillGoing);
      assert.equal((await grant())?.dueMs, null, "nothing has changed since");
      turn(false);
      await store.transaction(async (tx) => {
        const feed = await tx.assistantMarks.lockFeed();
        await tx.assistantMarks.setFeed({ ...feed, sweptMs: 0 });
      });
      await sweepReports(parts as never, stillGoing);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state", "t_b state"]);
    }));

  it("reports everything again after the store was restored", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, sent, feed } = await linked(store);
      await store.transaction((tx) => tx.logEpoch.renew("restored", true));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a sync", "t_b sync"]);
    }));

  it("waits longer after each failure, at most a quarter of an hour", () => {
    assert.deepEqual(
      [1, 2, 5, 30].map((attempts) => waitAfter(attempts, 0)),
      [1_000, 2_000, 16_000, 900_000],
    );
  });
});
