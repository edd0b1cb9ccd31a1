import type { AdminCommand } from "../administration/admin-command.ts";
import { isGiven } from "../input.ts";
import type { Noun } from "../noun.ts";

const compact: AdminCommand = {
  name: "compact",
  meaning: "return free space in the SQLite file to the file system while the service runs",
  examples: ["compact"],
  options: (command) =>
    command.option("--rebuild", "rebuild a store of an earlier version, once; writes wait for it, reads do not"),
  async act({ compact: give }, input, service, tell) {
    // Without a running service no write has to wait.
    const mayRebuild = isGiven(input, "rebuild") || service === undefined;
    const { bytesBefore, bytesAfter } = await give({ mayRebuild }, tell);
    return { answer: { bytesBefore, bytesAfter }, changed: { detail: { bytesBefore, bytesAfter } } };
  },
  tell: ({ bytesBefore, bytesAfter }) =>
    `The store takes ${bytesAfter} bytes now; it took ${bytesBefore}. ${bytesBefore > bytesAfter ? `${bytesBefore - bytesAfter} bytes are free for other files.` : "There was no free space to return."}`,
};

export const compactNoun: Noun = { name: "compact", meaning: compact.meaning, commands: [compact] };
