import type { ErrorOwners } from "../runtime/error-owners.ts";
import type { Store } from "./seam.ts";

/**
 * The same store, for callers that own their errors. A body runs for its caller. The store's own connections, queues and
 * timers run for nobody: all callers share them, so an error in them must not be taken for one caller's.
 */
export function ownerlessStore<Tables>(store: Store<Tables>, owners: ErrorOwners): Store<Tables> {
  return {
    isShared: store.isShared,
    transaction: (body, priority) =>
      owners.outside((asCaller) => store.transaction((tx) => asCaller(() => body(tx)), priority)),
    read: (body, priority) => owners.outside((asCaller) => store.read((tx) => asCaller(() => body(tx)), priority)),
  };
}
