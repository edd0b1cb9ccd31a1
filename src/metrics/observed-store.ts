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

/** Copies with other functions in a few places: to inherit from a table costs ten times as much, at each transaction. */
function listening(tx: Transaction, hearing: StoreHearing, heard: (() => void)[]): Transaction {
  return {
    ...tx,
    log: {
      ...tx.log,
      append(entry) {
        heard.push(() => hearing.logged(entry));
        return tx.log.append(entry);
      },
    },
    blindIntervals: {
      ...tx.blindIntervals,
      add(userId, deviceId, interval) {
        heard.push(() => hearing.blind(interval));
        return tx.blindIntervals.add(userId, deviceId, interval);
      },
    },
    deliveries: {
      ...tx.deliveries,
      settle(delivery, state, nowMs, attempt) {
        heard.push(() => hearing.delivery(state));
        return tx.deliveries.settle(delivery, state, nowMs, attempt);
      },
      postpone(delivery, untilMs, attempt) {
        heard.push(() => hearing.delivery("postponed"));
        return tx.deliveries.postpone(delivery, untilMs, attempt);
      },
    },
  };
}
