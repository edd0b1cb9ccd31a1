import { describe, it } from "node:test";
import { switchLampsByPresence } from "../stories/lamps-by-presence.ts";
import { databases } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);
const changes = Number(process.env.CHANGES ?? 1_000);
const kills = Number(process.env.KILLS ?? 20);

for (const database of databases) {
  describe(`alerts on ${database}, from seed ${seed} (SEED=n, CHANGES=n and KILLS=n choose others)`, () => {
    it(`fire exactly once per transition over ${changes} of them with ${kills} kills`, { timeout: 1_800_000 }, (t) =>
      switchLampsByPresence(t, { database, seed, changes, kills }),
    );
  });
}
