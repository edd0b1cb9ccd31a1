import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { knownTries } from "../../src/events/webhooks/known-tries.ts";
import type { ListedDelivery } from "../../src/store/tables/webhook-deliveries.ts";

const refused = { status: 500, text: "answered 500" };
const recorded = { attempt: 1, timeMs: 1_000, tookMs: 35, ...refused };

function tries(row: Partial<ListedDelivery>) {
  const unsent = { state: "waiting", attempts: 0, status: null, text: null, settledMs: null, history: null } as const;
  return knownTries({ ...unsent, ...row } as ListedDelivery);
}

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
