import type { OwnerId, UserId } from "../../model/ids.ts";
import { sealedBy } from "../keys/sealing.ts";
import type { Sql } from "../sql.ts";

/** Where a sealed value lies: the token of a link, the secret of a webhook, its address, or the answer to a keyed request. */
export type SealedPlace =
  | { readonly kind: "link"; readonly userId: UserId; readonly ecosystem: string }
  | { readonly kind: OwnedKind; readonly ownerId: OwnerId; readonly id: string };

type OwnedKind = "webhook" | "webhook address" | "answer";

export interface SealedValue {
  readonly place: SealedPlace;
  readonly sealed: string;
}

/** All that is sealed in the store, wherever it lies: for those who change the key. */
export interface SealedValueTable {
  /** In the order of their places: links, then secrets of webhooks, then their addresses, then answers. */
  after(place: SealedPlace | undefined, limit: number): Promise<SealedValue[]>;
  /** Puts it in the other's place, unless somebody else has put something there meanwhile. */
  replace(value: SealedValue, sealed: string): Promise<void>;
  /** How many values are sealed with each key. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
}

/** In this order they are gone through. */
const kinds = ["link", "webhook", "webhook address", "answer"] as const;
const owned: Readonly<Record<OwnedKind, { readonly table: string; readonly id: string; readonly column: string }>> = {
  webhook: { table: "webhooks", id: "id", column: "sealed_secret" },
  "webhook address": { table: "webhooks", id: "id", column: "sealed_url" },
  answer: { table: "idempotency_keys", id: "hash", column: "sealed_answer" },
};
const beforeAll = { ownerId: -(2 ** 31), id: "" };

export function sealedValueTable(sql: Sql): SealedValueTable {
  const links = async (userId: number, ecosystem: string, limit: number): Promise<SealedValue[]> => {
    const rows = await sql.all<{ userId: UserId; ecosystem: string; sealed: string }>(
      `SELECT user_id AS "userId", ecosystem, sealed_token AS sealed FROM links
       WHERE (user_id, ecosystem) > ($1, $2) ORDER BY user_id, ecosystem LIMIT $3`,
      [userId, ecosystem, limit],
    );
    return rows.map(({ sealed, ...place }) => ({ place: { kind: "link", ...place }, sealed }));
  };
  const ofOwners = async (kind: OwnedKind, after: SealedPlace | undefined, limit: number): Promise<SealedValue[]> => {
    const { table, id, column } = owned[kind];
    const from = after?.kind === kind ? after : beforeAll;
    const rows = await sql.all<{ ownerId: OwnerId; id: string; sealed: string }>(
      `SELECT owner_id AS "ownerId", ${id} AS id, ${column} AS sealed FROM ${table}
       WHERE (owner_id, ${id}) > ($1, $2) AND ${column} IS NOT NULL ORDER BY owner_id, ${id} LIMIT $3`,
      [from.ownerId, from.id, limit],
    );
    return rows.map(({ sealed, ...place }) => ({ place: { kind, ...place }, sealed }));
  };
  return {
    async after(place, limit) {
      const link = place?.kind === "link" ? place : undefined;
      for (const kind of kinds.slice(kinds.indexOf(place?.kind ?? "link"))) {
        const page =
          kind === "link"
            ? await links(link?.userId ?? 0, link?.ecosystem ?? "", limit)
            : await ofOwners(kind, place, limit);
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
      const { table, id, column } = owned[place.kind];
      await sql.run(`UPDATE ${table} SET ${column} = $1 WHERE owner_id = $2 AND ${id} = $3 AND ${column} = $4`, [
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
           UNION ALL SELECT ${keyOf("sealed_url")} FROM webhooks WHERE sealed_url IS NOT NULL
           UNION ALL SELECT ${keyOf("sealed_answer")} FROM idempotency_keys WHERE sealed_answer IS NOT NULL) AS sealed_values GROUP BY key_id ORDER BY key_id`,
      );
      return new Map(rows.map(({ keyId, count }) => [keyId, count]));
    },
  };
}
