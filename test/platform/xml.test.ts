import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { XMLParser } from "fast-xml-parser";
import { document, isXmlText } from "../../src/outlets/platform/xml.ts";
import { readStrictly } from "./strict-xml.ts";

const foreignParser = new XMLParser({ trimValues: false, parseTagValue: false, htmlEntities: true });

/** The value as fast-xml-parser and the strict parser read it. */
function readBack(value: string): string[] {
  const xml = document("testResponse", [["value", value]]);
  const read = foreignParser.parse(xml) as { "ns1:testResponse": { value: string } };
  return [read["ns1:testResponse"].value, readStrictly(xml).children[0]!.text];
}

describe("text in an answer", () => {
  it("is read back unchanged, with any punctuation, script and line end", () => {
    const texts = [
      `<b>&amp; "quoted" 'single'</b>`,
      "]]>",
      "<![CDATA[x]]>",
      "&#0; &lt; &nothing;",
      "🏠👩‍👩‍👧 home",
      "‮ردهة المنزل",
      "  spaces around  ",
      "tab\there, line\nbreak",
      "-->",
      "",
    ];
    for (const text of texts) assert.deepEqual(readBack(text), [text, text]);
  });

  it("keeps a carriage return, which unescaped would become a line feed", () => {
    assert.equal(readStrictly(document("testResponse", [["value", "a\r\nb\rc"]])).children[0]!.text, "a\r\nb\rc");
  });

  it("has the replacement character in place of characters that XML forbids", () => {
    for (const text of ["\0", "\u0001", "\u001f", "\u000b", "\ufffe", "\uffff", "\ud83c", "\udfe0"]) {
      assert.deepEqual(readBack(`a${text}b`), ["a\ufffdb", "a\ufffdb"]);
      assert.equal(isXmlText(text), false);
      assert.equal(isXmlText(`a${text}b`), false);
    }
    assert.ok(isXmlText("tab\t, line\r\n, 🏠 and \u0085"));
  });

  it("is well-formed for any string", () => {
    const anyText = fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) });
    const marks = fc.string({ unit: fc.constantFrom("<", ">", "&", "]", '"', "'", ";", "#", "\r", "\n", "a", "🏠") });
    fc.assert(
      fc.property(fc.oneof(anyText, marks), (text) => {
        const read = readStrictly(document("testResponse", [["value", text]])).children[0]!.text;
        if (isXmlText(text)) assert.equal(read, text);
      }),
    );
  });
});

describe("an answer", () => {
  it("has the prefix at its root only", () => {
    assert.equal(
      document("getDeviceListResponse", [["devList", [["devId", 12]]]]),
      `<?xml version="1.0" encoding="UTF-8"?>\n<ns1:getDeviceListResponse xmlns:ns1="http://arrayent.com/zamapi/">` +
        "<devList><devId>12</devId></devList></ns1:getDeviceListResponse>",
    );
  });
});
