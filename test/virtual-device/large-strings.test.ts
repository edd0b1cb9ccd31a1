import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Home } from "../../src/home/home.ts";
import { blankValues } from "../../src/virtual-device/attribute-values.ts";
import { assignIndexes, emptyIndexMap } from "../../src/virtual-device/index-map.ts";
import { largeStrings } from "../../src/virtual-device/large-strings.ts";
import { mirror } from "../../src/virtual-device/mirror.ts";
import { alarm, homeWith, many, structure, thermostat } from "../home/home-parts.ts";

describe("largestrings", () => {
  it("maps names to structure ids, and ids to the index, kind, name and structure", () => {
    const account = homeWith({
      structures: { a: structure({ name: "Home" }), b: structure({ name: "Cottage" }) },
      thermostats: { t: thermostat("b", { name: "Hall" }), nameless: thermostat("a", { name: null }) },
      alarms: { p: alarm("a", { name: "Attic" }) },
    });
    assert.deepEqual(answer(account), {
      labels: { Home: "a", Cottage: "b" },
      identifiers: {
        a: ["1"],
        b: ["2"],
        t: ["2", "thermostats", "Hall", "b"],
        nameless: ["1", "thermostats", "", "a"],
        p: ["1", "smokeCoAlarms", "Attic", "a"],
      },
    });
  });

  it("has an empty name for an alarm without one", () => {
    const alarms = { p: alarm("a", { name: null }) };
    const { identifiers } = answer(homeWith({ structures: { a: structure() }, alarms }));
    assert.deepEqual(identifiers.p, ["1", "smokeCoAlarms", "", "a"]);
  });

  it("leaves out what is over the limit or gone", () => {
    const structures = { a: structure({ name: "A" }), b: structure({ name: "B" }), c: structure({ name: "C" }) };
    const first = homeWith({
      structures,
      thermostats: many(21, "t", () => thermostat("a")),
      alarms: { p: alarm("b") },
    });
    const { labels, identifiers } = answer(first);
    assert.deepEqual(labels, { A: "a", B: "b" });
    assert.equal(Object.keys(identifiers).length, 2 + 20 + 1);
    const second = homeWith({ structures: { a: structures.a } });
    assert.deepEqual(answer(first, second), { labels: { A: "a" }, identifiers: { a: ["1"] } });
    assert.deepEqual(answer(), { labels: {}, identifiers: {} });
  });

  it("distinguishes two structures of one name, and labels a nameless one by its id", () => {
    const labels = (one: string | null, two: string | null) =>
      answer(homeWith({ structures: { a: structure({ name: one }), b: structure({ name: two }) } })).labels;
    assert.deepEqual(labels("Home", "Home"), { Home: "a", "Home (2)": "b" });
    assert.deepEqual(labels(null, ""), { a: "a", b: "b" });
    assert.deepEqual(labels("b", null), { b: "a", "b (2)": "b" });
  });

  it("holds names and ids that an ordinary object would lose", () => {
    const account = homeWith({
      structures: [
        ["__proto__", structure({ name: "__proto__" })],
        ["constructor", structure({ name: "toString" })],
      ],
      thermostats: [["hasOwnProperty", thermostat("__proto__", { name: "valueOf" })]],
    });
    const text = JSON.stringify(largeStringsOf(account));
    assert.equal(
      text,
      '{"labels":{"__proto__":"__proto__","toString":"constructor"},"identifiers":{"hasOwnProperty":["1","thermostats",' +
        '"valueOf","__proto__"],"__proto__":["1"],"constructor":["2"]}}',
    );
  });
});

function largeStringsOf(...accounts: Home[]) {
  let [map, values] = [emptyIndexMap, blankValues];
  for (const account of accounts) {
    map = assignIndexes(map, account).map;
    values = mirror(account, map, values);
  }
  return largeStrings(map, values);
}

/** The answer as a client receives it. */
function answer(...accounts: Home[]): ReturnType<typeof largeStrings> {
  return JSON.parse(JSON.stringify(largeStringsOf(...accounts)));
}
