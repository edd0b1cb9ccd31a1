import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import { checksumOfLinks } from "../../src/store/tables/link-checksum.ts";

const links = (...pairs: readonly (readonly [device: number, epoch: number])[]) =>
  pairs.map(([device, epoch]) => ({ deviceId: device as DeviceId, epoch }));

describe("the checksum of a node's links", () => {
  const own = checksumOfLinks(links([1, 2], [4, 2], [437, 2]));

  it("is the same in any order", () => {
    assert.deepEqual(checksumOfLinks(links([437, 2], [1, 2], [4, 2])), own);
    assert.deepEqual(checksumOfLinks([]), { count: 0, digest: 0 });
  });

  it("tells other links from them, also as many with the same epochs", () => {
    const others = [
      links([1, 2], [4, 2], [313, 2]),
      links([2, 2], [3, 2], [437, 2]),
      links([1, 3], [4, 1], [437, 2]),
      links([1, 2], [4, 2], [437, 3]),
      links([1, 2], [4, 2]),
    ];
    for (const other of others) assert.notDeepEqual(checksumOfLinks(other), own, JSON.stringify(other));
  });

  it("is exact for large ids and epochs", () => {
    const { digest } = checksumOfLinks(links([2 ** 31 - 1, 2 ** 31 - 1]));
    const mixed = (BigInt(2 ** 31 - 1) * 31_337n + BigInt(2 ** 31 - 1)) % 67_108_859n;
    assert.equal(BigInt(digest), (mixed * mixed) % 67_108_859n);
  });
});
