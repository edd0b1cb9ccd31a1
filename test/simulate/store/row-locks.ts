/** The owner of locks, compared by identity. */
export type Holder = object;
export type Mode = "share" | "exclusive";

export interface LockRequest {
  readonly key: string;
  readonly mode: Mode;
}

export function exclusive(table: string, key: string | number): LockRequest {
  return { key: `${table}/${key}`, mode: "exclusive" };
}

interface Waiter {
  readonly holder: Holder;
  readonly mode: Mode;
  readonly granted: () => void;
}

interface Lock {
  readonly holders: Map<Holder, Mode>;
  readonly waiters: Waiter[];
}

/** Row locks as in PostgreSQL: held until the end of the transaction, first come first served, with deadlock detection. */
export class RowLocks {
  readonly #locks = new Map<string, Lock>();

  /** Takes the lock or waits for it; returns false for a deadlock. */
  take(holder: Holder, { key, mode }: LockRequest, granted: () => void): boolean {
    const lock = this.#lock(key);
    if (isFree(lock, holder, mode) && (lock.waiters.length === 0 || lock.holders.has(holder))) {
      hold(lock, holder, mode);
      granted();
      return true;
    }
    const waiter = { holder, mode, granted };
    // A holder that upgrades its lock goes first: the others must wait for it in any case.
    if (lock.holders.has(holder)) lock.waiters.unshift(waiter);
    else lock.waiters.push(waiter);
    if (!this.#waitsForItself(holder)) return true;
    lock.waiters.splice(lock.waiters.indexOf(waiter), 1);
    return false;
  }

  /** Takes the lock only if it is free (SKIP LOCKED). */
  tryTake(holder: Holder, { key, mode }: LockRequest): boolean {
    const lock = this.#lock(key);
    if (!isFree(lock, holder, mode)) return false;
    hold(lock, holder, mode);
    return true;
  }

  releaseAll(holder: Holder): void {
    const granted: (() => void)[] = [];
    for (const [key, lock] of this.#locks) {
      const waiting = lock.waiters.findIndex((waiter) => waiter.holder === holder);
      if (waiting >= 0) lock.waiters.splice(waiting, 1);
      if (!lock.holders.delete(holder) && waiting < 0) continue;
      for (let next = lock.waiters[0]; next && isFree(lock, next.holder, next.mode); next = lock.waiters[0]) {
        lock.waiters.shift();
        hold(lock, next.holder, next.mode);
        granted.push(next.granted);
      }
      if (lock.holders.size === 0 && lock.waiters.length === 0) this.#locks.delete(key);
    }
    for (const proceed of granted) proceed();
  }

  #lock(key: string): Lock {
    const lock = this.#locks.get(key) ?? { holders: new Map(), waiters: [] };
    this.#locks.set(key, lock);
    return lock;
  }

  #waitsForItself(start: Holder): boolean {
    const seen = new Set<Holder>();
    const toVisit = this.#waitedForBy(start);
    for (let next = toVisit.pop(); next; next = toVisit.pop()) {
      if (next === start) return true;
      if (seen.has(next)) continue;
      seen.add(next);
      toVisit.push(...this.#waitedForBy(next));
    }
    return false;
  }

  #waitedForBy(holder: Holder): Holder[] {
    const others: Holder[] = [];
    for (const lock of this.#locks.values()) {
      const index = lock.waiters.findIndex((waiter) => waiter.holder === holder);
      if (index < 0) continue;
      for (const other of lock.holders.keys()) if (other !== holder) others.push(other);
      for (const ahead of lock.waiters.slice(0, index)) others.push(ahead.holder);
    }
    return others;
  }
}

function isFree(lock: Lock, holder: Holder, mode: Mode): boolean {
  for (const [other, held] of lock.holders) {
    if (other !== holder && (mode === "exclusive" || held === "exclusive")) return false;
  }
  return true;
}

function hold(lock: Lock, holder: Holder, mode: Mode): void {
  if (lock.holders.get(holder) !== "exclusive") lock.holders.set(holder, mode);
}
