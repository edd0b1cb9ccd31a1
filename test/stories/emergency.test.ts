import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { soundAlarmsUnderFlood } from "./emergencies.ts";
import { longSuiteOn } from "./world.ts";

// `npm run faults -- emergency` runs this with 1,000 accounts.
for (const database of longSuiteOn("postgres")) {
  describe(`an emergency on ${database}`, () => {
    it("reaches stream, target and webhook while others flood", { timeout: 120_000 }, (t) =>
      soundAlarmsUnderFlood(t, {
        database,
        others: rounds({ all: 100, few: 12 }),
        emergencies: rounds({ all: 5, few: 1 }),
        deadlineMs: rounds({ all: 2_000, few: 20_000 }),
      }),
    );
  });
}
