import { join, resolve } from "node:path";
import { BadParameter } from "../../../model/errors.ts";
import type { AdminCommand } from "../../administration/admin-command.ts";
import { hasFlag, text } from "../../input.ts";
import type { Noun } from "../../noun.ts";

const take: AdminCommand = {
  name: "backup",
  meaning: "copy the store into one file while the service runs; the key is left out unless --with-key is given",
  examples: ["backup --to /var/backups/breezeway.backup", "backup --to ./moving-house.backup --with-key"],
  options: (command) =>
    command
      .requiredOption("--to <file or folder>", "where the backup goes; an older backup of that name is replaced")
      .option("--with-key", "include the key: anyone who has the file can then decrypt every token"),
  isReadOnMachine: true,
  // An absolute path, because the service may run in another folder.
  extraInput: (typed) => ({ to: `${resolve(text(typed, "to"))}${/[/\\]$/.test(text(typed, "to")) ? "/" : ""}` }),
  async act({ backup, backupFolder, operator }, input, _service, onProgress) {
    const isWithKey = hasFlag(input, "with-key");
    const to = operator ? join(backupFolder, plainName(text(input, "to"))) : text(input, "to");
    const { file, bytes, manifest } = await backup(to, isWithKey, onProgress);
    const { version, commit, schema, time, keyIds } = manifest;
    const answer = { file, bytes, version, commit, schema, time, keyIds, withKey: isWithKey };
    return { answer, changed: { detail: { file, bytes, "with-key": isWithKey || undefined } } };
  },
  toText({ file, bytes, keyIds, withKey }) {
    const key = withKey
      ? "The key is in it: keep it as you keep the key itself."
      : `The key is not in it. Keep the key file (key ${keyIds.join(", ")}) elsewhere: without it the links in the backup are lost.`;
    return `Wrote ${file} (${bytes} bytes). ${key}`;
  },
};

/** Over HTTP an operator chooses a name, and never a path: it could replace any file of the service. */
function plainName(name: string): string {
  if (/^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/.test(name)) return name;
  throw new BadParameter("to", "The name must be 1 to 100 letters, digits, dots, dashes or underscores.");
}

export const backup: Noun = { name: "backup", meaning: take.meaning, commands: [take] };
