import { boolean, integer, list, object, text } from "../../../model/json-schema.ts";
import type { AdminCall, AdminField } from "../../../operators/admin-call.ts";
import { exampleTime, time } from "./fields.ts";

const keyId = text("The key's id.");
const force: AdminField = { option: "force", kind: "flag", meaning: "Do not wait for nodes whose key file differs." };
const owners = { subject: "deployment", asksPassword: true } as const;

/** Keys, backups and the store: only owners, and only with the password. */
export const keyCalls: readonly AdminCall[] = [
  {
    act: "key list",
    method: "GET",
    path: "/keys",
    need: "read",
    subject: "deployment",
    summary: "List the keys that seal tokens, by their ids",
    answer: object("The keys.", {
      keys: list(
        "Keys.",
        object(
          "A key.",
          { keyId, role: text("What it does."), values: integer("How much is sealed with it.") },
          { nodes: integer("Nodes that seal with it.") },
        ),
      ),
    }),
    example: { keys: [{ keyId: "Zk3vQ0x9aB7c", role: "seals", values: 12 }] },
  },
  {
    act: "key add",
    method: "POST",
    path: "/keys",
    need: "change",
    ...owners,
    summary: "Create the key for the next rotation",
    answer: object("The key.", { keyId }),
    example: { keyId: "Zk3vQ0x9aB7c" },
  },
  {
    act: "key rotate",
    method: "POST",
    path: "/keys/rotate",
    need: "change",
    ...owners,
    summary: "Seal all values with a new key",
    fields: [force],
    answer: object(
      "The result.",
      {
        keyId,
        resealed: integer("Values that were sealed again."),
        behind: list("Nodes that still seal with another key.", text("A node.")),
      },
      {
        silent: list(
          "Those of them without a heartbeat: they were killed, frozen or cut off.",
          object("A node.", { node: text("Its id."), seconds: integer("Seconds since its last heartbeat.") }),
        ),
      },
    ),
    example: { keyId: "Zk3vQ0x9aB7c", resealed: 12, behind: [] },
  },
  {
    act: "key prune",
    method: "POST",
    path: "/keys/prune",
    need: "change",
    ...owners,
    summary: "Remove keys that nothing needs",
    fields: [force],
    answer: object("The keys that were removed.", { removed: list("Their ids.", keyId) }),
    example: { removed: [] },
  },
  {
    act: "backup",
    method: "POST",
    path: "/backups",
    need: "change",
    ...owners,
    summary: "Copy the store into one file on the service's machine",
    words: ["The file lies in the folder `backups` of the data folder. The key is left out. Only for SQLite."],
    fields: [{ option: "to", kind: "text", meaning: "The file's name.", isRequired: true, example: "today.backup" }],
    answer: object("The backup.", {
      file: text("Where it is."),
      bytes: integer("Its size."),
      version: text("The version that made it."),
      commit: text("The commit of that version, or `unknown`."),
      schema: integer("The version of the schema."),
      time: time("When."),
      keyIds: list("The keys that it needs.", keyId),
      withKey: boolean("Always false here."),
    }),
    example: {
      file: "/var/lib/breezeway/backups/today.backup",
      bytes: 409_600,
      version: "1.2.3",
      commit: "0a1b2c3d",
      schema: 38,
      time: exampleTime,
      keyIds: ["Zk3vQ0x9aB7c"],
      withKey: false,
    },
  },
  {
    act: "backed-up",
    method: "POST",
    path: "/backups/elsewhere",
    need: "change",
    subject: "deployment",
    summary: "Record that a backup was taken with other tools",
    answer: object("The record.", { time: time("Now.") }),
    example: { time: exampleTime },
  },
  {
    act: "compact",
    method: "POST",
    path: "/store/compact",
    need: "change",
    subject: "deployment",
    summary: "Return free space of the store to the file system",
    fields: [{ option: "rebuild", kind: "flag", meaning: "Rewrite the whole file; writes wait meanwhile." }],
    answer: object("The sizes.", { bytesBefore: integer("Before."), bytesAfter: integer("After.") }),
    example: { bytesBefore: 819_200, bytesAfter: 409_600 },
  },
];
