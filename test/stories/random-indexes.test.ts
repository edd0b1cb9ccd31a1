import { describe, it } from "node:test";
import { followIndexes } from "./index-steps.ts";
import { longSuiteOn } from "./world.ts";

for (const database of longSuiteOn("sqlite")) {
  describe(`indexes on ${database}`, () => {
    it("follow their rules over random steps with kills", { timeout: 240_000 }, (t) =>
      followIndexes(t, { database, seed: 11, kills: 4, stepsBetween: 500 }),
    );
  });
}
