import { describe, it } from "node:test";
import { provisionOverAKill } from "../provisioning/large-batches.ts";
import { databases } from "../stories/world.ts";

const devices = Number(process.env.DEVICES ?? 100_000);

for (const database of databases) {
  describe(`a batch of ${devices} devices on ${database} (DEVICES=n chooses another number)`, () => {
    it("is carried out once over a kill, while others read", { timeout: 3_600_000 }, (t) =>
      provisionOverAKill(t, { database, devices }),
    );
  });
}
