import { type Argued, arguedIn as of } from "./argued.ts";

const forTheCompiler = "equivalent: the databases bind undefined as NULL; the fallback is for the compiler";
const postgresOnly = "only PostgreSQL runs this; the contract of the store covers it there";
const otherStatement = "equivalent: the other statement finds the same rows";
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
    ["<=", "keys.length <= fewKeys", "keys.length < fewKeys", otherStatement],
    [
      "&&",
      'sql.dialect === "sqlite" && keys.length <= fewKeys',
      '(sql.dialect === "sqlite") || (keys.length <= fewKeys)',
      otherStatement,
    ],
  ]),
  ...of("src/store/tables/attributes.ts", "write", [
    ["condition", "changes.length === 0", "false", "equivalent: nothing is written then; the check only saves a call"],
  ]),
  ...of("src/store/tables/audit.ts", "conditionsOf", [
    ["slice", "indexed.slice(1)", "indexed", "equivalent: the condition of the index is only compared once more"],
  ]),
  ...of("src/store/tables/devices.ts", "addOwn", [
    [
      "array",
      "[ tenantId, nowMs, devices.map(({ userId }) => userId), devices.map(({ typeId }) => typeId), devices.map(({ name }) => name), devices.map(({ room }) => room), devices.map(({ lastTimeMs }) => lastTimeMs), devices.map(({ growth }) => growth.names), devices.map(({ growth }) => growth.bytes), devices.map(({ growth, lastTimeMs }) => (growth.isErasing ? lastTimeMs : null)), ]",
      "[]",
      postgresOnly,
    ],
  ]),
  ...of("src/store/tables/devices.ts", "lock", [
    ["condition", 'sql.dialect === "sqlite" && ids.length === 1', "false", otherStatement],
  ]),
  ...of("src/store/tables/entries-ahead.ts", "areOldThoughAhead", [["condition", "isShared", "false", postgresOnly]]),
  ...of("src/store/tables/entries-ahead.ts", "timeAt", [
    ["condition", "isShared", "true", "equivalent: SQLite converts the text to the number of the column"],
  ]),
  ...of("src/store/tables/feed-accounts.ts", "lockCalls", [
    ["condition", 'sql.dialect === "postgres"', "false", queued],
  ]),
  ...of("src/store/tables/feed-messages.ts", "among", [["condition", "isPostgres", "false", postgresOnly]]),
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
  ...of("src/store/tables/links.ts", "claimOrphans", [["condition", "isPostgres", "false", postgresOnly]]),
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
  ...of("src/store/tables/nodes.ts", "alive", [
    ["condition", 'sql.dialect === "postgres" && mustHoldLock', "false", postgresOnly],
  ]),
  ...of("src/store/tables/settled-entries.ts", "module", [
    [
      "sql",
      "(SELECT time_ms FROM log WHERE xid >= pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, id LIMIT 20) AS first`;",
      "(SELECT time_ms FROM log WHERE xid > pg_snapshot_xmin(pg_current_snapshot()) ORDER BY xid, id LIMIT 20) AS first`;",
      postgresOnly,
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
    ["text", '"ROLLBACK TO SAVEPOINT space"', '""', postgresOnly],
  ]),
  ...of("src/store/tables/write-probe.ts", "module", [
    ["text", '"write_probe"', '""', "nothing reads the row; its name only has to be its own"],
  ]),
];
