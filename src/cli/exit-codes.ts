import { ConfigurationError } from "../config/config.ts";

/** The exit codes of commands. */
export const exitCodes = {
  ok: 0,
  failed: 1,
  usage: 2,
  configuration: 3,
  notAuthorised: 4,
  notFound: 5,
  unreachable: 6,
  conflict: 7,
} as const;

export function exitCodeOf(error: unknown): number {
  if (error instanceof ConfigurationError) return exitCodes.configuration;
  // An error of a remote service has its own exit code.
  if (error instanceof Error && "exitCode" in error && typeof error.exitCode === "number") return error.exitCode;
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  switch (code) {
    case "newer_schema":
    case "wrong_key":
      return exitCodes.configuration;
    case "bad_parameter":
      return exitCodes.usage;
    case "invalid_login":
    case "invalid_sec_token":
    case "ecosystem_refused":
      return exitCodes.notAuthorised;
    case "not_found":
    case "unknown_device":
    case "unknown_device_type":
    case "unknown_trigger":
      return exitCodes.notFound;
    case "not_running":
    case "store_unavailable":
    case "outcome_unknown":
    case "ecosystem_unreachable":
      return exitCodes.unreachable;
    case "conflict":
    case "EADDRINUSE":
      return exitCodes.conflict;
    default:
      return exitCodes.failed;
  }
}
