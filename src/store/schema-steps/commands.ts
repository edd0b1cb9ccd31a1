import type { Dialect } from "../sql.ts";
import { primaryKey, type Step } from "./step.ts";

/** Fan requests. */
export const fanRequests: Step = ({ id, integer }) => [
  `CREATE TABLE commands (
     id ${id}, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, attribute INTEGER NOT NULL,
     thermostat_id TEXT NOT NULL, value TEXT NOT NULL, state TEXT NOT NULL, text TEXT, requested_ms ${integer} NOT NULL,
     sent_ms ${integer}, settled_ms ${integer}, blocked_until_ms ${integer})`,
  "CREATE INDEX commands_of_device ON commands (user_id, device_id, attribute, id)",
  "CREATE INDEX commands_unsettled ON commands (state, id) WHERE state IN ('queued', 'sending', 'accepted')",
];

/** Makes the owner the first column of the primary key. Empty on SQLite, which is never sharded. */
const thingCommandKey: Record<Dialect, readonly string[]> = {
  sqlite: [],
  postgres: [primaryKey("thing_commands", "user_id, device_id, id")],
};

/**
 * Commands to things. They have a table of their own: nodes that don't know this step send every queued row of
 * `commands` as a fan request.
 */
export const thingCommands: Step = ({ dialect, id, integer, deviceKey }) => [
  `CREATE TABLE thing_commands (
     id ${id}, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, thing_id TEXT NOT NULL, external_key TEXT NOT NULL,
     command TEXT NOT NULL, plan TEXT, state TEXT NOT NULL, step INTEGER NOT NULL, error TEXT, client_id TEXT,
     requested_ms ${integer} NOT NULL, sent_ms ${integer}, settled_ms ${integer}, blocked_until_ms ${integer},
     FOREIGN KEY ${deviceKey} ON DELETE CASCADE)`,
  ...thingCommandKey[dialect],
  "CREATE INDEX thing_commands_of_thing ON thing_commands (user_id, device_id, thing_id, id)",
  "CREATE INDEX thing_commands_unsettled ON thing_commands (state, id) WHERE state IN ('queued', 'sending', 'accepted')",
];

/**
 * When a command to an own thing must be settled. Nodes that don't know this step settle such a command as `expired`
 * 34 seconds after its request.
 */
export const ownCommands: Step = ({ integer }) => [
  `ALTER TABLE thing_commands ADD COLUMN due_ms ${integer}`,
  "CREATE INDEX thing_commands_due ON thing_commands (due_ms, id) WHERE state = 'sending' AND due_ms IS NOT NULL",
];
