import { describe, it } from "node:test";
import { missingPostgres } from "../set-up/postgres.ts";
import { writeOverCutCommits, writeOverKills } from "./repeated-writes.ts";

describe("50 writes that are repeated with their Idempotency-Key until they are acknowledged", () => {
  it(
    "are each carried out once when PostgreSQL's answers to COMMIT are lost",
    {
      timeout: 120_000,
      skip: missingPostgres() ?? false,
    },
    (t) => writeOverCutCommits(t, 50),
  );

  it(
    "are each carried out once when the service on SQLite is killed at a COMMIT and answers are lost",
    {
      timeout: 120_000,
    },
    (t) => writeOverKills(t, { writes: 50, kills: 2 }),
  );
});
