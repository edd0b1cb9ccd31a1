import type pg from "pg";
import type { Hint } from "../node-bus.ts";
import { type Parameter, type Sql, storable } from "../sql.ts";
import { failedCommit, isRefusal } from "./errors.ts";

/**
 * A connection lent to one body: worthless as soon as the body has ended. What is asked in one turn travels together and
 * is carried out in that order.
 */
export class LentSql implements Sql {
  readonly dialect = "postgres";
  readonly #client: pg.PoolClient;
  readonly #clock: string;
  /** What others are to be told once the transaction is durable. */
  readonly hints = new Set<Hint>();
  /** What nobody waits for: each ends before the transaction does, and none may fail. */
  readonly #posted: Promise<unknown>[] = [];
  #firstFailure: unknown;
  #isHeldBack = false;
  #isOver = false;

  constructor(client: pg.PoolClient, clock: string) {
    this.#client = client;
    this.#clock = clock;
  }

  /** Nobody waits for it: it travels with the first statement. */
  begin(how = "BEGIN"): void {
    this.#post(this.#send(how));
  }

  /** Nothing more can be asked by whoever has it. */
  end(): void {
    this.#isOver = true;
  }

  /**
   * A COMMIT that the server refused has changed nothing. A COMMIT without an answer may have been carried out, however
   * the statements before it ended for this side: they travel together. After a statement whose error a body has hidden,
   * PostgreSQL answers COMMIT with a ROLLBACK and no error; that must not count as done.
   */
  async commit(): Promise<void> {
    this.#isOver = true;
    const [committed, ...posted] = await Promise.allSettled([this.#send("COMMIT"), ...this.#posted]);
    if (committed.status === "rejected") throw failedCommit(committed.reason);
    if (committed.value.command === "COMMIT") return;
    for (const one of posted) if (one.status === "rejected") throw one.reason;
    throw new Error("a transaction's body hid the error of a statement: nothing was changed");
  }

  /** After a statement has failed, all that follow are refused: what the body tells of is then the first failure. */
  reasonOf(error: unknown): unknown {
    return isRefusal(error) ? (this.#firstFailure ?? error) : error;
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
    if (this.#isOver) throw new Error(used);
    const { rows } = await this.#send({ name: "clock", text: `SELECT ${this.#clock} AS now` });
    return rows[0].now;
  }

  hint(hint: Hint): void {
    this.hints.add(hint);
  }

  #post(asked: Promise<unknown>): void {
    // Heard at the end, or not at all when the body fails by itself.
    asked.catch(() => undefined);
    this.#posted.push(asked);
  }

  #query(text: string, parameters: readonly Parameter[]): Promise<pg.QueryResult> {
    if (this.#isOver) throw new Error(used);
    // Prepared, its answer would keep its snapshot until the next one: whoever builds an index would wait for that.
    if (parameters.length === 0) return this.#send(text);
    const values = parameters.map(storable) as unknown[];
    const name = nameOf(text);
    return this.#send(name === undefined ? { text, values } : { name, text, values });
  }

  #send(query: string | pg.QueryConfig): Promise<pg.QueryResult> {
    if (!this.#isHeldBack) {
      this.#isHeldBack = true;
      const { stream } = this.#client.connection;
      stream.cork();
      process.nextTick(() => {
        this.#isHeldBack = false;
        stream.uncork();
      });
    }
    const sent = this.#client.query(query);
    // Statements that travel together fail together: only the first one's error says why.
    sent.catch((error) => {
      this.#firstFailure ??= error;
    });
    return sent;
  }
}

const used = "a transaction was used after it had ended";

/** So many statements are prepared on each connection; texts that are made up as needed must not fill the server. */
const preparedAtMost = 500;
const names = new Map<string, string>();

/** A statement with a name is parsed once on each connection. */
function nameOf(text: string): string | undefined {
  const known = names.get(text);
  if (known !== undefined || names.size >= preparedAtMost) return known;
  const name = `s${names.size}`;
  names.set(text, name);
  return name;
}
