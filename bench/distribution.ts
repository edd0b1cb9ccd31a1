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

/** Of a user, or of a tenant itself, whose id is negated. */
const owner = "owner_id";

export const split: Readonly<Record<string, Split>> = {
  attributes: { by: "user_id", words: "" },
  blind_intervals: { by: "user_id", words: "" },
  commands: { by: "user_id", words: "unsettled ones are looked for over all users" },
  devices: { by: "user_id", words: "listed by tenant_id for enterprise clients, over all users" },
  links: { by: "user_id", words: "claimed by owner, over all users" },
  log: { by: "user_id", words: "read by position over all users, and its beginning removed so" },
  triggers: { by: "user_id", words: "found by id for enterprise clients, over all users" },
  sec_tokens: { by: "user_id", words: "the secToken tells whose it is" },
  sign_ins: {
    by: "user_id",
    words: "its page's address tells whose it is; those of one login page are looked for over all",
  },
  codes: { by: "user_id", words: "the code tells whose it is" },
  grants: { by: owner, words: "those of a client are listed over all users when it is removed" },
  access_tokens: { by: owner, words: "the token tells whose it is" },
  refresh_tokens: { by: owner, words: "the token tells whose it is" },
  webhooks: { by: owner, words: "those of a tenant hear of all its users" },
  webhook_deliveries: { by: owner, words: "with their webhook; due ones are looked for over all" },
  idempotency_keys: { by: owner, words: "of one user, or of a tenant itself; expired ones are looked for over all" },
  audit: { by: owner, words: "listed by tenant_id, or all; only ever added to" },
  users: { by: "id", words: "one place: found by name before the id is known, and the name is unique in a tenant" },
  failure_counts: {
    by: "key",
    words: "a hash of account and source, of people who may not exist; forgotten after an hour",
  },
  former_credentials: { by: null, words: "what was issued before credentials told whose they are; never grows" },
  tenants: { by: null, words: everywhere },
  clients: { by: null, words: everywhere },
  device_types: { by: null, words: everywhere },
  settings: { by: null, words: everywhere },
  nodes: { by: null, words: "one place: who lives is asked of one clock" },
  log_horizon: { by: null, words: "one row" },
  log_epoch: { by: null, words: "one row" },
  webhook_feed: { by: null, words: "one row, locked by the node that turns the log into deliveries" },
  schema_steps: { by: null, words: "each database its own" },
  schema_reach: { by: null, words: "each database its own" },
};

/** With the columns of each table's primary key, as the schema has them. */
export function splitTable(keyOf: (table: string) => readonly string[]): string {
  const rows = Object.entries(split).map(([table, { by, words }]) => {
    const key = by === null ? "" : keyOf(table).join(", ");
    return `| \`${table}\` | ${by === null ? "" : `\`${by}\``} | ${key} | ${words} |`;
  });
  return ["| table | by | its key | |", "|---|---|---|---|", ...rows].join("\n");
}
