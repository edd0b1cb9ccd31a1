import type { OwnerId, UserId } from "../../model/ids.ts";
import { sealedBy } from "../sealing.ts";
import type { Sql } from "../sql.ts";

/** Where a sealed value lies: the token of a link, the secret of a webhook, or its address. */
export type SealedPlace =
  | { readonly kind: "link"; readonly userId: UserId; readonly ecosystem: string }
  | { readonly kind: "webhook" | "webhook address"; readonly ownerId: OwnerId; readonly id: string };

export interface SealedValue {
  readonly place: SealedPlace;
  readonly sealed: string;
}

/** All that is sealed in the store, wherever it lies: for those who change the key. */
export interface SealedValueTable {
  /** In the order of their places: links, then secrets of webhooks, then their addresses. */
  after(place: SealedPlace | undefined, limit: number): Promise<SealedValue[]>;
  /** Puts it in the other's place, unless somebody else has put something there meanwhile. */
  replace(value: SealedValue, sealed: string): Promise<void>;
  /** How many values are sealed with each key. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
}

/** In this order they are gone through. */
const kinds = ["link", "webhook", "webhook address"] as const;
const webhookColumns = { webhook: "sealed_secret", "webhook address": "sealed_url" } as const;
const beforeWebhooks = { ownerId: -(2 ** 31), id: "" };

export function sealedValueTable(sql: Sql): SealedValueTable {
  const links = async (userId: number, ecosystem: string, limit: number): Promise<SealedValue[]> => {
    const rows = await sql.all<{ userId: UserId; ecosystem: string; sealed: string }>(
      `SELECT user_id AS "userId", ecosystem, sealed_token AS sealed FROM links
       WHERE (user_id, ecosystem) > ($1, $2) ORDER BY user_id, ecosystem LIMIT $3`,
      [userId, ecosystem, limit],
    );
    return rows.map(({ sealed, ...place }) => ({ place: { kind: "link", ...place }, sealed }));
  };
  const webhooks = async (
    kind: keyof typeof webhookColumns,
    { ownerId, id } = beforeWebhooks,
    limit: number,
  ): Promise<SealedValue[]> => {
    const column = webhookColumns[kind];
    const rows = await sql.all<{ ownerId: OwnerId; id: string; sealed: string }>(
      `SELECT owner_id AS "ownerId", id, ${column} AS sealed FROM webhooks
       WHERE (owner_id, id) > ($1, $2) AND ${column} IS NOT NULL ORDER BY owner_id, id LIMIT $3`,
      [ownerId, id, limit],
    );
    return rows.map(({ sealed, ...place }) => ({ place: { kind, ...place }, sealed }));
  };
  return {
    async after(place, limit) {
      const link = place?.kind === "link" ? place : undefined;
      const pages = {
        link: () => links(link?.userId ?? 0, link?.ecosystem ?? "", limit),
        webhook: () => webhooks("webhook", place?.kind === "webhook" ? place : undefined, limit),
        "webhook address": () =>
          webhooks("webhook address", place?.kind === "webhook address" ? place : undefined, limit),
      };
      for (const kind of kinds.slice(kinds.indexOf(place?.kind ?? "link"))) {
        const page = await pages[kind]();
        if (page.length > 0) return page;
      }
      return [];
    },
    async replace({ place, sealed: old }, sealed) {
      if (place.kind === "link") {
        await sql.run(
          "UPDATE links SET sealed_token = $1 WHERE user_id = $2 AND ecosystem = $3 AND sealed_token = $4",
          [sealed, place.userId, place.ecosystem, old],
        );
        return;
      }
      const column = webhookColumns[place.kind];
      await sql.run(`UPDATE webhooks SET ${column} = $1 WHERE owner_id = $2 AND id = $3 AND ${column} = $4`, [
        sealed,
        place.ownerId,
        place.id,
        old,
      ]);
    },
    async countByKey() {
      const keyOf = (column: string) => `substr(${column}, ${sealedBy.from}, ${sealedBy.letters})`;
      const rows = await sql.all<{ keyId: string; count: number }>(
        `SELECT key_id AS "keyId", COUNT(*) AS count FROM (
           SELECT ${keyOf("sealed_token")} AS key_id FROM links
           UNION ALL SELECT ${keyOf("sealed_secret")} FROM webhooks
           UNION ALL SELECT ${keyOf("sealed_url")} FROM webhooks WHERE sealed_url IS NOT NULL) AS sealed_values GROUP BY key_id ORDER BY key_id`,
      );
      return new Map(rows.map(({ keyId, count }) => [keyId, count]));
    },
  };
}
