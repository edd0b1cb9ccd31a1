import { DatabaseSync, StatementSync } from "node:sqlite";
import pg from "pg";

/**
 * Run first in a child process, it kills that process at one point in the life of a fan request: when the transaction
 * that brings it into the state CRASH_STATE commits, right before that or right after, as CRASH_AT says. Only requests
 * that this process has taken count, not what an earlier life left behind.
 */
const { CRASH_STATE, CRASH_AT } = process.env;

/** The requests that this process has taken. */
const own = new Set<unknown>();
/** The connection whose transaction brings one of them into that state. */
let changing: unknown;

function before(connection: unknown, text: string, parameters: readonly unknown[]): void {
  if (isAdding(text) && parameters.includes(CRASH_STATE)) changing = connection;
  const [, , id, state] = parameters;
  if (/^\s*UPDATE commands SET state\b/.test(text) && own.has(id) && state === CRASH_STATE) changing = connection;
  if (isCommitting(connection, text) && CRASH_AT === "before") die();
}

function after(connection: unknown, text: string, rows: unknown): void {
  if (isAdding(text)) own.add((rows as { readonly id: number }[])[0]?.id);
  if (isCommitting(connection, text)) die();
}

function isAdding(text: string): boolean {
  return /^\s*INSERT INTO commands\b/.test(text);
}

function isCommitting(connection: unknown, text: string): boolean {
  return text === "COMMIT" && changing !== undefined && changing === connection;
}

function die(): void {
  process.kill(process.pid, "SIGKILL");
}

const connectionOf = new WeakMap<StatementSync, DatabaseSync>();
const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (text) {
  const statement = prepare.call(this, text);
  connectionOf.set(statement, this);
  return statement;
};
for (const name of ["run", "all"] as const) {
  const original = StatementSync.prototype[name] as (...given: unknown[]) => unknown;
  StatementSync.prototype[name] = function (this: StatementSync, ...parameters: unknown[]) {
    const connection = connectionOf.get(this);
    before(connection, this.sourceSQL, parameters);
    const answer = original.apply(this, parameters);
    after(connection, this.sourceSQL, answer);
    return answer;
  } as never;
}

const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const [text, parameters] = given;
  if (typeof text !== "string") return query.apply(this, given);
  before(this, text, Array.isArray(parameters) ? parameters : []);
  return (query.apply(this, given) as Promise<pg.QueryResult>).then((answer) => {
    after(this, text, answer.rows);
    return answer;
  });
} as never;
