import type { Sql } from "../sql.ts";
import type { AssistantGrantKey } from "./assistant-grants.ts";

/** A command that an assistant sent and that was not settled in time: its outcome is told later. */
export interface AssistantReply extends AssistantGrantKey {
  readonly commandId: string;
  readonly thingId: string;
  /** What the assistant needs to recognise the answer, as JSON of its kind. */
  readonly reply: string;
  readonly expiresMs: number;
}

export interface AssistantReplyTable {
  /** Beyond `most` replies of the grant the oldest are dropped. */
  add(reply: AssistantReply, most: number): Promise<void>;
  ofThings(key: AssistantGrantKey, thingIds: readonly string[]): Promise<AssistantReply[]>;
  remove(reply: AssistantGrantKey & Pick<AssistantReply, "commandId">): Promise<void>;
  removeExpired(beforeMs: number, limit: number): Promise<number>;
}

const columns = `owner_id AS "userId", outlet_id AS "outletId", command_id AS "commandId", thing_id AS "thingId",
  reply, expires_ms AS "expiresMs"`;
const ofKey = "owner_id = $1 AND outlet_id = $2";

export function assistantReplyTable(sql: Sql): AssistantReplyTable {
  const among = sql.dialect === "postgres" ? "= ANY($3::text[])" : "IN (SELECT value FROM json_each($3))";
  return {
    async add({ userId, outletId, commandId, thingId, reply, expiresMs }, most) {
      // Equal commands join: the newest request gets the answer.
      await sql.run(
        `INSERT INTO assistant_replies (owner_id, outlet_id, command_id, thing_id, reply, expires_ms)
         VALUES ($1, $2, $3, $4, $5, $6)
         ON CONFLICT (owner_id, outlet_id, command_id) DO UPDATE SET reply = excluded.reply,
           expires_ms = excluded.expires_ms`,
        [userId, outletId, commandId, thingId, reply, expiresMs],
      );
      await sql.run(
        `DELETE FROM assistant_replies WHERE ${ofKey} AND command_id NOT IN
           (SELECT r.command_id FROM assistant_replies r WHERE r.owner_id = $1 AND r.outlet_id = $2
            ORDER BY r.expires_ms DESC, r.command_id LIMIT $3)`,
        [userId, outletId, most],
      );
    },
    ofThings: ({ userId, outletId }, thingIds) =>
      sql.all(`SELECT ${columns} FROM assistant_replies WHERE ${ofKey} AND thing_id ${among} ORDER BY expires_ms`, [
        userId,
        outletId,
        thingIds,
      ]),
    async remove({ userId, outletId, commandId }) {
      await sql.run(`DELETE FROM assistant_replies WHERE ${ofKey} AND command_id = $3`, [userId, outletId, commandId]);
    },
    removeExpired: (beforeMs, limit) =>
      sql.run(
        `DELETE FROM assistant_replies WHERE (owner_id, outlet_id, command_id) IN
           (SELECT owner_id, outlet_id, command_id FROM assistant_replies WHERE expires_ms < $1 ORDER BY expires_ms
            LIMIT $2)`,
        [beforeMs, limit],
      ),
  };
}
