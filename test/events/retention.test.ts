import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { databases } from "../stories/world.ts";
import { home, write } from "./made-home.ts";

const day = 86_400_000;

for (const database of databases) {
  describe(`the log on ${database}`, () => {
    it("is kept for so many days, and no longer; who comes back later hears resync", { timeout: 60_000 }, async (t) => {
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
      for (let i = 0; i < 510; i++) await write(world, token, lamp, { a: `${i}` });
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
      assert.ok((await retention.sweep()) >= 530);
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
      // The last that was removed is the last that one may have seen.
      const last = await open({ lastEventId: all.at(-1)!.id }, fresh);
      assert.equal((await last.until(1))[0]?.data.value, "young");
      last.close();
    });
  });
}
