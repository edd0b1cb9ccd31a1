import { describe, it } from "node:test";
import { rounds } from "../set-up/extent.ts";
import { missingPostgres, sharedCluster } from "../set-up/postgres.ts";
import { liveWithClocksApart } from "./clocks.ts";

describe("three nodes whose clocks are an hour apart", { skip: missingPostgres() ?? false }, () => {
  it(
    "report rising times, skip no event and let no token expire early, whichever node owns a link",
    { timeout: 300_000 },
    async (t) => liveWithClocksApart(t, await sharedCluster(), { links: rounds({ all: 9, few: 6 }) }),
  );
});
