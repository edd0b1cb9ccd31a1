import { type Argued, arguedIn as of } from "./argued.ts";

const forTheCompiler = "equivalent: the databases bind undefined as NULL; the fallback is for the compiler";
const postgresOnly = "only PostgreSQL runs this; the contract of the store covers it there";
const queued = "equivalent on SQLite, where all writers queue; PostgreSQL needs the lock";

const planned = "equivalent: the first send takes all questions of a turn, and the others find none";

/** The argued survivors of `src/store`. */
export const arguedOfStore: readonly Argued[] = [
  ...of("src/store/groups/shared-reads.ts", "SharedReads.#ask", [
    ["condition", "!this.#isPlanned", "true", planned],
    ["statement", "this.#isPlanned = true;", "", planned],
    ["boolean", "true", "false", planned],
  ]),
  ...of("src/store/tables/attributes.ts", "some", [
    ["<=", "keys.length <= fewKeys", "keys.length < fewKeys", "equivalent: both statements find the same rows"],
  ]),
  ...of("src/store/tables/log-epoch.ts", "StaleEpoch.constructor", [
    ["statement", 'this.name = "StaleEpoch";', "", "the name is for a debugger; the store recognises the class"],
  ]),
  ...of("src/store/tables/webhooks.ts", "removeDead", [
    [
      ">",
      "dead.length > 0",
      "dead.length >= 0",
      "equivalent: the lock only keeps the nodes apart that remove webhooks",
    ],
  ]),
  ...of("src/store/tables/links.ts", "setState", [
    ["??", "blindness?.sinceMs ?? null", "blindness?.sinceMs", forTheCompiler],
  ]),
  ...of("src/store/tables/log.ts", "removeOfUser", [["statement", "await lockFeed();", "", queued]]),
  ...of("src/store/tables/webhooks.ts", "removeOfUser", [["statement", "await lockFeed();", "", queued]]),
  ...of("src/store/tables/mapped-devices.ts", "attributes", [
    [
      "condition",
      "devices.length === 0 || known.length === 0",
      "false",
      "equivalent: the statement finds nothing then; the check only saves it",
    ],
  ]),
  ...of("src/store/tables/thing-commands.ts", "blockedUntil", [
    [
      "??",
      "row?.untilMs ?? null",
      "row?.untilMs",
      "equivalent: MAX answers one row, with null for none; the fallback is for the compiler",
    ],
  ]),
  ...of("src/store/tables/thing-commands.ts", "due", [
    ["??", "after?.id ?? 0", "after?.id", "equivalent: no command is due at time 0, so the id is not compared"],
  ]),
  ...of("src/store/tables/write-probe.ts", "takeTableSpace", [
    [
      "array",
      `[ "SAVEPOINT space", \`CREATE UNLOGGED TABLE \${table} (filler TEXT NOT NULL)\`, \`INSERT INTO \${table} SELECT repeat('x', \${rowBytes}) FROM generate_series(1, \${rows})\`, "ROLLBACK TO SAVEPOINT space", ]`,
      "[]",
      postgresOnly,
    ],
  ]),
];
