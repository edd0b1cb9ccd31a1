/**
 * How each table would be split over several databases by the user, with Citus or by hand: the table of docs/scaling.md.
 * A new table that isn't here, and a column that isn't there, fail a test.
 */
export interface Split {
  /** The column by which its rows fall to databases; null: none. */
  readonly by: string | null;
  readonly words: string;
}

const everywhere = "small, and the same everywhere (a reference table)";

export const split: Readonly<Record<string, Split>> = {
  attributes: { by: "user_id", words: "" },
  blind_intervals: { by: "user_id", words: "" },
  commands: { by: "user_id", words: "unsettled ones are looked for over all users" },
  devices: { by: "user_id", words: "listed by tenant_id for enterprise clients, over all users" },
  links: { by: "user_id", words: "claimed by owner, over all users" },
  log: { by: "user_id", words: "read by position over all users, and its beginning removed so" },
  triggers: { by: "user_id", words: "" },
  users: { by: "id", words: "found by tenant_id and name when somebody signs in" },
  sec_tokens: { by: "user_id", words: "found by hash, before the user is known" },
  sign_ins: { by: "user_id", words: "found by hash and by login page" },
  codes: { by: "user_id", words: "found by hash" },
  webhook_deliveries: { by: "user_id", words: "due ones are looked for over all users" },
  grants: { by: "user_id", words: "null for clients that speak for themselves; found by id" },
  webhooks: { by: "user_id", words: "null for those of a tenant" },
  access_tokens: { by: null, words: "has no user: found by hash, removed by grant_id" },
  refresh_tokens: { by: null, words: "has no user: found by hash, removed by grant_id" },
  audit: { by: "tenant_id", words: "null for what concerns the deployment; only ever added to" },
  failure_counts: { by: "key", words: "a hash of account and source, which belong to no user for certain" },
  tenants: { by: null, words: everywhere },
  clients: { by: null, words: everywhere },
  device_types: { by: null, words: everywhere },
  settings: { by: null, words: everywhere },
  nodes: { by: null, words: "one place: who lives is asked of one clock" },
  log_horizon: { by: null, words: "one row" },
  webhook_feed: { by: null, words: "one row, which whoever turns the log into deliveries locks" },
  schema_steps: { by: null, words: "each database its own" },
  schema_reach: { by: null, words: "each database its own" },
};

/** `isInKey` tells of a table whether its primary key has the column, as a split by it needs. */
export function splitTable(isInKey: (table: string, column: string) => boolean): string {
  const rows = Object.entries(split).map(([table, { by, words }]) => {
    const inKey = by === null ? "" : isInKey(table, by) ? "yes" : "no";
    return `| \`${table}\` | ${by === null ? "" : `\`${by}\``} | ${inKey} | ${words} |`;
  });
  return ["| table | by | in its key | |", "|---|---|---|---|", ...rows].join("\n");
}
