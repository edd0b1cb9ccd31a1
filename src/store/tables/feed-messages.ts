import type { DeviceId, NodeId, UserId } from "../../model/ids.ts";
import type { Parameter, Sql } from "../sql.ts";
import type { FedLink } from "./feed-accounts.ts";

/** A message of a feed that waits for the owner of a link. */
export interface FeedMessageRow {
  readonly messageId: string;
  /** Null: messages were dropped because too many waited. */
  readonly content: string | null;
}

export interface NewFeedMessage {
  readonly id: string;
  readonly account: string;
  readonly content: string;
}

export interface FeedMessageTable {
  /** Stores messages for every link of their accounts. Returns the links, each with its account. */
  add(
    ecosystem: string,
    messages: readonly NewFeedMessage[],
    nowMs: number,
  ): Promise<(FedLink & { readonly account: string })[]>;
  /** Drops the messages of those links that have more than `most`; one row remains in their place. */
  drop(links: readonly FedLink[], most: number, nowMs: number): Promise<FedLink[]>;
  /** All links of this node for which messages wait: a link that is missing here counts as quiet. */
  waiting(owner: NodeId): Promise<FedLink[]>;
  /** The messages of one link, oldest first. */
  of(link: FedLink, limit: number): Promise<FeedMessageRow[]>;
  /** Removes messages, if the node still owns the link. */
  remove(link: FedLink, owner: NodeId, messageIds: readonly string[]): Promise<void>;
  removeBefore(timeMs: number): Promise<number>;
}

/** The id of the row that stands for dropped messages. */
const droppedId = "";

export function feedMessageTable(sql: Sql): FeedMessageTable {
  const isPostgres = sql.dialect === "postgres";
  const among = (column: string, position: number, type: "int" | "text") =>
    isPostgres
      ? `${column} = ANY($${position}::${type}[])`
      : `${column} IN (SELECT value FROM json_each($${position}))`;
  const insert = (rows: readonly (readonly Parameter[])[]) =>
    sql.runEach(
      `INSERT INTO feed_messages (user_id, device_id, message_id, content, received_ms) VALUES ($1, $2, $3, $4, $5)
       ON CONFLICT (user_id, device_id, message_id) DO NOTHING`,
      rows,
    );
  return {
    async add(ecosystem, messages, nowMs) {
      const links = await sql.all<{ userId: UserId; deviceId: DeviceId; account: string }>(
        `SELECT user_id AS "userId", device_id AS "deviceId", account FROM feed_accounts
         WHERE ecosystem = $1 AND ${among("account", 2, "text")} ORDER BY user_id, device_id`,
        [ecosystem, [...new Set(messages.map(({ account }) => account))]],
      );
      if (links.length > 0) sql.hint("feed");
      await insert(
        links.flatMap(({ userId, deviceId, account }) =>
          messages
            .filter((message) => message.account === account)
            .map(({ id, content }) => [userId, deviceId, id, content, nowMs]),
        ),
      );
      return links;
    },
    async drop(links, most, nowMs) {
      const full = await sql.all<{ userId: UserId; deviceId: DeviceId }>(
        `SELECT user_id AS "userId", device_id AS "deviceId" FROM feed_messages
         WHERE ${among("user_id", 1, "int")} GROUP BY user_id, device_id HAVING COUNT(*) > $2`,
        [links.map(({ userId }) => userId), most],
      );
      for (const { userId, deviceId } of full) {
        await sql.run("DELETE FROM feed_messages WHERE user_id = $1 AND device_id = $2", [userId, deviceId]);
      }
      await insert(full.map(({ userId, deviceId }) => [userId, deviceId, droppedId, null, nowMs]));
      return full;
    },
    waiting: (owner) =>
      sql.all(
        `SELECT DISTINCT m.user_id AS "userId", m.device_id AS "deviceId" FROM feed_messages m
         JOIN links l ON l.user_id = m.user_id AND l.device_id = m.device_id WHERE l.owner = $1`,
        [owner],
      ),
    of: ({ userId, deviceId }, limit) =>
      sql.all(
        `SELECT message_id AS "messageId", content FROM feed_messages WHERE user_id = $1 AND device_id = $2
         ORDER BY received_ms, message_id LIMIT $3`,
        [userId, deviceId, limit],
      ),
    async remove({ userId, deviceId }, owner, messageIds) {
      await sql.run(
        `DELETE FROM feed_messages WHERE user_id = $1 AND device_id = $2 AND ${among("message_id", 4, "text")}
           AND EXISTS (SELECT 1 FROM links l WHERE l.user_id = $1 AND l.device_id = $2 AND l.owner = $3)`,
        [userId, deviceId, owner, messageIds],
      );
    },
    removeBefore: (timeMs) => sql.run("DELETE FROM feed_messages WHERE received_ms < $1", [timeMs]),
  };
}
