import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeCommands } from "./made-commands.ts";
import { madeFans, until } from "./made-fans.ts";
import { madeFederation } from "./made-federation.ts";

const hourMs = 3_600_000;

describe("after the clock was set back", () => {
  it("a command that was not sent before is not sent any more: nobody knows how old it is", async (t) => {
    const { send, becomes, federation, runtime, connector } = await madeCommands(t);
    await federation.commands.stop();
    const command = await send("fanTimer", "start");
    runtime.jump(-hourMs);
    await runtime.advance(10 * 60_000);
    await federation.commands.start();
    assert.equal((await becomes(command, "expired")).error?.code, "notSent");
    assert.equal(connector.actions.length, 0);
  });

  it("a fan request that was not sent before is not sent any more", async (t) => {
    const { write, request, states, federation, runtime, connector } = await madeFans(t);
    await federation.fans.stop();
    await write("true");
    runtime.jump(-hourMs);
    await runtime.advance(10 * 60_000);
    await federation.fans.start();
    await until(async () => assert.deepEqual(await states(), ["expired"]));
    assert.match((await request()) ?? "", /^error: no answer from the ecosystem, true, /);
    assert.equal(connector.actions.length, 0);
  });

  it("a command that a node has left behind does not wait until the clock is right again", async (t) => {
    const { send, sent, becomes, receipt, federation, runtime, store, userId, deviceId, connector } =
      await madeCommands(t, { isShared: true });
    const left = await send("fanTimer", "start");
    await sent(1);
    const stopped = federation.commands.stop();
    await runtime.advance(3_000);
    await stopped;
    // As if it had been killed, and then the clock was set back.
    await store.transaction(async (tx) => {
      const row = (await tx.thingCommands.find(userId, deviceId, Number(left.id.slice(1))))!;
      await tx.thingCommands.change(row, ["expired"], { state: "sending", error: null, settledMs: null });
    });
    runtime.jump(-hourMs);
    await runtime.advance(60_000);
    assert.equal((await receipt(left.id)).state, "sending");
    await federation.commands.start();
    assert.equal((await becomes(left, "expired")).error?.code, "noAnswer");
    const again = await send("fanTimer", "start");
    assert.notEqual(again.id, left.id);
    await until(() => assert.equal(connector.actions.length, 2));
  });

  it("a command is confirmed as soon as the thing shows its result", async (t) => {
    const { send, sent, becomes, receipt, shows, runtime } = await madeCommands(t);
    runtime.jump(-hourMs);
    const command = await send("fanTimer", "start");
    (await sent(1)).answers({ state: "accepted" });
    await becomes(command, "accepted");
    await shows({ fanTimerActive: true });
    assert.equal((await receipt(command.id)).state, "confirmed");
  });

  it("a thing is not refused commands for longer than an ecosystem can block it", async (t) => {
    const { send, sent, becomes, runtime } = await madeCommands(t);
    const refused = await send("fanTimer", "start");
    (await sent(1)).answers({ state: "rejected", message: "blocked", retryAfterMs: 60_000 });
    await becomes(refused, "rejected");
    runtime.jump(-24 * hourMs);
    const again = await send("fanTimer", "start");
    assert.equal(again.error, null);
    await sent(2);
  });

  it("a shorter block that came since still holds", async (t) => {
    const { send, sent, becomes, runtime } = await madeCommands(t);
    const block = async (count: number) => {
      const refused = await send("fanTimer", "start");
      (await sent(count)).answers({ state: "rejected", message: "blocked", retryAfterMs: 60_000 });
      await becomes(refused, "rejected");
    };
    await block(1);
    runtime.jump(-24 * hourMs);
    await block(2);
    const again = await send("fanTimer", "start");
    assert.deepEqual(again.error, { ...again.error, code: "rateLimited" });
  });

  it("a link whose account nothing confirms is stale after a quarter of an hour all the same", async (t) => {
    const { federation, runtime, connector, linkLive, userId } = await madeFederation(t);
    const deviceId = await linkLive();
    runtime.jump(-hourMs);
    await runtime.advance(16 * 60_000);
    const { isPresent, isStale } = await federation.freshness(userId, deviceId);
    assert.equal(isPresent, true);
    assert.equal(isStale, true);
    assert.equal(connector.streams.length, 1);
  });
});
