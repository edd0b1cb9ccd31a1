import type { Dialect } from "../sql.ts";
import { thingAlertIndexes } from "./alerts.ts";
import { rebuilt, type Step } from "./step.ts";

const thingIndexes = [
  "CREATE INDEX things_of_device ON things (user_id, device_id)",
  // For enterprise clients, which do not know the owner.
  "CREATE INDEX things_by_id ON things (thing_id)",
];

/** The things of linked accounts. Nodes that don't know this step neither write them nor remove them with their device. */
export const things: Step = ({ integer, withoutRowid, deviceKey }) => [
  `CREATE TABLE things (
     user_id INTEGER NOT NULL, thing_id TEXT NOT NULL, device_id INTEGER NOT NULL, external_key TEXT NOT NULL,
     source TEXT NOT NULL, kind TEXT NOT NULL, room TEXT, descriptor TEXT NOT NULL, state TEXT NOT NULL,
     print ${integer} NOT NULL, samples TEXT NOT NULL, gone_ms ${integer},
     PRIMARY KEY (user_id, thing_id), FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  ...thingIndexes,
];

/** Replaces the foreign key of alerts on things by one that names the device. */
const thingAlertsOfDevice: Record<Dialect, readonly string[]> = {
  sqlite: [
    ...rebuilt(
      "thing_triggers",
      `id, user_id, device_id, thing_id, field, condition, action, targets, address, message, bytes, auto_disarm,
       auto_delete, auto_disable, is_enabled, is_armed, reason, created_ms, fired_ms, firings, record`,
      `(id INTEGER NOT NULL, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, thing_id TEXT NOT NULL,
       field TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, targets TEXT NOT NULL,
       address TEXT NOT NULL, message TEXT NOT NULL, bytes INTEGER NOT NULL, auto_disarm INTEGER NOT NULL,
       auto_delete INTEGER NOT NULL, auto_disable INTEGER NOT NULL, is_enabled INTEGER NOT NULL,
       is_armed INTEGER NOT NULL, reason TEXT, created_ms INTEGER NOT NULL, fired_ms INTEGER,
       firings INTEGER NOT NULL, record TEXT NOT NULL, PRIMARY KEY (user_id, id),
       FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE)`,
    ),
    ...thingAlertIndexes,
  ],
  // NOT VALID: the lock is short, because the rows are not checked.
  postgres: [
    `ALTER TABLE thing_triggers DROP CONSTRAINT thing_triggers_user_id_thing_id_fkey,
       ADD FOREIGN KEY (user_id, device_id) REFERENCES devices (user_id, id) ON DELETE CASCADE NOT VALID`,
  ],
};

/**
 * The trait maps of tenants' own device types. Things of own devices have no rows, so an alert on such a thing belongs
 * to its device: the foreign key of alerts on things names the device instead of the thing. Nodes that don't know this
 * step ignore maps. They leave an alert in place when they forget a thing that was gone for long.
 */
export const deviceTypeMaps: Step = ({ dialect, integer, withoutRowid }) => [
  `CREATE TABLE device_type_maps (
     tenant_id INTEGER NOT NULL, type_id INTEGER NOT NULL REFERENCES device_types (id), map TEXT NOT NULL,
     changed_ms ${integer} NOT NULL, PRIMARY KEY (tenant_id, type_id)) ${withoutRowid}`,
  ...thingAlertsOfDevice[dialect],
];

const rebuiltThings: Record<Dialect, readonly string[]> = {
  sqlite: [
    ...rebuilt(
      "things",
      `user_id, thing_id, device_id, external_key, source, kind, room, descriptor, state, print, samples, gone_ms`,
      `(user_id INTEGER NOT NULL, thing_id TEXT NOT NULL, device_id INTEGER NOT NULL, external_key TEXT NOT NULL,
       source TEXT NOT NULL, kind TEXT NOT NULL, room TEXT, descriptor TEXT NOT NULL, state TEXT NOT NULL,
       print INTEGER NOT NULL, samples TEXT NOT NULL, gone_ms INTEGER, PRIMARY KEY (user_id, thing_id),
       FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE)`,
    ),
    ...thingIndexes,
  ],
  postgres: [],
};

/**
 * Rows of `things` have about 900 bytes. In a SQLite table without rowids, a row of that size needs a page of its own
 * for what exceeds a quarter of a page: a full home took 230 kB instead of 93 kB.
 */
export const thingsWithRowids: Step = ({ dialect }) => rebuiltThings[dialect];

/**
 * Work on all devices of a type after its trait map was changed, and which devices have fallen silent. Nodes that don't
 * know this step change maps without logging it, and log no silence.
 */
export const deviceTypeWork: Step = ({ integer, withoutRowid }) => [
  `CREATE TABLE device_type_work (
     tenant_id INTEGER NOT NULL, type_id INTEGER NOT NULL, what TEXT, begun_ms ${integer} NOT NULL,
     after_id INTEGER NOT NULL, due_ms ${integer} NOT NULL, PRIMARY KEY (tenant_id, type_id)) ${withoutRowid}`,
  "CREATE INDEX device_type_work_due ON device_type_work (due_ms)",
  `ALTER TABLE devices ADD COLUMN silent_ms ${integer}`,
];

/** Marks versions that can read things in the compact form (home/thing-text.ts). It changes no table. */
export const compactThings: Step = () => [];

const thingsByDevice: Record<Dialect, readonly string[]> = {
  sqlite: [
    ...rebuilt(
      "things",
      `user_id, thing_id, device_id, external_key, source, kind, room, descriptor, state, print, samples, gone_ms`,
      `(user_id INTEGER NOT NULL, thing_id TEXT NOT NULL, device_id INTEGER NOT NULL, external_key TEXT NOT NULL,
       source TEXT NOT NULL, kind TEXT NOT NULL, room TEXT, descriptor TEXT NOT NULL, state TEXT NOT NULL,
       print INTEGER NOT NULL, samples TEXT NOT NULL, gone_ms INTEGER, PRIMARY KEY (thing_id, user_id),
       FOREIGN KEY (device_id) REFERENCES devices (id) ON DELETE CASCADE)`,
    ),
    "CREATE INDEX things_of_device ON things (device_id)",
  ],
  postgres: [],
};

/**
 * On SQLite the primary key of `things` begins with the thing's id, so that no second index with this id is needed. The
 * index by device begins with the device: SQLite finds the things of a removed device by it, where it had to read all
 * things before.
 */
export const thingsWithOneKey: Step = ({ dialect }) => thingsByDevice[dialect];

/** The longest beginning of a thing's name that is compared when homes are searched, in code points. */
const comparedNameLength = 200;

/**
 * PostgreSQL refuses to read any part of a JSON text that escapes a NUL or half of a surrogate pair. Descriptors of
 * former versions may hold such capabilities: each escape becomes that of U+FFFD. JSON.stringify escapes no whole pair.
 * An escape follows an even number of backslashes; after an odd number, it is text.
 */
const readableJson = String.raw`(CASE WHEN strpos(descriptor, '\u') = 0 THEN descriptor ELSE regexp_replace(descriptor,
    '(?<!\\)((?:\\\\)*)\\u(?:0000|d[89a-f][0-9a-f]{2})', '\1\\ufffd', 'g') END)::json`;

/** The name in a thing's descriptor, as home/thing-text.ts encodes it, in both of its forms; null without one. */
export const thingNameSql: Record<Dialect, string> = {
  sqlite: `CASE WHEN json_valid(descriptor) THEN substr(CASE WHEN substr(descriptor, 1, 1) = '['
    THEN json_extract(descriptor, '$[0]') ELSE json_extract(descriptor, '$.name') END, 1, ${comparedNameLength}) END`,
  postgres: `left(CASE WHEN left(descriptor, 1) = '[' THEN ${readableJson} ->> 0 ELSE ${readableJson} ->> 'name' END, ${comparedNameLength})`,
};

const namesByDevice: Record<Dialect, readonly string[]> = {
  sqlite: [
    `CREATE INDEX things_named ON things (device_id, gone_ms, (${thingNameSql.sqlite}))`,
    "DROP INDEX things_of_device",
  ],
  postgres: [],
};

/**
 * A covering index, from which a search reads the names of present things by device. It takes the place of the index by
 * device, because it begins with the device too. PostgreSQL can't use an expression index this way; it reads the rows,
 * which does not block other connections.
 */
export const thingNames: Step = ({ dialect }) => namesByDevice[dialect];

/**
 * A warning or an alarm in the state of a thing `t`, as home/thing-text.ts encodes it in both of its forms. Another field
 * may hold the same word: readers decode the state.
 */
export const mayAlarmSql = `(state LIKE '%"alarm"%' OR state LIKE '%"warning"%')`;

/** The few things that may sound an alarm, so that every page finds them without reading all homes. */
export const soundingThings: Step = {
  index: "things_sounding",
  on: `things (user_id, thing_id) WHERE ${mayAlarmSql}`,
};

/**
 * Own devices whose smoke or CO sensor reports a warning or an alarm. Nodes that don't know this step don't write it: such
 * an alarm is listed after the device's next report to a newer node.
 */
export const soundingDevices: Step = ({ dialect, withoutRowid, deviceKey }) => [
  `CREATE TABLE sounding_devices (
     user_id INTEGER NOT NULL, device_id INTEGER NOT NULL,
     PRIMARY KEY (user_id, device_id), FOREIGN KEY ${deviceKey} ON DELETE CASCADE) ${withoutRowid}`,
  ...(dialect === "sqlite" ? ["CREATE INDEX sounding_devices_of_device ON sounding_devices (device_id)"] : []),
];
