import type { ErrorOwners } from "../runtime/error-owners.ts";
import type { Store } from "./seam.ts";

/**
 * Wraps a store so that errors have the right owner (runtime/error-owners.ts). A body runs for its caller. The store's
 * connections, queues and timers run without an owner: all callers share them, so their errors must not be attributed to
 * one caller.
 */
export function ownerlessStore<Tables>(store: Store<Tables>, owners: ErrorOwners): Store<Tables> {
  return {
    isShared: store.isShared,
    transaction: (body, priority) =>
      owners.outside((asCaller) => store.transaction((tx) => asCaller(() => body(tx)), priority)),
    read: (body, priority) => owners.outside((asCaller) => store.read((tx) => asCaller(() => body(tx)), priority)),
  };
}
