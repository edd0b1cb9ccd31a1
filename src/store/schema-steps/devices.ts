import type { Dialect } from "../sql.ts";
import type { Step } from "./step.ts";

/**
 * A covering index for the total size of a user's alerts. PostgreSQL can't use an expression index this way; it reads
 * the rows, which does not block other connections.
 */
const alertSizes: Record<Dialect, readonly string[]> = {
  sqlite: [
    // Pages of a user's alerts are read in the order of their ids.
    "CREATE INDEX triggers_of_user ON triggers (user_id, id)",
    `CREATE INDEX triggers_sizes ON triggers (user_id, device_id, (octet_length(attribute_name) +
       octet_length(condition) + octet_length(action) + octet_length(targets) + octet_length(address) +
       octet_length(message)))`,
  ],
  postgres: [],
};

/** The size of a device's attributes, and the last_time_ms at which it was counted (tables/attribute-usage.ts). */
export const attributeSizes: Step = ({ dialect, integer }) => [
  "ALTER TABLE devices ADD COLUMN attribute_names INTEGER",
  `ALTER TABLE devices ADD COLUMN attribute_bytes ${integer}`,
  `ALTER TABLE devices ADD COLUMN counted_ms ${integer}`,
  `ALTER TABLE devices ADD COLUMN erased_ms ${integer}`,
  ...alertSizes[dialect],
];

export const erasedNames: Step = {
  index: "devices_with_erased_names",
  on: "devices (erased_ms) WHERE erased_ms IS NOT NULL",
};

export const rooms: Step = () => ["ALTER TABLE devices ADD COLUMN room TEXT"];

/** SQLite finds the rows of a removed device by these. On PostgreSQL the foreign keys begin with the user. */
const deviceIndexes: Record<Dialect, readonly string[]> = {
  sqlite: ["thing_commands", "thing_triggers", "feed_accounts", "feed_messages"].map(
    (table) => `CREATE INDEX ${table}_by_device ON ${table} (device_id)`,
  ),
  postgres: [],
};

/**
 * When an own device was last heard, if its last commit was not its own (tables/devices.ts), and the long histories of
 * removed devices, which are removed in slices (tables/log.ts). Nodes that don't know this step count each commit as
 * heard. They show the rest of a long history until it is removed.
 */
export const heardAndRemovedDevices: Step = ({ dialect, integer, withoutRowid }) => [
  `ALTER TABLE devices ADD COLUMN heard_ms ${integer}`,
  `ALTER TABLE devices ADD COLUMN described_ms ${integer}`,
  `CREATE TABLE removed_histories (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, last_id ${integer} NOT NULL,
     PRIMARY KEY (user_id, device_id)) ${withoutRowid}`,
  ...deviceIndexes[dialect],
];
