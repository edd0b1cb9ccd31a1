import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clockedStore } from "./clocked-store.ts";
import { madeOwnThings } from "./made-own-things.ts";

const hourMs = 3_600_000;

describe("after the clock was set back, a command to an own thing", () => {
  it("that was sent before does not stay open: an equal one would join it, and never reach the device", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, state, settleDue, logged } = await madeOwnThings(store);
    const left = await send("onOff", "set", { on: true });
    clock.nowMs -= hourMs;
    await settleDue();
    assert.equal(await state(left), "expired");
    const again = await send("onOff", "set", { on: true });
    assert.notEqual(again.id, left.id);
    assert.equal((await logged()).filter((one) => one.state === "sending").length, 2);
    await settleDue();
    assert.equal(await state(again), "sending");
  });

  it("is not contradicted at once by a report that was under way", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state } = await madeOwnThings(store);
    await write({ power: "off" });
    clock.nowMs -= hourMs;
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 100;
    await write({ power: "off" });
    assert.equal(await state(sent), "sending");
    await write({ power: "on" });
    assert.equal(await state(sent), "confirmed");
  });

  it("is not confirmed at its deadline by what the device wrote before", async (t) => {
    const { store, clock } = await clockedStore(t);
    const { send, write, state, settleDue } = await madeOwnThings(store);
    await write({ power: "on" });
    clock.nowMs -= hourMs;
    const sent = await send("onOff", "set", { on: true });
    clock.nowMs += 30_000;
    await settleDue();
    assert.equal(await state(sent), "expired");
  });
});
