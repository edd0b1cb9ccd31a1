import type { AdminCommand } from "../administration/admin-command.ts";
import { hasFlag } from "../input.ts";
import type { Noun } from "../noun.ts";

const compact: AdminCommand = {
  name: "compact",
  meaning: "return free space in the SQLite file to the file system while the service runs",
  examples: ["compact"],
  options: (command) =>
    command.option("--rebuild", "rebuild a store of an earlier version, once; writes wait for it, reads do not"),
  async act({ compact: compactStore }, input, service, onProgress) {
    // Without a running service no write has to wait.
    const mayRebuild = hasFlag(input, "rebuild") || service === undefined;
    const { bytesBefore, bytesAfter } = await compactStore({ mayRebuild }, onProgress);
    return { answer: { bytesBefore, bytesAfter }, changed: { detail: { bytesBefore, bytesAfter } } };
  },
  toText: ({ bytesBefore, bytesAfter }) =>
    `The store takes ${bytesAfter} bytes now; it took ${bytesBefore}. ${bytesBefore > bytesAfter ? `${bytesBefore - bytesAfter} bytes are free for other files.` : "There was no free space to return."}`,
};

export const compactNoun: Noun = { name: "compact", meaning: compact.meaning, commands: [compact] };
