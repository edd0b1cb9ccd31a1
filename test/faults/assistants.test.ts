import { describe, it } from "node:test";
import { killAroundReports } from "../stories/report-kills.ts";
import { deployments } from "../stories/world.ts";

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 100);

for (const database of deployments) {
  describe(`reports to an assistant on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it(
      `tell the present state after ${rounds} kills, and nothing after the link has ended`,
      { timeout: 7_200_000 },
      (t) => killAroundReports(t, { database, seed, rounds }),
    );
  });
}
