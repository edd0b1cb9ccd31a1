import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { renewalDelay, retryDelayMs, shortestIntervalMs } from "../../src/federation/renewal-times.ts";

describe("the time of a renewal", () => {
  const issuedMs = 1_000_000;
  const delay = (lifetimeMs: number, nowMs: number, random = 0.5) =>
    renewalDelay({ accessToken: "t", issuedMs, expiresMs: issuedMs + lifetimeMs }, nowMs, random);

  it("is at 80 % of the lifetime, with a jitter of 5 % on both sides", () => {
    assert.deepEqual(delay(1_000_000, issuedMs), { delayMs: 800_000, isDue: true });
    assert.deepEqual(delay(1_000_000, issuedMs, 0), { delayMs: 750_000, isDue: true });
    assert.deepEqual(delay(1_000_000, issuedMs, 1), { delayMs: 850_000, isDue: true });
    assert.deepEqual(delay(1_000_000, issuedMs + 300_000), { delayMs: 500_000, isDue: true });
  });

  it("is now when it has passed", () => {
    assert.deepEqual(delay(1_000_000, issuedMs + 900_000), { delayMs: 0, isDue: true });
    assert.deepEqual(delay(1_000_000, issuedMs + 5_000_000), { delayMs: 0, isDue: true });
  });

  it("is looked for again after an hour when it is later than that", () => {
    assert.deepEqual(delay(4_500_000, issuedMs), { delayMs: 3_600_000, isDue: true });
    assert.deepEqual(delay(4_500_010, issuedMs), { delayMs: 3_600_000, isDue: false });
  });

  it("counts the lifetime from now when the time of issue is not stored", () => {
    const credential = { accessToken: "t", expiresMs: issuedMs + 100_000 };
    assert.deepEqual(renewalDelay(credential, issuedMs, 0.5), { delayMs: 80_000, isDue: true });
  });

  it("is not known without an expiry, nor for a lifetime shorter than the interval between two renewals", () => {
    assert.equal(renewalDelay({ accessToken: "t" }, issuedMs, 0.5), undefined);
    assert.equal(delay(shortestIntervalMs - 1, issuedMs), undefined);
    assert.equal(delay(-5, issuedMs), undefined);
    assert.deepEqual(delay(shortestIntervalMs, issuedMs), { delayMs: 8_000, isDue: true });
  });
});

describe("the pause after a renewal without an answer", () => {
  it("doubles from 2 seconds to 2 minutes, with a jitter of a quarter on both sides", () => {
    const pauses = [1, 2, 3, 6, 7, 8, 50].map((failures) => retryDelayMs(failures, 0.5));
    assert.deepEqual(pauses, [2_000, 4_000, 8_000, 64_000, 120_000, 120_000, 120_000]);
    assert.deepEqual([retryDelayMs(1, 0), retryDelayMs(1, 1)], [1_500, 2_500]);
  });
});
