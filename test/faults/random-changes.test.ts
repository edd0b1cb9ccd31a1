import { describe, it } from "node:test";
import { followRandomChanges } from "../stories/random-changes.ts";

const minutes = 60_000;
const seed = Number(process.env.SEED ?? 1);

describe(`a mirrored account, from seed ${seed} (SEED=n chooses another)`, () => {
  it("equals its source at 100 quiet points of 100,000 random changes, on SQLite", { timeout: 60 * minutes }, (t) =>
    followRandomChanges(t, { database: "sqlite", seed, changes: 100_000, quietPoints: 100 }),
  );

  it("equals its source at 100 quiet points of 20,000 random changes, on PostgreSQL", { timeout: 60 * minutes }, (t) =>
    followRandomChanges(t, { database: "postgres", seed, changes: 20_000, quietPoints: 100 }),
  );
});
