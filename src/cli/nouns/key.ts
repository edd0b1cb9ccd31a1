import type { AdminCommand, KeyStanding } from "../admin-command.ts";
import type { Noun } from "../noun.ts";
import { counted, table } from "../output.ts";

const list: AdminCommand = {
  name: "key list",
  meaning: "list the keys of the key file by their names, and how much is sealed with each",
  examples: ["key list"],
  async act({ keys }) {
    return { answer: { keys: await keys.list() } };
  },
  tell: ({ keys }) =>
    table(
      ["KEY", "ROLE", "SEALED VALUES"],
      (keys as KeyStanding[]).map(({ keyId, role, values }) => [keyId, role, values]),
    ),
};

const add: AdminCommand = {
  name: "key add",
  meaning: "make the key that the next rotation turns to, so that it can be copied to all nodes first",
  examples: ["key add"],
  async act({ keys }) {
    const keyId = await keys.add();
    return { answer: { keyId }, changed: { detail: { key: keyId } } };
  },
  tell: ({ keyId }) => `Key ${keyId} is in the key file. Copy the file to all nodes, then run: breezeway key rotate`,
};

const rotate: AdminCommand = {
  name: "key rotate",
  meaning: "seal everything with a new key while the service runs; run it again if it was interrupted",
  examples: ["key rotate"],
  async act({ keys }, _input, _service, tell) {
    const { keyId, resealed } = await keys.rotate(tell);
    return { answer: { keyId, resealed }, changed: { detail: { key: keyId, resealed } } };
  },
  tell: ({ keyId, resealed }) =>
    `${counted(resealed, "value")} sealed anew: everything is sealed with key ${keyId} now. Older backups still need the old key: keep a copy of it with them, then take it out of the key file with: breezeway key prune`,
};

const prune: AdminCommand = {
  name: "key prune",
  meaning: "take keys out of the key file that nothing is sealed with any more",
  examples: ["key prune"],
  async act({ keys }) {
    const removed = await keys.prune();
    return { answer: { removed }, ...(removed.length > 0 && { changed: { detail: { keys: removed } } }) };
  },
  tell: ({ removed }) => (removed.length === 0 ? "Every key is still needed." : `Removed key ${removed.join(", ")}.`),
};

export const key: Noun = {
  name: "key",
  meaning: "the keys that ecosystem tokens and webhook secrets are sealed with",
  commands: [list, add, rotate, prune],
};
