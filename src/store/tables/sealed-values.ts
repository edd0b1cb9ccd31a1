import type { OwnerId, UserId } from "../../model/ids.ts";
import { keyIdPosition } from "../keys/sealing.ts";
import type { Sql } from "../sql.ts";

/**
 * Where a sealed value is: a link's token or credential, a webhook's secret or address, an answer that an idempotency
 * key repeats, the secrets of a link session, the settings of an outlet, or what an assistant gave for a user.
 */
export type SealedLocation =
  | { readonly kind: LinkKind; readonly userId: UserId; readonly ecosystem: string }
  | { readonly kind: OwnedKind; readonly ownerId: OwnerId; readonly id: string };

type LinkKind = "link" | "link credential";
type OwnedKind =
  | "webhook"
  | "webhook address"
  | "answer"
  | "link session"
  | "assistant outlet"
  | "assistant credential";

export interface SealedValue {
  readonly location: SealedLocation;
  readonly sealed: string;
}

/** All sealed values of the store, from all tables. Key rotation, drop and list use them, and the check of keys at start. */
export interface SealedValueTable {
  /** At most `limit` values that follow the location, all of one kind: first links, last credentials of assistants. Empty at the end. */
  after(location: SealedLocation | undefined, limit: number): Promise<SealedValue[]>;
  /** Replaces the value, unless another transaction has changed it meanwhile. */
  replace(value: SealedValue, sealed: string): Promise<void>;
  /** How many values are sealed with each key. */
  countByKey(): Promise<ReadonlyMap<string, number>>;
}

/** The order in which `after` returns them. */
const kinds = [
  "link",
  "link credential",
  "webhook",
  "webhook address",
  "answer",
  "link session",
  "assistant outlet",
  "assistant credential",
] as const;
const linkColumns: Readonly<Record<LinkKind, string>> = {
  link: "sealed_token",
  "link credential": "sealed_credential",
};
const ownedTables: Readonly<
  Record<OwnedKind, { readonly table: string; readonly id: string; readonly column: string }>
> = {
  webhook: { table: "webhooks", id: "id", column: "sealed_secret" },
  "webhook address": { table: "webhooks", id: "id", column: "sealed_url" },
  answer: { table: "idempotency_keys", id: "hash", column: "sealed_answer" },
  "link session": { table: "link_sessions", id: "id", column: "sealed" },
  "assistant outlet": { table: "assistant_outlets", id: "id", column: "sealed_settings" },
  "assistant credential": { table: "assistant_grants", id: "outlet_id", column: "sealed_credential" },
};
const sealedColumns: readonly { readonly table: string; readonly column: string }[] = [
  ...Object.values(linkColumns).map((column) => ({ table: "links", column })),
  ...Object.values(ownedTables),
];
/** The SQL condition that the store holds a sealed value. */
export const hasSealedValuesSql = [
  ...Object.values(linkColumns).map((column) => ({ table: "links", column })),
  ...Object.values(ownedTables),
]
  .map(({ table, column }) => `EXISTS (SELECT 1 FROM ${table} WHERE ${column} IS NOT NULL)`)
  .join(" OR ");
/** Sorts before all users and ecosystems. */
const firstLink = { userId: 0, ecosystem: "" };
/** Sorts before all owners and ids. */
const beforeAll = { ownerId: -(2 ** 31), id: "" };

export function sealedValueTable(sql: Sql): SealedValueTable {
  const ofLinks = async (kind: LinkKind, after: SealedLocation | undefined, limit: number): Promise<SealedValue[]> => {
    const column = linkColumns[kind];
    const from = after?.kind === kind ? after : firstLink;
    const rows = await sql.all<{ userId: UserId; ecosystem: string; sealed: string }>(
      `SELECT user_id AS "userId", ecosystem, ${column} AS sealed FROM links
       WHERE (user_id, ecosystem) > ($1, $2) AND ${column} IS NOT NULL ORDER BY user_id, ecosystem LIMIT $3`,
      [from.userId, from.ecosystem, limit],
    );
    return rows.map(({ sealed, ...location }) => ({ location: { kind, ...location }, sealed }));
  };
  const ofOwners = async (
    kind: OwnedKind,
    after: SealedLocation | undefined,
    limit: number,
  ): Promise<SealedValue[]> => {
    const { table, id, column } = ownedTables[kind];
    const from = after?.kind === kind ? after : beforeAll;
    const rows = await sql.all<{ ownerId: OwnerId; id: string; sealed: string }>(
      `SELECT owner_id AS "ownerId", ${id} AS id, ${column} AS sealed FROM ${table}
       WHERE (owner_id, ${id}) > ($1, $2) AND ${column} IS NOT NULL ORDER BY owner_id, ${id} LIMIT $3`,
      [from.ownerId, from.id, limit],
    );
    return rows.map(({ sealed, ...location }) => ({ location: { kind, ...location }, sealed }));
  };
  return {
    async after(location, limit) {
      for (const kind of kinds.slice(kinds.indexOf(location?.kind ?? "link"))) {
        const page = isLinkKind(kind) ? await ofLinks(kind, location, limit) : await ofOwners(kind, location, limit);
        if (page.length > 0) return page;
      }
      return [];
    },
    async replace({ location, sealed: old }, sealed) {
      if ("ecosystem" in location) {
        const column = linkColumns[location.kind];
        await sql.run(`UPDATE links SET ${column} = $1 WHERE user_id = $2 AND ecosystem = $3 AND ${column} = $4`, [
          sealed,
          location.userId,
          location.ecosystem,
          old,
        ]);
        return;
      }
      const { table, id, column } = ownedTables[location.kind];
      await sql.run(`UPDATE ${table} SET ${column} = $1 WHERE owner_id = $2 AND ${id} = $3 AND ${column} = $4`, [
        sealed,
        location.ownerId,
        location.id,
        old,
      ]);
    },
    async countByKey() {
      const keyOf = (column: string) => `substr(${column}, ${keyIdPosition.from}, ${keyIdPosition.letters})`;
      const counts = new Map<string, number>();
      // A statement for each column, because the event loop serves others only between two statements.
      for (const { table, column } of sealedColumns) {
        const rows = await sql.all<{ keyId: string; count: number }>(
          `SELECT ${keyOf(column)} AS "keyId", COUNT(*) AS count FROM ${table} WHERE ${column} IS NOT NULL GROUP BY 1`,
        );
        for (const { keyId, count } of rows) counts.set(keyId, (counts.get(keyId) ?? 0) + Number(count));
      }
      return new Map([...counts].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}

function isLinkKind(kind: (typeof kinds)[number]): kind is LinkKind {
  return kind in linkColumns;
}
