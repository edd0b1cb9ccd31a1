import { describe, it } from "node:test";
import { switchLampsByPresence } from "../stories/lamps-by-presence.ts";
import { databases } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);

for (const database of databases) {
  describe(`alerts on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it("fire exactly once per transition over 1,000 of them with 20 kills", { timeout: 1_800_000 }, (t) =>
      switchLampsByPresence(t, { database, seed, changes: 1_000, kills: 20 }),
    );
  });
}
