import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { countFailedAttempts, knownTries } from "../../src/events/webhooks/known-tries.ts";
import type { ListedDelivery } from "../../src/store/tables/webhook-deliveries.ts";

const refused = { status: 500, text: "answered 500" };
const recorded = { attempt: 1, timeMs: 1_000, tookMs: 35, ...refused };

function tries(row: Partial<ListedDelivery>) {
  const unsent = { state: "waiting", attempts: 0, status: null, text: null, settledMs: null, history: null } as const;
  return knownTries({ ...unsent, ...row } as ListedDelivery);
}

describe("the failed attempts of a delivery", () => {
  const failed = (row: Partial<ListedDelivery>) => {
    const unsent = { state: "waiting", attempts: 0, status: null, text: null, settledMs: null, history: null } as const;
    return countFailedAttempts({ ...unsent, ...row } as ListedDelivery);
  };
  const last = { attempt: 15, timeMs: 2_000, tookMs: 35, status: 200, text: null };

  it("are counted, also those before the recorded ones", () => {
    assert.equal(failed({}), 0);
    assert.equal(failed({ attempts: 1, ...refused, history: { isResend: false, tries: [recorded] } }), 1);
    assert.equal(failed({ attempts: 2, ...refused }), 1, "an older node recorded nothing, and one may be under way");
    assert.equal(failed({ state: "failed", attempts: 4, ...refused, settledMs: 9_000 }), 4);
    const recent = [{ ...recorded, attempt: 14 }, last];
    const delivered = { state: "delivered", attempts: 15, status: 200, text: null } as const;
    assert.equal(failed({ ...delivered, history: { isResend: false, tries: recent } }), 14);
  });
});

describe("the known attempts of a delivery", () => {
  it("are those that were recorded", () => {
    const history = { isResend: false, tries: [recorded] };
    assert.deepEqual(tries({ attempts: 1, ...refused, history }), [recorded]);
    assert.deepEqual(tries({ attempts: 2, ...refused, history }), [recorded], "the second one is under way");
  });

  it("are none before the first one has ended", () => {
    assert.deepEqual(tries({}), []);
    assert.deepEqual(tries({ attempts: 1 }), []);
    assert.deepEqual(tries({ history: { isResend: true, tries: [] } }), []);
  });

  it("end with the last outcome when a node of an older version recorded nothing", () => {
    const unknown = { timeMs: null, tookMs: null };
    assert.deepEqual(tries({ attempts: 3, ...refused }), [{ attempt: null, ...unknown, ...refused }]);
    const settled = { state: "delivered", attempts: 4, status: 204, text: null, settledMs: 9_000 } as const;
    const last = { attempt: 4, timeMs: 9_000, tookMs: null, status: 204, text: null };
    assert.deepEqual(tries(settled), [last]);
    assert.deepEqual(tries({ ...settled, history: { isResend: false, tries: [recorded] } }), [recorded, last]);
  });

  it("are never more than ten", () => {
    const many = Array.from({ length: 10 }, (_, at) => ({ ...recorded, attempt: at + 1 }));
    const shown = tries({
      state: "failed",
      attempts: 11,
      status: 404,
      text: "answered 404",
      history: { isResend: false, tries: many },
    });
    assert.deepEqual(
      shown.map(({ attempt }) => attempt),
      [2, 3, 4, 5, 6, 7, 8, 9, 10, 11],
    );
  });
});
