import { StoreUnavailable } from "../../src/model/errors.ts";
import type { NodeId } from "../../src/model/ids.ts";
import type { Hint, NodeBus, PresenceLock } from "../../src/store/node-bus.ts";
import type { MemoryStore, StoreClient } from "./memory-store.ts";

interface TakenPlace {
  readonly client: StoreClient;
  readonly lost: () => void;
}

/**
 * The nodes' places in a store that they share, and the hints that they give each other through it. Either goes with a
 * connection: it may break without one side's knowing, and what was said meanwhile is gone.
 */
export class Places {
  readonly #store: MemoryStore;
  readonly #taken = new Set<TakenPlace>();
  readonly #listeners = new Map<StoreClient, Set<(hint: Hint) => void>>();

  constructor(store: MemoryStore) {
    this.#store = store;
  }

  isTaken(id: NodeId): boolean {
    return [...this.#taken].some(({ client }) => client.name === id);
  }

  for(client: StoreClient): NodeBus {
    return {
      areHeard: true,
      hear: (heard) => {
        const listeners = this.#listeners.get(client) ?? new Set();
        this.#listeners.set(client, listeners.add(heard));
        return () => listeners.delete(heard);
      },
      takePresenceLock: async (_, lost) => {
        const taken: TakenPlace = { client, lost };
        await this.#ask(client, "takes its place", () => void this.#taken.add(taken));
        return this.#place(taken);
      },
    };
  }

  /** The connections break on which that node has its place; it may learn it only when it asks. */
  lose(client: StoreClient): void {
    for (const place of [...this.#taken]) if (place.client === client) this.#lose(place);
  }

  tell(teller: StoreClient, hints: ReadonlySet<Hint>): void {
    const { scheduler, faults } = this.#store;
    for (const [client, listeners] of hints.size > 0 ? this.#listeners : []) {
      const pass = () => {
        for (const hint of hints) for (const heard of listeners) heard(hint);
      };
      if (client.isDead || client.isCut || faults.strikes("hint lost", 0.05)) continue;
      scheduler.after(client === teller ? 0 : scheduler.dice.between(1, 40), client, `${client.name} hint`, pass);
    }
  }

  #place(taken: TakenPlace): PresenceLock {
    let isOver = false;
    return {
      check: async () => {
        try {
          await this.#ask(taken.client, "has its place?", () => {
            if (!this.#taken.has(taken)) throw lostConnection();
          });
        } catch (error) {
          if (!isOver) taken.lost();
          isOver = true;
          this.#giveUpLater(taken);
          throw error;
        }
      },
      leave: async () => {
        isOver = true;
        this.#giveUpLater(taken);
      },
    };
  }

  #lose(place: TakenPlace): void {
    const { scheduler } = this.#store;
    this.#giveUpLater(place);
    if (!scheduler.dice.chance(0.7)) return;
    scheduler.after(scheduler.dice.between(0, 20), place.client, `${place.client.name} lost its place`, place.lost);
  }

  /** The server notices at once that a process has died, and after a while that nobody answers any more. */
  #giveUpLater(place: TakenPlace): void {
    const { scheduler, process } = this.#store;
    const noticedMs = scheduler.dice.chance(0.7) ? 0 : scheduler.dice.between(1, 3_000);
    scheduler.after(noticedMs, process, `the place of ${place.client.name} is empty`, () => this.#taken.delete(place));
  }

  #ask(client: StoreClient, what: string, act: () => void): Promise<void> {
    const { scheduler, process } = this.#store;
    return new Promise((resolve, reject) => {
      const answer = (told: () => void) =>
        scheduler.after(this.#store.latencyMs(), client, `${client.name} answer`, told);
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
