import type { AdminCommand } from "../admin-command.ts";
import type { Noun } from "../noun.ts";

const backedUp: AdminCommand = {
  name: "backed-up",
  meaning: "tell the store that a backup was taken by other tools, such as pg_dump, so that the metrics show when",
  examples: ["backed-up"],
  async act({ noteBackup }) {
    const time = new Date(await noteBackup()).toISOString();
    return { answer: { time }, changed: { detail: { time } } };
  },
  tell: ({ time }) =>
    `The last backup is now noted as of ${time} (breezeway_last_backup_timestamp_seconds). Run this after each backup that succeeded; breezeway backup does it by itself.`,
};

export const backedUpNoun: Noun = { name: "backed-up", meaning: backedUp.meaning, commands: [backedUp] };
