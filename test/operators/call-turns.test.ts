import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { setImmediate as nextTurn } from "node:timers/promises";
import { ClientGone, TooManyRequests } from "../../src/model/errors.ts";
import type { OperatorId, TenantId } from "../../src/model/ids.ts";
import { type LimitName, limits } from "../../src/model/limits.ts";
import { OperatorCallTurns } from "../../src/operators/call-turns.ts";
import type { Operator } from "../../src/operators/operator.ts";

const never = new AbortController().signal;

function operatorOf(id: number, tenantId = 1): Operator {
  const by = { kind: "token", id: "t" } as const;
  const access = { role: "tenantAdmin", reachesAll: false, tenantIds: [tenantId as TenantId] } as const;
  return { operatorId: id as OperatorId, name: `operator ${id}`, by, ...access };
}

/** Calls that run until the test ends them, in the order of their start. */
function heldCalls() {
  const reached: LimitName[] = [];
  const turns = new OperatorCallTurns((limit) => reached.push(limit));
  const running: { readonly id: number; readonly end: () => void }[] = [];
  const started: number[] = [];
  const call = (operator: Operator, disconnected = never) =>
    turns.run(
      operator,
      () => {
        const { promise, resolve } = Promise.withResolvers<string>();
        started.push(operator.operatorId);
        running.push({ id: operator.operatorId, end: () => resolve("done") });
        return promise;
      },
      disconnected,
    );
  const endAll = async () => {
    while (running.length > 0) {
      for (const { end } of running.splice(0)) end();
      await nextTurn();
    }
  };
  return { call, running, started, reached, endAll };
}

describe("calls of operators", () => {
  it("wait when one operator has as many in progress as the limit allows, and are refused beyond the waiting ones", async () => {
    const { call, running, reached, endAll } = heldCalls();
    const all = limits.operatorCalls + limits.operatorCallsWaiting;
    const taken = Array.from({ length: all }, () => call(operatorOf(1)));
    await nextTurn();
    assert.equal(running.length, limits.operatorCalls);
    await assert.rejects(call(operatorOf(1)), (error) => {
      assert.ok(error instanceof TooManyRequests);
      assert.equal(error.retryAfterSeconds, 1);
      assert.match(error.message, /48 calls by you are in progress.*Nothing was done/);
      return true;
    });
    assert.deepEqual(reached, ["operatorCallsWaiting"]);
    await endAll();
    assert.deepEqual(new Set(await Promise.all(taken)), new Set(["done"]));
  });

  it("of one operator leave room for those of others", async () => {
    const { call, started, endAll } = heldCalls();
    const many = Array.from({ length: 48 }, () => call(operatorOf(1)));
    const another = call(operatorOf(2, 2));
    await nextTurn();
    assert.deepEqual(started.slice(limits.operatorCalls), [2]);
    await endAll();
    await Promise.all([...many, another]);
  });

  it("of all operators of a tenant are bounded too, and operators take turns", async () => {
    const { call, running, started, endAll } = heldCalls();
    const calls = [1, 2, 3].flatMap((id) => Array.from({ length: 16 }, () => call(operatorOf(id))));
    const lone = call(operatorOf(4));
    const ofAnother = call(operatorOf(5, 2));
    await nextTurn();
    assert.equal(running.length, limits.operatorCallsOfTenant + 1);
    assert.ok(started.includes(5));
    await endAll();
    await Promise.all([...calls, lone, ofAnother]);
    const before = started.indexOf(4) - (limits.operatorCallsOfTenant + 1);
    assert.ok(before <= 3, `${before} waiting calls of other operators ran before`);
  });

  it("leave the queue when their client disconnects, and leave nothing behind", async () => {
    const { call, running, started, endAll } = heldCalls();
    const calls = Array.from({ length: limits.operatorCalls }, () => call(operatorOf(1)));
    const leaving = new AbortController();
    const left = call(operatorOf(1), leaving.signal);
    await nextTurn();
    leaving.abort();
    await assert.rejects(left, ClientGone);
    await endAll();
    await Promise.all(calls);
    assert.deepEqual([running.length, started.length], [0, limits.operatorCalls]);
  });
});
