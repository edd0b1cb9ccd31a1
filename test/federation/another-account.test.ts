import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isAnotherAccount } from "../../src/federation/another-account.ts";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { encodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { homeWith, structure } from "../home/home-parts.ts";

const linkThatShows = (...ids: readonly string[]) => {
  const structures = Object.fromEntries(ids.map((id) => [id, structure()]));
  return { indexMap: encodeIndexMap(assignIndexes(emptyIndexMap, homeWith({ structures })).map) };
};

describe("a new token", () => {
  it("is that of another account when the account has structures, and none that the link shows", () => {
    const link = linkThatShows("a", "b");
    assert.equal(isAnotherAccount(homeWith({ structures: { c: structure() } }), link), true);
    assert.equal(isAnotherAccount(homeWith({ structures: { b: structure(), c: structure() } }), link), false);
  });

  it("is taken for one of the same account when the account shows no structures, or only some of them", () => {
    const link = linkThatShows("a");
    assert.equal(isAnotherAccount(homeWith(), link), false);
    const partly = homeWith({ structures: { c: structure() }, notWhole: ["structures"] });
    assert.equal(isAnotherAccount(partly, link), false);
  });

  it("is not that of another account when the link shows nothing yet", () => {
    assert.equal(isAnotherAccount(homeWith({ structures: { c: structure() } }), linkThatShows()), false);
  });
});
