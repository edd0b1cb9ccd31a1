import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { Sql } from "../../src/store/sql.ts";
import { nodeTable } from "../../src/store/tables/nodes.ts";

describe("whether a PostgreSQL has been up for a lease", () => {
  const isSettled = (upMs: number) =>
    nodeTable({ dialect: "postgres", all: async () => [{ upMs }] } as unknown as Sql).isSettled(6_000);

  it("is a matter of its start", async () => {
    assert.deepEqual([await isSettled(0), await isSettled(5_999), await isSettled(6_001)], [false, false, true]);
  });

  it("does not depend on the start when the clock was set back to before it: nodes would stay dead for hours", async () => {
    assert.equal(await isSettled(-3_600_000), true);
  });
});
