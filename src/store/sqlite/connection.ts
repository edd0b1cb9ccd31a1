import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Parameter, Sql } from "../sql.ts";

/**
 * One SQLite connection with its prepared statements. Its answers are promises only because the seam's are: each is
 * there already when it is returned, so a transaction's body runs within one turn of the event loop.
 */
export class Connection {
  readonly database: DatabaseSync;
  readonly #statements = new Map<string, StatementSync>();

  constructor(file: string, options: { readonly readOnly?: boolean } = {}) {
    this.database = new DatabaseSync(file, { readOnly: options.readOnly ?? false });
    this.database.exec("PRAGMA busy_timeout = 5000");
  }

  all(text: string, parameters: readonly Parameter[]): unknown[] {
    return this.#statement(text).all(...parameters.map(bindable));
  }

  run(text: string, parameters: readonly Parameter[] = []): number {
    return Number(this.#statement(text).run(...parameters.map(bindable)).changes);
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      // The seam's texts say $1; SQLite binds ?1 by position.
      statement = this.database.prepare(text.replaceAll(/\$(\d+)/g, "?$1"));
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

/** A connection lent to one body: worthless as soon as the body has ended. */
export class LentSql implements Sql {
  readonly dialect = "sqlite";
  readonly #connection: Connection;
  readonly #nowMs: () => number;
  #isOver = false;

  constructor(connection: Connection, nowMs: () => number) {
    this.#connection = connection;
    this.#nowMs = nowMs;
  }

  end(): void {
    this.#isOver = true;
  }

  async all<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return this.#open().all(text, parameters) as Row[];
  }

  async run(text: string, parameters: readonly Parameter[] = []): Promise<number> {
    return this.#open().run(text, parameters);
  }

  async runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void> {
    const connection = this.#open();
    for (const parameters of parameterSets) connection.run(text, parameters);
  }

  async nowMs(): Promise<number> {
    return this.#nowMs();
  }

  #open(): Connection {
    if (this.#isOver) throw new Error("a transaction was used after it had ended");
    return this.#connection;
  }
}

function bindable(parameter: Parameter): string | number | null {
  return typeof parameter === "object" && parameter !== null ? JSON.stringify(parameter) : parameter;
}
