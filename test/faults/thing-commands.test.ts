import { describe, it } from "node:test";
import { killAroundCommands } from "../stories/command-kills.ts";
import { databases } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);

for (const database of databases) {
  describe(`commands to things on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it("are sent at most once and have an outcome, over 200 kills", { timeout: 7_200_000 }, (t) =>
      killAroundCommands(t, { database, seed, rounds: 200 }),
    );
  });
}
