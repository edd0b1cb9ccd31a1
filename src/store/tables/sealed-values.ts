import type { OwnerId, UserId } from "../../model/ids.ts";
import { sealedBy } from "../sealing.ts";
import type { Sql } from "../sql.ts";

/** Where a sealed value lies: the token of a link, or the secret of a webhook. */
export type SealedPlace =
  | { readonly kind: "link"; readonly userId: UserId; readonly ecosystem: string }
  | { readonly kind: "webhook"; readonly ownerId: OwnerId; readonly id: string };

export interface SealedValue {
  readonly place: SealedPlace;
  readonly sealed: string;
}

/** All that is sealed in the store, wherever it lies: for those who change the key. */
export interface SealedValueTable {
  /** In the order of their places, links first. */
  after(place: SealedPlace | undefined, limit: number): Promise<SealedValue[]>;
  /** Puts it in the other's place, unless somebody else has put something there meanwhile. */
  replace(value: SealedValue, sealed: string): Promise<void>;
  /** How many values are sealed with each key. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
}

export function sealedValueTable(sql: Sql): SealedValueTable {
  const links = async (userId: number, ecosystem: string, limit: number): Promise<SealedValue[]> => {
    const rows = await sql.all<{ userId: UserId; ecosystem: string; sealed: string }>(
      `SELECT user_id AS "userId", ecosystem, sealed_token AS sealed FROM links
       WHERE (user_id, ecosystem) > ($1, $2) ORDER BY user_id, ecosystem LIMIT $3`,
      [userId, ecosystem, limit],
    );
    return rows.map(({ sealed, ...place }) => ({ place: { kind: "link", ...place }, sealed }));
  };
  const webhooks = async (ownerId: number, id: string, limit: number): Promise<SealedValue[]> => {
    const rows = await sql.all<{ ownerId: OwnerId; id: string; sealed: string }>(
      `SELECT owner_id AS "ownerId", id, sealed_secret AS sealed FROM webhooks
       WHERE (owner_id, id) > ($1, $2) ORDER BY owner_id, id LIMIT $3`,
      [ownerId, id, limit],
    );
    return rows.map(({ sealed, ...place }) => ({ place: { kind: "webhook", ...place }, sealed }));
  };
  return {
    async after(place, limit) {
      if (place?.kind === "webhook") return webhooks(place.ownerId, place.id, limit);
      const found = await links(place?.userId ?? 0, place?.ecosystem ?? "", limit);
      return found.length > 0 ? found : webhooks(-(2 ** 31), "", limit);
    },
    async replace({ place, sealed: old }, sealed) {
      await (place.kind === "link"
        ? sql.run("UPDATE links SET sealed_token = $1 WHERE user_id = $2 AND ecosystem = $3 AND sealed_token = $4", [
            sealed,
            place.userId,
            place.ecosystem,
            old,
          ])
        : sql.run("UPDATE webhooks SET sealed_secret = $1 WHERE owner_id = $2 AND id = $3 AND sealed_secret = $4", [
            sealed,
            place.ownerId,
            place.id,
            old,
          ]));
    },
    async countByKey() {
      const keyOf = (column: string) => `substr(${column}, ${sealedBy.from}, ${sealedBy.letters})`;
      const rows = await sql.all<{ keyId: string; count: number }>(
        `SELECT key_id AS "keyId", COUNT(*) AS count FROM (
           SELECT ${keyOf("sealed_token")} AS key_id FROM links
           UNION ALL SELECT ${keyOf("sealed_secret")} FROM webhooks) AS sealed_values GROUP BY key_id ORDER BY key_id`,
      );
      return new Map(rows.map(({ keyId, count }) => [keyId, count]));
    },
  };
}
