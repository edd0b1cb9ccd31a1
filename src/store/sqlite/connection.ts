import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type Parameter, type Sql, storable } from "../sql.ts";

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

/**
 * Lends the connection to one body, for one turn of the event loop: a body that waits for anything but its transaction
 * would hold everybody up. It is failed, and when it goes on later, what it was lent is worthless.
 */
export async function lend<Result>(
  connection: Connection,
  nowMs: () => number,
  body: (sql: Sql) => Promise<Result>,
): Promise<Result> {
  const sql = new LentSql(connection, nowMs);
  const { promise: waited, reject } = Promise.withResolvers<never>();
  const nextTurn = setImmediate(() =>
    reject(new Error("a transaction's body waited for something other than its transaction")),
  );
  try {
    return await Promise.race([body(sql), waited]);
  } finally {
    clearImmediate(nextTurn);
    sql.end();
  }
}

/** A connection lent to one body: worthless as soon as the body has ended. */
class LentSql implements Sql {
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

  async post(text: string, parameters: readonly Parameter[] = []): Promise<void> {
    this.#open().run(text, parameters);
  }

  async runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void> {
    const connection = this.#open();
    for (const parameters of parameterSets) connection.run(text, parameters);
  }

  async nowMs(): Promise<number> {
    this.#open();
    return this.#nowMs();
  }

  /** There is nobody to tell. */
  hint(): void {}

  #open(): Connection {
    if (this.#isOver) throw new Error("a transaction was used after it had ended");
    return this.#connection;
  }
}

function bindable(parameter: Parameter): string | number | null {
  const sound = storable(parameter);
  return typeof sound === "object" && sound !== null ? JSON.stringify(sound) : sound;
}
