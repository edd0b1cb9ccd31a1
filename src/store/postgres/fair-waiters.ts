import type { TurnOwner } from "../../runtime/time-slices.ts";

/** The caller of work that belongs to no request. */
const backgroundOwner: TurnOwner = { tenant: "", holder: "" };

/**
 * Callers that wait for a connection. Tenants take turns, and within a tenant its holders (round robin): a caller waits
 * for at most one other of each tenant before its own tenant has a turn.
 */
export class FairWaiters<Waiter> {
  /** In the order of their turns. No map and no set is empty. */
  readonly #tenants = new Map<string, Map<string, Set<Waiter>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns a function that removes the waiter; it does nothing after its turn. */
  add(waiter: Waiter, { tenant, holder }: TurnOwner = backgroundOwner): () => void {
    const holders = this.#tenants.get(tenant) ?? new Map<string, Set<Waiter>>();
    const waiters = holders.get(holder) ?? new Set<Waiter>();
    this.#tenants.set(tenant, holders.set(holder, waiters.add(waiter)));
    this.#size += 1;
    return () => {
      if (!waiters.delete(waiter)) return;
      this.#size -= 1;
      if (waiters.size === 0 && holders.get(holder) === waiters) holders.delete(holder);
      if (holders.size === 0 && this.#tenants.get(tenant) === holders) this.#tenants.delete(tenant);
    };
  }

  /** Removes the waiter whose turn it is. */
  takeNext(): Waiter | undefined {
    const [[tenant, holders] = []] = this.#tenants;
    const [[holder, waiters] = []] = holders ?? [];
    const [waiter] = waiters ?? [];
    if (!holders || !waiters || waiter === undefined) return undefined;
    waiters.delete(waiter);
    this.#size -= 1;
    moveToEnd(holders, holder!, waiters);
    moveToEnd(this.#tenants, tenant!, holders);
    return waiter;
  }

  /** Removes all waiters. */
  takeAll(): readonly Waiter[] {
    const all: Waiter[] = [];
    for (let next = this.takeNext(); next !== undefined; next = this.takeNext()) all.push(next);
    return all;
  }
}

/** An empty one is removed. */
function moveToEnd<Value extends { readonly size: number }>(map: Map<string, Value>, key: string, value: Value): void {
  map.delete(key);
  if (value.size > 0) map.set(key, value);
}
