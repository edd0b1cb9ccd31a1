import type { CommitTables } from "../devices/commit.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
import { commandedThing } from "./commanded-thing.ts";
import { settleDue } from "./own-command-outcome.ts";
import type { OwnThings } from "./own-things.ts";

export interface OwnCommandDeadlineParts {
  readonly store: Store<CommitTables>;
  readonly ownThings: OwnThings;
  readonly runtime: Runtime;
}

const everyMs = 1_000;
const atOnce = 100;

/** Settles the commands to own things that no write has settled by their deadline. Every node looks for them. */
export class OwnCommandDeadlines {
  readonly #parts: OwnCommandDeadlineParts;
  readonly #task: BackgroundTask;
  #isRunning = false;
  #next: Cancel | undefined;
  #round: Promise<void> = Promise.resolve();

  constructor(parts: OwnCommandDeadlineParts) {
    this.#parts = parts;
    this.#task = new BackgroundTask("own_commands", "commands to own things could not be settled", parts.runtime);
  }

  start(): void {
    this.#isRunning = true;
    this.#schedule();
  }

  async stop(): Promise<void> {
    this.#isRunning = false;
    this.#next?.();
    await this.#round;
  }

  /** Settles what is due now. */
  async settleDue(): Promise<void> {
    const { store } = this.#parts;
    const due = await store.read(async (tx) => tx.thingCommands.due(await tx.clock.nowMs(), atOnce));
    for (const row of due) await this.#settleOne(row);
  }

  async #settleOne({ userId, deviceId, id }: ThingCommandRow): Promise<void> {
    const { store, ownThings } = this.#parts;
    await store.transaction(async (tx) => {
      const nowMs = await tx.users.lock(userId);
      const row = nowMs === undefined ? undefined : await tx.thingCommands.find(userId, deviceId, id);
      // A write, or another node, has settled it meanwhile.
      if (nowMs === undefined || row?.state !== "sending") return;
      await settleDue(tx, await commandedThing(tx, ownThings, userId, deviceId), row, nowMs);
    });
  }

  #schedule(): void {
    this.#next = this.#parts.runtime.after(everyMs, () => {
      this.#round = this.settleDue()
        .then(() => this.#task.succeeded())
        .catch((error) => this.#task.failed(error))
        .then(() => {
          if (this.#isRunning) this.#schedule();
        });
    });
  }
}
