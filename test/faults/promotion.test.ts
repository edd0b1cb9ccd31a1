import { describe, it } from "node:test";
import { survivePromotion } from "../crashes/promotion.ts";

const first = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
const rounds = Number(process.env.ROUNDS ?? 3);

describe(`three nodes whose standby is promoted, from seed ${first} (SEED=n and ROUNDS=n choose others)`, () => {
  for (let seed = first; seed < first + rounds; seed++) {
    it(`tell clients what was lost, and give no id twice, seed ${seed}`, { timeout: 600_000 }, (t) =>
      survivePromotion(t, { seed }),
    );
  }
});
