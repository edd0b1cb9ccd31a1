import type { OpenStore, Priority, Store, Transaction } from "../../src/store/seam.ts";

export interface Statement {
  /** Table and method, as `devices.lock`. */
  readonly name: string;
  readonly parameters: readonly unknown[];
  /** How many statements of the transaction had been answered when this one was sent. */
  readonly answersBefore: number;
}

/** A store that notes the statements of its transactions, and the priority of each transaction. */
export interface WatchedStore extends Store<Transaction> {
  /** Tests may replace it. */
  read: Store<Transaction>["read"];
  readonly statements: Statement[];
  readonly priorities: (Priority | undefined)[];
}

export function watchedStore(store: OpenStore): WatchedStore {
  const statements: Statement[] = [];
  const priorities: (Priority | undefined)[] = [];
  return {
    statements,
    priorities,
    isShared: store.isShared,
    read: (body, priority) => store.read(body, priority),
    transaction(body, priority) {
      priorities.push(priority);
      return store.transaction((tx) => body(watchedTables(tx, statements)), priority);
    },
  };
}

type Method = (...parameters: readonly unknown[]) => Promise<unknown>;

function watchedTables(tx: Transaction, statements: Statement[]): Transaction {
  let answers = 0;
  const watchedMethod = (name: string, method: Method): Method => {
    return async (...parameters) => {
      statements.push({ name, parameters, answersBefore: answers });
      const answer = await method(...parameters);
      answers += 1;
      return answer;
    };
  };
  return new Proxy(tx, {
    get: (tables, table: keyof Transaction) =>
      new Proxy(tables[table], {
        get: (methods, method: string) => watchedMethod(`${table}.${method}`, Reflect.get(methods, method)),
      }),
  });
}
