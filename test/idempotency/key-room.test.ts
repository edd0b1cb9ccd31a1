import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { KeyRoom } from "../../src/idempotency/key-room.ts";
import type { OwnerId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";

const ada = 1 as OwnerId;

describe("the room for idempotency keys", () => {
  it("is counted once for requests that arrive together, and again after ten seconds", async () => {
    let [elapsedMs, counts] = [0, 0];
    const room = new KeyRoom(() => elapsedMs);
    const count = async () => {
      counts += 1;
      return { keys: 5, bytes: 500 };
    };
    const together = () => Promise.all(Array.from({ length: 100 }, () => room.check(ada, count)));
    await together();
    await together();
    assert.equal(counts, 1);
    elapsedMs = 10_000;
    await together();
    assert.equal(counts, 2);
  });

  it("is counted again after a count that failed", async () => {
    const room = new KeyRoom(() => 0);
    await assert.rejects(
      room.check(ada, () => Promise.reject(new Error("the store is away"))),
      /away/,
    );
    await room.check(ada, async () => ({ keys: 0, bytes: 0 }));
  });

  it("ends at the limit, with what this node has stored since the count", async () => {
    const room = new KeyRoom(() => 0);
    const count = async () => ({ keys: limits.idempotencyKeysPerOwner - 1, bytes: 0 });
    await room.check(ada, count);
    room.added(ada, 100);
    await assert.rejects(room.check(ada, count), /may use 100000\. Nothing was changed\. Send the request without/);
  });
});
