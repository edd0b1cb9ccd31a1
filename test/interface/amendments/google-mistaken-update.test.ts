import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Json } from "../../assistants/google-world.ts";
import { linkedAccount } from "../../stories/linked-google-account.ts";
import { eventually } from "../../stories/world.ts";

describe("settled: Google's mistaken update", () => {
  it("is ignored whole: neither the modes nor the eco targets of the thermostat change", async (t) => {
    const { google, account, client, hall, hallId } = await linkedAccount(t);
    const thermostat = async () => {
      const { traits } = (await client.v3.call(`/things/${hallId}`)).body;
      const { changes } = (await client.v3.call(`/things/${hallId}/history`)).body;
      return { trait: traits.thermostat, published: changes.filter(({ trait }: Json) => trait === "thermostat") };
    };
    const before = await thermostat();
    assert.equal(typeof before.trait.state.ecoHeatCelsius.value, "number");
    google.playScene(account, "mistake");
    await eventually(t.signal, async () => assert.ok(google.subscription.acknowledged >= 2));
    const traits = { "sdm.devices.traits.Temperature": { ambientTemperatureCelsius: 25.5 } };
    account.change(hall.name, traits);
    await eventually(t.signal, async () => {
      assert.equal((await client.state(hallId, "temperature")).celsius, 25.5);
    });
    assert.deepEqual(await thermostat(), before);
  });
});
