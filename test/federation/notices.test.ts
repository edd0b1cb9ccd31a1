import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeNotices, encodeNotices } from "../../src/federation/notices.ts";
import { limits } from "../../src/model/limits.ts";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { alarm, homeWith, many, structure, thermostat } from "../home/home-parts.ts";

describe("the notices about an account", () => {
  it("are decoded as they were encoded: numbers over the limit, and oddities", () => {
    const account = homeWith({
      structures: many(3, "s", () => structure()),
      thermostats: many(22, "t", () => thermostat("s01")),
      alarms: [...many(19, "a", () => alarm("s01")), ["x", alarm(null)], ["y", alarm("gone")], ["z", alarm("s03")]],
    });
    const oddities = { incomplete: 2, unknownAlarmStates: 1, unknownAwayStates: 4 };
    const { overLimit, map } = assignIndexes(emptyIndexMap, account);
    assert.deepEqual(decodeNotices(encodeNotices(overLimit, { ...account, oddities }, map)), {
      overLimit: { structures: 1, thermostats: 2, alarms: 1 },
      oddities: { ...oddities, strayAlarms: 2 },
    });
  });

  it("count the things that are not stored, and only then", () => {
    const structures = { s1: structure() };
    const thingsOf = (thermostats: number, lights = 0) => {
      const counted = homeWith({ structures, thermostats: many(thermostats, "t", () => thermostat("s1")) });
      const others = { isWhole: true, byId: new Map(many(lights, "l", () => thermostat("s1"))) };
      const home = { ...counted, others };
      const { overLimit, map } = assignIndexes(emptyIndexMap, home);
      return decodeNotices(encodeNotices(overLimit, home, map))?.overLimit.things;
    };
    assert.deepEqual([thingsOf(limits.thingsPerLink - 1), thingsOf(limits.thingsPerLink + 6)], [undefined, 7]);
    assert.deepEqual([thingsOf(1, limits.thingsPerLink - 2), thingsOf(1, limits.thingsPerLink)], [undefined, 2]);
  });

  it("are zero for an ordinary account", () => {
    const account = homeWith({ structures: { s1: structure() } });
    const { overLimit, map } = assignIndexes(emptyIndexMap, account);
    const none = { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 };
    const expected = {
      overLimit: { structures: 0, thermostats: 0, alarms: 0 },
      oddities: { ...none, strayAlarms: 0 },
    };
    assert.deepEqual(decodeNotices(encodeNotices(overLimit, account, map)), expected);
    const ofEarlierVersion = JSON.stringify({ overLimit: expected.overLimit, oddities: none });
    assert.deepEqual(decodeNotices(ofEarlierVersion), expected);
  });

  it("are encoded equally for equal accounts, so that nothing is stored twice", () => {
    const account = () => homeWith({ structures: many(4, "s", () => structure()) });
    const encoded = () => {
      const { overLimit, map } = assignIndexes(emptyIndexMap, account());
      return encodeNotices(overLimit, account(), map);
    };
    assert.equal(encoded(), encoded());
  });
});
