import type { Step } from "./step.ts";

/**
 * Quotas that operators have set. A node that doesn't know this step enforces none, and leaves the rows of a client that
 * it removes: the id is never used again.
 */
export const quotas: Step = () => [
  `CREATE TABLE quotas (
     tenant_id INTEGER NOT NULL, client_id TEXT NOT NULL, kind TEXT NOT NULL, value INTEGER NOT NULL,
     PRIMARY KEY (tenant_id, client_id, kind))`,
];
