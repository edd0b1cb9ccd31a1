import { BackgroundTask } from "../runtime/background-task.ts";
import type { Parts } from "./parts.ts";

const sweepEveryMs = 600_000;

/** Removes expired sign-ins and tokens at intervals. The sweeps fail independently of each other. */
export function startSweeping(
  parts: Pick<Parts, "identity" | "operators" | "oauth" | "account" | "runtime">,
): () => void {
  const { identity, operators, oauth, account, runtime } = parts;
  const all = [() => identity.sweep(), () => operators.sweep(), () => oauth.tokens.sweep(), () => account.sweep()];
  const sweeps = all.map((sweep) => {
    const task = new BackgroundTask("sweep", "expired sign-ins and tokens could not be removed", runtime);
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
