import type { OpenStore } from "../store/seam.ts";

/** Deliveries are counted up to this number: a gauge needs no more, and counting all would scan the table. */
const countedAtMost = 100_000;

/** How many webhook deliveries wait, and for how long the oldest one has been due. */
export async function deliveryBacklog(store: OpenStore): Promise<{ readonly waiting: number; readonly lagMs: number }> {
  const { waiting, dueMs, nowMs } = await store.read(async (tx) => ({
    ...(await tx.deliveries.backlog(countedAtMost)),
    nowMs: await tx.clock.nowMs(),
  }));
  return { waiting, lagMs: dueMs === null ? 0 : Math.max(0, nowMs - dueMs) };
}
