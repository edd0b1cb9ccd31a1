import { describe, it } from "node:test";
import { liveThroughNodeFaults } from "../nodes/node-faults.ts";

const links = Number(process.env.LINKS ?? 3_000);

describe(`three nodes with ${links} streams (LINKS=n chooses another number)`, () => {
  it("lose nothing when one dies, freezes, is cut off, and when the database stops", { timeout: 1_800_000 }, (t) =>
    liveThroughNodeFaults(t, { links, frozenMs: 20_000, cutOffMs: 15_000, haltedMs: 60_000 }),
  );
});
