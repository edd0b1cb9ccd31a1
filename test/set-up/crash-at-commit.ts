import { existsSync, readFileSync, rmSync } from "node:fs";
import { DatabaseSync, StatementSync } from "node:sqlite";

/**
 * Run first in a child process, it kills that process at a COMMIT that makes an idempotency key durable: right before
 * it or right after, as the file CRASH_FILE says. Without the file nothing happens; the process that dies removes it.
 */
const file = process.env.CRASH_FILE!;
let storesKey = false;

function die(side: "before" | "after"): void {
  if (!existsSync(file) || readFileSync(file, "utf8") !== side) return;
  rmSync(file);
  process.kill(process.pid, "SIGKILL");
}

const texts = new WeakMap<StatementSync, string>();
const { prepare } = DatabaseSync.prototype;
DatabaseSync.prototype.prepare = function (text) {
  const statement = prepare.call(this, text);
  texts.set(statement, text);
  return statement;
};
const run = StatementSync.prototype.run as (...given: unknown[]) => unknown;
StatementSync.prototype.run = function (this: StatementSync, ...parameters: unknown[]) {
  const text = texts.get(this) ?? "";
  if (text.startsWith("INSERT INTO idempotency_keys")) storesKey = true;
  if (text !== "COMMIT") return run.apply(this, parameters);
  const isMeant = storesKey;
  storesKey = false;
  if (isMeant) die("before");
  const answer = run.apply(this, parameters);
  if (isMeant) die("after");
  return answer;
} as never;
