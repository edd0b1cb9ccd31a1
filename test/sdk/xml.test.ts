import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { UnexpectedAnswer } from "../../sdk/src/index.ts";
import { readXml } from "../../sdk/src/xml.ts";
import { document } from "../../src/outlets/platform/xml.ts";

describe("the answers of platform calls", () => {
  it("are parsed as the service writes them, with any text", () => {
    const characters = Array.from({ length: 0x30_00 }, (_, code) => String.fromCodePoint(code));
    const texts = ["", " ", "a & b < c > d \"e\" 'f'", "]]>", "&amp;amp;", "<x>", "\r\n\r", "🏮\uD800", ...characters];
    // The service replaces characters that XML cannot hold.
    const forbidden = /[^\t\n\r\u0020-\uD7FF\uE000-\uFFFD\u{10000}-\u{10FFFF}]/gu;
    const root = readXml(
      document(
        "xResponse",
        [...texts, texts.join("")].map((text) => ["v", text] as const),
      ),
    );
    assert.equal(root.name, "xResponse");
    assert.deepEqual(
      root.children.map(({ text }) => text),
      [...texts, texts.join("")].map((text) => text.replace(forbidden, "\uFFFD")),
    );
  });

  it("may have comments, empty elements, CDATA and any prefix", () => {
    const root = readXml(
      `<?xml version="1.0"?>\n<!-- a --><a:r xmlns:a="b"><c/><d> x <![CDATA[<&>]]></d ><e f='g'/>&#65;&#x42;</a:r>\n`,
    );
    assert.deepEqual(
      root.children.map(({ name, text }) => [name, text]),
      [
        ["c", ""],
        ["d", " x <&>"],
        ["e", ""],
      ],
    );
    assert.equal(root.text, "AB");
  });

  it("are refused when they are not XML, or incomplete", () => {
    const wrong = [
      "",
      "x",
      "<a>",
      "<a></b>",
      "<a/><b/>",
      "</a>",
      "<a>&nbsp;</a>",
      "<a>&constructor;</a>",
      "<a>&#0;</a>",
      "<a",
      "<!DOCTYPE a><a/>",
    ];
    for (const text of wrong) assert.throws(() => readXml(text), UnexpectedAnswer, text);
  });
});
