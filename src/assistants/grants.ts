import type { TenantId, UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AssistantGrantKey, ListedGrant } from "../store/tables/assistant-grants.ts";
import type { ChosenDevices } from "./assistant.ts";
import type { Outlet } from "./outlets.ts";

export type GrantTables = Pick<
  Transaction,
  "assistantGrants" | "assistantMarks" | "assistantReplies" | "log" | "logEpoch" | "clock"
>;

export interface GrantParts {
  readonly store: Store<GrantTables>;
  readonly sealing: {
    seal(text: string, context: string): string;
    open(sealed: string, context: string): string;
  };
  /** The user's opaque id at assistants. */
  readonly agentUserIdOf: (tenantId: TenantId, userId: UserId) => string;
  /** Wakes the reporter. */
  readonly wake: () => void;
}

/** A late answer to a command, as a route hands it over. */
export interface NewReply {
  readonly commandId: string;
  readonly thingId: string;
  /** What the assistant needs to recognise the answer. */
  readonly reply: object;
}

/** The users who have linked an outlet. */
export interface AssistantGrants {
  agentUserIdOf(tenantId: TenantId, userId: UserId): string;
  /**
   * The assistant has shown that the user has linked it. The first time, everything is reported, and at each list of
   * devices (`isListed`): the assistant knows no state of a device that is new in the list. `given`: what the assistant
   * gave for reports about this user; it replaces what it gave before.
   */
  establish(
    outlet: Pick<Outlet, "id" | "tenantId" | "clientId">,
    userId: UserId,
    how?: {
      readonly isListed?: boolean;
      readonly messagingAccess?: { readonly credential: object; readonly region: string | null };
    },
  ): Promise<void>;
  /** The assistant gets a list of devices: what it has from now on is compared with this when the next devices change. */
  listed(outletId: string, userId: UserId, devices: ChosenDevices): Promise<void>;
  /** The user has ended the link: nothing is reported any more. */
  forget(outletId: string, userId: UserId): Promise<boolean>;
  /** Things that are gone, that the assistant was offered, and that it is not to delete yet. */
  leaving(outletId: string, userId: UserId): Promise<readonly string[]>;
  /** Has the outcome of this command told when it is known; false when the user has not linked the outlet. */
  replyLater(outletId: string, userId: UserId, reply: NewReply): Promise<boolean>;
  /**
   * Has everything reported again, with the list of devices: a device that the assistant has and is not offered is
   * deleted there. Returns whether the user has linked the outlet.
   */
  reportAll(outletId: string, userId: UserId): Promise<boolean>;
  ofOutlet(outletId: string, limit: number): Promise<readonly ListedGrant[]>;
  /** The grant of this user; none when the user has not linked the outlet. */
  ofUser(outletId: string, userId: UserId): Promise<readonly ListedGrant[]>;
  countOfOutlet(outletId: string): Promise<number>;
  /** For each outlet with users whose last report failed: how many these are, and one of the reasons. */
  failing(): Promise<readonly { readonly outletId: string; readonly users: number; readonly problem: string }[]>;
}

/** An assistant waits no longer for an outcome. A command without one by then is told as such. */
const replyKeptMs = 120_000;
const repliesPerGrant = 100;

export function assistantGrants({ store, sealing, agentUserIdOf, wake }: GrantParts): AssistantGrants {
  return {
    agentUserIdOf,
    async establish({ id: outletId, tenantId, clientId }, userId, { isListed = false, messagingAccess } = {}) {
      if (!messagingAccess && !isListed && (await store.read((tx) => tx.assistantGrants.find({ userId, outletId }))))
        return;
      await store.transaction(async (tx) => {
        await beginFeed(tx);
        const sealedCredential =
          messagingAccess &&
          sealing.seal(JSON.stringify(messagingAccess.credential), credentialContext(userId, outletId));
        const known = await tx.assistantGrants.lock({ userId, outletId });
        if (messagingAccess || !known) {
          await tx.assistantGrants.put({
            userId,
            outletId,
            clientId,
            agentUserId: agentUserIdOf(tenantId, userId),
            ...(messagingAccess && { sealedCredential: sealedCredential!, region: messagingAccess.region }),
          });
        }
        await markAll(tx, { userId, outletId }, { afterMs: listingMs });
      });
      wake();
    },
    async listed(outletId, userId, { offered, omitted }) {
      const key = { userId, outletId };
      const ids = omitted.map(({ id }) => id);
      const stored = await store.read((tx) => tx.assistantGrants.find(key));
      if (!stored || (stored.omitted ?? []).join() === ids.join()) return;
      await store.transaction(async (tx) => {
        if (!(await tx.assistantGrants.lock(key))) return;
        const before = new Set((await tx.assistantGrants.find(key))?.omitted ?? ids);
        const nowMs = await tx.clock.nowMs();
        // An assistant may keep a device that is not in the list: it is told to delete it. Of a new one it is told the state.
        const going = omitted.filter(({ id }) => !before.has(id));
        const coming = offered.filter(({ id }) => before.has(id));
        const shifted = new Set([...going, ...coming].map(({ thingId }) => thingId));
        const due = { sinceMs: 0, stateMs: nowMs + listingMs, syncMs: nowMs + listingMs };
        const marks = [...shifted].map((thingId) => ({ ...key, thingId, ...due }));
        await tx.assistantMarks.addAll(marks, nowMs);
        await tx.assistantGrants.setOmitted(key, ids);
        await tx.assistantGrants.wakeAt(key, nowMs + listingMs);
      });
      wake();
    },
    forget: (outletId, userId) => store.transaction((tx) => tx.assistantGrants.remove({ userId, outletId })),
    leaving: (outletId, userId) =>
      store.read(async (tx) => {
        const leaving = await tx.assistantMarks.leaving({ userId, outletId }, await tx.clock.nowMs());
        if (leaving.length === 0) return leaving;
        const omitted = new Set((await tx.assistantGrants.find({ userId, outletId }))?.omitted);
        return leaving.filter((thingId) => !omitted.has(thingId));
      }),
    replyLater: (outletId, userId, { commandId, thingId, reply }) =>
      store.transaction(async (tx) => {
        if (!(await tx.assistantGrants.lock({ userId, outletId }))) return false;
        const nowMs = await tx.clock.nowMs();
        const expiresMs = nowMs + replyKeptMs;
        const row = { userId, outletId, commandId, thingId, reply: JSON.stringify(reply), expiresMs };
        await tx.assistantReplies.add(row, repliesPerGrant);
        // The outcome may have come between the last look and this transaction.
        await tx.assistantMarks.add({ userId, outletId, thingId, stateMs: nowMs }, nowMs);
        await tx.assistantGrants.wakeAt({ userId, outletId }, nowMs);
        return true;
      }),
    async reportAll(outletId, userId) {
      const isLinked = await store.transaction(async (tx) => {
        if (!(await tx.assistantGrants.lock({ userId, outletId }))) return false;
        await markAll(tx, { userId, outletId }, { isSync: true });
        // The operator has mended what made the last report fail.
        await tx.assistantGrants.wakeResumed({ userId, outletId }, await tx.clock.nowMs());
        return true;
      });
      wake();
      return isLinked;
    },
    ofOutlet: (outletId, limit) => store.read((tx) => tx.assistantGrants.ofOutlet(outletId, limit)),
    async ofUser(outletId, userId) {
      const grant = await store.read((tx) => tx.assistantGrants.find({ userId, outletId }));
      return grant ? [grant] : [];
    },
    countOfOutlet: (outletId) => store.read((tx) => tx.assistantGrants.countOfOutlet(outletId)),
    failing: () => store.read((tx) => tx.assistantGrants.failing()),
  };
}

/** The id of a mark that stands for all things of the user. */
export const allThings = "";

/** An assistant refuses a report about a device before it has read the list of devices. */
export const listingMs = 2_000;

/** The caller holds the grant's lock. */
async function markAll(
  tx: Pick<Transaction, "assistantMarks" | "assistantGrants" | "clock">,
  key: AssistantGrantKey,
  { afterMs = 0, isSync = false },
): Promise<void> {
  const nowMs = await tx.clock.nowMs();
  const dueMs = nowMs + afterMs;
  const mark = { thingId: allThings, stateMs: dueMs, ...(isSync && { syncMs: dueMs }) };
  await tx.assistantMarks.add({ ...key, ...mark }, nowMs);
  await tx.assistantGrants.wakeAt(key, dueMs);
}

/** Without any grant the feed does not advance, so it starts at the present end. */
async function beginFeed(tx: GrantTables): Promise<void> {
  const feed = await tx.assistantMarks.lockFeed();
  if (await tx.assistantGrants.isAny()) return;
  const end = await tx.log.end();
  await tx.assistantMarks.setFeed({ ...feed, ...end, urgent: end, epoch: (await tx.logEpoch.current()).name });
}

/** The context that a credential is sealed with: it opens only for this user of this outlet. */
export function credentialContext(userId: UserId, outletId: string): string {
  return `assistant credential ${userId} ${outletId}`;
}
