import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { googleWorld, type Json } from "../../assistants/google-world.ts";
import { assertListed } from "../../assistants/random/google-checks.ts";

const word = (name: string) => name.replace(/^action\.devices\.(types|traits)\./, "");

describe("settled: Google's required traits", () => {
  it("are in every device of SYNC: the fan of a thermostat without a speed is a switch", async (t) => {
    const { synced } = await googleWorld(t);
    const { devices } = await synced();
    assertListed(devices);
    const fans = devices.filter(({ id }: Json) => id.endsWith(":fan"));
    assert.ok(fans.length > 0);
    for (const { type, traits } of fans) assert.deepEqual([word(type), traits.map(word)], ["SWITCH", ["OnOff"]]);
  });
});
