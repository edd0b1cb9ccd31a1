import { describe, it } from "node:test";
import { leaveUnderLoad } from "../nodes/leaving.ts";
import { upgradeUnderLoad } from "../nodes/rolling-upgrade.ts";

const links = Number(process.env.LINKS ?? 1_000);
const times = Number(process.env.TIMES ?? 10);
const rows = Number(process.env.ROWS ?? 3_000_000);
const work = { links, people: 24, restMs: 20, drainSeconds: 5 };

describe(`three nodes with ${links} streams behind nginx (LINKS=n, TIMES=n and ROWS=n choose other numbers)`, () => {
  it(`fail no call and lose nothing when one leaves, ${times} times`, { timeout: 1_800_000 }, (t) =>
    leaveUnderLoad(t, { ...work, times }),
  );

  it("fail no call and lose nothing in a rolling upgrade over a migration", { timeout: 1_800_000 }, (t) =>
    upgradeUnderLoad(t, { ...work, rows, withOldNode: true }),
  );
});
