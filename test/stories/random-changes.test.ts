import { describe, it } from "node:test";
import { followRandomChanges } from "./random-changes.ts";

const minutes = 60_000;

describe("a mirrored account", () => {
  it("equals its source at 40 quiet points of 4,000 random changes, on SQLite", { timeout: 5 * minutes }, (t) =>
    followRandomChanges(t, { database: "sqlite", seed: 20_261_115, changes: 4_000, quietPoints: 40 }),
  );

  it("equals its source at 20 quiet points of 1,000 random changes, on PostgreSQL", { timeout: 5 * minutes }, (t) =>
    followRandomChanges(t, { database: "postgres", seed: 7, changes: 1_000, quietPoints: 20 }),
  );

  it("equals its source at 10 quiet points of 500 random changes, on three nodes", { timeout: 5 * minutes }, (t) =>
    followRandomChanges(t, { database: "three nodes", seed: 8, changes: 500, quietPoints: 10 }),
  );
});
