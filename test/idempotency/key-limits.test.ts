import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KeyLimits } from "../../src/idempotency/key-limits.ts";
import type { OwnerId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";

const ada = 1 as OwnerId;

describe("the number of idempotency keys of an owner", () => {
  it("is counted once for requests that arrive together, and again after ten seconds", async () => {
    let [elapsedMs, counts] = [0, 0];
    const keyLimits = new KeyLimits(() => elapsedMs);
    const count = async () => {
      counts += 1;
      return { keys: 5, bytes: 500 };
    };
    const together = () => Promise.all(Array.from({ length: 100 }, () => keyLimits.check(ada, count)));
    await together();
    await together();
    assert.equal(counts, 1);
    elapsedMs = 10_000;
    await together();
    assert.equal(counts, 2);
  });

  it("is counted again after a count that failed", async () => {
    const keyLimits = new KeyLimits(() => 0);
    await assert.rejects(
      keyLimits.check(ada, () => Promise.reject(new Error("the store is away"))),
      /away/,
    );
    await keyLimits.check(ada, async () => ({ keys: 0, bytes: 0 }));
  });

  it("ends at the limit, which includes keys that this node has stored since the count", async () => {
    const keyLimits = new KeyLimits(() => 0);
    const count = async () => ({ keys: limits.idempotencyKeysPerOwner - 1, bytes: 0 });
    await keyLimits.check(ada, count);
    keyLimits.added(ada, 100);
    await assert.rejects(
      keyLimits.check(ada, count),
      /may use 100000\. Nothing was changed\. Send the request without/,
    );
  });
});
