import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { decodeNotices, encodeNotices } from "../../src/federation/notices.ts";
import { assignIndexes, emptyIndexMap } from "../../src/model/index-map.ts";
import { alarm, makeAccount, many, structure, thermostat } from "../model/made-accounts.ts";

describe("what was noticed about an account", () => {
  it("is told as it was kept: how many are over the limit, and what was odd", () => {
    const account = makeAccount({
      structures: many(3, "s", () => structure()),
      thermostats: many(22, "t", () => thermostat("s01")),
      alarms: many(19, "a", () => alarm("s01")),
    });
    const oddities = { incomplete: 2, unknownAlarmStates: 1, unknownAwayStates: 4 };
    assert.deepEqual(decodeNotices(encodeNotices(assignIndexes(emptyIndexMap, account).overLimit, oddities)), {
      overLimit: { structures: 1, thermostats: 2, alarms: 1 },
      oddities,
    });
  });

  it("is nothing for an ordinary account", () => {
    const account = makeAccount({ structures: { s1: structure() } });
    const { overLimit } = assignIndexes(emptyIndexMap, account);
    assert.deepEqual(decodeNotices(encodeNotices(overLimit, account.oddities)), {
      overLimit: { structures: 0, thermostats: 0, alarms: 0 },
      oddities: { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 },
    });
  });

  it("is written the same for the same, so that nothing is stored twice", () => {
    const account = () => makeAccount({ structures: many(4, "s", () => structure()) });
    const encoded = () => encodeNotices(assignIndexes(emptyIndexMap, account()).overLimit, account().oddities);
    assert.equal(encoded(), encoded());
  });
});
