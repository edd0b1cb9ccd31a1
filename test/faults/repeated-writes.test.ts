import { describe, it } from "node:test";
import { writeOverCutCommits, writeOverKills } from "../repeated-writes/repeated-writes.ts";

const writes = Number(process.env.WRITES ?? 1_000);

describe(`${writes} writes that are repeated with their Idempotency-Key (WRITES=n chooses another number)`, () => {
  it("are each carried out once when PostgreSQL's answers to COMMIT are lost", { timeout: 1_800_000 }, (t) =>
    writeOverCutCommits(t, writes),
  );

  it(
    "are each carried out once when the service on SQLite is killed at a COMMIT and answers are lost",
    {
      timeout: 1_800_000,
    },
    (t) => writeOverKills(t, { writes, kills: 40 }),
  );
});
