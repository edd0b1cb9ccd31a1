import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import type { TenantId } from "../../src/model/ids.ts";
import { sliceMs, type TurnOwner } from "../../src/runtime/time-slices.ts";
import { findNames } from "../../src/service/name-search.ts";
import type { OpenStore, Transaction } from "../../src/store/seam.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { newDataFolder } from "../set-up/sqlite-template.ts";

/** A store on which each look at the clock uses up a slice, so that each statement has a slice of its own. */
async function storeOfSlowReads(t: TestContext) {
  const slow = { turns: 0, owner: undefined as TurnOwner | undefined };
  let elapsedMs = 0;
  const store = await openSqlite({
    folder: await newDataFolder("breezeway-slices-"),
    nowMs: Date.now,
    ownerOfRead: () => slow.owner,
    slices: {
      async turn() {
        await nextTurn();
        slow.turns += 1;
      },
      runtime: { elapsedMs: () => (elapsedMs += sliceMs / 2) },
    },
  });
  t.after(() => store.close());
  /** What has ended, in order. */
  const order: string[] = [];
  const ended = (name: string) => () => void order.push(name);
  const readAs = <Result>(tenant: string, act: () => Result): Result => {
    slow.owner = { tenant, holder: "" };
    return act();
  };
  return { store, slow, readAs, order, ended };
}

const setting = (tx: Transaction) => tx.settings.get("some");

describe("reads on SQLite", () => {
  it("of another tenant wait for one slice of each search of a tenant at most", async (t) => {
    const { store, readAs, slow, order, ended } = await storeOfSlowReads(t);
    /** The store as a search uses it: each of its reads has the owner and is recorded. */
    const searched: Pick<OpenStore, "read"> = {
      read: (body, priority) => readAs("searching", () => store.read(body, priority)).finally(ended("search")),
    };
    const tenants = Array.from({ length: 10 }, (_, index) => (index + 1) as TenantId);
    const searches = Array.from({ length: 40 }, () => findNames(searched, "hall", tenants, 1));
    while (order.length < 5) await nextTurn();
    const before = order.length;
    await readAs("other", () => store.read(setting)).then(ended("other"));
    const waitedFor = order.indexOf("other") - before;
    assert.ok(waitedFor <= 2, `it waited for ${waitedFor} reads of the searches`);
    await Promise.all(searches);
    assert.equal(order.length, 1 + 40 * tenants.length);
    assert.ok(slow.turns >= order.length / 2, `${order.length} reads in ${slow.turns} turns of the event loop`);
  });

  it("let writes be done between two statements, and go on with what they had begun to see", async (t) => {
    const { store, order, ended } = await storeOfSlowReads(t);
    const read = store.read(async (tx) => {
      const seen: (string | undefined)[] = [];
      for (let statements = 0; statements < 10; statements++) seen.push(await setting(tx));
      return seen;
    });
    const write = store.transaction((tx) => tx.settings.set("some", "written"), { urgent: true });
    await Promise.all([read.then(ended("read")), write.then(ended("write"))]);
    assert.deepEqual(order, ["write", "read"]);
    assert.deepEqual(new Set(await read), new Set([undefined]));
    assert.equal(await store.read(setting), "written");
  });

  it("run their statements that wait together", async (t) => {
    const { store } = await storeOfSlowReads(t);
    const statements = (tx: Transaction) => Promise.all(Array.from({ length: 10 }, () => setting(tx)));
    assert.equal((await store.read(statements)).length, 10);
  });

  it("still fail when their body waits for something else", async (t) => {
    const { store } = await storeOfSlowReads(t);
    const body = async (tx: Transaction) => {
      await setting(tx);
      await setting(tx);
      await nextTurn();
      await nextTurn();
    };
    await assert.rejects(store.read(body), /waited for something other than its transaction/);
  });

  it("are refused when the store closes before their turn", async (t) => {
    const { store } = await storeOfSlowReads(t);
    const running = store.read(async (tx) => {
      for (let statements = 0; statements < 10; statements++) await setting(tx);
    });
    await nextTurn();
    const waiting = store.read(setting);
    await Promise.all([running, store.close(), assert.rejects(waiting, /closed/)]);
  });
});
