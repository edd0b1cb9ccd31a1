import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Incoming } from "../../src/http/request/incoming.ts";
import { ResumableBatches } from "../../src/idempotency/resumable-batches.ts";
import { OutcomeUnknown, StoreUnavailable, storeFailureSentence } from "../../src/model/errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { BatchTurns } from "../../src/outlets/v3/batch-turns.ts";
import { stateRoute } from "../../src/outlets/v3/state-routes.ts";
import { onStore } from "../contracts/store/harness.ts";
import { makeHome } from "../contracts/store/home.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

describe("states whose store fails", () => {
  const failedAfter = (groups: number, idempotencyKeys?: readonly string[]) => {
    let failure: unknown;
    return onStore(sqliteHarness, async (store) => {
      const { tenantId } = await makeHome(store);
      let written = 0;
      const route = stateRoute(
        {
          provisioning: {
            alarmLines: async () => [],
            writeCostly: () => assert.fail(),
            async writeSome(_, lines, keep) {
              if (written >= groups) throw new StoreUnavailable("The store can't be written.");
              written += 1;
              const outcomes = lines.slice(0, 1).map(() => ({ done: written as DeviceId }));
              if (keep) await store.transaction((tx) => keep(tx, outcomes));
              return outcomes;
            },
          },
          batches: new ResumableBatches(store),
          tokens: { clientOf: async () => "client 1" },
        },
        new BatchTurns(),
      );
      assert.ok(route.access === "bearer");
      const body = { kind: "json", value: { 1: { power: "on" }, 2: { power: "on" }, 3: { power: "on" } } };
      const caller = { kind: "enterprise", tenantId } as unknown as Parameters<typeof route.answer>[1];
      const incoming = { body, bearer: "token", idempotencyKeys } as unknown as Incoming;
      failure = await Promise.resolve(route.answer(incoming, caller)).then(
        () => assert.fail("the store has failed"),
        (error: unknown) => error,
      );
    }).then(() => failure);
  };

  it("say that nothing was changed only if no device was written before", async () => {
    const first = await failedAfter(0);
    assert.ok(first instanceof StoreUnavailable && !(first instanceof OutcomeUnknown));
    const second = await failedAfter(1);
    assert.ok(second instanceof OutcomeUnknown);
    assert.match(storeFailureSentence(second), /Read before you repeat it/);
  });

  it("may be repeated with their key", async () => {
    const failure = await failedAfter(1, ["key"]);
    assert.ok(failure instanceof OutcomeUnknown);
    assert.match(storeFailureSentence(failure), /Repeat it with the same Idempotency-Key/);
  });
});
