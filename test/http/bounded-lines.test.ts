import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { BoundedLines } from "../../src/http/bounded-lines.ts";
import { collecting, type Reported } from "../platform/made-platform.ts";
import { madeServer } from "./made-server.ts";

const bounds = { windowMs: 60_000, perKind: 2, perWindow: 4, kinds: 4, summaries: 2 };
const code = "invalid_token";
const route = "/v3/users";

function bounded() {
  const reported: Reported[] = [];
  const timers: { readonly delayMs: number; readonly act: () => void }[] = [];
  const after = (delayMs: number, act: () => void) => {
    timers.push({ delayMs, act });
    return () => undefined;
  };
  const lines = new BoundedLines(collecting(reported), after, bounds);
  const admitted = (source: string, times: number) =>
    Array.from({ length: times }, () => lines.admit({ source, code, route })).filter(Boolean).length;
  return { admitted, timers, summaries: () => reported.splice(0).map(({ fields }) => fields) };
}

describe("log lines that callers cause", () => {
  it("are limited per kind and in total, and suppressed ones are counted at the end of the minute", () => {
    const { admitted, timers, summaries } = bounded();
    assert.deepEqual([admitted("192.0.2.1", 5), admitted("192.0.2.2", 1), admitted("192.0.2.3", 9)], [2, 1, 1]);
    assert.deepEqual(
      timers.map(({ delayMs }) => delayMs),
      [60_000],
    );
    timers[0]!.act();
    assert.deepEqual(summaries(), [
      { source: "192.0.2.3", code, route, lines: 8 },
      { source: "192.0.2.1", code, route, lines: 3 },
    ]);
    assert.equal(admitted("192.0.2.1", 5), 2, "the next minute doesn't start with new limits");
  });

  it("of kinds beyond the limit of separate counts are counted together", () => {
    const { admitted, timers, summaries } = bounded();
    for (let at = 0; at < 10; at++) admitted(`192.0.2.${at}`, 4);
    timers[0]!.act();
    const [first, second, others, ...more] = summaries() as { readonly source?: string; readonly lines: number }[];
    assert.deepEqual([first?.lines, second?.lines, others?.source, more], [4, 4, undefined, []]);
    assert.equal(first!.lines + second!.lines + others!.lines, 10 * 4 - bounds.perWindow);
  });
});

describe("a flood of refused requests", () => {
  it("leaves ten lines at warn, the rest at info, and the count of suppressed lines", async (t) => {
    const { fetch, reported, server } = await madeServer(t);
    for (let at = 0; at < 30; at++) await fetch("/v3/users", { headers: { authorization: "Bearer x" } });
    await fetch("/v3/users");
    await server.stop();
    const count = (level: string, sentence: string) =>
      reported.filter((line) => line.level === level && line.sentence === sentence).length;
    assert.deepEqual([count("warn", "request refused"), count("info", "request answered")], [11, 20]);
    const { fields } = reported.at(-1)!;
    assert.deepEqual(fields, { source: "127.0.0.1", code, route: "/v3/users", lines: 20 });
  });

  it("names the address that a trusted proxy saw, never one that a client forged", async (t) => {
    const { fetch, reported, server } = await madeServer(t, { trustedProxies: ["127.0.0.1", "192.0.2.0/24"] });
    const forged = "198.51.100.1";
    for (const forwarded of [`${forged}, 203.0.113.9`, "203.0.113.9, 192.0.2.7", "secret", `${forged}, secret`, ""]) {
      await fetch("/v3/devices/1", { headers: { authorization: "Bearer x", "x-forwarded-for": forwarded } });
    }
    await server.stop();
    assert.deepEqual(
      reported.map(({ fields }) => (fields as { source: string }).source),
      ["203.0.113.9", "203.0.113.9", "127.0.0.1", "127.0.0.1", "127.0.0.1"],
    );
  });
});
