import { StoreUnavailable } from "../model/errors.ts";
import { type OpenStore, type Transaction, tableNames } from "../store/seam.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import type { LogEntry } from "../store/tables/log.ts";

/** Gets the durable writes of a store, for metrics. */
export interface StoreObserver {
  transaction(isAvailable: boolean): void;
  logged(entry: LogEntry): void;
  blind(interval: BlindInterval): void;
  delivery(outcome: "delivered" | "failed" | "postponed"): void;
}

/**
 * Wraps a store and notifies an observer of its writes, so that no other part has to count. The observer is notified when
 * a transaction is durable, and once, even if its body was retried.
 */
export function observedStore(store: OpenStore, observer: StoreObserver): OpenStore {
  return {
    isShared: store.isShared,
    nodeBus: store.nodeBus,
    read: (body, priority) => store.read(body, priority),
    health: () => store.health(),
    size: () => store.size(),
    pools: () => store.pools(),
    space: store.space,
    close: () => store.close(),
    async transaction(body, options) {
      let notifications: (() => void)[] = [];
      try {
        const result = await store.transaction((tx) => {
          notifications = [];
          return body(observedTransaction(tx, observer, notifications));
        }, options);
        observer.transaction(true);
        for (const notify of notifications) notify();
        return result;
      } catch (error) {
        if (error instanceof StoreUnavailable) observer.transaction(false);
        throw error;
      }
    },
  };
}

/** A transaction whose observed tables record what to notify; all other tables are passed through. */
class ObservedTransaction {
  readonly tx: Transaction;
  readonly observer: StoreObserver;
  readonly notifications: (() => void)[];
  readonly observed: Partial<Record<keyof Transaction, unknown>> = {};

  constructor(tx: Transaction, observer: StoreObserver, notifications: (() => void)[]) {
    this.tx = tx;
    this.observer = observer;
    this.notifications = notifications;
  }
}

const observedTables: { readonly [Name in keyof Transaction]?: (args: ObservedTransaction) => Transaction[Name] } = {
  log: ({ tx, observer, notifications }) => ({
    ...tx.log,
    append(entry) {
      notifications.push(() => observer.logged(entry));
      return tx.log.append(entry);
    },
    appendAll(entries) {
      notifications.push(() => entries.forEach(observer.logged));
      return tx.log.appendAll(entries);
    },
  }),
  blindIntervals: ({ tx, observer, notifications }) => ({
    ...tx.blindIntervals,
    add(...args) {
      notifications.push(() => observer.blind(args[2]));
      return tx.blindIntervals.add(...args);
    },
  }),
  deliveries: ({ tx, observer, notifications }) => ({
    ...tx.deliveries,
    settle(...args) {
      notifications.push(() => observer.delivery(args[1]));
      return tx.deliveries.settle(...args);
    },
    postpone(...args) {
      notifications.push(() => observer.delivery("postponed"));
      return tx.deliveries.postpone(...args);
    },
  }),
};

// Getters on the prototype create observed tables lazily: most transactions use few tables.
for (const name of tableNames) {
  const observe = observedTables[name];
  Object.defineProperty(ObservedTransaction.prototype, name, {
    enumerable: true,
    get(this: ObservedTransaction) {
      if (!observe) return this.tx[name];
      this.observed[name] ??= observe(this);
      return this.observed[name];
    },
  });
}

function observedTransaction(tx: Transaction, observer: StoreObserver, notifications: (() => void)[]): Transaction {
  return new ObservedTransaction(tx, observer, notifications) as unknown as Transaction;
}
