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
  /** Locks all links of the link's account. Returns when each last made calls that the ecosystem limits. */
  lockCalls(link: FedLink): Promise<readonly (FedLink & { readonly callsMs: readonly number[] })[]>;
  setCalls(link: FedLink, callsMs: readonly number[]): Promise<void>;
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
    async lockCalls({ userId, deviceId }) {
      // In one order, so that two transactions don't deadlock.
      const rows = await sql.all<FedLink & { readonly calls: string | null }>(
        `SELECT account.user_id AS "userId", account.device_id AS "deviceId", account.calls
         FROM feed_accounts own JOIN feed_accounts account
           ON account.ecosystem = own.ecosystem AND account.account = own.account
         WHERE own.user_id = $1 AND own.device_id = $2
         ORDER BY account.user_id, account.device_id${sql.dialect === "postgres" ? " FOR UPDATE OF account" : ""}`,
        [userId, deviceId],
      );
      return rows.map(({ calls, ...link }) => ({ ...link, callsMs: calls === null ? [] : JSON.parse(calls) }));
    },
    async setCalls({ userId, deviceId }, callsMs) {
      await sql.run("UPDATE feed_accounts SET calls = $3 WHERE user_id = $1 AND device_id = $2", [
        userId,
        deviceId,
        JSON.stringify(callsMs),
      ]);
    },
  };
}
