import type { Store, Transaction } from "../store/seam.ts";
import type { ClientRow } from "../store/tables/clients.ts";

export interface KnownClientParts {
  readonly store: Store<Pick<Transaction, "clients" | "clock">>;
  /** The clock that a store which isn't shared goes by. */
  readonly nowMs: () => number;
}

export interface FoundClient {
  readonly row: ClientRow | undefined;
  /** By the store's clock. */
  readonly nowMs: number;
}

/**
 * The clients that have come to this process, which remembers them where it alone can change them: there are few, and
 * they come all day. Where other nodes can, each is read anew.
 */
export class KnownClients {
  readonly #parts: KnownClientParts;
  readonly #rows = new Map<string, ClientRow>();
  /** Counts what was forgotten: who read the store before that must not keep what it read. */
  #forgotten = 0;

  constructor(parts: KnownClientParts) {
    this.#parts = parts;
  }

  async find(clientId: string): Promise<FoundClient> {
    const { store, nowMs } = this.#parts;
    const known = this.#rows.get(clientId);
    if (known) return { row: known, nowMs: nowMs() };
    const forgotten = this.#forgotten;
    const found = await store.read(async (tx) => ({
      row: await tx.clients.byId(clientId),
      nowMs: await tx.clock.nowMs(),
    }));
    if (found.row && !store.isShared && forgotten === this.#forgotten) this.#rows.set(clientId, found.row);
    return found;
  }

  /** It was changed, and that is durable. */
  forget(clientId: string): void {
    this.#forgotten++;
    this.#rows.delete(clientId);
  }
}
