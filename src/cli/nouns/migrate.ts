import type { OwnCommand } from "../command.ts";
import { optional } from "../input.ts";
import type { Noun } from "../noun.ts";
import type { Moved } from "../programs.ts";
import { counted, table, whole } from "../terminal/output.ts";
import { progressOn } from "../terminal/progress.ts";

/** Works on stores without a running service. */
const migrate: OwnCommand = {
  name: "migrate",
  meaning: "move the SQLite store of a stopped service to an empty PostgreSQL, and compare the copy row by row",
  examples: [
    "BREEZEWAY_DATABASE_URL_FILE=database-url breezeway migrate --data ./breezeway-data",
    "BREEZEWAY_DATABASE_URL_FILE=database-url breezeway migrate --from breezeway.backup",
  ],
  options: (command) => command.option("--from <backup>", "a backup in place of the data folder"),
  async run({ typed, print, programs, terminal, ...call }) {
    const config = call.config();
    const moved = await progressOn(terminal).reporting("copying and comparing", (onProgress) =>
      programs.migrate(config, optional(typed, "from"), onProgress),
    );
    print.data(moved, toText);
  },
};

function toText({ from, keyFile, rows, tables }: Moved): string {
  const compared = table(
    ["TABLE", "ROWS", whole("SHA-256 IN BOTH")],
    tables.map(({ table: name, rows: count, sha256 }) => [name, count, sha256]),
  );
  return `${compared}\n\nCopied ${counted(rows, "row")} from ${from}; every table is equal in PostgreSQL. Give each node a copy of ${keyFile} and the new BREEZEWAY_DATABASE_URL. Do not start the old store again: both services would follow the same accounts.`;
}

export const migrateNoun: Noun = { name: "migrate", meaning: migrate.meaning, commands: [migrate] };
