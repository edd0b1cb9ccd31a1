import type { Report } from "../runtime.ts";

/**
 * One JSON line for each thing worth knowing, to standard error. No secret is ever handed to it; as a second net, fields
 * that are named like one are blotted out.
 */
export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

export function startLogging(level: LogLevel, destination: LineWriter = new TurnWriter(process.stderr)): Report {
  const clock = new LineClock();
  const least = levels.indexOf(level as (typeof levels)[number]);
  const teller = (one: (typeof levels)[number]): Report["info"] => {
    if (least < 0 || levels.indexOf(one) < least) return () => undefined;
    const start = `{"level":"${one}","time":"`;
    return (fields, sentence) => {
      destination.write(`${start}${clock.now()}"${members(fields)}${memberOf("message").write(sentence)}}\n`);
    };
  };
  return { debug: teller("debug"), info: teller("info"), warn: teller("warn"), error: teller("error") };
}

/** Whoever wants to hear of one hears of those behind it too, and at any other level of none. */
const levels = ["debug", "info", "warn", "error"] as const;

function members(fields: object): string {
  let written = "";
  for (const name in fields) written += memberOf(name).write(fields[name as keyof typeof fields]);
  return written;
}

/** Names are words of our own code, so there are not many; should there be all the same, they are not kept. */
const known = new Map<string, Member>();
const knownAtMost = 1_000;

function memberOf(name: string): Member {
  const found = known.get(name);
  if (found) return found;
  const made = new Member(name);
  if (known.size < knownAtMost) known.set(name, made);
  return made;
}

/** A field of that name. There is a line for each request, and most of its fields are what they were in the last one. */
class Member {
  readonly #name: string;
  readonly #start: string;
  readonly #isSecret: boolean;
  #last: string | number | undefined;
  #lastWritten = "";

  constructor(name: string) {
    this.#name = name;
    this.#start = `,${JSON.stringify(name)}:`;
    this.#isSecret = secrets.has(name);
  }

  write(value: unknown): string {
    if (this.#isSecret) return `${this.#start}"(secret)"`;
    if (typeof value !== "string" && typeof value !== "number") return this.#writeAny(value);
    if (value !== this.#last) {
      this.#last = value;
      this.#lastWritten = this.#start + plainJson(value);
    }
    return this.#lastWritten;
  }

  #writeAny(value: unknown): string {
    const json = anyJson(this.#name === "error" && value !== undefined ? describeError(value) : value);
    return json === undefined ? "" : this.#start + json;
  }
}

/** What stands in JSON as it is. */
const plain = /^[ !#-[\]-~]*$/;

function plainJson(value: string | number): string {
  if (typeof value === "number") return Number.isFinite(value) ? `${value}` : "null";
  return plain.test(value) ? `"${value}"` : JSON.stringify(value);
}

function anyJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, withoutSecrets);
  } catch {
    // It holds itself, say: whoever tells of something must never fail for it.
    return '"(can\'t be written)"';
  }
}

const secrets = new Set(["token", "sealedToken", "accessToken", "secToken", "password", "secret", "authorization"]);

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
