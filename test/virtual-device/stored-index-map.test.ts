import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { decodeIndexMap, encodeIndexMap } from "../../src/virtual-device/stored-index-map.ts";
import { alarm, homeWith, structure, thermostat } from "../home/home-parts.ts";
import { anyCharacter } from "../set-up/any-character.ts";

describe("a stored index map", () => {
  it("is read as it was written, whatever the ids are", () => {
    const anyIds = fc.uniqueArray(fc.string({ unit: anyCharacter, maxLength: 3 }), { maxLength: 22, size: "max" });
    const anySnapshot = fc.tuple(
      fc.uniqueArray(fc.constantFrom("a", "b", '"', "c\0"), { maxLength: 3 }),
      anyIds,
      anyIds,
    );
    fc.assert(
      fc.property(fc.array(anySnapshot, { maxLength: 5 }), (snapshots) => {
        let map = emptyIndexMap;
        for (const [structures, thermostats, alarms] of snapshots) {
          const account = homeWith({
            structures: structures.map((id) => [id, structure()]),
            thermostats: thermostats.map((id, index) => [id, thermostat(structures[index % 3] ?? null)]),
            alarms: alarms.map((id, index) => [id, alarm(structures[index % 2] ?? null)]),
          });
          map = assignIndexes(map, account).map;
        }
        assert.deepEqual(decodeIndexMap(encodeIndexMap(map)), map);
      }),
      { numRuns: 50 },
    );
  });

  it("is short: trailing unused slots aren't written", () => {
    assert.equal(encodeIndexMap(emptyIndexMap), "[0,[]]");
    const account = homeWith({ structures: { s: structure() }, thermostats: { t: thermostat("s") } });
    assert.equal(encodeIndexMap(assignIndexes(emptyIndexMap, account).map), '[1,[["s",null,[["t",null]],[]]]]');
  });

  it("keeps a slot that was never used before one that was, and an absence since the first step", () => {
    const { structures } = decodeIndexMap('[2,[null,["s",1,[],[]]]]');
    assert.equal(structures[0], null);
    assert.equal(structures[1]?.absentSince, 1);
  });

  it("is refused when it is nonsense", () => {
    const nonsense = [
      "",
      "null",
      "{}",
      "[1]",
      "[1,[],[]]",
      '[1,[["s",null,[],[],[]]]]',
      '["1",[]]',
      "[-1,[]]",
      "[1.5,[]]",
      "[1,{}]",
      "[1,[null,null,null]]",
      '[1,[["s",null,[]]]]',
      "[1,[[7,null,[],[]]]]",
      '[1,[["s",2,[],[]]]]',
      '[1,[["s",0,[],[]]]]',
      '[1,[["s","1",[],[]]]]',
      '[1,[["s",null,[],[]],["s",null,[],[]]]]',
      '[1,[["s",null,[["t",null],["t",1]],[]]]]',
      '[1,[["s",null,["t"],[]]]]',
      `[1,[["s",null,${JSON.stringify(new Array(21).fill(null))},[]]]]`,
      `[1,[["s",null,[],${JSON.stringify(new Array(19).fill(null))}]]]`,
    ];
    for (const text of nonsense) {
      const expected = text === "" ? SyntaxError : /^Error: The stored index map can't be read: /;
      assert.throws(() => decodeIndexMap(text), expected, text);
    }
    assert.throws(() => decodeIndexMap("null"), /a part is no list of 2/);
    assert.throws(() => decodeIndexMap('[1,[["s",null,[]]]]'), /a part is no list of 4/);
  });
});
