import type pg from "pg";
import type { Hint } from "../neighbours.ts";
import { type Parameter, type Sql, storable } from "../sql.ts";
import { isWorthRepeating, unavailable } from "./trouble.ts";

/** A connection lent to one body: worthless as soon as the body has ended. */
export class LentSql implements Sql {
  readonly dialect = "postgres";
  readonly #client: pg.PoolClient;
  readonly #clock: string;
  /** What others are to be told once the transaction is durable. */
  readonly hints = new Set<Hint>();
  #isOver = false;

  constructor(client: pg.PoolClient, clock: string) {
    this.#client = client;
    this.#clock = clock;
  }

  end(): void {
    this.#isOver = true;
  }

  async all<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return (await this.#query(text, parameters)).rows as Row[];
  }

  async run(text: string, parameters: readonly Parameter[] = []): Promise<number> {
    return (await this.#query(text, parameters)).rowCount ?? 0;
  }

  async runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void> {
    for (const parameters of parameterSets) await this.#query(text, parameters);
  }

  async nowMs(): Promise<number> {
    return (await this.all<{ now: number }>(`SELECT ${this.#clock} AS now`))[0]!.now;
  }

  hint(hint: Hint): void {
    this.hints.add(hint);
  }

  #query(text: string, parameters: readonly Parameter[]): Promise<pg.QueryResult> {
    if (this.#isOver) throw new Error("a transaction was used after it had ended");
    return this.#client.query(text, parameters.map(storable) as unknown[]);
  }
}

/**
 * A COMMIT that fails is the store's trouble, whatever the reason: no constraint of ours waits for it. After a statement
 * whose error a body has hidden, PostgreSQL answers COMMIT with a ROLLBACK and no error; that must not count as done.
 */
export async function commit(client: pg.PoolClient): Promise<void> {
  const { command } = await client
    .query("COMMIT")
    .catch((error) => Promise.reject(isWorthRepeating(error) ? error : unavailable(error)));
  if (command !== "COMMIT") throw new Error("a transaction's body hid the error of a statement: nothing was changed");
}
