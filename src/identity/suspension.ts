import { InvalidLogin } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { suspendedSentences } from "../model/suspension.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { UserRow } from "../store/tables/users.ts";
import type { WebhookRow } from "../store/tables/webhooks.ts";

/** A suspended user or a suspended client, by id. */
export type Suspended =
  | { readonly userId: UserId; readonly clientId?: never }
  | { readonly clientId: string; readonly userId?: never };

/**
 * The check of every sign-in of a user: throws InvalidLogin, which says that the user is suspended. Call it only after the
 * password was right, or for a session that began with a right password: others must not learn it.
 */
export function refuseSuspended({ suspendedMs }: Pick<UserRow, "suspendedMs">): void {
  if (suspendedMs !== null) throw new InvalidLogin({ isSuspended: true });
}

/** Why a grant of this user can't be used; undefined when it can. */
export function suspensionProblem(user: Pick<UserRow, "suspendedMs"> | undefined): string | undefined {
  return user && user.suspendedMs !== null ? suspendedSentences.user : undefined;
}

/** Tells all nodes, in the transaction of the suspension: they drop the tokens from their caches and end the streams. */
export async function announceSuspension(tx: Pick<Transaction, "log" | "clock">, suspended: Suspended): Promise<void> {
  const body = JSON.stringify({ suspended });
  const userId = suspended.userId ?? null;
  await tx.log.append({ userId, deviceId: null, kind: "revocation", timeMs: await tx.clock.nowMs(), body });
}

export type HeldTables = Pick<Transaction, "webhooks" | "deliveries" | "assistantGrants" | "clock">;

/** After a resume: what waits for the user's webhooks and assistants is sent now. */
export async function releaseOfUser(tx: HeldTables, userId: UserId): Promise<void> {
  const nowMs = await tx.clock.nowMs();
  const hooks = (await tx.webhooks.hearing([userId])).filter((webhook) => webhook.userId === userId);
  await releaseWebhooks(tx, hooks, nowMs);
  for (const grant of await tx.assistantGrants.ofUsers([userId])) {
    await tx.assistantGrants.wakeResumed(grant, nowMs);
  }
}

/** Webhooks of one transaction: others wait for it. */
const webhooksAtOnce = 100;

/** After a resume: what waits for the client's webhooks and assistants is sent now, a few webhooks at a time. */
export async function releaseOfClient(store: Store<HeldTables>, clientId: string): Promise<void> {
  for (let afterId = ""; ; ) {
    const some = await store.transaction(async (tx) => {
      const hooks = await tx.webhooks.listed({ clientId, afterId, limit: webhooksAtOnce });
      await releaseWebhooks(tx, hooks, await tx.clock.nowMs());
      return hooks;
    });
    const last = some.at(-1);
    if (some.length < webhooksAtOnce || !last) break;
    afterId = last.id;
  }
  await store.transaction(async (tx) => tx.assistantGrants.wakeOfClient(clientId, await tx.clock.nowMs()));
}

async function releaseWebhooks(tx: HeldTables, webhooks: readonly WebhookRow[], nowMs: number): Promise<void> {
  for (const webhook of webhooks) {
    await tx.webhooks.lock(webhook);
    await tx.deliveries.makeDue(webhook, nowMs);
  }
}
