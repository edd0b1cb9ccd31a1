import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { AlertTables } from "../../src/alerts/alert-tables.ts";
import { type Commanding, commandThings, type Order, reachedNow } from "../../src/alerts/commanding.ts";
import type { CommitTables } from "../../src/devices/commit.ts";
import type { AlertCommand } from "../../src/model/alert-commands.ts";
import type { TriggerId, UserId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";

const alert = { id: 1 as TriggerId, userId: 7 as UserId };
const all: number = limits.alertCommandsPerCause;
const linkedAtMost = limits.linkedCommandsPerCause;

/** A command that reaches so many things. Their ids begin with the name; those with `linked` have rows. */
const to = (name: string, count: number) => ({ name, count }) as unknown as AlertCommand;
const lost = { thingId: "t_lost", name: "t_lost", count: 0 } as unknown as AlertCommand;

function made({ missing = [] }: { readonly missing?: readonly string[] } = {}) {
  const orders: Order[] = [];
  const asked: number[] = [];
  const lookedUp: number[] = [];
  const commanding: Commanding = {
    async reached(_, __, command, limit) {
      asked.push(limit);
      const { name, count } = command as unknown as { readonly name: string; readonly count: number };
      return Array.from({ length: Math.min(count, limit) }, (_, nth) => `${name} ${nth}`);
    },
    async admit(_, order) {
      orders.push(order);
      const present = order.thingIds.filter((thingId) => !missing.includes(thingId));
      return present.map((thingId) => ({ thingId, commandId: `c ${thingId}`, state: "queued" }));
    },
    admitted: () => undefined,
  };
  const tx = {
    things: {
      async some(_: UserId, ids: readonly string[]) {
        lookedUp.push(ids.length);
        return ids.filter((thingId) => thingId.startsWith("linked")).map((thingId) => ({ thingId }));
      },
    },
  } as unknown as CommitTables & AlertTables;
  const send = (commands: readonly AlertCommand[], left = all) =>
    commandThings(commanding, tx, { ...alert, commands }, left);
  const show = (commands: readonly AlertCommand[]) => reachedNow(commanding, tx, { ...alert, commands });
  return { send, show, orders, asked, lookedUp };
}

describe("the commands of a firing", () => {
  it("reach as many things as the change may still command, and say when there were more", async () => {
    const { send, asked } = made();
    const exact = await send([to("own", 3)], 3);
    assert.deepEqual([exact.commands.length, exact.isLimitReached, exact.notes], [3, false, []]);
    const beyond = await send([to("own", 4)], 3);
    assert.deepEqual([beyond.commands.length, beyond.isLimitReached], [3, true]);
    assert.deepEqual(asked, [4, 4], "one more than may be sent shows whether there are more");
    const second = await send([to("own", 2), to("other", 2)], 3);
    assert.deepEqual(
      [second.commands.map(({ thingId }) => thingId), second.isLimitReached],
      [["own 0", "own 1", "other 0"], true],
    );
    assert.deepEqual(asked.slice(2), [4, 2]);
  });

  it("reach fewer things of linked accounts, of which earlier firings take a part", async () => {
    const { send } = made();
    const linked = await send([to("linked", linkedAtMost + 1), to("own", 5)]);
    assert.deepEqual([linked.commands.length, linked.isLimitReached], [linkedAtMost + 5, true]);
    const own = await send([to("own", linkedAtMost + 5)]);
    assert.deepEqual([own.commands.length, own.isLimitReached], [linkedAtMost + 5, false]);
    const mixed = await send([to("own", 5), to("linked", linkedAtMost)]);
    assert.deepEqual([mixed.commands.length, mixed.isLimitReached], [linkedAtMost + 5, false]);
    const later = await send([to("linked", 3), to("own", 3)], all - linkedAtMost + 2);
    assert.deepEqual(later.commands.map(({ thingId }) => thingId).slice(0, 3), ["linked 0", "linked 1", "own 0"]);
  });

  it("that reach nothing ask for no rows and no receipts; a named thing that is missing is noted", async () => {
    const { send, orders, lookedUp } = made();
    const { commands, notes, isLimitReached } = await send([to("room", 0), lost]);
    assert.deepEqual([commands, notes, isLimitReached], [[], ["thing t_lost is not there any more"], false]);
    assert.deepEqual([orders, lookedUp], [[], []]);
  });

  it("note the things that went while they were sent", async () => {
    const { send } = made({ missing: ["own 1"] });
    const { commands, notes } = await send([to("own", 2)]);
    assert.deepEqual([commands.length, notes], [1, ["thing own 1 is not there any more"]]);
  });

  it("are shown beforehand within the same limits", async () => {
    const { show, orders } = made();
    const shown = await show([to("linked", linkedAtMost + 1), to("own", 1)]);
    assert.deepEqual([shown.length, shown.at(-1)?.thingId, orders], [linkedAtMost + 1, "own 0", []]);
  });
});
