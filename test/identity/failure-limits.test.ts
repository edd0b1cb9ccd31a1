import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { countsInMemory, countsInStore, type FailureCounts } from "../../src/identity/failure-counts.ts";
import { type FailureLimitSettings, FailureLimits } from "../../src/identity/failure-limits.ts";
import { sourceOf } from "../../src/identity/source.ts";
import { ClientGone, TooManyRequests } from "../../src/model/errors.ts";
import { openSqlite } from "../../src/store/sqlite/store.ts";
import { storeFolderOf } from "../cli/made-folder.ts";

for (const place of ["memory", "store"] as const) {
  describe(`failed attempts, counted in ${place}`, () => {
    it("are free five times, then cause a delay that doubles up to 15 minutes", async (t) => {
      const { fail, clock } = await madeLimits(t, place);
      for (let failure = 0; failure < 5; failure++) await fail();
      const delays: number[] = [];
      for (let failure = 0; failure < 12; failure++) {
        const delay = await refusedFor(fail);
        delays.push(delay);
        clock.nowMs += delay * 1000 - 1;
        assert.equal(await refusedFor(fail), 1);
        clock.nowMs += 1;
        await fail();
      }
      assert.deepEqual(delays, [1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 900, 900]);
    });

    it("delay only their own account and source", async (t) => {
      const { fail, succeed } = await madeLimits(t, place);
      for (let failure = 0; failure < 5; failure++) await fail();
      await refusedFor(succeed);
      await succeed("alice", "192.0.2.2");
      await succeed("bob", "192.0.2.1");
    });

    it("are reset by a success, but only those of that pair", async (t) => {
      const { fail, succeed } = await madeLimits(t, place);
      for (let failure = 0; failure < 4; failure++) {
        await fail();
        await fail("alice", "192.0.2.2");
      }
      await succeed();
      await fail();
      await succeed();
      await fail("alice", "192.0.2.2");
      await refusedFor(() => succeed("alice", "192.0.2.2"));
    });

    it("are forgotten for an unlocked account, from all sources, and count again afterwards", async (t) => {
      const { fail, succeed, limits, clock } = await madeLimits(t, place);
      for (let failure = 0; failure < 5; failure++) {
        await fail();
        await fail("alice", "192.0.2.2");
        await fail("bob", "192.0.2.1");
      }
      await refusedFor(succeed);
      await limits.unlock("alice");
      clock.nowMs += 1;
      await fail();
      await succeed("alice", "192.0.2.2");
      await refusedFor(() => succeed("bob", "192.0.2.1"));
      for (let failure = 0; failure < 4; failure++) await fail();
      await refusedFor(succeed);
    });

    it("that arrive together are checked one after another", async (t) => {
      const { limits } = await madeLimits(t, place, { perSource: 50 });
      let ran = 0;
      const guesses = Array.from({ length: 50 }, () =>
        limits.attempt("alice", "192.0.2.1", async () => {
          ran++;
          await new Promise((resolve) => setImmediate(resolve));
          return undefined;
        }),
      );
      const refused = (await Promise.allSettled(guesses)).filter(({ status }) => status === "rejected");
      assert.equal(ran, 5);
      assert.equal(refused.length, 45);
    });

    it("don't stop right attempts that arrive together", async (t) => {
      const { succeed } = await madeLimits(t, place, { perSource: 50 });
      await Promise.all(Array.from({ length: 50 }, () => succeed()));
    });

    it("of a whole source are limited for a window of time", async (t) => {
      const { fail, succeed, clock } = await madeLimits(t, place, { failuresPerSource: 20, sourceWindowMs: 60_000 });
      for (let account = 0; account < 20; account++) await fail(`account ${account}`);
      assert.equal(await refusedFor(() => succeed("alice")), 60);
      await succeed("alice", "192.0.2.2");
      clock.nowMs += 60_000;
      await succeed("alice");
    });

    it("are not counted when the check itself threw an error", async (t) => {
      const { limits, succeed } = await madeLimits(t, place);
      const breakDown = () => limits.attempt("alice", "192.0.2.1", () => Promise.reject(new Error("store")));
      for (let attempt = 0; attempt < 10; attempt++) await assert.rejects(breakDown, /store/);
      await succeed();
    });
  });
}

describe("failed attempts", () => {
  it("are refused before any work when their source has 20 in progress, and are not counted", async (t) => {
    const { limits, full } = await madeLimits(t, "memory");
    const holding = Promise.withResolvers<true>();
    let ran = 0;
    const attempt = (account: string, address: string) =>
      limits.attempt(account, address, () => {
        ran++;
        return holding.promise;
      });
    const held = Array.from({ length: 20 }, (_, number) => attempt(`account ${number}`, `2001:db8:1:2::${number}`));
    await assert.rejects(attempt("another account", "2001:db8:1:2:ffff::1"), TooManyRequests);
    const elsewhere = attempt("another account", "2001:db8:1:3::1");
    await flushPromises();
    assert.equal(ran, 21);
    assert.equal(full.count, 1);
    holding.resolve(true);
    await Promise.all([...held, elsewhere]);
    await attempt("another account", "2001:db8:1:2:ffff::1");
  });

  it("leave the queue at once when their client disconnects", async (t) => {
    const { limits } = await madeLimits(t, "memory");
    const holding = Promise.withResolvers<true>();
    const first = limits.attempt("alice", "192.0.2.1", () => holding.promise);
    const clients = Array.from({ length: 19 }, () => new AbortController());
    const waiting = clients.map(({ signal }) =>
      limits.attempt("alice", "192.0.2.1", () => assert.fail("an abandoned attempt ran"), signal),
    );
    for (const client of clients) client.abort();
    for (const one of waiting) await assert.rejects(one, ClientGone);
    const last = limits.attempt("alice", "192.0.2.1", async () => true);
    holding.resolve(true);
    assert.deepEqual(await Promise.all([first, last]), [true, true]);
  });

  it("are counted for a bounded number of pairs; the least recent is evicted first", async (t) => {
    const { fail, succeed } = await madeLimits(t, "memory", { remembered: 10 });
    for (let failure = 0; failure < 5; failure++) await fail("first");
    for (let failure = 0; failure < 5; failure++) await fail("last");
    for (let account = 0; account < 9; account++) await fail(`account ${account}`);
    await succeed("first");
    await refusedFor(() => succeed("last"));
  });

  it("from one IPv6 network, or from an IPv4-mapped IPv6 address, have one source", () => {
    assert.equal(sourceOf("2001:db8:1:2::1"), sourceOf("2001:0DB8:1:2:ffff::9"));
    assert.notEqual(sourceOf("2001:db8:1:2::1"), sourceOf("2001:db8:1:3::1"));
    assert.equal(sourceOf("::ffff:192.0.2.1"), "192.0.2.1");
    assert.equal(sourceOf("::1"), "0:0:0:0::/64");
    assert.equal(sourceOf("192.0.2.1"), "192.0.2.1");
  });
});

async function madeLimits(t: TestContext, place: "memory" | "store", settings: Partial<FailureLimitSettings> = {}) {
  const clock = { nowMs: 1_000_000 };
  const nowMs = () => clock.nowMs;
  const counts =
    place === "memory" ? countsInMemory(nowMs, settings.remembered ?? 50_000) : await storedCounts(t, nowMs);
  const full = { count: 0 };
  const limits = new FailureLimits(counts, settings, () => void full.count++);
  const outcome =
    (result: true | undefined) =>
    (account = "alice", source = "192.0.2.1") =>
      limits.attempt(account, source, async () => result);
  return { clock, limits, full, fail: outcome(undefined), succeed: outcome(true) };
}

async function storedCounts(t: TestContext, nowMs: () => number): Promise<FailureCounts> {
  const folder = await storeFolderOf(t);
  const store = await openSqlite({ folder, nowMs });
  t.after(() => store.close());
  return countsInStore(store, "test");
}

async function refusedFor(attempt: () => Promise<unknown>): Promise<number> {
  const error = await attempt().then(
    () => assert.fail("the attempt was not refused"),
    (reason: unknown) => reason,
  );
  assert.ok(error instanceof TooManyRequests);
  return error.retryAfterSeconds;
}

/** Resolves when all pending work that needs no new input is done. */
function flushPromises(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
