import type { Sql } from "../../src/store/sql.ts";

/** Keeps the texts of statements and runs none. */
export function recordingSql() {
  const texts: string[] = [];
  const sql: Sql = {
    dialect: "sqlite",
    all: async (text) => {
      texts.push(text);
      return [];
    },
    run: async (text) => texts.push(text),
    post: async (text) => void texts.push(text),
    runEach: async (text) => void texts.push(text),
    nowMs: async () => 0,
    hint: () => undefined,
  };
  return { sql, texts };
}
