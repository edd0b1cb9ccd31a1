import type { ErrorOwner } from "../error-owners.ts";
import type { Report } from "../runtime.ts";
import { processErrorOwners } from "./process-error-owners.ts";

/** A stop ends by itself within 5 seconds. A stop after an unknown error may hang: then the process ends anyway. */
const stopWithinMs = 10_000;

/**
 * Handles errors that nothing in the process caught. An error of one link's work pauses that link. Any other error leaves
 * the process in an unknown state: it is reported, the returned signal aborts so that the program stops, and the process
 * exits with code 1.
 */
export function untilUncaught(report: Report): AbortSignal {
  const fatal = new AbortController();
  const take = (error: unknown) => {
    const owner = processErrorOwners.present;
    if (owner && isTaken(owner, error)) return;
    process.exitCode = 1;
    const sentence = "an internal error belongs to no link: this node stops. Restart it, and report the error";
    report.error({ error }, sentence);
    if (fatal.signal.aborted) return;
    setTimeout(() => process.exit(1), stopWithinMs).unref();
    fatal.abort();
  };
  process.on("uncaughtException", take);
  process.on("unhandledRejection", take);
  return fatal.signal;
}

function isTaken(owner: ErrorOwner, error: unknown): boolean {
  try {
    processErrorOwners.outside(() => owner.uncaught(error));
    return true;
  } catch {
    return false;
  }
}
