import { commandDeadlines } from "../../home/command-states.ts";
import { StoreUnavailable } from "../../model/errors.ts";
import type { Cancel, Runtime } from "../../runtime/runtime.ts";
import type { CommandConnection } from "./command-kind.ts";

export interface CausedEchoParts<Command> {
  /** Settles an accepted command by the stored state. */
  readonly settle: (command: Command) => Promise<void>;
  readonly runtime: Runtime;
}

/**
 * Settles accepted commands early, where the ecosystem says which state a command has caused: such a state that still
 * differs after `causedMs` contradicts the command. Without it, and when this node stops, the deadline decides.
 */
export class CausedEchoes<Command> {
  readonly #parts: CausedEchoParts<Command>;
  readonly #planned = new Set<Cancel>();
  readonly #settling = new Set<Promise<void>>();
  #isStopped = false;

  constructor(parts: CausedEchoParts<Command>) {
    this.#parts = parts;
  }

  /** `caused`: resolves when the ecosystem has shown a state that the command caused. */
  expect(command: Command, caused: Promise<void>, connection: CommandConnection): void {
    void caused.then(() => {
      if (this.#isStopped) return;
      const cancel = this.#parts.runtime.after(commandDeadlines.causedMs, () => {
        this.#planned.delete(cancel);
        const settling = this.#settle(command, connection).finally(() => this.#settling.delete(settling));
        this.#settling.add(settling);
      });
      this.#planned.add(cancel);
    });
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    for (const cancel of this.#planned) cancel();
    await Promise.all(this.#settling);
  }

  async #settle(command: Command, connection: CommandConnection): Promise<void> {
    try {
      // A state that waits for a slow store, or was dropped, proves nothing yet.
      if (await connection.stored()) await this.#parts.settle(command);
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) connection.failed(error);
    }
  }
}
