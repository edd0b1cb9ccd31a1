import type { ErrorOwner } from "../error-owners.ts";
import type { Logger } from "../runtime.ts";
import { processErrorOwners } from "./process-error-owners.ts";

/** A normal stop takes less than 5 seconds. After an unknown error it may hang: then the process exits anyway. */
const stopWithinMs = 10_000;

/**
 * Handles uncaught errors of the process. An error in one link's work pauses that link. Any other error leaves
 * the process in an unknown state: it is reported, the returned signal aborts so that the program stops, and the process
 * exits with code 1.
 */
export function untilUncaught(report: Logger): AbortSignal {
  const fatal = new AbortController();
  const handle = (error: unknown) => {
    const owner = processErrorOwners.present;
    if (owner && isHandledBy(owner, error)) return;
    process.exitCode = 1;
    const sentence = "an internal error belongs to no link: this node stops. Restart it, and report the error";
    report.error({ error }, sentence);
    if (fatal.signal.aborted) return;
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    fatal.abort();
  };
  process.on("uncaughtException", handle);
  process.on("unhandledRejection", handle);
  return fatal.signal;
}

function isHandledBy(owner: ErrorOwner, error: unknown): boolean {
  try {
    processErrorOwners.outside(() => owner.uncaught(error));
    return true;
  } catch {
    return false;
  }
}
