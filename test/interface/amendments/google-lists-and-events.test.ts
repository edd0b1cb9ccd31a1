import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { clockSpeed, linkedAccount } from "../../stories/linked-google-account.ts";
import { eventually, surfaceDatabases } from "../../stories/world.ts";

const temperature = "sdm.devices.traits.Temperature";

for (const database of surfaceDatabases) {
  describe(`settled: Google Device Access lists and events (${database})`, () => {
    it("merges the events after a requested list instead of asking again", async (t) => {
      const { google, account, client, hall, hallId } = await linkedAccount(t, { database });
      const listsBefore = google.rates.taken.list;
      account.relate("UPDATED", "", hall.name);
      await eventually(t.signal, async () => assert.equal(google.rates.taken.list, listsBefore + 2));
      for (const ambientTemperatureCelsius of [24, 25, 26]) {
        account.change(hall.name, { [temperature]: { ambientTemperatureCelsius } });
        await eventually(t.signal, async () => {
          assert.equal((await client.state(hallId, "temperature")).celsius, ambientTemperatureCelsius);
        });
      }
      assert.equal(google.rates.taken.list, listsBefore + 2);
    });

    it("makes the device stale while a requested list waits for the limit", async (t) => {
      const slow = clockSpeed / 3;
      const { account, client, hall, story, deviceId } = await linkedAccount(t, { database, clockSpeed: slow });
      const isStale = async () => (await client.v3.device(deviceId)).stale;
      assert.equal(await isStale(), false);
      // The link has used two or three of the five calls a minute, and each of these lists takes two.
      const relateUntil = async (state: string) => {
        await eventually(t.signal, async () => {
          account.relate("UPDATED", "", hall.name);
          assert.equal((await story.client.linkStatus("google")).state, state);
        });
      };
      await relateUntil("waiting");
      assert.equal(await isStale(), true);
      assert.match((await story.client.linkStatus("google")).reason, /waits for Google's rate limit/);
      await eventually(t.signal, async () => assert.equal(await isStale(), false));
    });
  });
}
