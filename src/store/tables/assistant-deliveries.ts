import type { Sql } from "../sql.ts";
import type { AssistantGrantKey } from "./assistant-grants.ts";

/** One attempt to send a report to an assistant. It holds no token and no state of a thing. */
export interface AssistantDelivery extends AssistantGrantKey {
  /** Counts the attempts of one grant. */
  readonly id: number;
  /** The assistant's own name of the message, such as `reportStateAndNotification`. */
  readonly type: string;
  /** The first of the things that the message is about. */
  readonly thingIds: readonly string[];
  readonly things: number;
  readonly outcome: "taken" | "retry" | "refused" | "forgotten";
  /** The HTTP status; null when there was no answer. */
  readonly status: number | null;
  readonly text: string | null;
  readonly createdMs: number;
}

export interface AssistantOutcomes extends Pick<AssistantDelivery, "outcome" | "status" | "text"> {
  readonly count: number;
}

export interface AssistantDeliveryTable {
  /** Adds an attempt and keeps only the newest of the grant. The caller holds the grant's claim. */
  add(delivery: Omit<AssistantDelivery, "id" | "createdMs">, kept: number): Promise<void>;
  /** The newest attempts of an outlet, or of one user there, newest first. */
  newest(
    outletId: string,
    userId: AssistantGrantKey["userId"] | undefined,
    limit: number,
  ): Promise<AssistantDelivery[]>;
  /** How often each outcome is among the newest attempts of an outlet. */
  outcomes(outletId: string, limit: number): Promise<AssistantOutcomes[]>;
  removeOlder(beforeMs: number, limit: number): Promise<number>;
}

const columns = `owner_id AS "userId", outlet_id AS "outletId", id, type, thing_ids AS "thingIds", things, outcome,
  status, text, created_ms AS "createdMs"`;

type StoredDelivery = Omit<AssistantDelivery, "thingIds"> & { readonly thingIds: string };

export function assistantDeliveryTable(sql: Sql): AssistantDeliveryTable {
  const ofKey = "owner_id = $1 AND outlet_id = $2";
  return {
    async add({ userId, outletId, type, thingIds, things, outcome, status, text }, kept) {
      const [last] = await sql.all<{ id: number | null }>(
        `SELECT MAX(id) AS id FROM assistant_deliveries WHERE ${ofKey}`,
        [userId, outletId],
      );
      const id = (last?.id ?? 0) + 1;
      await sql.run(
        `INSERT INTO assistant_deliveries (owner_id, outlet_id, id, type, thing_ids, things, outcome, status, text,
           created_ms)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`,
        [userId, outletId, id, type, JSON.stringify(thingIds), things, outcome, status, text, await sql.nowMs()],
      );
      await sql.run(`DELETE FROM assistant_deliveries WHERE ${ofKey} AND id <= $3`, [userId, outletId, id - kept]);
    },
    async newest(outletId, userId, limit) {
      const ofUser = userId === undefined ? "" : "AND owner_id = $3";
      const rows = await sql.all<StoredDelivery>(
        `SELECT ${columns} FROM assistant_deliveries WHERE outlet_id = $1 ${ofUser}
         ORDER BY created_ms DESC, owner_id, id DESC LIMIT $2`,
        [outletId, limit, ...(userId === undefined ? [] : [userId])],
      );
      return rows.map(({ thingIds, ...row }) => ({ ...row, thingIds: JSON.parse(thingIds) as string[] }));
    },
    outcomes: (outletId, limit) =>
      sql.all(
        `SELECT n.outcome, n.status, n.text, COUNT(*) AS count FROM
           (SELECT outcome, status, text FROM assistant_deliveries WHERE outlet_id = $1
            ORDER BY created_ms DESC, owner_id, id DESC LIMIT $2) AS n
         GROUP BY n.outcome, n.status, n.text`,
        [outletId, limit],
      ),
    removeOlder: (beforeMs, limit) =>
      sql.run(
        `DELETE FROM assistant_deliveries WHERE (owner_id, outlet_id, id) IN
           (SELECT owner_id, outlet_id, id FROM assistant_deliveries WHERE created_ms < $1 ORDER BY created_ms LIMIT $2)`,
        [beforeMs, limit],
      ),
  };
}
