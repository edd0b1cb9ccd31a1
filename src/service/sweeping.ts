import { BackgroundTask } from "../runtime/background-task.ts";
import type { Parts } from "./parts.ts";

const sweepEveryMs = 600_000;

/** Removes expired sign-ins and tokens at intervals. The sweeps fail independently of each other. */
export function startSweeping(parts: Pick<Parts, "identity" | "operators" | "oauth" | "runtime">): () => void {
  const { identity, operators, oauth, runtime } = parts;
  const sweeps = [() => identity.sweep(), () => operators.sweep(), () => oauth.tokens.sweep()].map((sweep) => {
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
