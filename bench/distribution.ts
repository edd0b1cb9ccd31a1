/**
 * How each table would be split over several databases by user, with Citus or by hand: the table of docs/scaling.md. A
 * test compares it with the schema and fails for a missing table or an unknown column.
 */
export interface Split {
  /** The distribution column; null: the table is not split. */
  readonly by: string | null;
  readonly note: string;
}

const everywhere = "small, and the same everywhere (a reference table)";

/** The user's id, or the tenant's id negated. */
const owner = "owner_id";

export const split: Readonly<Record<string, Split>> = {
  attributes: { by: "user_id", note: "" },
  blind_intervals: { by: "user_id", note: "" },
  things: { by: "user_id", note: "listed over all users for enterprise clients" },
  sounding_devices: { by: "user_id", note: "listed over all users for the console's pages" },
  commands: { by: "user_id", note: "the sweep for unsettled requests reads all users" },
  thing_commands: { by: "user_id", note: "the sweep for unsettled commands reads all users" },
  devices: { by: "user_id", note: "listed by tenant_id for enterprise clients, over all users" },
  links: { by: "user_id", note: "claimed by owner, over all users" },
  feed_accounts: { by: "user_id", note: "found by account for each message and each list, over all users" },
  feed_messages: { by: "user_id", note: "the owner node of links asks which have messages, over all users" },
  log: { by: "user_id", note: "read by position over all users; old entries are removed by position too" },
  removed_histories: {
    by: "user_id",
    note: "of removed devices, for minutes; the next one is searched over all users",
  },
  triggers: { by: "user_id", note: "found by id for enterprise clients, over all users" },
  thing_triggers: { by: "user_id", note: "with their things; found by id for enterprise clients, over all users" },
  sec_tokens: { by: "user_id", note: "the secToken contains its owner's id" },
  sign_ins: {
    by: "user_id",
    note: "the address of its page contains the user's id; the sign-ins of one login page are searched over all users",
  },
  user_sessions: {
    by: "user_id",
    note: "the cookie contains its owner's id; the sweep for ended sessions reads all users",
  },
  codes: { by: "user_id", note: "the code contains its owner's id" },
  grants: { by: owner, note: "when a client is removed, its grants are listed over all users" },
  access_tokens: { by: owner, note: "the token contains its owner's id" },
  refresh_tokens: { by: owner, note: "the token contains its owner's id" },
  webhooks: { by: owner, note: "a tenant's webhooks get events of all its users" },
  webhook_deliveries: { by: owner, note: "with their webhook; due deliveries are searched over all owners" },
  assistant_grants: { by: owner, note: "of one user; due grants are searched over all users" },
  assistant_marks: { by: owner, note: "with their grant" },
  assistant_replies: { by: owner, note: "with their grant; the sweep for expired replies reads all users" },
  assistant_deliveries: { by: owner, note: "with their grant; listed by outlet over all users" },
  link_sessions: {
    by: owner,
    note: "of one user, or of a tenant itself; page address and state contain the owner's id; the sweep reads all owners",
  },
  batch_groups: { by: owner, note: "of a tenant itself; the sweep for expired groups reads all owners" },
  idempotency_keys: {
    by: owner,
    note: "of one user, or of a tenant itself; the sweep for expired keys reads all owners",
  },
  audit: { by: owner, note: "listed by tenant_id, or all; append-only" },
  users: { by: "id", note: "one place: found by name before the id is known, and the name is unique in a tenant" },
  failure_counts: {
    by: "key",
    note: "a hash of account and source, also of unknown accounts; removed after an hour",
  },
  former_credentials: {
    by: null,
    note: "credentials that were issued before they contained their owner's id; never grows",
  },
  tenants: { by: null, note: everywhere },
  clients: { by: null, note: everywhere },
  device_types: { by: null, note: everywhere },
  device_type_maps: { by: null, note: everywhere },
  device_type_work: { by: null, note: "one row for each map that has work; due rows are searched over all tenants" },
  quotas: { by: null, note: everywhere },
  link_hours: { by: null, note: "links of each tenant by state in the last 48 hours; written once an hour" },
  counted_hours: { by: null, note: "48 rows, with `link_hours`" },
  assistant_outlets: { by: null, note: everywhere },
  operators: { by: null, note: everywhere },
  operator_tenants: { by: null, note: everywhere },
  operator_sessions: { by: null, note: "of a few operators; read with each call of one" },
  operator_tokens: { by: null, note: "of a few operators; read with each call of a program" },
  operator_links: { by: null, note: "a few rows, each for one use within days" },
  settings: { by: null, note: everywhere },
  nodes: { by: null, note: "one place: leases of nodes are compared by one clock" },
  node_questions: { by: null, note: "one place: questions between nodes and their answers, for seconds" },
  node_answers: { by: null, note: "with their question" },
  feed_leases: { by: null, note: "one row for each feed, written every second by the node that pulls it" },
  log_horizon: { by: null, note: "one row" },
  log_epoch: { by: null, note: "one row" },
  webhook_feed: { by: null, note: "one row, locked by the node that turns log entries into deliveries" },
  assistant_feed: { by: null, note: "one row, locked by the node that turns log entries into marks" },
  schema_steps: { by: null, note: "one in each database" },
  schema_reach: { by: null, note: "one in each database" },
};

/** The table in Markdown, with the columns of each primary key. */
export function splitTable(keyOf: (table: string) => readonly string[]): string {
  const rows = Object.entries(split).map(([table, { by, note }]) => {
    const key = by === null ? "" : keyOf(table).join(", ");
    return `| \`${table}\` | ${by === null ? "" : `\`${by}\``} | ${key} | ${note} |`;
  });
  return ["| table | by | its key | |", "|---|---|---|---|", ...rows].join("\n");
}
