import { auditEntry } from "../identity/audit.ts";
import { isOwnedSecret, keyOf, newOwnedSecret } from "../identity/secrets.ts";
import type { SignInTables } from "../identity/sign-in.ts";
import { suspensionProblem } from "../identity/suspension.ts";
import { StoreUnavailable } from "../model/errors.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { UserSessionRow } from "../store/tables/user-sessions.ts";

/**
 * A session ends 12 hours after the sign-in, and 30 minutes after its last use. `aheadMs`: so far may a last use lie in
 * the future. Beyond that the clock was set back, and how old the session is can't be told.
 */
export const sessionLifetime = {
  longestMs: 12 * 3_600_000,
  idleMs: 30 * 60_000,
  renewEveryMs: 60_000,
  aheadMs: 60_000,
};

/** A user who is signed in to the account page. */
export interface AccountUser {
  readonly userId: UserId;
  readonly tenantId: TenantId;
  readonly name: string;
  readonly createdMs: number;
}

export interface AccountSessions {
  /**
   * The user of a cookie's secret; undefined when the session has ended, belongs to another tenant, or its user is
   * suspended.
   */
  bySession(tenantId: TenantId, secret: string): Promise<AccountUser | undefined>;
  /** In how many browsers the user is signed in. */
  countSessions(user: AccountUser): Promise<number>;
  signOut(user: AccountUser, secret: string, source: string): Promise<void>;
  /** Ends all sessions of the user, sign-ins that wait for a decision about an app, and those on link pages. */
  signOutEverywhere(user: AccountUser, source: string): Promise<void>;
  /** Removes sessions that have ended; returns how many. */
  sweep(): Promise<number>;
}

export type SessionTables = Pick<
  Transaction,
  "users" | "userSessions" | "signIns" | "linkSessions" | "audit" | "clock"
>;

const prefix = "bwus_";

export function accountSessionsOn(store: Store<SessionTables>): AccountSessions {
  /** Best effort: a page must not fail because its time could not be stored. */
  async function renew(session: UserSessionRow, nowMs: number): Promise<void> {
    try {
      const next = { ...session, usedMs: nowMs, endsMs: endOf(session.createdMs, nowMs) };
      await store.transaction((tx) => tx.userSessions.used(next));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
  const audited = ({ tenantId, userId }: AccountUser, source: string, did: string) =>
    auditEntry({ act: "account", tenantId, userId, source, detail: { did } });
  return {
    async bySession(tenantId, secret) {
      if (!isOwnedSecret(prefix, secret)) return undefined;
      const found = await store.read(async (tx) => {
        const session = await tx.userSessions.find(keyOf(secret));
        const user = session && (await tx.users.byId(session.userId));
        return session && user && { session, user, nowMs: await tx.clock.nowMs() };
      });
      if (!found || found.user.tenantId !== tenantId || isOver(found.session, found.nowMs)) return undefined;
      const { session, user, nowMs } = found;
      if (suspensionProblem(user)) return undefined;
      if (nowMs - session.usedMs >= sessionLifetime.renewEveryMs) await renew(session, nowMs);
      return { userId: user.id, tenantId, name: user.name, createdMs: user.createdMs };
    },
    countSessions: ({ userId }) => store.read(async (tx) => tx.userSessions.count(userId, await tx.clock.nowMs())),
    signOut: (user, secret, source) =>
      store.transaction(async (tx) => {
        if (await tx.userSessions.remove(keyOf(secret))) await tx.audit.add(audited(user, source, "sign out"));
      }),
    signOutEverywhere: (user, source) =>
      store.transaction(async (tx) => {
        await tx.users.lock(user.userId);
        await tx.userSessions.removeOfUser(user.userId);
        await tx.signIns.removeOfUser(user.userId);
        await tx.linkSessions.signOut(user.userId);
        await tx.audit.add(audited(user, source, "sign out everywhere"));
      }),
    sweep: () => store.transaction(async (tx) => tx.userSessions.removeEnded(await tx.clock.nowMs())),
  };
}

/**
 * Opens a session in the transaction of a sign-in, which holds the user's lock. Returns the secret of its cookie. At the
 * limit, the session that was not used for the longest time ends.
 */
export async function openSession(
  tx: Pick<SignInTables, "userSessions" | "clock">,
  userId: UserId,
  onLimitReached: OnLimitReached,
): Promise<string> {
  const nowMs = await tx.clock.nowMs();
  const removedCount = await tx.userSessions.keepLastUsed(userId, limits.sessionsPerUser - 1);
  if (removedCount > 0) onLimitReached("sessionsPerUser");
  const secret = newOwnedSecret(prefix, userId);
  const { hash } = keyOf(secret);
  await tx.userSessions.add({ userId, hash, createdMs: nowMs, usedMs: nowMs, endsMs: endOf(nowMs, nowMs) });
  return secret;
}

function isOver({ usedMs, endsMs }: UserSessionRow, nowMs: number): boolean {
  return nowMs >= endsMs || usedMs - nowMs > sessionLifetime.aheadMs;
}

function endOf(createdMs: number, usedMs: number): number {
  return Math.min(createdMs + sessionLifetime.longestMs, usedMs + sessionLifetime.idleMs);
}
