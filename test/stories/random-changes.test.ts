import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { followRandomChanges } from "./random-changes.ts";

const minutes = 60_000;

describe("a mirrored account", () => {
  const plans = [
    { database: "sqlite", seed: 20_261_115, quietPoints: rounds({ all: 40, few: 6 }) },
    { database: "postgres", seed: 7, quietPoints: rounds({ all: 20, few: 4 }) },
    { database: "three nodes", seed: 8, quietPoints: rounds({ all: 10, few: 3 }) },
  ] as const;
  for (const plan of plans) {
    const { database, quietPoints } = plan;
    it(
      `equals its source at ${quietPoints} quiet points of random changes, on ${database}`,
      { timeout: 5 * minutes },
      (t) => followRandomChanges(t, { ...plan, changes: 100 * quietPoints }),
    );
  }
});
