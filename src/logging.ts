import { pino } from "pino";
import type { LogLevel } from "./config.ts";
import type { Report } from "./model/surroundings.ts";

/**
 * One JSON line for each thing worth knowing, to standard error. No secret is ever handed to it; as a second net, fields
 * that are named like one are blotted out.
 */
export function startLogging(level: LogLevel, destination: { write(line: string): void } = process.stderr): Report {
  const secrets = ["token", "sealedToken", "accessToken", "secToken", "password", "secret", "authorization"];
  return pino(
    {
      level,
      base: null,
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
      messageKey: "message",
      serializers: { error: describeError },
      redact: { paths: [...secrets, ...secrets.map((name) => `*.${name}`)], censor: "(secret)" },
    },
    destination,
  );
}

/** What an error says and where it arose, with what caused it; never the values that it carries along. */
function describeError(error: unknown): unknown {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause === undefined ? {} : { cause: describeError(error.cause) };
  return { name: error.name, message: error.message, stack: error.stack?.split("\n").slice(1, 6).join("\n"), ...cause };
}
