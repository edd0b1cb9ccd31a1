import { StoreUnavailable } from "../../../src/model/errors.ts";
import type { NodeId } from "../../../src/model/ids.ts";
import type { Hint, NodeBus, PresenceLock } from "../../../src/store/node-bus.ts";
import type { MemoryStore, StoreClient } from "./memory-store.ts";

interface HeldLock {
  readonly client: StoreClient;
  readonly lost: () => void;
}

/**
 * The presence locks of nodes in a shared store, and the hints that nodes send each other through it. Both depend on a
 * connection that can break without one side noticing; hints in the meantime are lost.
 */
export class PresenceLocks {
  readonly #store: MemoryStore;
  readonly #held = new Set<HeldLock>();
  readonly #listeners = new Map<StoreClient, Set<(hint: Hint) => void>>();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  isTaken(id: NodeId): boolean {
    return [...this.#held].some(({ client }) => client.name === id);
  }

  for(client: StoreClient): NodeBus {
    return {
      receivesHints: true,
      onHint: (listener) => {
        const listeners = this.#listeners.get(client) ?? new Set();
        this.#listeners.set(client, listeners.add(listener));
        return () => listeners.delete(listener);
      },
      takePresenceLock: async (_, lost) => {
        const lock: HeldLock = { client, lost };
        await this.#ask(client, "takes its lock", () => void this.#held.add(lock));
        return this.#lock(lock);
      },
    };
  }

  /** Breaks the connections that hold the node's presence lock; the node may notice only at its next request. */
  lose(client: StoreClient): void {
    for (const lock of [...this.#held]) if (lock.client === client) this.#lose(lock);
  }

  tell(teller: StoreClient, hints: ReadonlySet<Hint>): void {
    const { scheduler, faults } = this.#store;
    for (const [client, listeners] of hints.size > 0 ? this.#listeners : []) {
      const pass = () => {
        for (const hint of hints) for (const listener of listeners) listener(hint);
      };
      if (client.isDead || client.isCut || faults.strikes("hint lost", 0.05)) continue;
      scheduler.after(client === teller ? 0 : scheduler.dice.between(1, 40), client, `${client.name} hint`, pass);
    }
  }

  #lock(lock: HeldLock): PresenceLock {
    let isOver = false;
    return {
      check: async () => {
        try {
          await this.#ask(lock.client, "has its lock?", () => {
            if (!this.#held.has(lock)) throw lostConnection();
          });
        } catch (error) {
          if (!isOver) lock.lost();
          isOver = true;
          this.#giveUpLater(lock);
          throw error;
        }
      },
      release: async () => {
        isOver = true;
        this.#giveUpLater(lock);
      },
    };
  }

  #lose(lock: HeldLock): void {
    const { scheduler } = this.#store;
    this.#giveUpLater(lock);
    if (!scheduler.dice.chance(0.7)) return;
    scheduler.after(scheduler.dice.between(0, 20), lock.client, `${lock.client.name} lost its lock`, lock.lost);
  }

  /** The server notices the end of a process at once, and a silent connection after a while. */
  #giveUpLater(lock: HeldLock): void {
    const { scheduler, process } = this.#store;
    const noticedMs = scheduler.dice.chance(0.7) ? 0 : scheduler.dice.between(1, 3_000);
    scheduler.after(noticedMs, process, `the lock of ${lock.client.name} is empty`, () => this.#held.delete(lock));
  }

  #ask(client: StoreClient, what: string, act: () => void): Promise<void> {
    const { scheduler, process } = this.#store;
    return new Promise((resolve, reject) => {
      const answer = (deliver: () => void) =>
        scheduler.after(this.#store.latencyMs(), client, `${client.name} answer`, deliver);
      scheduler.after(this.#store.latencyMs(), process, `${client.name} ${what}`, () => {
        try {
          if (client.isCut || this.#store.isDown) throw lostConnection();
          act();
          answer(resolve);
        } catch (error) {
          answer(() => reject(error));
        }
      });
    });
  }
}

export function lostConnection(): StoreUnavailable {
  return new StoreUnavailable("The store can't be used now (connection lost).");
}
