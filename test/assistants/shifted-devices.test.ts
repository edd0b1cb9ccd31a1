import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AssistantMessage, DueReport } from "../../src/assistants/assistant.ts";
import type { CurrentThing } from "../../src/assistants/current-thing.ts";
import { type SendingParts, sendDue } from "../../src/assistants/reporter/sending.ts";
import { onStore } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { withTables } from "../simulate/plants/changed-parts.ts";
import { linked, stillGoing, taken } from "./made-assistant.ts";

const farMs = Number.MAX_SAFE_INTEGER;

/** A home whose assistant takes one device, or `most`: the first by name of its id. */
async function limited(store: Parameters<typeof linked>[0], most = 1) {
  const told: string[] = [];
  const made = await linked(store, async ({ thingIds, body }) => {
    told.push(`${thingIds[0]} ${(body as { readonly name?: string }).name}`);
    return taken;
  });
  const { key, things, parts } = made;
  const hooks = { afterRead: async () => undefined as unknown };
  const choose = (all: readonly CurrentThing[]) => {
    const devices = all.map(({ thingId }) => ({ id: thingId, thingId, name: thingId }));
    devices.sort((a, b) => (a.id < b.id ? -1 : 1));
    return { offered: devices.slice(0, most), omitted: devices.slice(most) };
  };
  const { assistant } = await parts.outlets.find(key.outletId);
  const messages = (due: DueReport): readonly AssistantMessage[] =>
    assistant.messages(
      { ...due, things: due.things.filter((one) => one.current && !due.omitted!.has(one.thingId)) },
      {},
    );
  const limitedParts = {
    ...parts,
    outlets: { find: async () => ({ assistant: { ...assistant, choose, messages }, settings: {} }) },
    homes: {
      all: async () => {
        const present = [...things.values()].filter(({ goneMs }) => goneMs === null);
        await hooks.afterRead();
        return present;
      },
      some: async (_: unknown, ids: readonly string[]) => new Map([...things].filter(([id]) => ids.includes(id))),
    },
  } as unknown as SendingParts;
  const mark = (thingId: string, what: object) =>
    store.transaction((tx) => tx.assistantMarks.add({ ...key, thingId, ...what }, 1));
  const change = (thingId: string, how: Partial<CurrentThing>) =>
    things.set(thingId, { ...things.get(thingId)!, ...how });
  const report = async (changed = limitedParts) => {
    await made.dueNow();
    await sendDue(changed, key, stillGoing);
  };
  return { ...made, told, hooks, mark, change, report, parts: limitedParts };
}

/** A home in which the thing `t_b` gets the place of `t_a`. Something happens right after the home was read. */
async function replaced(
  store: Parameters<typeof linked>[0],
  happens: (home: Awaited<ReturnType<typeof limited>>) => Promise<unknown>,
) {
  const home = await limited(store);
  home.change("t_b", { name: "before" });
  await store.transaction((tx) => tx.assistantGrants.setOmitted(home.key, ["t_b"]));
  home.things.delete("t_a");
  await home.mark("t_a", { syncMs: 1, isGone: true });
  home.hooks.afterRead = async () => {
    home.hooks.afterRead = async () => undefined;
    await happens(home);
  };
  await home.report();
  assert.deepEqual(home.told, ["t_b before"]);
  return home;
}

describe("a thing that an assistant is offered from now on", () => {
  it("is told once when nothing changes meanwhile", () =>
    onStore(sqliteHarness, async (store) => {
      const { marks, grant } = await replaced(store, async () => undefined);
      assert.deepEqual([await marks(), (await grant())?.omitted, (await grant())?.dueMs], [[], [], null]);
    }));

  it("is told again when it changes while the report is built", () =>
    onStore(sqliteHarness, async (store) => {
      const { told, report, marks } = await replaced(store, async ({ change, mark }) => {
        change("t_b", { name: "after" });
        await mark("t_b", { stateMs: 1 });
      });
      await report();
      assert.deepEqual([told.at(-1), await marks()], ["t_b after", []]);
    }));

  it("is told as unreachable at once, and not as removed, when it vanishes while the report is built", () =>
    onStore(sqliteHarness, async (store) => {
      const { grant, marks } = await replaced(store, async ({ change, mark }) => {
        change("t_b", { goneMs: 1 });
        await mark("t_b", { stateMs: 1, syncMs: farMs, isGone: true, isUrgent: true });
      });
      assert.equal((await grant())?.dueMs, 0);
      assert.deepEqual(
        (await marks()).map(({ thingId, isUrgent, syncMs }) => [thingId, isUrgent, syncMs]),
        [["t_b", true, farMs]],
      );
    }));
});

describe("a home with very many devices beyond the limit of its assistant", () => {
  it("is marked with few statements", () =>
    onStore(sqliteHarness, async (store) => {
      const { key, parts, things, mark, report, told, marks, grant, change } = await limited(store, 300);
      const [any] = things.values();
      things.clear();
      for (let number = 0; number < 2_000; number++) {
        const thingId = `t_${String(number).padStart(4, "0")}`;
        things.set(thingId, { ...any!, thingId });
      }
      change("t_0000", { name: "changed" });
      await store.transaction((tx) => tx.assistantGrants.setOmitted(key, []));
      await mark("t_0000", { syncMs: 1 });
      let calls = 0;
      const counting = withTables(parts.store, (tx) => ({
        assistantMarks: {
          add: () => assert.fail("marks are added together"),
          find: () => assert.fail("marks are found together"),
          addAll: (...given) => {
            calls += 1;
            return tx.assistantMarks.addAll(...given);
          },
        },
      }));
      await report({ ...parts, store: counting });
      assert.deepEqual([calls, told, await marks()], [4, ["t_0000 changed"], []]);
      assert.equal((await grant())?.omitted?.length, 1_700);
    }));
});
