import type { Store } from "../../../src/store/seam.ts";

export type TableChanges<Tables> = { readonly [Name in keyof Tables]?: Partial<Tables[Name]> };

/** A store whose transactions and reads see other methods of some tables. */
export function withTables<Tables extends object>(
  store: Store<Tables>,
  change: (tx: Tables) => TableChanges<Tables>,
): Store<Tables> {
  return {
    isShared: store.isShared,
    transaction: (body, priority) => store.transaction((tx) => body(changedTables(tx, change(tx))), priority),
    read: (body, priority) => store.read((tx) => body(changedTables(tx, change(tx))), priority),
  };
}

export function changedTables<Tables extends object>(tx: Tables, changes: TableChanges<Tables>): Tables {
  return new Proxy(tx, {
    get(present, name) {
      const table = Reflect.get(present, name) as object;
      const change = changes[name as keyof Tables];
      return change === undefined ? table : withMethods(table, change);
    },
  });
}

/** An object with other methods. The rest still runs on the object itself, which may have private fields. */
export function withMethods<Whole extends object>(whole: Whole, methods: Partial<Whole>): Whole {
  return new Proxy(whole, {
    get(present, name) {
      const own = methods[name as keyof Whole];
      if (own !== undefined) return own;
      const value = Reflect.get(present, name, present);
      return typeof value === "function" ? value.bind(present) : value;
    },
  });
}
