import { type Logger, pause, type Runtime } from "../runtime/runtime.ts";

/** How long a stopping node waits. Another node continues a session that takes longer, when its claim has expired. */
const stopMs = 3_000;

/** Work on sessions that goes on after the browser got its answer. At most one piece for each session. */
export class SessionWork {
  readonly #running = new Map<string, Promise<void>>();
  readonly #stopping = new AbortController();
  readonly #report: Pick<Logger, "error">;

  constructor(report: Pick<Logger, "error">) {
    this.#report = report;
  }

  /** Starts the work, unless some is under way on this node. An error is reported: nothing else would catch it. */
  start(sessionId: string, work: (signal: AbortSignal) => Promise<void>): void {
    if (this.#running.has(sessionId)) return;
    const running = work(this.#stopping.signal)
      .catch((error: unknown) => {
        this.#report.error({ linkSession: sessionId, error }, "the work on a link session failed");
      })
      .finally(() => this.#running.delete(sessionId));
    this.#running.set(sessionId, running);
  }

  /** Resolves when no work on this session is under way on this node. */
  async settled(sessionId: string): Promise<void> {
    await this.#running.get(sessionId);
  }

  /** Ends calls to ecosystems, and waits for a short time until each session is stored as far as it got. */
  async stop(runtime: Runtime): Promise<void> {
    this.#stopping.abort();
    const waiting = new AbortController();
    const all = Promise.allSettled(this.#running.values()).then(() => waiting.abort());
    await Promise.race([all, pause(runtime, stopMs, waiting.signal)]);
  }
}
