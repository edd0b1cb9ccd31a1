import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventHub } from "../../src/events/event-hub.ts";
import type { EventReader } from "../../src/events/event-reader.ts";
import { sliceMs, TimeSlices } from "../../src/runtime/time-slices.ts";
import { flushPromises, manualRuntime } from "../federation/manual-runtime.ts";

const ofTenant = (tenant: string) => ({ tenant, holder: "" });

/** A clock on which each task takes a millisecond, and a counter of turns. */
function madeTurns() {
  const turns = { count: 0, elapsedMs: 0 };
  const turn = async () => {
    await flushPromises();
    turns.count += 1;
  };
  return { turns, turn, runtime: { elapsedMs: () => turns.elapsedMs } };
}

describe("time slices", () => {
  it("give others a turn of the event loop when their time is up, also when each task is asked for alone", async () => {
    const { turns, turn, runtime } = madeTurns();
    const slices = new TimeSlices({ turn, runtime });
    const turnOf: number[] = [];
    const task = () => {
      turns.elapsedMs += 1;
      turnOf.push(turns.count);
      return turnOf.length;
    };
    const ask = async () => {
      const first = await slices.run(ofTenant("a"), task);
      await slices.run(ofTenant("a"), task);
      return first;
    };
    const firsts = await Promise.all(Array.from({ length: 50 }, ask));
    assert.deepEqual(new Set(firsts).size, 50);
    const ofTurns = [...Map.groupBy(turnOf, (one) => one).values()].map(({ length }) => length);
    assert.equal(turnOf.length, 100);
    assert.ok(
      ofTurns.every((count) => count <= sliceMs),
      ofTurns.join(),
    );
  });

  it("run the tasks of tenants in turn", async () => {
    const { turn, runtime } = madeTurns();
    const slices = new TimeSlices({ turn, runtime });
    const order: string[] = [];
    const tenants = ["a", "a", "a", "a", "b", "b", "c"];
    await Promise.all(tenants.map((tenant) => slices.run(ofTenant(tenant), () => order.push(tenant))));
    assert.equal(order.join(""), "abcabaa");
  });

  it("run the tasks of a tenant's holders in turn, one in each turn of the tenant", async () => {
    const { turn, runtime } = madeTurns();
    const slices = new TimeSlices({ turn, runtime });
    const order: string[] = [];
    const owners = ["a1", "a1", "a1", "a2", "a3", "b1", "b1"];
    const run = (owner: string) => slices.run({ tenant: owner[0]!, holder: owner }, () => order.push(owner));
    await Promise.all(owners.map(run));
    assert.deepEqual(order, ["a1", "b1", "a1", "b1", "a2", "a3", "a1"]);
  });

  it("let urgent work go first, for one turn each", async () => {
    const { turns, turn, runtime } = madeTurns();
    const slices = new TimeSlices({ turn, runtime, hasUrgentWork: () => true });
    const turnOf: number[] = [];
    const task = () => {
      turns.elapsedMs += sliceMs;
      turnOf.push(turns.count);
    };
    await Promise.all([1, 2, 3].map(() => slices.run(ofTenant("a"), task)));
    assert.ok(turnOf[1]! >= turnOf[0]! + 2 && turnOf[2]! >= turnOf[1]! + 2, turnOf.join());
  });

  it("go on after a task has failed", async () => {
    const { turn, runtime } = madeTurns();
    const slices = new TimeSlices({ turn, runtime });
    const failing = slices.run(ofTenant("a"), () => {
      throw new RangeError("a task fails");
    });
    const next = slices.run(ofTenant("a"), () => "done");
    await assert.rejects(failing, RangeError);
    assert.equal(await next, "done");
  });
});

describe("streams that join after one read", () => {
  it("are admitted in time slices", async (t) => {
    const { turns, runtime } = madeTurns();
    const moved = manualRuntime();
    const position = { transaction: 0, id: 0 };
    const tables = { log: { tail: async () => [] }, logEpoch: { current: async () => ({ name: "e" }) } };
    const store = { isShared: false, read: async (act: (tx: unknown) => unknown) => act(tables) };
    const after = (ms: number, act: () => void) => {
      if (ms > 0) return () => undefined;
      void flushPromises().then(() => {
        turns.count += 1;
        act();
      });
      return () => undefined;
    };
    const hub = new EventHub({ store: store as never, runtime: { ...moved, ...runtime, after } });
    t.after(() => hub.stop());
    const admittedIn: number[] = [];
    const reader = {
      after: position,
      epoch: "e",
      isClosed: false,
      isBehind: false,
      catchUp: async () => true,
      caughtUp: () => undefined,
      framesOf() {
        turns.elapsedMs += 1;
        admittedIn.push(turns.count);
        return "";
      },
      parts: {
        groupKey: "group",
        accessScope: { kind: "user", userId: 1 },
        hasExpired: () => false,
        writer: { write: () => undefined, unsentBytes: 0, closed: new AbortController().signal },
      },
    };
    const readers = Array.from({ length: 50 }, () => ({ ...reader }) as unknown as EventReader);
    await Promise.all(readers.map((one) => hub.serve(one)));
    while (admittedIn.length < readers.length) {
      assert.deepEqual(moved.logLines, []);
      await flushPromises();
    }
    const ofTurns = [...Map.groupBy(admittedIn, (one) => one).values()].map(({ length }) => length);
    assert.ok(
      ofTurns.every((count) => count <= sliceMs),
      ofTurns.join(),
    );
    assert.equal(hub.readers, readers.length);
  });
});
