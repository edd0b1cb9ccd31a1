import assert from "node:assert/strict";
import { describe, it, type TestContext } from "node:test";
import type { SimulatorOptions } from "../../simulator/simulator.ts";
import { movedClock, simulatorWorld } from "./world.ts";

const minute = 60_000;

async function limitWorld(test: TestContext, options: SimulatorOptions = {}) {
  const clock = movedClock(Date.UTC(2026, 0, 1));
  const account = await (await simulatorWorld(test, { ...clock, ...options })).account();
  const { devices, structures } = await account.document();
  const [one, other] = Object.keys(devices.thermostats) as [string, string];
  const fan = (id: string, isActive = true) =>
    account.put(`/devices/thermostats/${id}`, { fan_timer_active: isActive });
  return { clock, account, one, other, structure: Object.keys(structures)[0]!, fan };
}

describe("the commands of an hour", () => {
  it("are limited to ten for each device; further ones are blocked for the rest of the hour", async (t) => {
    const { clock, one, other, fan } = await limitWorld(t);
    for (let i = 0; i < 10; i++) {
      assert.equal((await fan(one, i % 2 === 0)).status, 200);
      clock.move(minute);
    }
    const blocked = await fan(one);
    assert.deepEqual([blocked.status, blocked.body.message], [429, "blocked"]);
    assert.match(blocked.body.type, /#blocked$/);
    assert.equal(blocked.headers.get("retry-after"), String(50 * 60));
    assert.equal((await fan(other)).status, 200);
    clock.move(50 * minute - 1);
    assert.equal((await fan(one)).status, 429);
    clock.move(1);
    assert.equal((await fan(one)).status, 200, "the first of the ten is an hour old");
    assert.equal((await fan(one)).status, 429, "the second isn't");
  });

  it("are counted for structures too, and only accepted ones count", async (t) => {
    const { account, one, structure, fan } = await limitWorld(t, { writesPerHour: 2 });
    const away = (to: string) => account.put(`/structures/${structure}`, { away: to });
    assert.equal((await away("away")).status, 200);
    for (let i = 0; i < 5; i++) assert.equal((await fan(one)).status, 400);
    assert.equal((await away("home")).status, 200);
    assert.equal((await away("away")).status, 429);
    assert.equal((await fan(one)).status, 200);
  });

  it("may be refused without a Retry-After", async (t) => {
    const { one, fan } = await limitWorld(t, { writesPerHour: 1, retryAfter: false });
    await fan(one);
    const { status, headers } = await fan(one);
    assert.deepEqual([status, headers.get("retry-after")], [429, null]);
  });
});
