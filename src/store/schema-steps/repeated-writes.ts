import type { Step } from "./step.ts";

/** Keys of writes that may be repeated, with their answers. */
export const idempotencyKeys: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE idempotency_keys (
     owner_id INTEGER NOT NULL, hash TEXT NOT NULL, expires_ms ${integer} NOT NULL, bytes INTEGER NOT NULL,
     answer TEXT, sealed_answer TEXT, PRIMARY KEY (owner_id, hash)) ${withoutRowid}`,
  "CREATE INDEX idempotency_keys_expiring ON idempotency_keys (expires_ms)",
  // Allows to count the keys of an owner without reading their answers.
  "CREATE INDEX idempotency_keys_sizes ON idempotency_keys (owner_id, bytes)",
  "CREATE INDEX idempotency_keys_sealed ON idempotency_keys (owner_id, hash) WHERE sealed_answer IS NOT NULL",
];

/** The answers of batches, and the tenants that have named device types. */
export const batchGroups: Step = ({ integer, withoutRowid }) => [
  // The answers of a batch that may be repeated with its key, one row for each transaction (tables/batch-groups.ts).
  `CREATE TABLE batch_groups (
     owner_id INTEGER NOT NULL, hash TEXT NOT NULL, number INTEGER NOT NULL, lines INTEGER NOT NULL,
     digest TEXT NOT NULL, answers TEXT NOT NULL, bytes INTEGER NOT NULL, expires_ms ${integer} NOT NULL,
     PRIMARY KEY (owner_id, hash, number)) ${withoutRowid}`,
  "CREATE INDEX batch_groups_expiring ON batch_groups (expires_ms)",
  "CREATE INDEX batch_groups_sizes ON batch_groups (owner_id, bytes)",
  // The tenant whose client named the type first; null for a type that an operator named.
  "ALTER TABLE device_types ADD COLUMN tenant_id INTEGER",
  "CREATE INDEX device_types_of_tenant ON device_types (tenant_id)",
];
