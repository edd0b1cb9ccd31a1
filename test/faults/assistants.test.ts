import { describe, it } from "node:test";
import { databases, deployments } from "../set-up/deployment.ts";
import { killAroundReports } from "../stories/report-kills.ts";
import { killAroundWithdrawals } from "../stories/withdrawal-kills.ts";

const seed = Number(process.env.SEED ?? 1);
const rounds = Number(process.env.ROUNDS ?? 100);

for (const database of new Set([...databases, ...deployments])) {
  describe(`reports to Google and Alexa on ${database}, from seed ${seed} (SEED=n chooses another)`, () => {
    it(`tell the present state after ${rounds} kills, and never an older one`, { timeout: 7_200_000 }, (t) =>
      killAroundReports(t, { database, seed, rounds }),
    );

    it(`end with the link, on our side or at the maker, over ${rounds} kills`, { timeout: 7_200_000 }, (t) =>
      killAroundWithdrawals(t, { database, seed, rounds }),
    );
  });
}
