import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import type { Report } from "./model/surroundings.ts";

/**
 * One JSON line for each thing worth knowing, to standard error. No secret is ever handed to it; as a second net, fields
 * that are named like one are blotted out.
 */
export function startLogging(level: LogLevel, destination: LineWriter = new TurnWriter(process.stderr)): Report {
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), log: (fields) => withoutSecrets(fields) },
      messageKey: "message",
      serializers: { error: describeError },
    },
    destination,
  );
}

const secrets = new Set(["token", "sealedToken", "accessToken", "secToken", "password", "secret", "authorization"]);

/** Fields come as flat as they are meant to be; one level below is looked at as well. Copied only when something is found. */
function withoutSecrets(fields: Record<string, unknown>, depth = 1): Record<string, unknown> {
  let sound = fields;
  for (const name in fields) {
    const value = fields[name];
    const isNested = depth > 0 && typeof value === "object" && value !== null && !(value instanceof Error);
    const shown = secrets.has(name)
      ? "(secret)"
      : isNested
        ? withoutSecrets(value as Record<string, unknown>, depth - 1)
        : value;
    if (shown !== value) sound = { ...sound, [name]: shown };
  }
  return sound;
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
