import { describe, it } from "node:test";
import { databases, deployments } from "../set-up/deployment.ts";
import { killAroundCommands } from "../stories/command-kills.ts";

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 200);

for (const database of new Set([...databases, ...deployments])) {
  describe(`commands to things on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it(`are sent at most once and have an outcome, over ${rounds} kills`, { timeout: 7_200_000 }, (t) =>
      killAroundCommands(t, { database, seed, rounds }),
    );
  });
}
