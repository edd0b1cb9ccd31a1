import type { Store, Transaction } from "../store/seam.ts";
import type { ClientRow } from "../store/tables/clients.ts";

export interface ClientCacheParts {
  readonly store: Store<Pick<Transaction, "clients" | "clock">>;
  /** The clock of an unshared store. */
  readonly nowMs: () => number;
}

export interface FoundClient {
  readonly row: ClientRow | undefined;
  /** The time on the store's clock. */
  readonly nowMs: number;
}

/** A cache of client rows, used only when this process is the only writer. On a shared store each client is read again. */
export class ClientCache {
  readonly #parts: ClientCacheParts;
  readonly #rows = new Map<string, ClientRow>();
  /** Counts invalidations: a row that was read before one must not be cached after it. */
  #invalidations = 0;

  constructor(parts: ClientCacheParts) {
    this.#parts = parts;
  }

  async find(clientId: string): Promise<FoundClient> {
    const { store, nowMs } = this.#parts;
    const cached = this.#rows.get(clientId);
    if (cached) return { row: cached, nowMs: nowMs() };
    const invalidations = this.#invalidations;
    const found = await store.read(async (tx) => ({
      row: await tx.clients.byId(clientId),
      nowMs: await tx.clock.nowMs(),
    }));
    if (found.row && !store.isShared && invalidations === this.#invalidations) this.#rows.set(clientId, found.row);
    return found;
  }

  /** Called when a change of the client is durable. */
  forget(clientId: string): void {
    this.#invalidations++;
    this.#rows.delete(clientId);
  }
}
