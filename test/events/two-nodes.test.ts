import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { EventStream } from "./event-stream.ts";
import { home, write } from "./made-home.ts";

describe("streams of two nodes on one database", () => {
  it("send the same events in the same order, and each resumes where the other broke off", {
    timeout: 120_000,
  }, async (t) => {
    const { world, token, lamp, open } = await home(t, { database: "postgres" });
    const other = await world.secondNode();
    const lamps = [lamp, await world.addDevice(world.userId, "Second"), await world.addDevice(world.userId, "Third")];
    const [here, there] = [await open(), await EventStream.open(other.baseUrl, token)];
    const writes = 50;
    // Each lamp has concurrent writers at both nodes.
    await Promise.all(
      lamps.flatMap((device) =>
        [world, other].map(async (node, n) => {
          for (let i = 0; i < writes; i++) await write(node, token, device, { a: `${n} ${i}`, b: `${n} ${i}` });
        }),
      ),
    );
    const count = lamps.length * 2 * writes * 2;
    const all = await here.until(count);
    assert.deepEqual(await there.until(count), all);
    for (const device of lamps) {
      const times = all.filter(({ data }) => data.deviceId === device).map(({ data }) => data.updateTime as number);
      assert.deepEqual(
        times,
        times.toSorted((a, b) => a - b),
      );
    }
    for (const at of [0, 1, 500, count - 2]) {
      const resumed = await EventStream.open(other.baseUrl, token, { lastEventId: all[at]!.id });
      assert.deepEqual(await resumed.until(count - at - 1), all.slice(at + 1));
    }
  });

  it("end when the token is revoked at the other", { timeout: 60_000 }, async (t) => {
    const { world } = await home(t, { database: "postgres" });
    const other = await world.secondNode();
    const token = (await world.tokens()).access_token;
    const stream = await EventStream.open(other.baseUrl, token);
    await world.revoke(token);
    await stream.ended;
  });
});
