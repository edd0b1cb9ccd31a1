import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import type { Sql } from "../../src/store/sql.ts";
import { type AuditFilter, auditTable } from "../../src/store/tables/audit.ts";
import { onDatabase } from "../contracts/store/harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";

/** Each filter, and the index that leads to its entries. Without one the newest entries are read by their ids. */
const filters: readonly (readonly [filter: Omit<AuditFilter, "limit">, read: string])[] = [
  [{}, "SCAN audit"],
  [{ act: "admin" }, "SCAN audit"],
  [{ tenantIds: [1, 2] as TenantId[], act: "admin" }, "SCAN audit"],
  [{ tenantIds: [1] as TenantId[] }, "SEARCH audit USING INDEX audit_of_tenant (tenant_id=?)"],
  [{ userId: 1 as UserId }, "SEARCH audit USING INDEX audit_of_owner (owner_id=?)"],
  [{ userId: 1 as UserId, act: "sign_in" }, "SEARCH audit USING INDEX audit_of_owner (owner_id=?)"],
  [{ clientId: "c" }, "SEARCH audit USING INDEX audit_of_client (client_id=?)"],
  [{ operator: "ada", act: "admin" }, "SEARCH audit USING INDEX audit_of_operator (operator=?)"],
  [
    { userId: 1 as UserId, clientId: "c", operator: "ada", tenantIds: [1] as TenantId[] },
    "SEARCH audit USING INDEX audit_of_owner (owner_id=?)",
  ],
];

describe("the reads of the audit log, on SQLite", () => {
  it("go along an index from the newest entry on and sort nothing", () =>
    onDatabase(sqliteHarness, async (database) => {
      for (const [filter, read] of filters) {
        for (const beforeId of [undefined, 9]) {
          const texts: string[] = [];
          const all = async (text: string) => {
            texts.push(text);
            return [];
          };
          await auditTable({ dialect: "sqlite", all } as unknown as Sql).page({ ...filter, beforeId, limit: 50 });
          const within = beforeId === undefined ? read : read.replace(/=\?\)$/, "=? AND id<?)");
          const expected = within === "SCAN audit" && beforeId !== undefined ? byId : within;
          for (const text of texts) {
            const explained = `EXPLAIN QUERY PLAN ${text.replaceAll(/\$(\d+)/g, "?$1")}`;
            const plan = (await database.sql<{ detail: string }>(explained)).map(({ detail }) => detail);
            const reads = plan.filter((detail) => /^S\w+ audit\b|TEMP/.test(detail));
            assert.deepEqual(
              reads.map((one) => one.replace("COVERING ", "")),
              [expected],
              text,
            );
          }
        }
      }
    }));
});

const byId = "SEARCH audit USING INTEGER PRIMARY KEY (rowid<?)";
