import { describe, it } from "node:test";
import { databases, deployments } from "../set-up/deployment.ts";
import { killAroundOwnCommands } from "../stories/own-command-kills.ts";

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 200);

for (const database of new Set([...databases, ...deployments])) {
  describe(`commands to own things on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it(`are logged once for each key and have an outcome, over ${rounds} kills`, { timeout: 7_200_000 }, (t) =>
      killAroundOwnCommands(t, { database, seed, rounds }),
    );
  });
}
