import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { type BatchKey, ResumableBatches } from "../../src/idempotency/resumable-batches.ts";
import type { OwnerId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import type { Store, Transaction } from "../../src/store/seam.ts";
import type { KeyUsage } from "../../src/store/tables/idempotency-keys.ts";
import { clockedStore } from "../own-things/clocked-store.ts";

type BatchTables = Pick<Transaction, "idempotencyKeys" | "batchGroups" | "clock">;

const dayMs = 86_400_000;
const request: BatchKey = { ownerId: -1 as OwnerId, clientId: "company", key: "k", content: "POST batch" };

/** Batches of these lines. Each group carries out two lines, and answers each with the number of its run. */
async function madeBatches(t: TestContext) {
  const { store, clock } = await clockedStore(t);
  const carriedOut: string[] = [];
  /** What the groups of the owner take, if not what the store says. */
  const usage: { batchGroups?: KeyUsage } = {};
  const read = (act: (tx: BatchTables) => Promise<unknown>) =>
    store.read(({ clock, idempotencyKeys, batchGroups }) =>
      act({
        clock,
        idempotencyKeys,
        batchGroups: { ...batchGroups, usage: async (ownerId) => usage.batchGroups ?? batchGroups.usage(ownerId) },
      }),
    );
  const batches = new ResumableBatches({ read } as Pick<Store<BatchTables>, "read">);
  const run = async (texts: readonly string[], key: BatchKey = request) => {
    let taken = 0;
    const source = {
      peek: async (_: number, most: number) => texts.slice(taken, taken + most).map((text) => ({ text })),
      take: (count: number) => {
        taken += count;
      },
    };
    const answers: { readonly answers: readonly string[]; readonly isReplayed: boolean }[] = [];
    const groups = batches.run<{ text: string }, string>(key, source, async (lines, keep) => {
      const done = lines.slice(0, 2).map(({ text }) => text);
      if (done.includes("broken")) throw new Error("a defect");
      const made = done.map((text) => `${text}!`);
      if (keep) await store.transaction((tx) => keep(tx, made));
      carriedOut.push(...done);
      return made;
    });
    for await (const group of groups) answers.push(group);
    return answers;
  };
  return { store, clock, usage, run, carriedOut };
}

describe("a batch with a key", () => {
  it("is answered from the store, continues behind what was carried out, and refuses other lines", async (t) => {
    const { run, carriedOut } = await madeBatches(t);
    await assert.rejects(run(["a", "b", "broken"]), /a defect/);
    const again = await run(["a", "b", "c"]);
    assert.deepEqual(
      again.map(({ answers, isReplayed }) => [...answers, isReplayed]),
      [
        ["a!", "b!", true],
        ["c!", false],
      ],
    );
    assert.deepEqual(carriedOut, ["a", "b", "c"]);
    await assert.rejects(run(["a", "x", "c"]), { code: "idempotency_key_reused" });
    await assert.rejects(run(["a"]), { code: "idempotency_key_reused" });
    await assert.rejects(run(["a", "b", "c"], { ...request, content: "PUT states" }), {
      code: "idempotency_key_reused",
    });
  });

  it("is carried out anew after 24 hours, and nothing of its first use is in the way", async (t) => {
    const { clock, run, carriedOut } = await madeBatches(t);
    await run(["a", "b", "c"]);
    clock.nowMs += dayMs - 1;
    assert.ok((await run(["a", "b", "c"])).every(({ isReplayed }) => isReplayed));
    clock.nowMs += 2;
    const anew = await run(["x", "y"]);
    assert.deepEqual(anew, [{ answers: ["x!", "y!"], isReplayed: false }]);
    assert.deepEqual(carriedOut, ["a", "b", "c", "x", "y"]);
    assert.deepEqual(
      (await run(["x", "y"])).map(({ answers, isReplayed }) => [answers, isReplayed]),
      [[["x!", "y!"], true]],
      "a group of the first use follows",
    );
  });

  it("that has a whole body is refused with another one, further lines included", async (t) => {
    const { store, run, carriedOut } = await madeBatches(t);
    await run(["a"], { ...request, wholeBody: "a" });
    await assert.rejects(run(["a", "b"], { ...request, wholeBody: "a b" }), { code: "idempotency_key_reused" });
    assert.deepEqual(carriedOut, ["a"]);
    assert.ok((await run(["a"], { ...request, wholeBody: "a" })).every(({ isReplayed }) => isReplayed));
    const byEarlierVersion = { ...request, key: "earlier" };
    await run(["c"], byEarlierVersion);
    assert.deepEqual(await run(["c"], { ...byEarlierVersion, wholeBody: "c" }), [
      { answers: ["c!"], isReplayed: true },
    ]);
    const kept = await store.read((tx) => tx.idempotencyKeys.usage(request.ownerId));
    assert.equal(kept.keys, 2);
  });

  it("needs room for its answers, which are counted every ten seconds", async (t) => {
    const { clock, usage, run, carriedOut } = await madeBatches(t);
    await run(["a"]);
    usage.batchGroups = { keys: 1, bytes: limits.batchKeyBytesPerTenant };
    await run(["b"], { ...request, key: "soon" });
    clock.nowMs += 10_000;
    const refusal = { code: "too_many_idempotency_keys", limit: "batchKeyBytesPerTenant" };
    await assert.rejects(run(["c"], { ...request, key: "late" }), refusal);
    assert.deepEqual(carriedOut, ["a", "b"]);
    assert.equal((await run(["a"]))[0]?.isReplayed, true, "a known key needs no room");
  });

  it("needs room that is counted again after the clock was set back, not only when it has caught up", async (t) => {
    const { clock, usage, run } = await madeBatches(t);
    usage.batchGroups = { keys: 1, bytes: limits.batchKeyBytesPerTenant };
    await assert.rejects(run(["a"]), { code: "too_many_idempotency_keys" });
    delete usage.batchGroups;
    clock.nowMs -= dayMs;
    assert.deepEqual(await run(["a"]), [{ answers: ["a!"], isReplayed: false }]);
  });
});
