import { StoreUnavailable } from "../model/errors.ts";
import type { OpenStore, Transaction } from "../store/seam.ts";
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
    neighbours: store.neighbours,
    read: (body, priority) => store.read(body, priority),
    health: () => store.health(),
    size: () => store.size(),
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

function listening(tx: Transaction, hearing: StoreHearing, heard: (() => void)[]): Transaction {
  const log: Transaction["log"] = Object.create(tx.log, {
    append: {
      value(entry: LogEntry) {
        heard.push(() => hearing.logged(entry));
        return tx.log.append(entry);
      },
    },
  });
  const blindIntervals: Transaction["blindIntervals"] = Object.create(tx.blindIntervals, {
    add: {
      value(...given: Parameters<Transaction["blindIntervals"]["add"]>) {
        heard.push(() => hearing.blind(given[2]));
        return tx.blindIntervals.add(...given);
      },
    },
  });
  const deliveries: Transaction["deliveries"] = Object.create(tx.deliveries, {
    settle: {
      value(...given: Parameters<Transaction["deliveries"]["settle"]>) {
        heard.push(() => hearing.delivery(given[1]));
        return tx.deliveries.settle(...given);
      },
    },
    postpone: {
      value(...given: Parameters<Transaction["deliveries"]["postpone"]>) {
        heard.push(() => hearing.delivery("postponed"));
        return tx.deliveries.postpone(...given);
      },
    },
  });
  return { ...tx, log, blindIntervals, deliveries };
}
