import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { Operator } from "../../src/operators/operator.ts";
import { SessionWatch } from "../../src/operators/session-watch.ts";
import { manualRuntime } from "../federation/manual-runtime.ts";
import { madeOperators, origin } from "./made-operators.ts";

describe("an open stream of an operator", () => {
  /** Streams with a session and a token, and what has ended of them. */
  async function watched(t: TestContext) {
    const world = await madeOperators(t);
    const { operators, store, join } = world;
    const runtime = manualRuntime();
    const state = { error: undefined as Error | undefined };
    const read: typeof store.read = (body) => (state.error ? Promise.reject(state.error) : store.read(body));
    const watch = new SessionWatch({ isShared: false, transaction: store.transaction, read }, runtime);
    await join("ada");
    const grace = await join("grace", "tenantAdmin", [world.tenantId]);
    const { secret, token } = await operators.addToken(grace.operator.operatorId, { name: "ci", days: 1 });
    const ended: string[] = [];
    const byToken = await operators.byToken(secret);
    const ends = [
      watch.watch(grace.operator, () => ended.push("session")),
      watch.watch(grace.operator, () => ended.push("second tab")),
      watch.watch(byToken, () => ended.push("token")),
    ];
    await runtime.advance(2_000);
    assert.deepEqual(ended, []);
    const graceId = grace.operator.operatorId;
    return { ...world, runtime, state, watch, ended, ends, token, grace, graceId };
  }

  it("ends within half a second when its session ends, and only then", async (t) => {
    const { operators, runtime, ended, grace } = await watched(t);
    await operators.signOut(grace.session, origin.source);
    await runtime.advance(500);
    assert.deepEqual(ended, ["session", "second tab"]);
    await runtime.advance(2_000);
    assert.deepEqual(ended, ["session", "second tab"]);
  });

  it("ends when its token is revoked, or expires", async (t) => {
    const { operators, runtime, ended, token } = await watched(t);
    await operators.revokeToken(token.id);
    await runtime.advance(500);
    assert.deepEqual(ended, ["token"]);
    const expiring = await watched(t);
    expiring.clock.nowMs = expiring.token.expiresMs;
    await expiring.runtime.advance(500);
    assert.deepEqual(expiring.ended.toSorted(), ["second tab", "session", "token"]);
  });

  for (const [what, act] of [
    ["is suspended", ({ operators, graceId }) => operators.suspend(graceId)],
    ["is removed", ({ operators, graceId }) => operators.remove(graceId)],
    [
      "reaches other tenants",
      ({ operators, graceId }) => operators.setAccess(graceId, { role: "viewer", tenantIds: [] }),
    ],
  ] satisfies readonly (readonly [string, (world: Awaited<ReturnType<typeof watched>>) => Promise<unknown>])[]) {
    it(`ends when its operator ${what}`, async (t) => {
      const world = await watched(t);
      await act(world);
      await world.runtime.advance(500);
      assert.equal(world.ended.length, 3);
      assert.equal(world.runtime.timers, 0);
    });
  }

  it("stays open while the store fails, which is reported unless the store is just not reachable", async (t) => {
    const { operators, runtime, state, ended, graceId } = await watched(t);
    state.error = new StoreUnavailable("down");
    await runtime.advance(500);
    assert.equal(runtime.logLines.length, 0);
    state.error = new Error("a defect");
    await runtime.advance(500);
    assert.deepEqual(
      runtime.logLines.map(({ level }) => level),
      ["warn"],
    );
    assert.deepEqual(ended, []);
    state.error = undefined;
    await operators.suspend(graceId);
    await runtime.advance(500);
    assert.equal(ended.length, 3);
  });

  it("is no longer watched when it has ended by itself", async (t) => {
    const { operators, runtime, ended, ends, graceId } = await watched(t);
    ends[0]!();
    assert.equal(runtime.timers, 1);
    for (const end of ends) end();
    assert.equal(runtime.timers, 0);
    await operators.suspend(graceId);
    await runtime.advance(2_000);
    assert.deepEqual(ended, []);
  });

  it("is checked by one timer, also when streams end and begin during a check", async () => {
    const runtime = manualRuntime();
    const checks: (() => void)[] = [];
    const read = () => new Promise<boolean>((resolve) => checks.push(() => resolve(true)));
    const watch = new SessionWatch({ read } as unknown as ConstructorParameters<typeof SessionWatch>[0], runtime);
    const operator = { by: { kind: "session", id: "s" } } as unknown as Operator;
    let end = watch.watch(operator, () => assert.fail("it has not ended"));
    for (let load = 0; load < 5; load++) {
      await runtime.advance(500);
      end();
      end = watch.watch(operator, () => assert.fail("it has not ended"));
      assert.equal(checks.length, 1);
      checks.pop()!();
      await runtime.advance(0);
      assert.equal(runtime.timers, 1);
    }
    end();
    assert.equal(runtime.timers, 0);
  });
});
