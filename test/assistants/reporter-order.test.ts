import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Outcome } from "../../src/assistants/assistant.ts";
import { assistantGrants } from "../../src/assistants/grants.ts";
import { sendDue } from "../../src/assistants/reporter/sending.ts";
import { sweepReports } from "../../src/assistants/reporter/sweep.ts";
import { UnknownCommand } from "../../src/model/errors.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmed, changed, down, linked, stillGoing, taken } from "./made-assistant.ts";

describe("the reporter, between two messages of a report", () => {
  it("lets an emergency go before the rest", () =>
    onStore(sqliteHarness, async (store) => {
      let during = async () => undefined as unknown;
      const { parts, key, sent, feed, log, grant, dueNow } = await linked(store, async () => {
        await during();
        return taken;
      });
      await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 1 }, 1));
      await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "t_b", stateMs: 1 }, 2));
      await dueNow();
      during = async () => {
        during = async () => undefined;
        await log(alarmed("t_c"));
        await feed();
      };
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state"]);
      assert.equal((await grant())?.dueMs, 0);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a state", "t_c state alarm", "t_b state"]);
    }));

  it("reads again what is left, so that no message tells a state that has changed meanwhile", () =>
    onStore(sqliteHarness, async (store) => {
      const told: (readonly [string, unknown])[] = [];
      const { parts, key, runtime, things, dueNow } = await linked(store, async ({ thingIds, body }) => {
        told.push([thingIds[0]!, (body as { readonly name: string }).name]);
        const before = things.get("t_b")!;
        things.set("t_b", { ...before, name: "changed meanwhile" });
        await runtime.advance(1_000);
        return taken;
      });
      for (const thingId of ["t_a", "t_b"]) {
        await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId, stateMs: 1 }, 1));
      }
      await dueNow();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(told, [
        ["t_a", undefined],
        ["t_b", "changed meanwhile"],
      ]);
    }));

  it("leaves an ordinary report that was broken off an ordinary one", () =>
    onStore(sqliteHarness, async (store) => {
      const stopping = new AbortController();
      const { parts, key, sent, grant, dueNow } = await linked(store, async () => {
        stopping.abort();
        return taken;
      });
      await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 1 }, 1));
      await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "t_b", stateMs: 3 }, 2));
      await dueNow();
      await sendDue(parts, key, stopping.signal);
      assert.deepEqual([sent, (await grant())?.dueMs], [["t_a state"], 3]);
    }));
});

describe("an alarm behind many other changes in the log", () => {
  it("is marked before them, and once", () =>
    onStore(sqliteHarness, async (store, database) => {
      const { parts, key, sent, feed, log, grant, marks } = await linked(store);
      for (let thing = 0; thing < 550; thing++) await log(changed(`t_${thing}`));
      await log(alarmed("t_b"));
      await log(changed("t_b"));
      assert.equal(await feed(), "there is more");
      assert.equal((await grant())?.dueMs, 0);
      // Nothing else is due meanwhile, however long this takes.
      await database.jumpClock(-60_000);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_b state alarm"]);
      assert.equal(await feed(), "done");
      assert.deepEqual(
        (await marks(1_000)).filter(({ isUrgent, rises }) => isUrgent || rises.length > 0),
        [],
        "the other changes come later, and the alarm is not told again",
      );
      assert.equal(await store.read((tx) => tx.assistantMarks.count(key)), 551);
      await log(alarmed("t_b", "clear"));
      await log(alarmed("t_b", "warning"));
      assert.equal(await feed(), "done");
      const urgent = (await marks()).filter(({ isUrgent }) => isUrgent);
      assert.deepEqual(
        urgent.map(({ thingId, rises }) => [thingId, rises.map(({ state }) => state)]),
        [["t_b", ["warning"]]],
      );
    }));
});

describe("the reporter, while an emergency was not taken", () => {
  it("waits for half a minute at most, and as long as the assistant asks for", () =>
    onStore(sqliteHarness, async (store) => {
      let answer: Outcome = down;
      const { parts, key, feed, log, grant, dueNow } = await linked(store, async () => answer);
      const waited = async () => (await grant())!.dueMs! - (await store.read((tx) => tx.clock.nowMs()));
      await log(alarmed("t_a"));
      await feed();
      for (let attempts = 0; attempts < 12; attempts++) {
        await dueNow();
        await sendDue(parts, key, stillGoing);
      }
      assert.equal((await grant())?.attempts, 12);
      assert.ok((await waited()) <= 30_000);
      answer = { ...down, afterMs: 600_000 } as Outcome;
      await dueNow();
      await sendDue(parts, key, stillGoing);
      assert.ok((await waited()) > 500_000);
    }));
});

describe("the reporter, when an assistant says that the link has ended", () => {
  it("keeps a link that the user has made again meanwhile", () =>
    onStore(sqliteHarness, async (store) => {
      let during = async () => undefined as unknown;
      const ended: Outcome = { result: "forget", status: 404, text: "not linked" };
      const { parts, key, home, feed, log, grant } = await linked(store, async () => {
        await during();
        return ended;
      });
      const sealing = { seal: (text: string) => text, open: (text: string) => text };
      const grants = assistantGrants({ store, sealing, agentUserIdOf: () => "agent", wake: () => undefined });
      during = async () => {
        during = async () => undefined;
        const outlet = { id: key.outletId, tenantId: home.tenantId, clientId: "client" };
        await grants.establish(outlet, key.userId, { messagingAccess: { credential: { token: "new" }, region: "eu" } });
      };
      await log(alarmed("t_a"));
      await feed();
      await sendDue(parts, key, stillGoing);
      assert.deepEqual([(await grant())?.sealedCredential, (await grant())?.attempts], ['{"token":"new"}', 1]);
      await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "", stateMs: 1 }, 1));
      await store.transaction((tx) => tx.assistantGrants.wakeResumed(key, 1));
      await sendDue(parts, key, stillGoing);
      assert.equal(await grant(), undefined, "the new link has ended too");
    }));
});

describe("the reporter, when an operator has everything reported again", () => {
  it("tells the list of devices too, which corrects what an older node has told", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, sent } = await linked(store);
      const sealing = { seal: (text: string) => text, open: (text: string) => text };
      const grants = assistantGrants({ store, sealing, agentUserIdOf: () => "agent", wake: () => undefined });
      assert.equal(await grants.reportAll(key.outletId, key.userId), true);
      await sendDue(parts, key, stillGoing);
      assert.deepEqual(sent, ["t_a sync", "t_b sync"]);
    }));
});

describe("a link that turns stale or live", () => {
  const turnable = async (store: Parameters<typeof linked>[0], deliver?: Parameters<typeof linked>[1]) => {
    const made = await linked(store, deliver);
    const [deviceId] = made.home.devices;
    return {
      ...made,
      deviceId: deviceId!,
      turn(isStale: boolean) {
        made.stale.splice(0, 1, ...(isStale ? [deviceId!] : []));
        for (const [id, thing] of made.things) made.things.set(id, { ...thing, isStale });
      },
      compare: async () => {
        await store.transaction((tx) => tx.assistantMarks.add({ ...made.key, thingId: "~", stateMs: 1 }, 1));
        await made.dueNow();
        await sendDue(made.parts, made.key, stillGoing);
      },
      report: async () => {
        await made.dueNow();
        await sendDue(made.parts, made.key, stillGoing);
      },
    };
  };

  it("is told with all of its things, also when only one of them was to be told", () =>
    onStore(sqliteHarness, async (store) => {
      const { sent, turn, compare, report, log, feed, grant, marks, deviceId } = await turnable(store);
      turn(true);
      await log(alarmed("t_a"));
      await feed();
      await report();
      assert.deepEqual(sent.splice(0), ["t_a state alarm", "t_b state"]);
      assert.deepEqual((await grant())?.staleDevices, [deviceId]);
      await compare();
      assert.deepEqual(sent.splice(0), [], "all of it was told");
      turn(false);
      await compare();
      assert.deepEqual(sent.splice(0), ["t_a state", "t_b state"]);
      assert.deepEqual([(await grant())?.staleDevices, await marks(10_000)], [[], []]);
    }));

  it("is told again in full after a report that failed, and after a node has died", () =>
    onStore(sqliteHarness, async (store) => {
      let answer: () => Promise<Outcome> = async () => taken;
      const made = await turnable(store, () => answer());
      const { sent, turn, compare, report, claimEnds, grant, marks, deviceId } = made;
      turn(true);
      answer = async () => down;
      await compare();
      assert.deepEqual([sent.length, (await grant())?.attempts], [0, 1]);
      await report();
      assert.equal(sent.length, 0);
      answer = async () => {
        throw new Error("the node has died");
      };
      await assert.rejects(report(), /died/);
      await claimEnds();
      answer = async () => taken;
      await report();
      assert.deepEqual(sent.splice(0), ["t_a state", "t_b state"]);
      assert.deepEqual([(await grant())?.staleDevices, await marks(10_000)], [[deviceId], []]);
      turn(false);
      await compare();
      assert.deepEqual(sent.splice(0), ["t_a state", "t_b state"]);
    }));
});

describe("a late answer", () => {
  const waiting = { commandId: "c1", thingId: "t_a", reply: { endpointId: "t_a" } };

  it("is looked for until the command has an outcome, also one that another client sent first", () =>
    onStore(sqliteHarness, async (store) => {
      const { parts, key, replies, marks, dueNow } = await linked(store);
      const sealing = { seal: (text: string) => text, open: (text: string) => text };
      const grants = assistantGrants({ store, sealing, agentUserIdOf: () => "agent", wake: () => undefined });
      assert.equal(await grants.replyLater(key.outletId, key.userId, waiting), true);
      assert.equal(await grants.replyLater("another outlet", key.userId, waiting), false);
      let state = "accepted";
      const control = { receipt: async () => ({ id: "c1", state }) };
      const asked = { ...parts, control } as unknown as typeof parts;
      await sendDue(asked, key, stillGoing);
      assert.deepEqual(replies, []);
      assert.deepEqual(await marks(), []);
      assert.equal((await marks(2_000)).length, 1, "it is looked at again");
      state = "confirmed";
      await store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 1 }, 1));
      await dueNow();
      await sendDue(asked, key, stillGoing);
      assert.deepEqual(replies, ["confirmed"]);
      await sendDue(asked, key, stillGoing);
      assert.equal(replies.length, 1);
    }));

  for (const [reason, receipt] of [
    ["has no outcome when the assistant waits no longer", async () => ({ id: "c1", state: "accepted" })],
    [
      "was removed with its thing",
      async () => {
        throw new UnknownCommand();
      },
    ],
  ] as const) {
    it(`says so when the command ${reason}`, () =>
      onStore(sqliteHarness, async (store) => {
        const { parts, key, replies, dueNow } = await linked(store);
        await store.transaction(async (tx) => {
          const expiresMs = reason.startsWith("has") ? (await tx.clock.nowMs()) - 1 : Number.MAX_SAFE_INTEGER;
          await tx.assistantReplies.add({ ...key, ...waiting, reply: "{}", expiresMs }, 9);
          await tx.assistantMarks.add({ ...key, thingId: "t_a", stateMs: 1 }, 1);
        });
        await dueNow();
        await sweepReports(parts as never, stillGoing);
        await sendDue({ ...parts, control: { receipt } } as unknown as typeof parts, key, stillGoing);
        assert.deepEqual(replies, ["without an outcome"]);
      }));
  }
});
