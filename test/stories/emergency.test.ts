import { describe, it } from "node:test";
import { burnUnderFlood } from "./emergencies.ts";
import { databases } from "./world.ts";

// `npm run faults -- emergency` does the same among 1,000 accounts.
for (const database of databases) {
  describe(`an emergency on ${database}`, () => {
    it("reaches stream, target and webhook within 2 s while others flood", { timeout: 120_000 }, (t) =>
      burnUnderFlood(t, { database, others: 100, emergencies: 5 }),
    );
  });
}
