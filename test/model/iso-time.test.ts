import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isoTime } from "../../src/model/iso-time.ts";

const dayMs = 86_400_000;

describe("a time as text", () => {
  it("is what a calendar says, at the edges of days, months, years and centuries", () => {
    const edges = [0, 1, 999, 1_000, 59_999, 60_000, 3_599_999, 3_600_000, dayMs - 1, dayMs];
    const years = [1, 1600, 1899, 1900, 1970, 1999, 2000, 2024, 2026, 2038, 2099, 2100, 2400, 9999];
    for (const year of years) {
      for (let month = 0; month < 12; month++) {
        const startMs = new Date(0).setUTCFullYear(year, month, 1);
        for (const edgeMs of edges) {
          for (const timeMs of [startMs + edgeMs, startMs - edgeMs]) {
            const date = new Date(timeMs);
            if (date.getUTCFullYear() < 0 || date.getUTCFullYear() > 9999) continue;
            assert.equal(isoTime(timeMs), date.toISOString());
          }
        }
      }
    }
  });

  it("is what a calendar says, on every day of 400 years", () => {
    const startMs = Date.UTC(1800, 0, 1);
    for (let day = 0; day < 146_097; day++) {
      const timeMs = startMs + day * dayMs + ((day * 7_919) % dayMs);
      assert.equal(isoTime(timeMs), new Date(timeMs).toISOString());
    }
  });

  it("is what a calendar says, at 20,000 random times", () => {
    let seed = 42;
    const random = () => {
      seed = (Math.imul(seed, 1_664_525) + 1_013_904_223) >>> 0;
      return seed / 2 ** 32;
    };
    const [fromMs, toMs] = [new Date(0).setUTCFullYear(0, 0, 1), Date.UTC(9999, 11, 31, 23, 59, 59, 999)];
    for (let i = 0; i < 20_000; i++) {
      const timeMs = Math.floor(fromMs + random() * (toMs - fromMs));
      assert.equal(isoTime(timeMs), new Date(timeMs).toISOString());
    }
  });
});
