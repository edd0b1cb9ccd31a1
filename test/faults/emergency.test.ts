import { describe, it } from "node:test";
import { soundAlarmsUnderFlood } from "../stories/emergencies.ts";
import { databases } from "../stories/world.ts";

for (const database of databases) {
  describe(`an emergency on ${database}`, () => {
    it("reaches stream, target and webhook within 2 s while 1,000 accounts flood", { timeout: 600_000 }, (t) =>
      soundAlarmsUnderFlood(t, { database, others: 1_000, emergencies: 20 }),
    );
  });
}
