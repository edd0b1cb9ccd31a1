import type pg from "pg";
import type { Hint } from "../node-bus.ts";
import { type Parameter, type Sql, storable } from "../sql.ts";
import { failedCommit, isInFailedTransaction, isUnsent } from "./errors.ts";

/**
 * A connection that is lent to one body. It refuses statements after the body has ended. Statements of one turn of the
 * event loop are sent together (pipelined) and run in their order.
 */
export class LentSql implements Sql {
  readonly dialect = "postgres";
  readonly #client: pg.PoolClient;
  /** The database's clock as an SQL expression in milliseconds. */
  readonly clock: string;
  /** Hints to send after the transaction is durable. */
  readonly hints = new Set<Hint>();
  /** Statements whose results the body does not await. COMMIT waits for them, and fails if one has failed. */
  readonly #posted: Promise<unknown>[] = [];
  #firstFailure: unknown;
  #isBeginUnsent = false;
  #isCorked = false;
  #isOver = false;

  constructor(client: pg.PoolClient, clock: string) {
    this.#client = client;
    this.clock = clock;
  }

  /** BEGIN is sent together with the first statement. */
  begin(statement = "BEGIN"): void {
    const sent = this.#send(statement);
    sent.catch((error) => {
      this.#isBeginUnsent = isUnsent(error);
    });
    this.#post(sent);
  }

  /** The connection was closed already when it was lent: the server has received no statement. */
  get isBeginUnsent(): boolean {
    return this.#isBeginUnsent;
  }

  /** From now on, statements are refused. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * Commits, and throws unless the server has committed. Three cases differ:
   * - The server refused COMMIT: nothing was changed.
   * - No answer to COMMIT: the outcome is unknown, whatever is known about earlier statements, since all were sent
   *   together.
   * - A statement failed and the body ignored its error: PostgreSQL answers COMMIT with ROLLBACK and no error.
   */
  async commit(): Promise<void> {
    this.#isOver = true;
    const [committed, ...posted] = await Promise.allSettled([this.#send("COMMIT"), ...this.#posted]);
    if (committed.status === "rejected") throw failedCommit(committed.reason);
    if (committed.value.command === "COMMIT") return;
    for (const statement of posted) if (statement.status === "rejected") throw statement.reason;
    throw new Error("a transaction's body ignored the error of a statement: nothing was changed");
  }

  /** The cause of a failed body. After one failure the server refuses all later statements; the first error says why. */
  reasonOf(error: unknown): unknown {
    return isInFailedTransaction(error) ? (this.#firstFailure ?? error) : error;
  }

  async all<Row>(text: string, parameters: readonly Parameter[] = []): Promise<Row[]> {
    return (await this.#query(text, parameters)).rows as Row[];
  }

  async run(text: string, parameters: readonly Parameter[] = []): Promise<number> {
    return (await this.#query(text, parameters)).rowCount ?? 0;
  }

  async post(text: string, parameters: readonly Parameter[] = []): Promise<void> {
    this.#post(this.#query(text, parameters));
  }

  async runEach(text: string, parameterSets: readonly (readonly Parameter[])[]): Promise<void> {
    await Promise.all(parameterSets.map((parameters) => this.#query(text, parameters)));
  }

  async nowMs(): Promise<number> {
    if (this.#isOver) throw new Error(usedAfterEnd);
    const { rows } = await this.#send({ name: "clock", text: `SELECT ${this.clock} AS now` });
    return rows[0].now;
  }

  hint(hint: Hint): void {
    this.hints.add(hint);
  }

  #post(sent: Promise<unknown>): void {
    // `commit` reports the error. When the body itself fails, its own error is reported.
    sent.catch(() => undefined);
    this.#posted.push(sent);
  }

  #query(text: string, parameters: readonly Parameter[]): Promise<pg.QueryResult> {
    if (this.#isOver) throw new Error(usedAfterEnd);
    // Without parameters the simple protocol is used. The extended one keeps its snapshot until the next message, and
    // CREATE INDEX CONCURRENTLY on another node would wait for that.
    if (parameters.length === 0) return this.#send(text);
    const values = parameters.map(sentParameter);
    const name = nameOf(text);
    return this.#send(name === undefined ? { text, values } : { name, text, values });
  }

  #send(query: string | pg.QueryConfig): Promise<pg.QueryResult> {
    if (!this.#isCorked) {
      this.#isCorked = true;
      const { stream } = this.#client.connection;
      stream.cork();
      process.nextTick(() => {
        this.#isCorked = false;
        stream.uncork();
      });
    }
    const sent = this.#client.query(query);
    // Statements that were sent together fail together. Only the first error says why.
    sent.catch((error) => {
      this.#firstFailure ??= error;
    });
    return sent;
  }
}

/** Lists of numbers are written here: `pg` would search each of them for characters to escape. */
function sentParameter(parameter: Parameter): Parameter {
  if (!Array.isArray(parameter)) return storable(parameter);
  const list = parameter as readonly (string | number | null)[];
  return list.every((element) => typeof element === "number") ? `{${list.join()}}` : storable(list);
}

const usedAfterEnd = "a transaction was used after it had ended";

/** The limit of prepared statements on each connection: generated texts must not fill the server's memory. */
const mostPrepared = 500;
const names = new Map<string, string>();

/** The name under which a statement is prepared, so that each connection parses it once. Undefined beyond the limit. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= mostPrepared) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}
