import type { LogLevel } from "./config.ts";
import type { Report } from "./model/surroundings.ts";

/**
 * One JSON line for each thing worth knowing, to standard error. No secret is ever handed to it; as a second net, fields
 * that are named like one are blotted out.
 */
export function startLogging(level: LogLevel, destination: LineWriter = new TurnWriter(process.stderr)): Report {
  const clock = new LineClock();
  const least = levels.indexOf(level as (typeof levels)[number]);
  const teller = (one: (typeof levels)[number]): Report["info"] => {
    if (least < 0 || levels.indexOf(one) < least) return () => undefined;
    const start = `{"level":"${one}","time":"`;
    return (fields, sentence) => {
      destination.write(`${start}${clock.now()}"${members(fields)},"message":${jsonOf("message", sentence)}}\n`);
    };
  };
  return { debug: teller("debug"), info: teller("info"), warn: teller("warn"), error: teller("error") };
}

/** Whoever wants to hear of one hears of those behind it too, and at any other level of none. */
const levels = ["debug", "info", "warn", "error"] as const;

/** There is a line for each request, so the fields are written as they come, without a copy of them. */
function members(fields: object): string {
  let written = "";
  for (const name in fields) {
    const value = jsonOf(name, fields[name as keyof typeof fields]);
    if (value !== undefined) written += `,"${name}":${value}`;
  }
  return written;
}

function jsonOf(name: string, value: unknown): string | undefined {
  if (secrets.has(name)) return blotted;
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "null";
  // As JSON has it, at half its price.
  if (typeof value === "string" && plain.test(value)) return `"${value}"`;
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  try {
    return JSON.stringify(name === "error" ? describeError(value) : value, withoutSecrets);
  } catch {
    // It holds itself, say: whoever tells of something must never fail for it.
    return '"(can\'t be written)"';
  }
}

/** What stands in JSON as it is. */
const plain = /^[ !#-[\]-~]*$/;
const secrets = new Set(["token", "sealedToken", "accessToken", "secToken", "password", "secret", "authorization"]);
const blotted = '"(secret)"';

function withoutSecrets(name: string, value: unknown): unknown {
  return secrets.has(name) ? "(secret)" : value;
}

/** The time as text. Within a second only its last digits change, and there may be thousands of lines in one. */
class LineClock {
  #second = Number.NaN;
  #start = "";

  now(): string {
    const nowMs = Date.now();
    const second = Math.floor(nowMs / 1_000);
    if (second !== this.#second) {
      this.#second = second;
      this.#start = new Date(second * 1_000).toISOString().slice(0, -4);
    }
    return `${this.#start}${String(nowMs - second * 1_000).padStart(3, "0")}Z`;
  }
}

interface LineWriter {
  write(lines: string): void;
}

/** The lines of one turn of the event loop go out together: under load a write for each would cost more than its line. */
export class TurnWriter implements LineWriter {
  readonly #destination: LineWriter;
  #lines = "";

  constructor(destination: LineWriter) {
    this.#destination = destination;
    process.on("exit", () => this.#flush());
  }

  write(line: string): void {
    if (this.#lines === "") setImmediate(() => this.#flush());
    this.#lines += line;
  }

  #flush(): void {
    const lines = this.#lines;
    this.#lines = "";
    if (lines !== "") this.#destination.write(lines);
  }
}

/** What an error says and where it arose, with what caused it; never the values that it carries along. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { name: error.name, message: error.message, stack: error.stack?.split("\n").slice(1, 6).join("\n"), ...cause };
}
