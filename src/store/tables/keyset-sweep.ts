import type { OwnerId } from "../../model/ids.ts";
import { first, type Parameter, type Sql } from "../sql.ts";

/** How far a walk through a table has come that is in the order of whose its rows are, and of one more column. */
export interface Mark {
  readonly ownerId: OwnerId;
  readonly second: string;
}

/** Rows that one transaction looks at. On SQLite everybody waits meanwhile: it takes a millisecond or two. */
const rowsAtOnce = 2_000;

const beginning: Mark = { ownerId: -(2 ** 31) as OwnerId, second: "" };

/**
 * Removes what fits `isOld` from the next stretch of the table, and answers the mark behind it; undefined when that was
 * the last. The condition's own parameters begin at `$5`.
 */
export async function removeFromStretch(
  sql: Sql,
  table: string,
  second: string,
  isOld: string,
  parameters: readonly Parameter[],
  after: Mark = beginning,
): Promise<Mark | undefined> {
  const end = await first(
    sql.all<Mark>(
      `SELECT owner_id AS "ownerId", ${second} AS second FROM ${table} WHERE (owner_id, ${second}) > ($1, $2)
       ORDER BY owner_id, ${second} LIMIT 1 OFFSET ${rowsAtOnce - 1}`,
      [after.ownerId, after.second],
    ),
  );
  const last: Mark = end ?? { ownerId: (2 ** 31 - 1) as OwnerId, second: "" };
  await sql.run(
    `DELETE FROM ${table} WHERE (owner_id, ${second}) > ($1, $2) AND (owner_id, ${second}) <= ($3, $4) AND (${isOld})`,
    [after.ownerId, after.second, last.ownerId, last.second, ...parameters],
  );
  return end;
}
