import { setImmediate as nextTurn } from "node:timers/promises";

/** The errors of promises that nothing handled while the work ran. Without this, the first of them fails the test. */
export async function uncaughtErrorsDuring(work: () => Promise<void>): Promise<readonly unknown[]> {
  const errors: unknown[] = [];
  const others = process.listeners("unhandledRejection");
  process.removeAllListeners("unhandledRejection");
  process.on("unhandledRejection", (error) => errors.push(error));
  try {
    await work();
    // Node reports them at the end of a turn.
    await nextTurn();
    return errors;
  } finally {
    process.removeAllListeners("unhandledRejection");
    for (const other of others) process.on("unhandledRejection", other);
  }
}
