import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "./event-stream.ts";
import { home } from "./made-home.ts";
import { madeEvents } from "./moved-events.ts";

describe("heartbeats of a stream", () => {
  it("come every 15 seconds, or in the requested interval, which they then repeat", async (t) => {
    const { join, advance } = await madeEvents(t);
    const [ordinary, quick] = [await join(), await join(2)];
    await advance(15_500);
    const intervals = (writer: typeof quick) => writer.heartbeats().map(({ everySeconds }) => everySeconds);
    assert.deepEqual(intervals(ordinary), [undefined, undefined], "the first one begins the stream");
    assert.deepEqual(intervals(quick), [2, 2, 2, 2, 2, 2, 2, 2, 2]);
  });

  it("stop while the store does not answer, and come again afterwards", async (t) => {
    const { join, advance, fail } = await madeEvents(t);
    const reader = await join(2);
    await advance(1_000);
    fail.reads = true;
    await advance(2_000);
    const before = reader.heartbeats().length;
    await advance(20_000);
    assert.equal(reader.heartbeats().length, before);
    fail.reads = false;
    await advance(4_000);
    assert.ok(reader.heartbeats().length > before);
  });

  it("can be asked for by a parameter of 2 to 15 seconds", async (t) => {
    const { world, token, open } = await home(t, {});
    const isConfirmed = ({ data }: { readonly data: { readonly everySeconds?: number } }) => data.everySeconds === 2;
    const stream = await open({ query: "?heartbeatSeconds=2" });
    const [first] = await stream.until(1, () => true);
    assert.ok(isConfirmed(first!), "the heartbeat that begins a stream confirms the interval");
    const resumed = await open({ query: "?heartbeatSeconds=2", lastEventId: first!.id });
    await resumed.until(1, isConfirmed);
    for (const each of [stream, resumed]) each.close();
    for (const wrong of ["1", "16", "2.5", "soon", "-2"]) {
      await assert.rejects(EventStream.open(world.baseUrl, token, { query: `?heartbeatSeconds=${wrong}` }), /400/);
    }
  });
});
