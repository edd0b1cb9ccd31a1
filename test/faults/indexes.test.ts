import { describe, it } from "node:test";
import { followIndexes } from "../stories/index-steps.ts";
import { databases } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);

for (const database of databases) {
  describe(`indexes on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it("follow their rules over 10,000 random steps with 20 kills", { timeout: 1_800_000 }, (t) =>
      followIndexes(t, { database, seed, kills: 20, stepsBetween: 500 }),
    );
  });
}
