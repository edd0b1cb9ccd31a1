import type { Step } from "./step.ts";

/** Alerts on attributes. */
export const alerts: Step = ({ id, integer }) => [
  `CREATE TABLE triggers (
     id ${id}, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, number INTEGER NOT NULL, name TEXT NOT NULL,
     attribute_name TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, targets TEXT NOT NULL,
     address TEXT NOT NULL, message TEXT NOT NULL, auto_disarm INTEGER NOT NULL, auto_delete INTEGER NOT NULL,
     auto_disable INTEGER NOT NULL, is_enabled INTEGER NOT NULL, is_armed INTEGER NOT NULL, reason TEXT,
     created_ms ${integer} NOT NULL, fired_ms ${integer}, firings INTEGER NOT NULL, record TEXT NOT NULL)`,
  "CREATE INDEX triggers_of_device ON triggers (user_id, device_id, id)",
  // Every commit finds here the alerts that watch a changed attribute.
  "CREATE INDEX triggers_watching ON triggers (user_id, device_id, number, name) WHERE is_enabled = 1",
];

export const thingAlertIndexes = [
  "CREATE INDEX thing_triggers_of_thing ON thing_triggers (user_id, thing_id, field)",
  // Every commit looks here whether a device has enabled alerts on things. New alerts are counted here too.
  "CREATE INDEX thing_triggers_of_device ON thing_triggers (user_id, device_id, is_enabled, bytes)",
  // For enterprise clients, which do not know the owner.
  "CREATE INDEX thing_triggers_by_id ON thing_triggers (id)",
];

/**
 * Alerts on things, in a table of their own: nodes that don't know this step would take a row of `triggers` for an alert
 * on an attribute. Such nodes neither evaluate these alerts nor count them. The foreign key removes an alert with its
 * thing, also when such a node unlinks the account.
 */
export const thingAlerts: Step = ({ integer }) => [
  `CREATE TABLE thing_triggers (
     id INTEGER NOT NULL, user_id INTEGER NOT NULL, device_id INTEGER NOT NULL, thing_id TEXT NOT NULL,
     field TEXT NOT NULL, condition TEXT NOT NULL, action TEXT NOT NULL, targets TEXT NOT NULL, address TEXT NOT NULL,
     message TEXT NOT NULL, bytes INTEGER NOT NULL, auto_disarm INTEGER NOT NULL, auto_delete INTEGER NOT NULL,
     auto_disable INTEGER NOT NULL, is_enabled INTEGER NOT NULL, is_armed INTEGER NOT NULL, reason TEXT,
     created_ms ${integer} NOT NULL, fired_ms ${integer}, firings INTEGER NOT NULL, record TEXT NOT NULL,
     PRIMARY KEY (user_id, id),
     FOREIGN KEY (user_id, thing_id) REFERENCES things (user_id, thing_id) ON DELETE CASCADE)`,
  ...thingAlertIndexes,
];

/** Commands of alerts as JSON, null without any, and the alert that sent a command. */
export const alertCommands: Step = () => [
  "ALTER TABLE triggers ADD COLUMN commands TEXT",
  "ALTER TABLE thing_triggers ADD COLUMN commands TEXT",
  "ALTER TABLE thing_commands ADD COLUMN alert_id INTEGER",
];

/** The size of these commands is counted for each new alert (tables/triggers.ts). */
export const alertsWithCommands: Step = {
  index: "triggers_with_commands",
  on: "triggers (user_id) WHERE commands IS NOT NULL",
};

/** How often an alert has sent commands in the present minute. Nodes that don't know this step don't limit it. */
export const commandingFirings: Step = ({ integer }) =>
  ["triggers", "thing_triggers"].flatMap((table) => [
    `ALTER TABLE ${table} ADD COLUMN commanding_ms ${integer}`,
    `ALTER TABLE ${table} ADD COLUMN commanding_firings INTEGER`,
  ]);
