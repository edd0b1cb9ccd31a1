import { describe, it } from "node:test";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { readYourWrites } from "./read-your-write.ts";

describe("what was written at one of three nodes", { skip: missingPostgres() ?? false }, () => {
  it("is what the others show from then on, 500 times, and no node shows what it remembers", {
    timeout: 180_000,
  }, async (t) => {
    await readYourWrites(t, await sharedCluster(), { pairs: 500, breaks: 2 });
  });
});
