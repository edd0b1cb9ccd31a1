import { DatabaseSync, type StatementSync } from "node:sqlite";
import { type Parameter, type Sql, storable } from "../sql.ts";

/**
 * One SQLite connection with its prepared statements. It is synchronous, so a transaction's body, which awaits only
 * resolved promises, runs within one turn of the event loop.
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

  runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): void {
    const statement = this.#statement(text);
    for (const parameters of parameterSets) statement.run(...parameters.map(bindable));
  }

  close(): void {
    this.#statements.clear();
    this.database.close();
  }

  #statement(text: string): StatementSync {
    let statement = this.#statements.get(text);
    if (!statement) {
      // Statements are written with $1 (sql.ts); SQLite needs ?1 to bind by position.
      statement = this.database.prepare(text.replaceAll(/\$(\d+)/g, "?$1"));
      this.#statements.set(text, statement);
    }
    return statement;
  }
}

/** A promise to wait for before the next statement; undefined when it may run at once. */
export type GiveWay = () => Promise<void> | undefined;

/**
 * Gives the connection to one body for one turn of the event loop, or for further ones that `giveWay` waits for. A body
 * that awaits anything but its transaction would block all writers, so it is failed; statements that it runs later are
 * refused.
 */
export async function withSql<Result>(
  connection: Connection,
  nowMs: () => number,
  body: (sql: Sql) => Promise<Result>,
  giveWay: GiveWay = () => undefined,
): Promise<Result> {
  const { promise: waited, reject } = Promise.withResolvers<never>();
  const failNextTurn = () =>
    setImmediate(() => reject(new Error("a transaction's body waited for something other than its transaction")));
  let nextTurn = failNextTurn();
  let waitingStatements = 0;
  const waitFor = async (others: Promise<void>) => {
    waitingStatements += 1;
    clearImmediate(nextTurn);
    await others;
    waitingStatements -= 1;
    if (waitingStatements === 0) nextTurn = failNextTurn();
  };
  const sql = new LentSql(connection, nowMs, () => {
    const others = giveWay();
    return others && waitFor(others);
  });
  try {
    return await Promise.race([body(sql), waited]);
  } finally {
    clearImmediate(nextTurn);
    sql.end();
  }
}

/** A connection that is lent to one body. It refuses statements after the body has ended. */
class LentSql implements Sql {
  readonly dialect = "sqlite";
  readonly #connection: Connection;
  readonly #nowMs: () => number;
  readonly #giveWay: GiveWay;
  #isOver = false;

  constructor(connection: Connection, nowMs: () => number, giveWay: GiveWay) {
    this.#connection = connection;
    this.#nowMs = nowMs;
    this.#giveWay = giveWay;
  }

  end(): void {
    this.#isOver = true;
  }

  async all<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    const others = this.#giveWay();
    if (others) await others;
    return this.#open().all(text, parameters) as Row[];
  }

  async run(text: string, parameters: readonly Parameter[] = []): Promise<number> {
    return this.#open().run(text, parameters);
  }

  async post(text: string, parameters: readonly Parameter[] = []): Promise<void> {
    this.#open().run(text, parameters);
  }

  async runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void> {
    this.#open().runEach(text, parameterSets);
  }

  async nowMs(): Promise<number> {
    this.#open();
    return this.#nowMs();
  }

  /** SQLite has no other nodes. */
  hint(): void {}

  #open(): Connection {
    if (this.#isOver) throw new Error("a transaction was used after it had ended");
    return this.#connection;
  }
}

function bindable(parameter: Parameter): string | number | null | Uint8Array {
  if (typeof parameter === "number") return parameter;
  const checked = storable(parameter);
  const isList = typeof checked === "object" && checked !== null && !(checked instanceof Uint8Array);
  return isList ? JSON.stringify(checked) : checked;
}
