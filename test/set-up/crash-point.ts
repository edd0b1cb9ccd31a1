import { existsSync, readFileSync, renameSync } from "node:fs";
import { DatabaseSync, StatementSync } from "node:sqlite";
import pg from "pg";

/**
 * Run first in a child process, it kills that process at one point in the life of a fan request: when the transaction
 * that brings it into some state commits, right before that or right after. The file CRASH_FILE says which; of several
 * processes the one that gets there first takes it away, and no other dies.
 */
const file = process.env.CRASH_FILE!;

/** What the file says. */
export interface CrashPlan {
  readonly side: "before" | "after";
  readonly state: string;
  /** Only requests after this one count, not what an earlier life left behind. */
  readonly afterId: number;
}

/** The connection whose transaction brings the request into that state. */
let changing: { readonly connection: unknown; readonly plan: CrashPlan } | undefined;

function before(connection: unknown, text: string, parameters: readonly unknown[]): void {
  const plan = isAdding(text) || isChanging(text) ? readPlan() : undefined;
  const [, , id, state] = parameters;
  const isMeant = isAdding(text)
    ? parameters.includes(plan?.state)
    : plan && Number(id) > plan.afterId && state === plan.state;
  if (plan && isMeant) changing = { connection, plan };
  if (isCommitting(connection, text) && changing?.plan.side === "before") die();
}

function after(connection: unknown, text: string): void {
  if (isCommitting(connection, text)) die();
}

function isAdding(text: string): boolean {
  return /^\s*INSERT INTO commands\b/.test(text);
}

function isChanging(text: string): boolean {
  return /^\s*UPDATE commands SET state\b/.test(text);
}

function isCommitting(connection: unknown, text: string): boolean {
  return text === "COMMIT" && changing?.connection === connection;
}

function readPlan(): CrashPlan | undefined {
  return existsSync(file) ? JSON.parse(readFileSync(file, "utf8")) : undefined;
}

function die(): void {
  changing = undefined;
  try {
    renameSync(file, `${file}.taken`);
  } catch {
    return;
  }
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
    after(connection, this.sourceSQL);
    return answer;
  } as never;
}

const query = pg.Client.prototype.query as (...given: unknown[]) => unknown;
pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
  const [asked] = given as [string | pg.QueryConfig];
  // With a callback it is a look or a hint of the pool's own, outside any transaction.
  if (typeof given.at(-1) === "function") return query.apply(this, given);
  const text = typeof asked === "string" ? asked : asked.text;
  before(this, text, typeof asked === "string" ? [] : (asked.values ?? []));
  return (query.apply(this, given) as Promise<pg.QueryResult>).then((answer) => {
    after(this, text);
    return answer;
  });
} as never;
