import type { Store, Transaction } from "./seam.ts";

/**
 * Whether versions that don't know a step of the schema use the store. `refused`: no node of such a version is listed,
 * and the store refuses them from now on; one that started at the same moment shows up by its heartbeat.
 */
export type OlderVersions = "at work" | "refused" | "gone";

/** After this time a node that started while its version was refused has sent a heartbeat. */
export const confirmOlderMs = 15_000;

/** Makes the store refuse versions that don't know the step, as soon as none of their nodes is listed. */
export function refuseOlderVersions(store: Store<Pick<Transaction, "nodes">>, step: number): Promise<OlderVersions> {
  return store.transaction(async (tx) => {
    if (store.isShared && !(await tx.nodes.doAllKnow(step))) return "at work";
    const wereRefused = await tx.nodes.refuseOlder(step);
    return wereRefused || !store.isShared ? "gone" : "refused";
  });
}
