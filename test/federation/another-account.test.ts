import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { homeAssistantConnector } from "../../src/ecosystems/home-assistant/connector.ts";
import { hasOtherStructures } from "../../src/federation/another-account.ts";
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
    assert.equal(hasOtherStructures(homeWith({ structures: { c: structure() } }), link), true);
    assert.equal(hasOtherStructures(homeWith({ structures: { b: structure(), c: structure() } }), link), false);
  });

  it("is taken for one of the same account when the account shows no structures, or only some of them", () => {
    const link = linkThatShows("a");
    assert.equal(hasOtherStructures(homeWith(), link), false);
    const partly = homeWith({ structures: { c: structure() }, notWhole: ["structures"] });
    assert.equal(hasOtherStructures(partly, link), false);
  });

  it("is not that of another account when the link shows nothing yet", () => {
    assert.equal(hasOtherStructures(homeWith({ structures: { c: structure() } }), linkThatShows()), false);
  });
});

describe("an instance of Home Assistant", () => {
  const { isSameAccount } = homeAssistantConnector({ name: "home", allowPrivateNetworks: false });
  const linked = account("https://maple.example token", "structure/home", "thermostat/a1", "other/light.hall");

  it("is the same one at the same address, whatever it shows", () => {
    assert.equal(isSameAccount!(linked, account("https://maple.example other", "structure/home")), true);
  });

  it("is the same one at another address when a thing has the same registry id", () => {
    const moved = account("https://moved.example token", "structure/home", "thermostat/a1", "alarm/b2");
    assert.equal(isSameAccount!(linked, moved), true);
    assert.equal(isSameAccount!({ ...linked, callToken: undefined }, moved), true);
  });

  it("is another one when only names are the same that any instance may have", () => {
    const other = account("https://cabin.example token", "structure/home", "thermostat/c3", "other/light.hall");
    assert.equal(isSameAccount!(linked, other), false);
    assert.equal(isSameAccount!({ ...linked, callToken: undefined }, other), false);
  });
});

function account(callToken: string, ...keys: readonly string[]) {
  return { callToken, keys: new Set(keys) };
}
