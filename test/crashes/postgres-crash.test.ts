import { describe, it } from "node:test";
import { missingPostgres } from "../set-up/postgres.ts";
import { surviveDatabaseCrashes } from "./postgres-crash.ts";

describe("three nodes whose PostgreSQL is killed", { skip: missingPostgres() ?? false }, () => {
  it("lose nothing silently over two kills", { timeout: 180_000 }, (t) =>
    surviveDatabaseCrashes(t, { seed: Number(process.env.SEED ?? 1), kills: 2 }),
  );
});
