import { describe, it } from "node:test";
import { restoreWays } from "../crashes/restore-ways.ts";
import { liveThroughRestore } from "../crashes/restores.ts";

for (const [way, prepare] of Object.entries(restoreWays)) {
  describe(way, () => {
    it("makes clients read anew, and gives no id twice", { timeout: 300_000 }, (t) => liveThroughRestore(t, prepare));
  });
}
