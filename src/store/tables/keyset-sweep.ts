import type { OwnerId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";

/** The last row of a page, in a table that is ordered by owner and a second column. */
export interface SweepCursor {
  readonly ownerId: OwnerId;
  readonly second: string;
}

/** Rows that one transaction examines. On SQLite all writers wait for it: a millisecond or two. */
const pageRows = 2_000;

/** Before all rows: no owner has this id. */
const firstCursor: SweepCursor = { ownerId: -(2 ** 31) as OwnerId, second: "" };

/**
 * Keyset sweep: deletes the rows that satisfy `isOld` from the next page of the table. Returns the cursor of the following
 * page; undefined after the last page. The parameters of `isOld` begin at `$5`.
 */
export async function removeFromNextPage(
  sql: Sql,
  table: string,
  secondColumn: string,
  isOld: string,
  parameters: readonly Parameter[],
  after: SweepCursor = firstCursor,
): Promise<SweepCursor | undefined> {
  const end = await first(
    sql.all<SweepCursor>(
      `SELECT owner_id AS "ownerId", ${secondColumn} AS second FROM ${table} WHERE (owner_id, ${secondColumn}) > ($1, $2)
       ORDER BY owner_id, ${secondColumn} LIMIT 1 OFFSET ${pageRows - 1}`,
      [after.ownerId, after.second],
    ),
  );
  const last: SweepCursor = end ?? { ownerId: (2 ** 31 - 1) as OwnerId, second: "" };
  await sql.run(
    `DELETE FROM ${table} WHERE (owner_id, ${secondColumn}) > ($1, $2) AND (owner_id, ${secondColumn}) <= ($3, $4) AND (${isOld})`,
    [after.ownerId, after.second, last.ownerId, last.second, ...parameters],
  );
  return end;
}
