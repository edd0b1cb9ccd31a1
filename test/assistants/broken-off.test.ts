import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, Outcome } from "../../src/assistants/assistant.ts";
import { removalMs } from "../../src/assistants/reporter/changes.ts";
import { reportTimes } from "../../src/assistants/reporter/report-times.ts";
import { sendDue } from "../../src/assistants/reporter/sending.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { NewMark } from "../../src/store/tables/assistant-marks.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { alarmed, changed, down, linked, stillGoing, taken } from "./made-assistant.ts";

type Answer = (message: AssistantMessage) => Promise<Outcome>;

/** A user with the things `t_a` and `t_b`, each told in a message of its own. */
async function twoThings(store: OpenStore) {
  const hooks = { answer: (async () => taken) as Answer };
  const made = await linked(store, (message) => hooks.answer(message));
  const { key, parts, runtime } = made;
  return {
    ...made,
    /** Sets what becomes of the next messages. */
    answer(answer: Answer) {
      hooks.answer = answer;
    },
    /** The first message takes longer than a report may. */
    slow: async () => {
      await runtime.advance(reportTimes.usedMs);
      return taken;
    },
    mark: (thingId: string, what: Omit<NewMark, "userId" | "outletId" | "thingId">) =>
      store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId, ...what }, 1)),
    marked: async () => (await made.marks(removalMs)).map(({ thingId }) => thingId),
    async report(changed: Partial<typeof parts> = {}, stopping = stillGoing) {
      await made.dueNow();
      await sendDue({ ...parts, ...changed }, key, stopping);
    },
  };
}

describe("a report about a whole home that is broken off", () => {
  it("goes on where it was when it takes longer than a report may", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, slow, mark, marked, report, sent } = await twoThings(store);
      await mark("", { stateMs: 1, syncMs: 1 });
      answer(slow);
      await report();
      assert.deepEqual([sent, await marked()], [["t_a sync"], ["t_b"]]);
      await report();
      assert.deepEqual([sent, await marked()], [["t_a sync", "t_b sync"], []]);
    }));

  it("goes on where it was when the assistant was down, also when it is about the things of one link", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, marked, report, sent, grant, home } = await twoThings(store);
      await mark(`~${home.devices[0]}`, { stateMs: 1 });
      answer(async ({ thingIds }) => (thingIds[0] === "t_a" ? taken : down));
      await report();
      assert.deepEqual([sent, await marked(), (await grant())?.attempts], [["t_a state"], ["t_b"], 1]);
      answer(async () => taken);
      await report();
      assert.deepEqual([sent, await marked()], [["t_a state", "t_b state"], []]);
    }));

  it("goes on where it was after each emergency that goes before the rest", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, marked, report, sent, log, feed, things, grant } = await twoThings(store);
      things.set("t_d", { ...things.get("t_b")!, thingId: "t_d" });
      await mark("", { stateMs: 1, syncMs: 1 });
      answer(async ({ thingIds }) => {
        if (thingIds[0] !== "t_c") await log(alarmed("t_c"));
        await feed();
        return taken;
      });
      await report();
      assert.deepEqual([sent.splice(0), (await grant())?.dueMs], [["t_a sync"], 0]);
      assert.deepEqual((await marked()).toSorted(), ["t_b", "t_c", "t_d"]);
      await report();
      assert.deepEqual(sent.splice(0), ["t_c state alarm", "t_b sync"]);
      await report();
      assert.deepEqual(sent, ["t_c state alarm", "t_d sync"]);
    }));

  it("goes on where it was when its node stops, which is no failure of the assistant", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, marked, report, sent, grant } = await twoThings(store);
      await mark("", { stateMs: 1, syncMs: 1 });
      const stopping = new AbortController();
      answer(async ({ thingIds }) => {
        if (thingIds[0] === "t_a") return taken;
        stopping.abort();
        return { result: "retry", status: null, text: "no answer in time" };
      });
      await report({}, stopping.signal);
      assert.deepEqual([sent, await marked()], [["t_a sync"], ["t_b"]]);
      const { attempts, problem, dueMs } = (await grant())!;
      assert.deepEqual([attempts, problem], [0, null]);
      assert.ok(dueMs! <= (await store.read((tx) => tx.clock.nowMs())), "another node may go on at once");
    }));

  it("begins anew when nothing was taken, or everything is to be told again meanwhile", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, marked, report, slow } = await twoThings(store);
      await mark("", { stateMs: 1 });
      answer(async () => down);
      await report();
      assert.deepEqual(await marked(), [""]);
      answer(async () => {
        await mark("", { stateMs: 1 });
        return slow();
      });
      await report();
      assert.deepEqual((await marked()).toSorted(), ["", "t_b"]);
    }));

  it("does not bring the removal of a thing forward that vanishes meanwhile", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, marks, report, slow } = await twoThings(store);
      const syncMs = Number.MAX_SAFE_INTEGER;
      await mark("", { stateMs: 1, syncMs: 1 });
      answer(async () => {
        await mark("t_b", { stateMs: 1, syncMs, isGone: true });
        return slow();
      });
      await report();
      assert.deepEqual(
        (await marks()).map((mark) => [mark.thingId, mark.syncMs]),
        [["t_b", syncMs]],
      );
    }));

  it("is not tried again at once because of an emergency that it has read", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, report, log, feed, grant } = await twoThings(store);
      await mark("", { stateMs: 1 });
      await log(alarmed("t_a"), alarmed("t_b"));
      await feed();
      answer(async ({ thingIds }) => (thingIds[0] === "t_a" ? taken : down));
      await report();
      assert.ok((await grant())!.dueMs! > 0);
    }));

  it("keeps what the last attempt said, which decides about its next messages", () =>
    onStore(sqliteHarness, async (store) => {
      const { answer, mark, report, slow, grant } = await twoThings(store);
      await mark("", { stateMs: 1 });
      answer(async () => down);
      await report();
      answer(slow);
      await report();
      assert.deepEqual([(await grant())?.attempts, (await grant())?.problem], [1, "down"]);
    }));
});

describe("a late answer of a thing whose state was told, when the report is broken off after that", () => {
  const broken: Readonly<Record<string, (home: Awaited<ReturnType<typeof twoThings>>) => Answer>> = {
    "because the assistant is down":
      () =>
      async ({ thingIds }) =>
        thingIds[0] === "t_b" ? down : taken,
    "because it takes too long":
      ({ slow }) =>
      () =>
        slow(),
    "for an emergency":
      ({ log, feed }) =>
      async () => {
        await log(alarmed("t_c"));
        await feed();
        return taken;
      },
  };
  for (const [why, answerOf] of Object.entries(broken)) {
    it(`is looked for again: ${why}`, () =>
      onStore(sqliteHarness, async (store) => {
        const made = await twoThings(store);
        const { key, mark, report, answer, sent } = made;
        const reply = { ...key, commandId: "c1", thingId: "t_a", reply: "{}", expiresMs: Number.MAX_SAFE_INTEGER };
        await store.transaction((tx) => tx.assistantReplies.add(reply, 9));
        await mark("t_a", { sinceMs: 1, stateMs: 1 });
        await mark("t_b", { sinceMs: 2, stateMs: 1 });
        answer(answerOf(made));
        await report({ control: { receipt: async () => ({ id: "c1", state: "accepted" }) } } as never);
        assert.deepEqual(sent, ["t_a state"]);
        assert.ok((await made.marked()).includes("t_a"));
      }));
  }
});

describe("a thing that vanishes after its new description was marked", () => {
  it("is told as unreachable, and as removed later, also before the mark of that is made", () =>
    onStore(sqliteHarness, async (store) => {
      const { things, mark, report, sent, marks } = await twoThings(store);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      things.set("t_a", { ...things.get("t_a")!, goneMs: nowMs });
      await mark("t_a", { sinceMs: 0, stateMs: 1, syncMs: 1 });
      await report();
      assert.deepEqual([sent, await marks()], [["t_a state"], []]);
      assert.deepEqual(
        (await marks(removalMs + 60_000)).map(({ thingId, syncMs }) => [thingId, syncMs! > nowMs + removalMs / 2]),
        [["t_a", true]],
        "it is told as removed if no other mark comes",
      );
      things.set("t_a", { ...things.get("t_a")!, goneMs: 1 });
      await mark("t_a", { syncMs: 1 });
      await report();
      assert.deepEqual(sent.at(-1), "t_a sync");
    }));

  it("is not told as removed when it is back before the report ends", () =>
    onStore(sqliteHarness, async (store) => {
      const { things, mark, report, answer, marks } = await twoThings(store);
      const nowMs = await store.read((tx) => tx.clock.nowMs());
      things.set("t_a", { ...things.get("t_a")!, goneMs: nowMs });
      await mark("t_a", { sinceMs: 0, stateMs: 1, syncMs: 1 });
      answer(async () => {
        await mark("t_a", { stateMs: 1, syncMs: 1, isBack: true });
        return taken;
      });
      await report();
      assert.deepEqual(
        (await marks()).map(({ syncMs }) => syncMs),
        [1],
      );
    }));

  it("is told as unreachable when it vanishes between two messages of a report", () =>
    onStore(sqliteHarness, async (store) => {
      const { things, mark, report, answer, runtime, sent } = await twoThings(store);
      await mark("t_a", { sinceMs: 1, stateMs: 1 });
      await mark("t_b", { sinceMs: 2, stateMs: 1, syncMs: 1 });
      answer(async () => {
        things.set("t_b", { ...things.get("t_b")!, goneMs: 1 });
        await runtime.advance(reportTimes.readAgainMs);
        return taken;
      });
      await report();
      assert.deepEqual(sent, ["t_a state", "t_b state"]);
    }));

  const marked = {
    "of its own": { thingId: "t_b", sinceMs: 0, stateMs: 1, syncMs: 1 },
    "for the whole home": { thingId: "", stateMs: 1, syncMs: 1 },
  };
  for (const [which, { thingId, ...what }] of Object.entries(marked)) {
    it(`loses all parts that the assistant may have when it vanishes between two messages, with a mark ${which}`, () =>
      onStore(sqliteHarness, async (store) => {
        const { things, mark, report, answer, runtime, feed, log, marks } = await twoThings(store);
        await mark("t_a", { sinceMs: -1, stateMs: 1 });
        await mark(thingId, what);
        answer(async (message) => {
          if (message.thingIds[0] === "t_a") things.set("t_b", { ...things.get("t_b")!, goneMs: 1 });
          await runtime.advance(reportTimes.readAgainMs);
          return taken;
        });
        await report();
        await log(changed("t_b", "gone"));
        await feed();
        const [left, ...others] = await marks(removalMs + 60_000);
        assert.deepEqual([left?.thingId, left?.sinceMs, others], ["t_b", 0, []]);
        const nowMs = await store.read((tx) => tx.clock.nowMs());
        assert.ok(left!.syncMs! > nowMs + removalMs / 2, "it may come back until then");
      }));
  }
});
