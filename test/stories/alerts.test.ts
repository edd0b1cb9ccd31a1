import { describe, it } from "node:test";
import { switchLampsByPresence } from "./lamps-by-presence.ts";
import { longSuiteOn } from "./world.ts";

for (const database of longSuiteOn("postgres")) {
  describe(`two alerts on ${database} that switch a lamp`, () => {
    it("fire exactly as often as their condition becomes true, over kills", { timeout: 120_000 }, (t) =>
      switchLampsByPresence(t, {
        database,
        seed: 20,
        changes: 40,
        kills: 4,
      }),
    );
  });
}
