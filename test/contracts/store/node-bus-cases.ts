import assert from "node:assert/strict";
import { it } from "node:test";
import { StoreUnavailable } from "../../../src/model/errors.ts";
import type { Hint } from "../../../src/store/node-bus.ts";
import type { OpenStore, Transaction } from "../../../src/store/seam.ts";
import { onDatabase, onStore, type StoreHarness, type TestDatabase } from "./harness.ts";
import { linkOf, makeHome, node } from "./home.ts";

const leaseMs = 6_000;

export function nodeBusCases(harness: StoreHarness): void {
  it("hold a presence lock each, and release it", () =>
    onStore(harness, async (store) => {
      const database = await store.nodeBus.takePresenceLock(node("A"), () => assert.fail("nobody took it"));
      await database.check();
      await database.release();
      await database.release();
    }));

  if (harness.kind === "sqlite") return;

  it("see at once whose presence lock is free", { timeout: 30_000 }, (t) =>
    onDatabase(harness, async (database) => {
      const [a, b] = [await database.open(), await database.open()];
      for (const name of ["A", "B", "silent"]) await a.transaction((tx) => tx.nodes.beat(node(name)));
      await a.nodeBus.takePresenceLock(node("A"), () => undefined);
      const placeOfB = await b.nodeBus.takePresenceLock(node("B"), () => undefined);
      const alive = (inPlace: boolean) => a.read((tx) => tx.nodes.alive(leaseMs, inPlace));
      assert.deepEqual(await alive(false), ["A", "B", "silent"]);
      assert.deepEqual(await alive(true), ["A", "B"]);
      await placeOfB.release();
      while ((await alive(true)).length > 1) t.signal.throwIfAborted();
      assert.deepEqual(await alive(true), ["A"]);
      await database.jumpClock(leaseMs + 1);
      assert.deepEqual(
        await alive(true),
        [],
        "a node without a heartbeat for a lease is dead, with or without its lock",
      );
    }),
  );

  it("notice that their presence lock was lost, and can take it again", { timeout: 30_000 }, () =>
    onStore(harness, async (store, database) => {
      await store.transaction((tx) => tx.nodes.beat(node("A")));
      const { promise: lost, resolve } = Promise.withResolvers<void>();
      const first = await store.nodeBus.takePresenceLock(node("A"), resolve);
      await terminateHolders(database);
      await lost;
      await assert.rejects(first.check(), StoreUnavailable);
      const again = await store.nodeBus.takePresenceLock(node("A"), () => assert.fail("lost again"));
      await again.check();
      assert.deepEqual(await store.read((tx) => tx.nodes.alive(leaseMs, true)), ["A"]);
    }),
  );

  it("can take their presence lock while a dead connection still holds it", () =>
    onStore(harness, async (store) => {
      await store.nodeBus.takePresenceLock(node("A"), () => undefined);
      await (await store.nodeBus.takePresenceLock(node("A"), () => undefined)).check();
    }));

  it("declare no node dead before the store has been up for a lease", () =>
    onStore(harness, async (store) => {
      assert.equal(await store.read((tx) => tx.nodes.isSettled(0)), true);
      assert.equal(await store.read((tx) => tx.nodes.isSettled(10 * 365 * 86_400_000)), false);
    }));

  it("get a hint after a commit of another node, and after nothing else", { timeout: 30_000 }, () =>
    onDatabase(harness, async (database) => {
      const [teller, other] = [await database.open(), await database.open()];
      const home = await makeHome(teller);
      const listener = await listening(other);
      const heardHere = await listening(teller);
      listener.hints.length = 0;
      heardHere.hints.length = 0;
      await teller.transaction((tx) => tx.nodes.beat(node("A")));
      const failed = teller.transaction(async (tx) => {
        await tx.links.add(linkOf(home, node("A")));
        await tx.links.takeOver(home.userId, home.devices[0]!, node("A"));
        throw new Error("changed my mind");
      });
      await assert.rejects(failed, /changed my mind/);
      await teller.transaction((tx) =>
        tx.log.append({ userId: null, deviceId: null, kind: "revocation", timeMs: 1, body: "{}" }),
      );
      assert.deepEqual(heardHere.hints, ["log", "revocations"], "its own at once");
      await listener.until("revocations");
      assert.deepEqual(listener.hints, ["log", "revocations"]);
    }),
  );

  it("get a hint of each change that other nodes act on", { timeout: 30_000 }, () =>
    onStore(harness, async (store) => {
      const home = await makeHome(store);
      const { userId, tenantId } = home;
      const device = home.devices[0]!;
      const ofTenant = { tenantId, clientId: null };
      const { hints } = await listening(store);
      const changes: readonly (readonly [Hint | undefined, (tx: Transaction) => Promise<unknown>])[] = [
        [undefined, (tx) => tx.links.add(linkOf(home, node("A")))],
        ["links", (tx) => tx.links.takeOver(userId, device, node("B"))],
        ["links", (tx) => tx.links.releaseSome(node("B"), [{ deviceId: device, epoch: 2 }])],
        ["links", (tx) => tx.links.claimOrphans(node("C"), [], 1)],
        [undefined, (tx) => tx.links.claimOrphans(node("D"), [], 1)],
        [undefined, (tx) => tx.links.releaseAll(node("D"))],
        ["links", (tx) => tx.links.releaseAll(node("C"))],
        ["links", (tx) => tx.links.remove(userId, device)],
        ["links", (tx) => tx.nodes.leave(node("A"))],
        ["quotas", (tx) => tx.quotas.set({ ...ofTenant, kind: "openStreams", value: 5 })],
        ["quotas", (tx) => tx.quotas.reset(ofTenant, "openStreams")],
      ];
      for (const [hint, change] of changes) {
        hints.length = 0;
        await store.transaction(change);
        assert.deepEqual(hints, hint ? [hint] : [], String(change));
      }
    }),
  );

  it("get hints again after their connections were cut, and then all kinds once", { timeout: 30_000 }, () =>
    onDatabase(harness, async (database) => {
      const [teller, other] = [await database.open(), await database.open()];
      const listener = await listening(other);
      listener.hints.length = 0;
      const again = listener.until("links");
      await database.sql(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND (query ILIKE 'LISTEN%' OR query = 'SELECT 1')",
      );
      await again;
      listener.hints.length = 0;
      const hinted = listener.until("links");
      await teller.transaction((tx) => tx.nodes.leave(node("A")));
      await hinted;
    }),
  );
}

/** Resolves when the store receives hints of other nodes. */
async function listening(store: OpenStore) {
  const hints: Hint[] = [];
  let waiting: { readonly hint: Hint; readonly go: () => void }[] = [];
  const until = (hint: Hint) => new Promise<void>((go) => waiting.push({ hint, go }));
  const begun = until("links");
  store.nodeBus.onHint((hint) => {
    hints.push(hint);
    const met = waiting.filter((one) => one.hint === hint);
    waiting = waiting.filter((one) => one.hint !== hint);
    for (const { go } of met) go();
  });
  await begun;
  return { hints, until };
}

async function terminateHolders(database: TestDatabase): Promise<void> {
  await database.sql(
    `SELECT pg_terminate_backend(pid) FROM pg_locks WHERE locktype = 'advisory' AND mode = 'ShareLock'
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  );
}
