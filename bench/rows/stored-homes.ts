import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { databaseName } from "../../src/store/backup/manifest.ts";
import { type House, linkedAccounts } from "../linked-accounts.ts";
import type { Result, Row } from "../row.ts";

const homes = 20;
/** Every slot of the model is taken. */
const fullStructure = { thermostats: 20, alarms: 18 };
const houses: Readonly<Record<string, House>> = {
  full: { structures: [fullStructure, fullStructure] },
  usual: { structures: [{ thermostats: 2, alarms: 3 }] },
};

/** What a home takes in the SQLite file after it was linked, with its indexes and its part of the log. */
export const storedHomes: Row = {
  name: "stored-homes",
  async measure(progress) {
    const results: Result[] = [];
    for (const [name, house] of Object.entries(houses)) {
      progress(`linking ${homes} ${name} homes`);
      await using accounts = await linkedAccounts(homes, () => house);
      const bytes = storedBytes(join(accounts.folder.path, databaseName));
      for (const table of ["attributes", "links", "log", "things"]) {
        const figure = (bytes.get(table) ?? 0) / homes / 1_000;
        results.push({
          what: `${table} of a ${name} home`,
          reference: null,
          figure,
          unit: "kB",
          spread: null,
          bar: null,
        });
      }
    }
    return results;
  },
};

/** The bytes of each table with its indexes. */
function storedBytes(file: string): ReadonlyMap<string, number> {
  using database = new DatabaseSync(file, { readOnly: true });
  const rows = database
    .prepare(
      `SELECT s.tbl_name AS name, SUM(d.pgsize) AS bytes FROM dbstat d JOIN sqlite_schema s ON s.name = d.name
       GROUP BY s.tbl_name`,
    )
    .all();
  return new Map(rows.map(({ name, bytes }) => [String(name), Number(bytes)]));
}
