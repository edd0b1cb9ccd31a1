/** Whoever holds locks; compared by identity. */
export type Holder = object;
export type Mode = "share" | "exclusive";

export interface Wish {
  readonly key: string;
  readonly mode: Mode;
}

export function exclusive(table: string, key: string | number): Wish {
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

/** Row locks as PostgreSQL has them: held to the end of the transaction, first come first served, deadlocks noticed. */
export class RowLocks {
  readonly #locks = new Map<string, Lock>();

  /** Takes the lock or waits for it; false when waiting would never end. */
  take(holder: Holder, { key, mode }: Wish, granted: () => void): boolean {
    const lock = this.#lock(key);
    if (isFree(lock, holder, mode) && (lock.waiters.length === 0 || lock.holders.has(holder))) {
      hold(lock, holder, mode);
      granted();
      return true;
    }
    const waiter = { holder, mode, granted };
    // Who already holds it and wants more goes first: the others can't get it before anyway.
    if (lock.holders.has(holder)) lock.waiters.unshift(waiter);
    else lock.waiters.push(waiter);
    if (!this.#waitsForItself(holder)) return true;
    lock.waiters.splice(lock.waiters.indexOf(waiter), 1);
    return false;
  }

  /** Takes the lock only if nobody has to be waited for (SKIP LOCKED). */
  tryTake(holder: Holder, { key, mode }: Wish): boolean {
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
      const place = lock.waiters.findIndex((waiter) => waiter.holder === holder);
      if (place < 0) continue;
      for (const other of lock.holders.keys()) if (other !== holder) others.push(other);
      for (const ahead of lock.waiters.slice(0, place)) others.push(ahead.holder);
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
