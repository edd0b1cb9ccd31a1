import type { Step } from "./step.ts";

/**
 * Suspended users and clients, and paused webhooks. A node that doesn't know this step refuses none of them, and goes on
 * sending to their webhooks: suspend during an upgrade takes full effect when the last such node has left.
 */
export const suspension: Step = ({ integer }) => [
  `ALTER TABLE users ADD COLUMN suspended_ms ${integer}`,
  `ALTER TABLE clients ADD COLUMN suspended_ms ${integer}`,
  `ALTER TABLE webhooks ADD COLUMN paused_ms ${integer}`,
];
