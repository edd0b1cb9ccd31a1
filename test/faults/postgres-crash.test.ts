import { describe, it } from "node:test";
import { surviveDatabaseCrashes } from "../crashes/postgres-crash.ts";

const seed = Number(process.env.SEED ?? Math.floor(Math.random() * 1e6));
const kills = Number(process.env.KILLS ?? 200);

describe(`three nodes whose PostgreSQL is killed, from seed ${seed} (SEED=n and KILLS=n choose others)`, () => {
  it(`lose nothing silently over ${kills} kills`, { timeout: 2_700_000 }, (t) =>
    surviveDatabaseCrashes(t, { seed, kills }),
  );
});
