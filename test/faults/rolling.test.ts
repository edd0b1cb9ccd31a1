import { describe, it } from "node:test";
import { leaveUnderLoad } from "../nodes/leaving.ts";
import { replaceUnderLoad } from "../nodes/replacing.ts";
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

describe(`two nodes with ${links} streams behind nginx`, () => {
  it(
    `fail no call and lose nothing when each is replaced as soon as the other is ready, ${times} times in all`,
    {
      timeout: 1_800_000,
    },
    (t) => replaceUnderLoad(t, { ...work, nodes: 2, times }),
  );
});
