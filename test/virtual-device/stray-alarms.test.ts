import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { countStrayAlarms } from "../../src/virtual-device/stray-alarms.ts";
import { alarm, homeWith, incomplete, structure } from "../home/home-parts.ts";

describe("stray alarms", () => {
  const structures = { s1: structure(), s2: structure() };
  const alarms = { own: alarm("s1"), none: alarm(null), gone: alarm("s9"), part: incomplete({ structureId: "s9" }) };
  const strays = (account: ReturnType<typeof homeWith>) =>
    countStrayAlarms(account, assignIndexes(emptyIndexMap, account).map.structures);

  it("are those that name no structure of the account, also when they can't be read", () => {
    assert.equal(strays(homeWith({ structures, alarms })), 3);
    assert.equal(strays(homeWith({ structures, alarms: { own: alarm("s2") } })), 0);
  });

  it("are not counted while the list of structures is incomplete", () => {
    assert.equal(strays(homeWith({ structures, alarms, notWhole: ["structures"] })), 0);
  });
});
