import type { AdminCommand } from "../../administration/admin-command.ts";
import type { Noun } from "../../noun.ts";

const backedUp: AdminCommand = {
  name: "backed-up",
  meaning: "record that a backup was taken with other tools, such as pg_dump, so that the metrics show its time",
  examples: ["backed-up"],
  async act({ recordBackup }) {
    const time = new Date(await recordBackup()).toISOString();
    return { answer: { time }, changed: { detail: { time } } };
  },
  toText: ({ time }) =>
    `Recorded a backup at ${time} (breezeway_last_backup_timestamp_seconds). Run this after each successful backup with other tools; breezeway backup records its own.`,
};

export const backedUpNoun: Noun = { name: "backed-up", meaning: backedUp.meaning, commands: [backedUp] };
