import { first, type Sql } from "../sql.ts";

/** Named values of the whole deployment, shared by all nodes. */
export interface SettingTable {
  get(name: string): Promise<string | undefined>;
  /** Stores the value if there is none yet, and returns the stored one. */
  getOrKeep(name: string, value: string): Promise<string>;
  /**
   * The value, or this one where there is none yet. Until the transaction ends, no other transaction can lock or change
   * it.
   */
  lock(name: string, value: string): Promise<string>;
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
    async lock(name, value) {
      // On both databases an update locks the row, even if it changes nothing.
      const row = sql.all<{ value: string }>(
        `INSERT INTO settings (name, value) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET value = settings.value RETURNING value`,
        [name, value],
      );
      return (await first(row))!.value;
    },
    async set(name, value) {
      await sql.run(
        "INSERT INTO settings (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        [name, value],
      );
    },
  };
}
