import { setTimeout as pause } from "node:timers/promises";
import type { Attack } from "../attack.ts";
import { hostileEcosystem } from "../hostile-ecosystem.ts";
import { Tallied } from "../tally.ts";

/** An ecosystem that sends accounts of 2 MB in a row, some beyond the limit, on one link. */
export const hostileLink: Attack = {
  name: "hostile ecosystem",
  async run() {
    const got = new Tallied();
    const ecosystem = hostileEcosystem;
    const before = { ...ecosystem.sent };
    ecosystem.flood(true);
    await pause(10_000);
    ecosystem.flood(false);
    for (const [what, count] of Object.entries(ecosystem.sent)) got.add(what, count - (before[what] ?? 0));
    return got.tally;
  },
};
