import { describe, it } from "node:test";
import { runFaultEpisodes } from "../stories/ecosystem-faults.ts";
import { databases } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);

for (const database of databases) {
  describe(`a link on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it("survives 300 episodes of faults in its ecosystem", { timeout: 1_800_000 }, (t) =>
      runFaultEpisodes(t, { database, seed, episodes: 300 }),
    );
  });
}
