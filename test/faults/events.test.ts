import { describe, it } from "node:test";
import { floodSleepers } from "../events/flood.ts";
import { readThroughKills } from "../events/killed-service.ts";
import { databases } from "../stories/world.ts";

for (const database of databases) {
  describe(`foreign clients that read events, on ${database}`, () => {
    for (const isBehindNginx of [false, true]) {
      const way = isBehindNginx ? "through nginx as it comes" : "directly";
      it(`receive 10,000 ${way} over two kills, each once, and miss none`, { timeout: 1_800_000 }, (t) =>
        readThroughKills(t, { database, events: 10_000, kills: 2, isBehindNginx }),
      );
    }
  });

  describe(`readers that stop reading, on ${database}`, () => {
    it(
      "are disconnected, cost less than 100 MB, and delay no other, 50 of them in a flood",
      { timeout: 600_000 },
      (t) => floodSleepers(t, { database, sleepers: 50, writes: 400 }),
    );
  });
}
