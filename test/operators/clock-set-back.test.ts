import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { eventually } from "../stories/world.ts";
import { madeOperators, origin } from "./made-operators.ts";
import { operatorWorld, password } from "./operator-world.ts";

describe("an operator who is delayed after wrong passwords", () => {
  it("is let in after the delay, also when the machine's clock is set back", { timeout: 60_000 }, async (t) => {
    const world = await operatorWorld(t);
    await world.owner();
    const { operators } = world.service.parts;
    const signIn = (typed: string) =>
      operators.signIn({ name: "ada", password: typed, source: "192.0.2.1", userAgent: "Browser" });
    for (let guess = 0; guess < 5; guess++) await assert.rejects(signIn("a guess"));
    world.clock.aheadMs = -3_600_000;
    await eventually(t.signal, async () => assert.ok(await signIn(password)));
  });
});

describe("an invitation that is made after the clock was set back", () => {
  it("can be taken, also for a tenant that seems to be younger", async (t) => {
    const { operators, tenantId, clock } = await madeOperators(t);
    clock.nowMs -= 3_600_000;
    const link = await operators.invite({ role: "tenantAdmin", tenantIds: [tenantId], name: "grace" });
    const taken = { name: "", password, tenant: "", ...origin };
    const grace = await operators.bySession(await operators.takeLink("invitation", link, taken));
    assert.deepEqual(grace.tenantIds, [tenantId]);
  });
});
