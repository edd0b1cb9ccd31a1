import type { DeviceId, UserId } from "../../model/ids.ts";
import { first, type Sql } from "../sql.ts";

/** A link whose events come from a feed of the whole deployment. */
export interface FedLink {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
}

/** Which account's messages are stored for which link. Several links may have the same account. */
export interface FeedAccountTable {
  set(link: FedLink, ecosystem: string, account: string): Promise<void>;
  of(link: FedLink): Promise<string | undefined>;
  /** Whether another link has the same account. */
  isShared(link: FedLink): Promise<boolean>;
}

export function feedAccountTable(sql: Sql): FeedAccountTable {
  return {
    async set({ userId, deviceId }, ecosystem, account) {
      await sql.run(
        `INSERT INTO feed_accounts (user_id, device_id, ecosystem, account) VALUES ($1, $2, $3, $4)
         ON CONFLICT (user_id, device_id) DO UPDATE SET ecosystem = excluded.ecosystem, account = excluded.account`,
        [userId, deviceId, ecosystem, account],
      );
    },
    async of({ userId, deviceId }) {
      const row = await first(
        sql.all<{ account: string }>("SELECT account FROM feed_accounts WHERE user_id = $1 AND device_id = $2", [
          userId,
          deviceId,
        ]),
      );
      return row?.account;
    },
    async isShared({ userId, deviceId }) {
      const others = await sql.all(
        `SELECT 1 FROM feed_accounts own JOIN feed_accounts other
           ON other.ecosystem = own.ecosystem AND other.account = own.account
         WHERE own.user_id = $1 AND own.device_id = $2 AND other.device_id <> own.device_id LIMIT 1`,
        [userId, deviceId],
      );
      return others.length > 0;
    },
  };
}
