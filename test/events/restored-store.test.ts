import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { longSuiteOn } from "../stories/world.ts";
import { home, send, write } from "./made-home.ts";
import { receiver } from "./receiver.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`a store on ${database} that was restored`, () => {
    it("sends resync to open and resumed streams, and continues with new ids", {
      timeout: 60_000,
    }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database });
      const stream = await open();
      await write(world, token, lamp, { a: "before" });
      const [before] = await stream.until(1);
      await world.service.parts.administration.run("restored", {});
      const { entries } = (await world.service.parts.administration.run("audit list", {})) as { entries: object[] };
      assert.match(JSON.stringify(entries), /"command":"restored","epoch":"[0-9a-f]{8}"/);
      const resync = (await stream.until(1, ({ name }) => name === "resync"))[0]!;
      assert.deepEqual(resync.data, { reason: "restored" });
      await write(world, token, lamp, { a: "after" });
      const after = (await stream.until(1, ({ data }) => data.value === "after"))[0]!;
      assert.notEqual(epochOf(after.id), epochOf(before!.id));

      const resumed = await open({ lastEventId: before!.id });
      const [first] = await resumed.until(1, () => true);
      assert.deepEqual([first?.name, first?.data], ["resync", { reason: "restored" }]);
      const continued = await open({ lastEventId: resync.id });
      assert.equal((await continued.until(1))[0]?.data.value, "after");
    });

    it("sends every webhook one resync, and no webhook-id twice", { timeout: 60_000 }, async (t) => {
      const { world, token, lamp } = await home(t, {
        database,
        environment: { BREEZEWAY_ALLOW_PRIVATE_WEBHOOKS: "true" },
      });
      const hook = await receiver(t);
      const { status } = await send(`${world.baseUrl}/v3/webhooks`, token, "POST", { url: hook.url });
      assert.equal(status, 201);
      await write(world, token, lamp, { a: "before" });
      await hook.until(1);
      await world.service.parts.administration.run("restored", {});
      await write(world, token, lamp, { a: "after" });
      await hook.until(3);
      const ofType = (type: string) => hook.received.filter(({ message }) => message.type === type);
      assert.equal(ofType("attribute").length, 2);
      assert.deepEqual(
        ofType("resync").map(({ message }) => message.data),
        [{ reason: "restored" }],
      );
      assert.equal(new Set(hook.received.map(({ headers }) => headers["webhook-id"])).size, 3);
    });
  });
}

function epochOf(id: string): string {
  return id.split(".")[0]!;
}
