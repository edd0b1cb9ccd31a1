import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { onStore } from "./store/harness.ts";
import { gate, keep, kept } from "./store/home.ts";
import { sqliteHarness } from "./store/sqlite-harness.ts";
import { describeStore } from "./store.contract.ts";

describeStore("the store on SQLite", sqliteHarness);

describe("the store on SQLite, which runs one body at a time", () => {
  it("fails a body that awaits anything but its transaction, and keeps working", () =>
    onStore(sqliteHarness, async (store) => {
      const [resume, resumed] = [gate(), gate()];
      let late: Promise<unknown> = Promise.resolve();
      const waiting = store.transaction(async (tx) => {
        await keep("before it waited")(tx);
        await resume.opened;
        late = keep("after it waited")(tx);
        late.catch(resumed.open);
      });
      const next = store.transaction(keep("next"));
      await assert.rejects(waiting, /waited for something other than its transaction/);
      await next;
      resume.open();
      await resumed.opened;
      await assert.rejects(late, /after it had ended/);
      for (const name of ["before it waited", "after it waited"]) assert.equal(await kept(store, name), false);
    }));

  it("fails a read that awaits anything else, and other reads continue", () =>
    onStore(sqliteHarness, async (store) => {
      const never = gate();
      const waiting = store.read(() => never.opened);
      const next = store.read((tx) => tx.settings.get("x"));
      await assert.rejects(waiting, /waited for something other than its transaction/);
      await next;
    }));

  it("runs urgent bodies before all waiting ones", () =>
    onStore(sqliteHarness, async (store) => {
      const order: string[] = [];
      const says = (name: string, urgent = false) => store.transaction(async () => void order.push(name), { urgent });
      await Promise.all([says("first"), says("second"), says("urgent", true), says("third"), says("urgent too", true)]);
      assert.deepEqual(order, ["urgent", "urgent too", "first", "second", "third"]);
    }));

  it("runs an urgent body next, even when it arrives while a group runs", () =>
    onStore(sqliteHarness, async (store) => {
      const order: string[] = [];
      const underWay = gate();
      const bodies = Array.from({ length: 200 }, (_, i) =>
        store.transaction(async (tx) => {
          order.push(`${i}`);
          if (i === 3) underWay.open();
          await tx.settings.get("x");
        }),
      );
      await underWay.opened;
      const waitingThen = new Set(bodies);
      for (const body of bodies) void body.then(() => waitingThen.delete(body));
      await store.transaction(async () => void order.push("urgent"), { urgent: true });
      assert.ok(order.indexOf("urgent") < 10, `it ran after ${order.indexOf("urgent")} others`);
      assert.ok(waitingThen.size > 150, "its answer waited for those behind it");
      await Promise.all(bodies);
    }));
});
