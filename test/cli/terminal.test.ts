import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { ago, timeOption } from "../../src/cli/devices/times.ts";
import { main, rows, table, whole } from "../../src/cli/terminal/output.ts";
import { progressOn } from "../../src/cli/terminal/progress.ts";
import { hasColour } from "../../src/cli/terminal/terminal.ts";
import { cutTo, padTo, textWidth } from "../../src/cli/terminal/text-width.ts";

describe("a table", () => {
  it("fits the terminal: it shortens the widest column, with an ellipsis", () => {
    const shown = table(["ID", "NAME", "ADDRESS"], [["1", "Hall lamp", "https://example.com/a/long/address"]], 40);
    assert.deepEqual(shown.split("\n"), ["ID  NAME       ADDRESS", "1   Hall lamp  https://example.com/a/lo…"]);
    for (const line of shown.split("\n")) assert.ok(textWidth(line) <= 40);
    assert.match(table(["A"], [["x".repeat(500)]], Number.POSITIVE_INFINITY), /x{500}$/);
  });

  it("never shortens ids and addresses, in a terminal of any width", () => {
    const [id, address] = ["bwc_u2XyQ0m1r9T5n8s7w6v4zA", "https://voice.example/callback"];
    const head = [whole("CLIENT"), "NAME", whole("ADDRESS")];
    const shown = table(head, [[id, "A voice assistant with a long name", address]], 80);
    assert.match(shown, new RegExp(`^CLIENT .*\n${id}  A voice assistant w…  ${address}$`));
    for (const line of shown.split("\n")) assert.ok(textWidth(line) <= 80, line);
    assert.match(table(head, [[id, "A voice assistant", address]], 20), new RegExp(`\n${id}  A v…  ${address}$`));
  });

  it("shortens the main column after the others", () => {
    const head = ["ID", main("WHAT"), "SOURCE"];
    const line = ["1", "GET /v3/devices/:deviceId", "2001:db8:85a3::8a2e:370:7334"];
    assert.match(table(head, [line], 40), /\n1 {3}GET \/v3\/devices\/:deviceId {2}2001:d/);
    assert.match(table(head, [line], 38), /\n1 {3}GET \/v3\/devices\/:device… {2}2001:db…$/);
  });

  it("with one object wraps long values", () => {
    const address = `https://voice.example/${"a".repeat(40)}`;
    const shown = rows(
      [
        ["name", "Voice"],
        ["addresses", [address, "https://voice.example/b"]],
      ],
      40,
    );
    assert.equal(shown, `name       Voice\naddresses  ${address}\n           https://voice.example/b`);
  });

  it("keeps its columns aligned with any text", () => {
    const shown = table(
      ["NAME", "STATE"],
      [
        ["居間", "on"],
        ["Küche", "off"],
        ["cafe\u0301", "on"],
        ["🏠 home", "on"],
      ],
      80,
    );
    const places = shown.split("\n").map((line) => textWidth(line.slice(0, line.search(/(STATE|on|off)$/))));
    assert.deepEqual(new Set(places), new Set([9]));
  });

  it("counts columns, not characters", () => {
    const widths: readonly (readonly [string, number])[] = [
      ["", 0],
      ["plain", 5],
      ["居間", 4],
      ["한국", 4],
      ["e\u0301", 1],
      ["👩‍👩‍👧", 2],
      ["☂\ufe0f", 2],
    ];
    for (const [text, width] of widths) assert.equal(textWidth(text), width, text);
    assert.equal(cutTo("居間のランプ", 6), "居間…");
    assert.equal(padTo("居間", 6), "居間  ");
  });
});

describe("colour", () => {
  it("is on for terminals, and on request", () => {
    const [terminal, pipe] = [
      { isTTY: true, write: () => undefined },
      { isTTY: false, write: () => undefined },
    ];
    const cases: readonly (readonly [Record<string, string>, boolean, boolean])[] = [
      [{}, true, false],
      [{ NO_COLOR: "1" }, false, false],
      [{ NO_COLOR: "" }, true, false],
      [{ TERM: "dumb" }, false, false],
      [{ CI: "true" }, false, false],
      [{ FORCE_COLOR: "1" }, true, true],
      [{ FORCE_COLOR: "0" }, false, false],
      [{ FORCE_COLOR: "1", NO_COLOR: "1" }, false, false],
    ];
    for (const [environment, onTerminal, inPipe] of cases) {
      assert.deepEqual([hasColour({ environment }, terminal), hasColour({ environment }, pipe)], [onTerminal, inPipe]);
    }
  });
});

describe("progress", () => {
  const progressOutput = async (environment: Record<string, string>, isTTY: boolean, takesLong: boolean) => {
    let text = "";
    const seen = Promise.withResolvers<void>();
    const err = {
      isTTY,
      columns: 60,
      write(more: string) {
        text += more;
        if (more.includes("working")) seen.resolve();
      },
    };
    const isShown = isTTY && Object.keys(environment).length === 0;
    const work = takesLong && isShown ? seen.promise : Promise.resolve();
    await progressOn({ environment, err }).during("working", work);
    return text;
  };

  it("is shown for long work, and removed at the end", async () => {
    const shown = await progressOutput({}, true, true);
    assert.match(shown, /\[ *=== *\] working \(0 s\)/);
    assert.ok(shown.endsWith("\r\u001b[K"));
  });

  it("is not shown for short work, or without a terminal", async () => {
    assert.equal(await progressOutput({}, true, false), "");
    assert.equal(await progressOutput({}, false, true), "");
    assert.equal(await progressOutput({ CI: "1" }, true, true), "");
    assert.equal(await progressOutput({ TERM: "dumb" }, true, true), "");
  });
});

describe("a time", () => {
  it("is shown and parsed as a relative time", () => {
    const nowMs = Date.parse("2026-01-31T12:00:00Z");
    const seconds = [3, 90, 7_200, 200_000];
    assert.deepEqual(
      seconds.map((count) => ago(nowMs - count * 1_000, nowMs)),
      ["3 s ago", "1 min ago", "2 h ago", "2 d ago"],
    );
    const from = (text: string) => timeOption({ from: text }, "from", nowMs);
    assert.equal(from("15m"), nowMs - 900_000);
    assert.equal(from("2026-01-31T11:00Z"), nowMs - 3_600_000);
    assert.equal(from(String(nowMs)), nowMs);
    for (const text of ["soon", "-5m", "2026-99-01", "15"]) assert.throws(() => from(text), /--from must be a time/);
  });
});
