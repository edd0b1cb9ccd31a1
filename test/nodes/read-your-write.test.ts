import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { readYourWrites } from "./read-your-write.ts";

const pairs = rounds({ all: 500, few: 30 });

describe("what was written at one of three nodes", { skip: missingPostgres() ?? false }, () => {
  it(`is shown by the others from then on, ${pairs} times, and no node shows a stale cache`, {
    timeout: 180_000,
  }, async (t) => {
    await readYourWrites(t, await sharedCluster(), { pairs, breaks: 2 });
  });
});
