import { describe, it } from "node:test";
import { readYourWrites } from "../nodes/read-your-write.ts";
import { startCluster } from "../set-up/postgres.ts";

const pairs = Number(process.env.PAIRS ?? 10_000);

describe(`what was written at one of three nodes, ${pairs} times (PAIRS=n chooses another number)`, () => {
  it("is visible at all other nodes from then on, and no node answers from a stale cache", {
    timeout: 1_800_000,
  }, async (t) => {
    const cluster = await startCluster({ fsync: false });
    t.after(() => cluster.stop());
    await readYourWrites(t, cluster, { pairs, breaks: 3 });
  });
});
