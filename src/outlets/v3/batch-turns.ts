import { OwnerQueues } from "../../events/owner-queues.ts";
import { ownerWithin } from "../../model/access-scope.ts";
import { LimitReached } from "../../model/errors.ts";
import type { TenantId } from "../../model/ids.ts";
import { limits } from "../../model/limits.ts";

/** Limits the batches on one node, so that no tenant takes more than its share of the store. */
export class BatchTurns {
  readonly #running = new Set<TenantId>();
  readonly #queues = new OwnerQueues(
    "batchesWaiting",
    `More than ${limits.batchesWaiting} requests of this tenant wait for a batch or for states. Send fewer at the same time.`,
  );

  /** Begins a batch of any number of lines; the returned function ends it. A second one of a tenant is refused. */
  begin(tenantId: TenantId): () => void {
    if (this.#running.has(tenantId)) {
      throw new LimitReached(
        "batchesPerTenant",
        "A batch of this tenant is running. Send the next one when it has ended.",
      );
    }
    if (this.#running.size >= limits.batchesPerNode) {
      throw new LimitReached("batchesPerNode", "This node carries out as many batches as it can. Try again later.");
    }
    this.#running.add(tenantId);
    return () => void this.#running.delete(tenantId);
  }

  /** Runs requests with a limited number of lines one after another for each tenant. */
  inTurn<Result>(tenantId: TenantId, act: () => Promise<Result>): Promise<Result> {
    return this.#queues.run(ownerWithin({ kind: "enterprise", tenantId }), act);
  }
}
