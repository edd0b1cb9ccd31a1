import { pino } from "pino";
import type { Logger } from "../runtime.ts";
import { safeFields } from "../safe-fields.ts";

export type LogLevel = "debug" | "info" | "warn" | "error" | "silent";

/**
 * One JSON line for each event, to standard error: level, time, fields, message. Callers never pass a secret. As a second
 * safeguard, fields with the name of a secret are redacted.
 */
export function startLogging(level: LogLevel, destination: LineWriter = new TurnWriter(process.stderr)): Logger {
  return pino(
    {
      level,
      base: null,
      messageKey: "message",
      timestamp: timeMember(),
      formatters: { level: (label) => ({ level: label }), log: safeFields },
    },
    destination,
  );
}

/**
 * Writes the time as pino's `isoTime` does. It formats a date once a second: a date for each line would take a third of
 * the line's CPU.
 */
function timeMember(): () => string {
  let second = Number.NaN;
  let start = "";
  return () => {
    const nowMs = Date.now();
    const nowSecond = Math.floor(nowMs / 1_000);
    if (nowSecond !== second) {
      second = nowSecond;
      start = `,"time":"${new Date(second * 1_000).toISOString().slice(0, -4)}`;
    }
    return `${start}${String(nowMs - second * 1_000).padStart(3, "0")}Z"`;
  };
}

interface LineWriter {
  write(lines: string): void;
}

/**
 * Writes the lines of one turn of the event loop together: under load, a write for each line would cost more than the
 * line. Standard error blocks when its reader falls behind, so memory stays bounded.
 */
class TurnWriter implements LineWriter {
  /** The writers that hold lines. */
  static readonly #holding = new Set<TurnWriter>();
  readonly #destination: LineWriter;
  #lines = "";

  static {
    // Also after an uncaught error: the last lines say why the process ended.
    process.on("exit", () => {
      for (const writer of TurnWriter.#holding) writer.#flush();
    });
  }

  constructor(destination: LineWriter) {
    this.#destination = destination;
  }

  write(line: string): void {
    if (this.#lines === "") {
      TurnWriter.#holding.add(this);
      setImmediate(() => this.#flush());
    }
    this.#lines += line;
  }

  #flush(): void {
    const lines = this.#lines;
    this.#lines = "";
    TurnWriter.#holding.delete(this);
    if (lines !== "") this.#destination.write(lines);
  }
}
