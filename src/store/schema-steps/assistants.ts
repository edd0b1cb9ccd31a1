import type { Step } from "./step.ts";

/**
 * Outlets to assistants, the users who have linked them, and what these have to be told. Nodes that don't know this step
 * neither report nor remove these rows with their user: a sweep removes rows whose client has no grant any more.
 */
export const assistants: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE assistant_outlets (
     owner_id INTEGER NOT NULL, id TEXT NOT NULL, kind TEXT NOT NULL, client_id TEXT NOT NULL UNIQUE,
     sealed_settings TEXT NOT NULL, created_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, id))`,
  `CREATE TABLE assistant_grants (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, client_id TEXT NOT NULL, agent_user_id TEXT NOT NULL,
     sealed_credential TEXT, region TEXT, since_ms ${integer} NOT NULL, stale_devices TEXT NOT NULL DEFAULT '[]',
     due_ms ${integer}, claim INTEGER NOT NULL DEFAULT 0, claimed_until_ms ${integer} NOT NULL DEFAULT 0,
     attempts INTEGER NOT NULL DEFAULT 0, problem TEXT, reported_ms ${integer}, PRIMARY KEY (owner_id, outlet_id))`,
  "CREATE INDEX assistant_grants_of_outlet ON assistant_grants (outlet_id, owner_id)",
  "CREATE INDEX assistant_grants_due ON assistant_grants (due_ms) WHERE due_ms IS NOT NULL",
  `CREATE TABLE assistant_marks (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, thing_id TEXT NOT NULL, version INTEGER NOT NULL,
     since_ms ${integer} NOT NULL, state_ms ${integer}, sync_ms ${integer}, due_ms ${integer} NOT NULL,
     is_urgent INTEGER NOT NULL, rises TEXT NOT NULL, PRIMARY KEY (owner_id, outlet_id, thing_id)) ${withoutRowid}`,
  `CREATE TABLE assistant_replies (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, command_id TEXT NOT NULL, thing_id TEXT NOT NULL,
     reply TEXT NOT NULL, expires_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, outlet_id, command_id))`,
  "CREATE INDEX assistant_replies_expiring ON assistant_replies (expires_ms)",
  `CREATE TABLE assistant_deliveries (
     owner_id INTEGER NOT NULL, outlet_id TEXT NOT NULL, id INTEGER NOT NULL, type TEXT NOT NULL,
     thing_ids TEXT NOT NULL, things INTEGER NOT NULL, outcome TEXT NOT NULL, status INTEGER, text TEXT,
     created_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, outlet_id, id)) ${withoutRowid}`,
  "CREATE INDEX assistant_deliveries_of_outlet ON assistant_deliveries (outlet_id, created_ms)",
  "CREATE INDEX assistant_deliveries_by_time ON assistant_deliveries (created_ms)",
  // One row: the position up to which log entries have become marks.
  `CREATE TABLE assistant_feed (
     only_row INTEGER PRIMARY KEY, transaction_id ${integer} NOT NULL, entry_id ${integer} NOT NULL,
     epoch TEXT NOT NULL, swept_ms ${integer} NOT NULL)`,
  "INSERT INTO assistant_feed (only_row, transaction_id, entry_id, epoch, swept_ms) VALUES (1, 0, 0, '', 0)",
];

/**
 * The position up to which emergencies have become marks, ahead of other changes. A node that does not know it makes the
 * marks of those emergencies again: an assistant may be notified twice while nodes of both versions run.
 */
export const assistantsUrgentFeed: Step = ({ integer }) => [
  `ALTER TABLE assistant_feed ADD COLUMN urgent_transaction_id ${integer} NOT NULL DEFAULT 0`,
  `ALTER TABLE assistant_feed ADD COLUMN urgent_entry_id ${integer} NOT NULL DEFAULT 0`,
];

/**
 * The devices of a user that an assistant is not offered, because it takes no more; null until the first report. A node
 * that does not know the column offers all: so do the rows that are there.
 */
export const assistantsOmitted: Step = () => ["ALTER TABLE assistant_grants ADD COLUMN omitted TEXT DEFAULT '[]'"];

/** Emergencies that wait to be told: a node looks for them before all other marks (tables/assistant-grants.ts). */
export const assistantsUrgentMarks: Step = {
  index: "assistant_marks_urgent",
  on: "assistant_marks (owner_id, outlet_id) WHERE is_urgent = 1",
};
