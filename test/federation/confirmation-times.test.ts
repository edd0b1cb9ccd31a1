import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { madeFederation } from "./made-federation.ts";
import { home } from "./made-homes.ts";
import { flushPromises, noonMs } from "./manual-runtime.ts";

describe("the confirmation time of a link", () => {
  it("is stored every minute while its stream is live", async (t) => {
    const { federation, linkLive, connector, runtime, store, userId } = await madeFederation(t);
    await federation.start();
    const deviceId = await linkLive();
    const confirmedMs = async () => (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!.confirmedMs;
    await runtime.advance(30_000);
    connector.stream.brings(home());
    await runtime.advance(29_999);
    assert.equal(await confirmedMs(), noonMs);
    await runtime.advance(1);
    while ((await confirmedMs()) === noonMs) await flushPromises();
    assert.equal(await confirmedMs(), noonMs + 30_000);
  });

  it("is not stored before the blind interval that ended with it: the next owner would not know of it", async (t) => {
    const { federation, linkLive, bringLive, connector, connection, runtime, store, userId } = await madeFederation(t);
    await federation.start();
    const deviceId = await linkLive();
    const stored = async () => (await store.read((tx) => tx.links.ofDevice(userId, deviceId)))!;
    const intervals = async () => {
      const all = await store.read((tx) => tx.blindIntervals.ofDevice(userId, deviceId));
      return all.filter(({ toMs }) => toMs > noonMs);
    };
    await runtime.advance(10_500);
    // The record of the link is written again every second: the next time at 60.5 s.
    connection.isDown = true;
    connector.stream.ends("closed");
    await runtime.advance(5_000);
    await bringLive();
    await runtime.advance(44_400);
    connection.isDown = false;
    await runtime.advance(200);
    for (let turn = 0; turn < 20; turn++) await flushPromises();
    const { state, blindness, confirmedMs } = await stored();
    assert.deepEqual([state, blindness, confirmedMs], ["live", null, noonMs]);
    assert.deepEqual(await intervals(), []);

    await runtime.advance(1_000);
    while ((await intervals()).length === 0) await flushPromises();
    const [interval] = await intervals();
    assert.deepEqual([interval?.fromMs, interval?.toMs], [noonMs + 10_500, noonMs + 15_500]);
    assert.equal((await stored()).confirmedMs, noonMs + 15_500);
  });
});
