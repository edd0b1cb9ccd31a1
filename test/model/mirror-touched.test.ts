import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { Account, Listing } from "../../src/model/account.ts";
import { type AttributeValues, blankValues } from "../../src/model/attribute-values.ts";
import { assignIndexes, emptyIndexMap } from "../../src/model/index-map.ts";
import { mirror } from "../../src/model/mirror.ts";
import { mirrorTouched } from "../../src/model/mirror-touched.ts";
import { anyAccount } from "./any-account.ts";
import { alarm, incomplete, makeAccount, many, structure, thermostat } from "./made-accounts.ts";

describe("the mirror of an account of which some objects were touched", () => {
  it("is the mirror of the whole account, in the same slots", () => {
    const anyAccounts = fc.array(anyAccount({ isClear: false, mostAlarms: 22 }), { minLength: 1, maxLength: 3 });
    const touches = fc.array(anyTouch, { minLength: 1, maxLength: 4 });
    fc.assert(
      fc.property(anyAccounts, touches, (accounts, touches) => {
        let before = { map: emptyIndexMap, values: blankValues as AttributeValues };
        for (const account of accounts) before = wholly(account, before);
        let account = accounts.at(-1)!;
        for (const touch of touches) {
          const touched = touch(account);
          const { overLimit } = assignIndexes(before.map, account);
          const expected = wholly(touched, before);
          assert.deepEqual(mirrorTouched(account, touched, before.map, before.values), expected.values);
          assert.equal(expected.map, before.map);
          assert.deepEqual([expected.overLimit, expected.evicted], [overLimit, []]);
          before = expected;
          account = touched;
        }
      }),
      { numRuns: 200 },
    );
  });

  const home = makeAccount({
    structures: { s1: structure(), s2: structure() },
    thermostats: { t1: thermostat("s1") },
    alarms: many(19, "a", () => alarm("s1")),
  });
  const others: [string, Account][] = [
    ["somebody is gone", { ...home, thermostats: listing(home.thermostats, "t1", undefined) }],
    ["somebody is new", { ...home, thermostats: listing(home.thermostats, "t2", thermostat("s1")) }],
    ["something has moved", { ...home, thermostats: listing(home.thermostats, "t1", thermostat("s2")) }],
    ["something can't be read", { ...home, thermostats: listing(home.thermostats, "t1", incomplete()) }],
    [
      "a structure no longer tells who is there",
      { ...home, structures: listing(home.structures, "s1", structure({ listsDevices: false })) },
    ],
    ["who is there is no longer told", { ...home, alarms: { ...home.alarms, isWhole: false } }],
    ["nothing speaks of alarms any more", { ...home, speaksOfAlarms: false }],
    ["another oddity was counted", { ...home, oddities: { ...home.oddities, unknownAlarmStates: 1 } }],
  ];
  for (const [what, account] of others) {
    it(`isn't enough when ${what}`, () => {
      const { map, values } = wholly(home, { map: emptyIndexMap, values: blankValues });
      assert.equal(mirrorTouched(home, account, map, values), undefined);
    });
  }

  it("counts an alarm that has no slot", () => {
    const before = wholly(home, { map: emptyIndexMap, values: blankValues });
    const unseated = [...home.alarms.byId.keys()].find(
      (id) => !before.map.structures[0]!.alarms.some((slot) => slot?.id === id),
    )!;
    const burning = { ...home, alarms: listing(home.alarms, unseated, alarm("s1", { smokeAlarmState: "emergency" })) };
    const values = mirrorTouched(home, burning, before.map, before.values);
    assert.notDeepEqual(values, before.values);
    assert.deepEqual(values, wholly(burning, before).values);
  });
});

type Before = { readonly map: Parameters<typeof mirror>[1]; readonly values: AttributeValues };

function wholly(account: Account, { map, values }: Before) {
  const assignment = assignIndexes(map, account);
  return { ...assignment, values: mirror(account, assignment.map, values) };
}

/** With one sighting instead of what was there; without it when there is none. */
function listing<T>({ isWhole, byId }: Listing<T>, id: string, sighting: unknown): Listing<T> {
  const next = new Map(byId);
  if (sighting === undefined) next.delete(id);
  else next.set(id, sighting as never);
  return { isWhole, byId: next };
}

const anyFields = fc.record(
  {
    name: fc.option(fc.string({ maxLength: 3 })),
    away: fc.constantFrom("home", "away", null),
    isOnline: fc.option(fc.boolean()),
    fanTimerActive: fc.option(fc.boolean()),
    smokeAlarmState: fc.constantFrom("ok", "warning", "emergency", "testing", null),
    coAlarmState: fc.constantFrom("ok", "warning", "emergency", null),
  },
  { requiredKeys: [] },
);

/** Some object that was read says something else, in fields that it has. */
const anyTouch = fc
  .tuple(fc.constantFrom("structures", "thermostats", "alarms", "alarms"), fc.nat(), anyFields)
  .map(([range, which, fields]) => (account: Account): Account => {
    const entries = [...(account[range] as Listing<object>).byId];
    const [id, sighting] = entries[which % entries.length] ?? [];
    if (id === undefined || !sighting?.isRead) return { ...account };
    const { object } = sighting;
    const own = Object.fromEntries(Object.entries(fields).filter(([field]) => field in object));
    const next = { isRead: true, object: { ...object, ...own } };
    return { ...account, [range]: listing(account[range] as Listing<object>, id, next) };
  });
