import { describe, it } from "node:test";
import { restoreWays } from "../crashes/restore-ways.ts";
import { surviveRestore } from "../crashes/restores.ts";

for (const [way, prepare] of Object.entries(restoreWays)) {
  describe(way, () => {
    it("sends clients a resync, and issues no id twice", { timeout: 300_000 }, (t) => surviveRestore(t, prepare));
  });
}
