import { describe, it } from "node:test";
import { readYourWrites } from "../nodes/read-your-write.ts";
import { startCluster } from "../set-up/postgres.ts";

const pairs = Number(process.env.PAIRS ?? 10_000);

describe(`what was written at one of three nodes, ${pairs} times (PAIRS=n chooses another number)`, () => {
  it("is what the others show from then on, and no node shows what it remembers", { timeout: 1_800_000 }, async (t) => {
    const cluster = await startCluster({ fsync: false });
    t.after(() => cluster.stop());
    await readYourWrites(t, cluster, { pairs, breaks: 3 });
  });
});
