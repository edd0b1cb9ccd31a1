import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { hiddenCharacter } from "../../src/model/hidden-characters.ts";

describe("a character of a name", () => {
  const hidden: Readonly<Record<string, string>> = {
    "ada\u202E": "U+202E",
    "a\u200Bda": "U+200B",
    "a\u00ADda": "U+00AD",
    "\u2066ada\u2069": "U+2066",
    "a\u2060da": "U+2060",
    "a\u{E0061}": "U+E0061",
    "ada\u2028": "U+2028",
    "a\u200Dda": "U+200D",
    "a\u200Cda": "U+200C",
    "می\u200C\u200Cخواهم": "U+200C",
    "می\u200C": "U+200C",
    "\u200Dक": "U+200D",
    "🏠\u200Dada": "U+200D",
    "🏠\u200C🏠": "U+200C",
  };
  for (const [name, found] of Object.entries(hidden)) {
    it(`is hidden: ${found} in ${JSON.stringify(name)}`, () => assert.equal(hiddenCharacter(name), found));
  }

  const plain = [
    "Räume 🏠",
    "می\u200Cخواهم",
    "क्\u200Dष",
    "ക്\u200Dഷ",
    "👩🏽\u200D🚀 und 👨\u200D👩\u200D👧",
    "🏳️\u200D🌈",
    "שלום",
    "e\u0301",
    "日本",
  ];
  for (const name of plain)
    it(`is plain in ${JSON.stringify(name)}`, () => assert.equal(hiddenCharacter(name), undefined));
});
