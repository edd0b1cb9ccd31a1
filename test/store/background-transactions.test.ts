import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import { openPostgres } from "../../src/store/postgres/store.ts";
import type { Priority } from "../../src/store/seam.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";

const many = 20;

describe("background transactions on PostgreSQL", { skip: missingPostgres() ?? false }, () => {
  it("never delay others, and wait without a limit", { timeout: 60_000 }, async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    const store = await openPostgres({ url, longestWaitMs: 500 });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    t.after(() => {
      release();
      return store.close();
    });
    const hold = (priority: Priority) =>
      Array.from({ length: many }, (_, i) =>
        store.transaction(async (tx) => {
          await tx.settings.get("held");
          await released;
          return i;
        }, priority),
      );

    const patients = hold({ background: true });
    await store.transaction((tx) => tx.settings.get("anything"));
    const others = hold({});
    // Some have a connection; the rest fail after the time limit.
    await assert.rejects(Promise.all(others), StoreUnavailable);
    release();
    assert.deepEqual(await Promise.all(patients), [...Array(many).keys()]);
    await Promise.allSettled(others);
  });

  it("become urgent when their signal aborts", { timeout: 60_000 }, async (t) => {
    const url = await (await sharedCluster()).createDatabase();
    const store = await openPostgres({ url });
    const { promise: released, resolve: release } = Promise.withResolvers<void>();
    t.after(() => {
      release();
      return store.close();
    });
    const before = Array.from({ length: many }, () => store.transaction(() => released, { background: true }));
    const becomingUrgent = new AbortController();
    const behind = store.transaction((tx) => tx.settings.get("anything"), {
      background: true,
      becomesUrgent: becomingUrgent.signal,
    });
    becomingUrgent.abort();
    await behind;
    release();
    await Promise.all(before);
  });
});
