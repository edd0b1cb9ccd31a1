import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { type BlindPast, blindHours } from "../../src/federation/blind-hours.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { blindIntervalsKept } from "../../src/store/tables/blind-intervals.ts";

const hour = 3_600_000;
const since = 1_000 * hour;
const now = since + 2.5 * hour;

type Link = Parameters<typeof blindHours>[1][number];

const link = (fields: Partial<Link> = {}): Link => ({
  userId: 1 as UserId,
  deviceId: 8 as DeviceId,
  state: "live",
  confirmedMs: now,
  blindSinceMs: null,
  blindCause: null,
  ...fields,
});

/** In tenths of an hour: seen, blind and unknown, for each of three hours. */
async function hoursOf(
  links: readonly Link[],
  ended: readonly { hour: number; blindMs: number }[] = [],
  past?: Omit<BlindPast, "deviceId">,
) {
  const deviceId = 8 as DeviceId;
  const tx = {
    clock: { nowMs: async () => now },
    blindIntervals: {
      hours: async () => ended.map((one) => ({ deviceId, ...one })),
      pasts: async () => (past ? [{ deviceId, ...past }] : []),
    },
  };
  const store = { read: async (act: (given: typeof tx) => unknown) => act(tx) };
  const found = await blindHours({ store } as never, links, since, 3);
  const tenths = (hours: readonly number[]) => hours.map((ms) => Math.round((10 * ms) / hour));
  return { seen: tenths(found.seenMs), blind: tenths(found.blindMs), unknown: tenths(found.unknownMs), ...found };
}

describe("the hours of links", () => {
  it("are seen, but for the blind intervals", async () => {
    const { seen, blind, unknown, blindLinks } = await hoursOf([link()], [{ hour: 1, blindMs: 0.4 * hour }]);
    assert.deepEqual(
      [seen, blind, unknown],
      [
        [10, 6, 5],
        [0, 4, 0],
        [0, 0, 0],
      ],
    );
    assert.equal(blindLinks, 1);
  });

  it("are blind up to now while an interval has not ended, and unknown before it since the last confirmation", async () => {
    const waiting = { state: "waiting", confirmedMs: since + 0.5 * hour, blindSinceMs: since + 1.5 * hour } as const;
    const { seen, blind, unknown } = await hoursOf([link(waiting)]);
    assert.deepEqual(
      [seen, blind, unknown],
      [
        [5, 0, 0],
        [0, 5, 5],
        [5, 5, 0],
      ],
    );
  });

  it("are unknown, and never seen, when no node follows the link or nothing was confirmed", async () => {
    for (const state of ["not_followed", "stale"] as const) {
      const { seen, blind, unknown, blindLinks } = await hoursOf([link({ state, confirmedMs: since - hour })]);
      assert.deepEqual([seen, blind, unknown, blindLinks], [[0, 0, 0], [0, 0, 0], [10, 10, 5], 0], state);
    }
  });

  it("are blind before they are unknown, and each moment counts once", async () => {
    const stale = link({ state: "stale", confirmedMs: since - hour });
    const { seen, blind, unknown } = await hoursOf([stale], [{ hour: 1, blindMs: 0.4 * hour }]);
    assert.deepEqual(
      [seen, blind, unknown],
      [
        [0, 0, 0],
        [0, 4, 0],
        [10, 6, 5],
      ],
    );
  });

  it("are unknown before the oldest kept interval, when older ones are no longer kept", async () => {
    const past = { linkedMs: null, oldestMs: since + 1.5 * hour, kept: blindIntervalsKept };
    const { seen, unknown } = await hoursOf([link()], [], past);
    assert.deepEqual(
      [seen, unknown],
      [
        [0, 5, 5],
        [10, 5, 0],
      ],
    );
    assert.deepEqual((await hoursOf([link()], [], { ...past, kept: blindIntervalsKept - 1 })).unknown, [0, 0, 0]);
  });

  it("begin when the account was linked", async () => {
    const past = { linkedMs: since + 1.5 * hour, oldestMs: since + 1.5 * hour, kept: 1 };
    const { seen, blind, unknown } = await hoursOf([link()], [{ hour: 1, blindMs: 0.1 * hour }], past);
    assert.deepEqual(
      [seen, blind, unknown],
      [
        [0, 4, 5],
        [0, 1, 0],
        [0, 0, 0],
      ],
    );
    const madeMs = since + 2 * hour;
    const waiting = { state: "waiting", confirmedMs: madeMs, blindSinceMs: madeMs } as const;
    const made = await hoursOf([link({ ...waiting, blindCause: "just linked" })]);
    assert.deepEqual(
      [made.seen, made.blind, made.unknown],
      [
        [0, 0, 0],
        [0, 0, 5],
        [0, 0, 0],
      ],
    );
    // Its older intervals are no longer kept.
    const old = await hoursOf([link({ ...waiting, blindCause: "taken over" })]);
    assert.deepEqual(
      [old.seen, old.blind],
      [
        [10, 10, 0],
        [0, 0, 5],
      ],
    );
  });

  it("are added up over links", async () => {
    const { seen } = await hoursOf([link(), link({ deviceId: 9 as DeviceId })]);
    assert.deepEqual(seen, [20, 20, 10]);
  });
});
