import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DeviceId } from "../../src/model/ids.ts";
import type { OAuthWorld } from "../oauth/oauth-world.ts";
import { longSuiteOn } from "../stories/world.ts";
import { home, write } from "./made-home.ts";

const day = 86_400_000;

for (const database of longSuiteOn("postgres")) {
  describe(`the log on ${database}`, () => {
    it("is kept for the configured days, and no longer; a client that resumes later gets resync", {
      timeout: 180_000,
    }, async (t) => {
      const { world, token, lamp, open } = await home(t, { database, environment: { BREEZEWAY_LOG_DAYS: "2" } });
      const first = await open();
      for (let i = 0; i < 600; i += 30) {
        await write(
          world,
          token,
          lamp,
          Object.fromEntries(Array.from({ length: 30 }, (_, k) => [`a${k}`, `${i + k}`])),
        );
      }
      await commitOften(world, lamp, 510);
      const all = await first.until(600 + 510);
      first.close();
      const { retention } = world.service.parts.events;
      await world.timePasses(day);
      assert.equal(await retention.sweep(), 0);
      const half = await open({ lastEventId: all[555]!.id }, (await world.tokens()).access_token);
      const idsOf = (events: readonly { readonly id: string }[]) => events.map(({ id }) => id);
      assert.deepEqual(idsOf(await half.until(554)), idsOf(all.slice(556)));
      half.close();

      await world.timePasses(day + 60_000);
      const fresh = (await world.tokens()).access_token;
      await write(world, fresh, lamp, { a: "young" });
      // The service also sweeps every minute and may have been first: only the result counts.
      await retention.sweep();
      const left = await world.service.parts.store.read((tx) => tx.log.ofDevice(world.userId, lamp));
      assert.equal(left.length, 1);
      const { body } = await world.get(`/v3/devices/${lamp}/history`, fresh);
      assert.deepEqual(
        body.changes.map(({ value }: { value: string }) => value),
        ["young"],
      );
      for (const { id } of [all[0]!, all[555]!, all.at(-2)!]) {
        const late = await open({ lastEventId: id }, fresh);
        const [resync] = await late.until(1);
        assert.deepEqual([resync?.name, resync?.data], ["resync", { reason: "past_retention" }]);
        late.close();
      }
      // A client that saw the last removed entry has missed nothing.
      const last = await open({ lastEventId: all.at(-1)!.id }, fresh);
      assert.equal((await last.until(1))[0]?.data.value, "young");
      last.close();
    });
  });
}

/** Without HTTP and four at a time: that many sequential requests take too long on a busy machine. */
async function commitOften({ service, userId }: OAuthWorld, deviceId: DeviceId, count: number): Promise<void> {
  const values = Array.from({ length: count }, (_, i) => `${i}`).values();
  const writer = async () => {
    for (const value of values) {
      const updates = [{ deviceId, changes: [{ key: "a", value }] }];
      await service.parts.commit({ userId, cause: { by: "client", user: userId }, updates });
    }
  };
  await Promise.all(Array.from({ length: 4 }, writer));
}
