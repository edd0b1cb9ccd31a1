import type { Step } from "./step.ts";

/**
 * Browsers in which a user is signed in to the account page, and when each grant was last used. Nodes that don't know
 * this step note no use. A password that one of them changes ends no session: those end by their time.
 */
export const accountPage: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE user_sessions (
     user_id INTEGER NOT NULL, hash TEXT NOT NULL, created_ms ${integer} NOT NULL, used_ms ${integer} NOT NULL,
     ends_ms ${integer} NOT NULL, PRIMARY KEY (user_id, hash)) ${withoutRowid}`,
  "CREATE INDEX user_sessions_ending ON user_sessions (ends_ms)",
  `ALTER TABLE grants ADD COLUMN used_ms ${integer}`,
];
