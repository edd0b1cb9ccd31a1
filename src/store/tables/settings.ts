import { first, type Sql } from "../sql.ts";

/** Named values of the whole deployment, shared by all nodes. */
export interface SettingTable {
  get(name: string): Promise<string | undefined>;
  /** Stores the value if there is none yet, and returns the stored one. */
  getOrKeep(name: string, value: string): Promise<string>;
  set(name: string, value: string): Promise<void>;
}

export function settingTable(sql: Sql): SettingTable {
  const get = async (name: string) =>
    (await first(sql.all<{ value: string }>("SELECT value FROM settings WHERE name = $1", [name])))?.value;
  return {
    get,
    async getOrKeep(name, value) {
      await sql.run("INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING", [name, value]);
      return (await get(name)) ?? value;
    },
    async set(name, value) {
      await sql.run(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [name, value],
      );
    },
  };
}
