import assert from "node:assert/strict";
import { once } from "node:events";
import { describe, it } from "node:test";
import { eventually, longSuiteOn } from "../stories/world.ts";
import { home, write } from "./made-home.ts";
import { openSleeping, wakeUp } from "./sleeping-readers.ts";

const value = "x".repeat(8_000);
const values = Object.fromEntries(["a", "b", "c", "d", "e", "f", "g"].map((name) => [name, value]));

for (const database of longSuiteOn("sqlite")) {
  describe(`a reader that stops reading, on ${database}`, () => {
    it("is disconnected with resync and can resume from there, while others notice nothing", {
      timeout: 120_000,
    }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const [node] = world.nodes;
      const attentive = await open({}, token, node!.url);
      const sleeper = await openSleeping(node!.url, token);
      t.after(() => sleeper.destroy());
      const { hub } = node!.service.parts.events;
      await eventually(t.signal, async () => assert.equal(hub.readers, 2));
      let writes = 0;
      // Until the connection's buffers are full, plus a megabyte.
      while (hub.readers === 2) {
        await write(world, token, lamp, { ...values, count: `${++writes}` });
        await attentive.until(writes, ({ data }) => data.name === "count");
      }
      assert.ok(writes > 1);
      assert.equal(attentive.events.length, writes * 8);

      const read = await wakeUp(sleeper);
      assert.match(read, /\nevent: resync\ndata: \{"reason":"too_slow"\}\n\n$/);
      const ids = [...read.matchAll(/^id: (\S+)\nevent: attribute$/gm)].map(([, id]) => id);
      const received = attentive.events.map(({ id }) => id);
      assert.deepEqual(ids, received.slice(0, ids.length));
      const [, resumeAt] = /id: (\S+)\nevent: resync/.exec(read) ?? [];
      const resumed = await open({ lastEventId: resumeAt! });
      await write(world, token, lamp, { count: "end" });
      await resumed.until(1, ({ data }) => data.value === "end");
      await attentive.until(1, ({ data }) => data.value === "end");
      const rest = attentive.events.slice(ids.length);
      assert.deepEqual(resumed.events, rest.slice(rest.length - resumed.events.length));
    });

    it("misses nothing while it catches up from an earlier event", {
      timeout: 120_000,
    }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const first = await open();
      const [beginning] = await first.until(1, () => true);
      first.close();
      const writes = 300;
      for (let i = 0; i < writes; i++) await write(world, token, lamp, { ...values, count: `${i}` });
      const sleeper = await openSleeping(world.baseUrl, token, { lastEventId: beginning!.id });
      t.after(() => sleeper.destroy());
      await write(world, token, lamp, { count: "end" });
      let read = "";
      sleeper.setEncoding("utf8").on("data", (part: string) => {
        read += part;
        if (read.includes('"value":"end"')) sleeper.destroy();
      });
      await once(sleeper, "close");
      const counts = [...read.matchAll(/"name":"count","value":"(\w+)"/g)].map(([, count]) => count);
      assert.deepEqual(counts, [...Array.from({ length: writes }, (_, i) => `${i}`), "end"]);
    });
  });
}
