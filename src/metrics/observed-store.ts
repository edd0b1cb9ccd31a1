import { StoreUnavailable } from "../model/errors.ts";
import { type OpenStore, type Transaction, tableNames } from "../store/seam.ts";
import type { BlindInterval } from "../store/tables/blind-intervals.ts";
import type { LogEntry } from "../store/tables/log.ts";

/** What somebody who counts wants to hear of a store, each only once it is durable. */
export interface StoreHearing {
  transaction(isAvailable: boolean): void;
  logged(entry: LogEntry): void;
  blind(interval: BlindInterval): void;
  delivery(outcome: "delivered" | "failed" | "postponed"): void;
}

/**
 * The same store, with somebody who listens: all that happens goes through it, so nothing else has to know that it is
 * counted. What a body did counts when its transaction is durable, and once, however often the body was run.
 */
export function observedStore(store: OpenStore, hearing: StoreHearing): OpenStore {
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
      let heard: (() => void)[] = [];
      try {
        const result = await store.transaction((tx) => {
          heard = [];
          return body(listening(tx, hearing, heard));
        }, options);
        hearing.transaction(true);
        for (const tell of heard) tell();
        return result;
      } catch (error) {
        if (error instanceof StoreUnavailable) hearing.transaction(false);
        throw error;
      }
    },
  };
}

/** A transaction of which everything is as it was, but for the few tables that are listened to. */
class HeardTransaction {
  readonly tx: Transaction;
  readonly hearing: StoreHearing;
  readonly heard: (() => void)[];
  readonly listened: Partial<Record<keyof Transaction, unknown>> = {};

  constructor(tx: Transaction, hearing: StoreHearing, heard: (() => void)[]) {
    this.tx = tx;
    this.hearing = hearing;
    this.heard = heard;
  }
}

const listenedTo: { readonly [Name in keyof Transaction]?: (given: HeardTransaction) => Transaction[Name] } = {
  log: ({ tx, hearing, heard }) => ({
    ...tx.log,
    append(entry) {
      heard.push(() => hearing.logged(entry));
      return tx.log.append(entry);
    },
  }),
  blindIntervals: ({ tx, hearing, heard }) => ({
    ...tx.blindIntervals,
    add(...given) {
      heard.push(() => hearing.blind(given[2]));
      return tx.blindIntervals.add(...given);
    },
  }),
  deliveries: ({ tx, hearing, heard }) => ({
    ...tx.deliveries,
    settle(...given) {
      heard.push(() => hearing.delivery(given[1]));
      return tx.deliveries.settle(...given);
    },
    postpone(...given) {
      heard.push(() => hearing.delivery("postponed"));
      return tx.deliveries.postpone(...given);
    },
  }),
};

// Asked for through the prototype, since most transactions touch few tables, and none is made for nothing.
for (const name of tableNames) {
  const listenTo = listenedTo[name];
  Object.defineProperty(HeardTransaction.prototype, name, {
    enumerable: true,
    get(this: HeardTransaction) {
      if (!listenTo) return this.tx[name];
      this.listened[name] ??= listenTo(this);
      return this.listened[name];
    },
  });
}

function listening(tx: Transaction, hearing: StoreHearing, heard: (() => void)[]): Transaction {
  return new HeardTransaction(tx, hearing, heard) as unknown as Transaction;
}
