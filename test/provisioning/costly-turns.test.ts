import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId } from "../../src/model/ids.ts";
import { limits } from "../../src/model/limits.ts";
import { CostlyTurns, costlyWritesAtOnce } from "../../src/provisioning/costly-turns.ts";

const tenantId = 1 as TenantId;
const ofAda = { tenantId, user: "Ada" };
const ofBob = { tenantId, user: "Bob" };

/** As many tasks of Ada as may run and wait; they end when the test says so. */
function fullTurns(kind: "run" | "runAlarm") {
  const turns = new CostlyTurns();
  const held = Promise.withResolvers<void>();
  const order: string[] = [];
  const task = (name: string) => async () => {
    await held.promise;
    order.push(name);
    return name;
  };
  const ofTurn = Array.from({ length: costlyWritesAtOnce + limits.costlyStatesWaiting }, (_, i) =>
    turns[kind](ofAda, task(`Ada ${i}`)),
  );
  return { turns, task, ofTurn, order, release: held.resolve };
}

describe("turns of costly states", () => {
  it("beyond the limit refuse the newest of the user who has most, and others have their turn soon", async () => {
    const { turns, task, ofTurn, order, release } = fullTurns("run");
    const refusal = { code: "limit_reached", limit: "costlyStatesWaiting" };
    await assert.rejects(turns.run(ofAda, task("too many")), refusal);
    const evicted = assert.rejects(ofTurn.pop()!, refusal);
    const bob = turns.run(ofBob, task("Bob"));
    await evicted;
    const alarm = turns.runAlarm(ofAda, async () => "alarm");
    assert.equal(await alarm, "alarm", "alarms have turns of their own");
    assert.equal(await turns.run({ ...ofAda, tenantId: 2 as TenantId }, async () => "other tenant"), "other tenant");
    release();
    await Promise.all([...ofTurn, bob]);
    assert.ok(order.indexOf("Bob") <= costlyWritesAtOnce + 1, order.join());
  });

  it("leave alarms beyond the limit to the turns of other states", async () => {
    const { turns, task, ofTurn, release } = fullTurns("runAlarm");
    assert.equal(await turns.runAlarm(ofAda, task("too many")), undefined);
    const bob = turns.runAlarm(ofBob, task("Bob"));
    assert.equal(await ofTurn.pop(), undefined);
    release();
    assert.equal(await bob, "Bob");
    assert.ok((await Promise.all(ofTurn)).every((name) => name !== undefined));
  });
});
