import { describe, it } from "node:test";
import { killAtEachStep } from "../stories/fan-kill-steps.ts";
import { killAroundFanRequests } from "../stories/fan-kills.ts";
import { databases } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 200);

for (const database of databases) {
  describe(`fan requests on ${database}, from seed ${seed} (SEED=n and ROUNDS=n choose others)`, () => {
    it(`are sent at most once and have an outcome, over ${rounds} kills`, { timeout: 7_200_000 }, (t) =>
      killAroundFanRequests(t, { database, seed, rounds }),
    );

    it("have an outcome at whichever step the service is killed", { timeout: 600_000 }, (t) =>
      killAtEachStep(t, database),
    );
  });
}
