import { BackgroundTask } from "../runtime/background-task.ts";
import type { Parts } from "./parts.ts";

const sweepEveryMs = 600_000;

/**
 * Removes expired sign-ins and tokens at intervals, and finishes removals of users that were interrupted. The sweeps fail
 * independently of each other.
 */
export function startSweeping(
  parts: Pick<Parts, "identity" | "operators" | "oauth" | "account" | "runtime">,
): () => void {
  const { identity, operators, oauth, account, runtime } = parts;
  const expired = "expired sign-ins and tokens could not be removed";
  const all: readonly (readonly [sweep: () => Promise<unknown>, failure: string])[] = [
    [() => identity.sweep(), expired],
    [() => operators.sweep(), expired],
    [() => oauth.tokens.sweep(), expired],
    [() => account.sweep(), expired],
    [() => account.finishRemovals(), "an interrupted removal of a user could not be finished"],
  ];
  const sweeps = all.map(([sweep, failure]) => {
    const task = new BackgroundTask("sweep", failure, runtime);
    return async () => {
      try {
        await sweep();
        task.succeeded();
      } catch (error) {
        task.failed(error);
      }
    };
  });
  const timer = setInterval(() => void Promise.all(sweeps.map((sweep) => sweep())), sweepEveryMs).unref();
  return () => clearInterval(timer);
}
