import type { Step } from "./step.ts";

/** Times in which events of an account could have been missed. */
export const blindIntervals: Step = ({ integer, withoutRowid }) => [
  `ALTER TABLE links ADD COLUMN blind_since_ms ${integer}`,
  "ALTER TABLE links ADD COLUMN blind_cause TEXT",
  `CREATE TABLE blind_intervals (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, from_ms ${integer} NOT NULL, to_ms ${integer} NOT NULL,
     cause TEXT NOT NULL, PRIMARY KEY (user_id, device_id, from_ms)) ${withoutRowid}`,
];

/**
 * The credential of a link, and when its owner began to renew it. Null in rows that existed before this step and in rows
 * that nodes of the previous version add: such a link has only its token. A credential that nodes of the previous
 * version have left behind is recognised by its access token (federation/credential.ts).
 */
export const credentials: Step = ({ integer }) => [
  "ALTER TABLE links ADD COLUMN sealed_credential TEXT",
  `ALTER TABLE links ADD COLUMN renewing_ms ${integer}`,
];

/**
 * Sessions in which an account's owner links the account on our pages, and what a client is registered with for them.
 * Nodes that don't know this step have no such pages, and feed no message about a session to webhooks.
 */
export const linkSessions: Step = ({ integer }) => [
  `CREATE TABLE link_sessions (
     owner_id INTEGER NOT NULL, id TEXT NOT NULL, tenant_id INTEGER NOT NULL, client_id TEXT NOT NULL, user_id INTEGER,
     ecosystem TEXT NOT NULL, mode TEXT NOT NULL, return_url TEXT, client_state TEXT, token_hash TEXT NOT NULL,
     state_hash TEXT, browser_hash TEXT, is_signed_in INTEGER NOT NULL, sealed TEXT NOT NULL, attempt INTEGER NOT NULL,
     phase TEXT NOT NULL, claimed_ms ${integer}, problem TEXT, device_id INTEGER, summary TEXT,
     created_ms ${integer} NOT NULL, expires_ms ${integer} NOT NULL, PRIMARY KEY (owner_id, id))`,
  "CREATE INDEX link_sessions_by_token ON link_sessions (owner_id, token_hash)",
  "CREATE INDEX link_sessions_by_state ON link_sessions (owner_id, state_hash)",
  "CREATE INDEX link_sessions_of_client ON link_sessions (owner_id, client_id)",
  "CREATE INDEX link_sessions_expiring ON link_sessions (expires_ms)",
  "ALTER TABLE clients ADD COLUMN return_urls TEXT",
  "ALTER TABLE clients ADD COLUMN vouches_for_users INTEGER NOT NULL DEFAULT 0",
  "ALTER TABLE webhooks ADD COLUMN hears_link_sessions INTEGER NOT NULL DEFAULT 0",
];

/** Sessions that may have to be told as expired (tables/link-sessions.ts). */
export const unendedLinkSessions: Step = {
  index: "link_sessions_unended",
  on: "link_sessions (expires_ms) WHERE phase IN ('open', 'exchanging', 'reading', 'unread', 'asking')",
};

/** Expired sessions whose credential is still to be revoked (tables/link-sessions.ts). */
export const undiscardedLinkSessions: Step = {
  index: "link_sessions_undiscarded",
  on: "link_sessions (owner_id) WHERE phase = 'discarding'",
};

/**
 * Feeds with the events of all accounts of a deployment: the account of each link, messages that wait for the owner of
 * the link, and which node pulls a feed. Nodes that don't know this step neither pull nor read. The foreign keys remove
 * the rows of a link with its device.
 */
export const feeds: Step = ({ integer, withoutRowid, deviceKey }) => [
  `CREATE TABLE feed_accounts (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, ecosystem TEXT NOT NULL, account TEXT NOT NULL,
     PRIMARY KEY (user_id, device_id), FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  "CREATE INDEX feed_accounts_by_account ON feed_accounts (ecosystem, account)",
  `CREATE TABLE feed_messages (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, message_id TEXT NOT NULL, content TEXT,
     received_ms ${integer} NOT NULL, PRIMARY KEY (user_id, device_id, message_id),
     FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  "CREATE INDEX feed_messages_by_time ON feed_messages (received_ms)",
  `CREATE TABLE feed_leases (
     ecosystem TEXT PRIMARY KEY, owner TEXT, answered_ms ${integer} NOT NULL, fault TEXT)`,
];

/** When the last calls were made that the ecosystem limits for an account, as JSON (tables/feed-accounts.ts). */
export const limitedCalls: Step = () => ["ALTER TABLE feed_accounts ADD COLUMN calls TEXT"];

/**
 * How many links of each tenant were in which state, once an hour, and which hours were counted: an hour without a count
 * is unknown. Nodes that don't know this step count nothing.
 */
export const linkHours: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE link_hours (
     tenant_id INTEGER NOT NULL, hour_ms ${integer} NOT NULL, state TEXT NOT NULL, links INTEGER NOT NULL,
     PRIMARY KEY (tenant_id, hour_ms, state)) ${withoutRowid}`,
  `CREATE TABLE counted_hours (hour_ms ${integer} PRIMARY KEY, counted_ms ${integer} NOT NULL)`,
];
