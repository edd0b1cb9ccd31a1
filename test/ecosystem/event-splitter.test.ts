import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import { EventSplitter } from "../../src/ecosystem/nest/event-splitter.ts";

const roomy = 1_000;

describe("the events of a stream", () => {
  const cases: [string, string, [string, string][]][] = [
    ["lines that end in LF", "event: put\ndata: 1\n\n", [["put", "1"]]],
    ["lines that end in CR", "event: put\rdata: 1\r\r", [["put", "1"]]],
    ["lines that end in CRLF", "event: put\r\ndata: 1\r\n\r\n", [["put", "1"]]],
    [
      "a mixture of line ends",
      "event: put\r\ndata: 1\n\revent: open\rdata: 2\r\n\n",
      [
        ["put", "1"],
        ["open", "2"],
      ],
    ],
    ["a byte order mark", "\uFEFFevent: put\ndata: 1\n\n", [["put", "1"]]],
    ["a byte order mark in the middle", "data: 1\n\n\uFEFFdata: 2\n\n", [["message", "1"]]],
    ["data on several lines", "event: put\ndata: {\ndata:  1\ndata\ndata: }\n\n", [["put", "{\n 1\n\n}"]]],
    ["data that opens with an empty line", "data\ndata: 1\n\n", [["message", "\n1"]]],
    ["comments and unknown fields", ": hello\nid: 7\nretry: 1\nevents: x\nevent: put\n:\ndata: 1\n\n", [["put", "1"]]],
    ["no space after the colon", "event:put\ndata:{a:1}\n\n", [["put", "{a:1}"]]],
    ["only the first space left out", "data:  x \n\n", [["message", " x "]]],
    ["empty data", "event: keep-alive\ndata:\n\n", [["keep-alive", ""]]],
    ["a name without data", "event: auth_revoked\n\n", [["auth_revoked", ""]]],
    ["blank lines only", "\n\n\r\n\r\r\n", []],
    ["an event that isn't finished", "event: put\ndata: 1\n", []],
    ["NUL bytes", "event: put\ndata: a\0b\n\0: x\n\n", [["put", "a\0b"]]],
    ["text beyond ASCII", "data: ردهة 🏠 é\n\n", [["message", "ردهة 🏠 é"]]],
  ];
  for (const [what, text, events] of cases) {
    it(`are found in ${what}`, () => assert.deepEqual(eventsOf([Buffer.from(text)]), events));

    it(`are found in ${what}, byte by byte`, () => {
      assert.deepEqual(eventsOf(Array.from(Buffer.from(text), (byte) => Buffer.from([byte]))), events);
    });
  }

  it("are the same wherever the chunks end", () => {
    const line = fc.oneof(
      fc.constantFrom("", "data: a", "data:", "data", "event: put", ": note", "\uFEFF", "data: \uD83C\uDFE0é"),
      fc.string({ unit: fc.constantFrom("d", ":", " ", "\0", "é", "{") }),
    );
    const text = fc
      .array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\r")))
      .map((lines) => lines.flat().join(""));
    fc.assert(
      fc.property(text, fc.array(fc.nat()), (text, cuts) => {
        const bytes = Buffer.from(text);
        assert.deepEqual(eventsOf(cutAt(bytes, cuts)), eventsOf([bytes]));
      }),
      { numRuns: 500 },
    );
  });

  it("agree with the lines of the standard, read slowly", () => {
    const text = fc
      .array(fc.constantFrom("data: 1", "data", "event: e", ":", "\n", "\r", "\r\n"))
      .map((parts) => parts.join(""));
    fc.assert(
      fc.property(text, (text) => assert.deepEqual(eventsOf([Buffer.from(text)]), readSlowly(text))),
      { numRuns: 500 },
    );
  });
});

describe("an event that is too large", () => {
  const tooLarge: [string, string][] = [
    ["as one line", `data: ${"x".repeat(roomy)}\n\n`],
    ["as a line that never ends", `data: ${"x".repeat(roomy)}`],
    ["as many lines", "data: xxxxxxxxxx\n".repeat(roomy / 10)],
    ["as a comment", `:${"x".repeat(roomy)}`],
  ];
  for (const [how, text] of tooLarge) {
    it(`is noticed ${how}, and nothing after it is read`, () => {
      for (const size of [1, 7, text.length]) {
        const splitter = new EventSplitter(roomy);
        const events = piecesOf(Buffer.from(text), size).flatMap((piece) => [...splitter.split(piece)]);
        assert.deepEqual([events, splitter.isOverfull], [[], true]);
      }
    });
  }

  it("isn't made of many small ones", () => {
    const splitter = new EventSplitter(roomy);
    const events = [...splitter.split(Buffer.from("data: x\n\n: note\n".repeat(roomy)))];
    assert.deepEqual([events.length, splitter.isOverfull], [roomy, false]);
  });
});

function eventsOf(chunks: readonly Buffer[]): [string, string][] {
  const splitter = new EventSplitter(roomy);
  return chunks.flatMap((chunk) => {
    // Each event is read before the next is asked for, and what the chunk lay in is used anew, as the stream does.
    const lent = Buffer.from(chunk);
    const events = splitter
      .split(lent)
      .map(({ name, data }): [string, string] => [name, data.toString()])
      .toArray();
    lent.fill("!");
    return events;
  });
}

function cutAt(bytes: Buffer, cuts: readonly number[]): Buffer[] {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length].sort((a, b) => a - b);
  return ends.map((end, index) => bytes.subarray(index === 0 ? 0 : ends[index - 1], end));
}

function piecesOf(bytes: Buffer, size: number): Buffer[] {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
}

/** The same by splitting the whole text into lines first. */
function readSlowly(text: string): [string, string][] {
  const events: [string, string][] = [];
  let name = "";
  let data: string[] = [];
  for (const line of text.split(/\r\n|\r|\n/).slice(0, -1)) {
    if (line === "") {
      if (name !== "" || data.length > 0) events.push([name || "message", data.join("\n")]);
      [name, data] = ["", []];
    }
    const [, field, value = ""] = /^([^:]*)(?:: ?(.*))?$/s.exec(line)!;
    if (field === "data") data.push(value);
    if (field === "event") name = value;
  }
  return events;
}
