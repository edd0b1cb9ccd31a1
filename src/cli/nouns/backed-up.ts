import type { AdminCommand } from "../admin-command.ts";
import type { Noun } from "../noun.ts";

const backedUp: AdminCommand = {
  name: "backed-up",
  meaning: "record that a backup was taken with other tools, such as pg_dump, so that the metrics show its time",
  examples: ["backed-up"],
  async act({ noteBackup }) {
    const time = new Date(await noteBackup()).toISOString();
    return { answer: { time }, changed: { detail: { time } } };
  },
  tell: ({ time }) =>
    `The last backup is now noted as of ${time} (breezeway_last_backup_timestamp_seconds). Run this after each backup that succeeded; breezeway backup does it by itself.`,
};

export const backedUpNoun: Noun = { name: "backed-up", meaning: backedUp.meaning, commands: [backedUp] };
