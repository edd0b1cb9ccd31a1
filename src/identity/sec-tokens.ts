import { InvalidSecToken, NotFound, StoreUnavailable } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import type { OwnedSecretKey } from "../store/tables/owned-secret-key.ts";
import type { SecTokenRow } from "../store/tables/sec-tokens.ts";
import type { UserPrincipal } from "./principal.ts";
import { hashOf, isOwnedSecret, keyOf, newOwnedSecret } from "./secrets.ts";
import type { SignIn, SignInTables } from "./sign-in.ts";
import { suspensionProblem } from "./suspension.ts";

/** A secToken expires 60 minutes after its last use, and 24 hours after it was issued. */
export const secTokenLifetime = { idleMs: 60 * 60_000, longestMs: 24 * 60 * 60_000, renewEveryMs: 60_000 };

export interface Login {
  readonly name: string;
  readonly password: string;
  /** As the caller sent it. An unknown tenant id fails like a wrong password. */
  readonly appId: string;
  /** The address of the caller. */
  readonly source: string;
  /** Aborts when the client disconnects. */
  readonly disconnected?: AbortSignal | undefined;
}

export interface SecTokens {
  login(login: Login): Promise<{ readonly userId: UserId; readonly secToken: string }>;
  /** For an administrator who acts on behalf of a user. The caller has checked that. */
  issueFor(userId: UserId): Promise<string>;
  logout(secToken: string): Promise<void>;
  authenticate(secToken: string): Promise<UserPrincipal>;
  /** Removes expired tokens; returns how many. */
  sweep(): Promise<number>;
}

export interface SecTokenParts {
  readonly store: Store<SignInTables>;
  readonly signIn: SignIn;
  /** Called when a token was removed because its user had too many. */
  readonly onLimitReached?: OnLimitReached | undefined;
}

export function secTokensOn({ store, signIn, onLimitReached }: SecTokenParts): SecTokens {
  /** Best effort: a call with a valid token must not fail because of the renewal, for example on a full disk. */
  async function renew(key: OwnedSecretKey): Promise<void> {
    try {
      await store.transaction(async (tx) => {
        const row = await tx.secTokens.find(key);
        const nowMs = await tx.clock.nowMs();
        if (row && needsRenewal(row, nowMs)) await tx.secTokens.renew(row, nowMs);
      });
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }

  /** The caller holds the user's lock. At the limit, the token with the oldest last use is removed. */
  async function add(tx: SignInTables, userId: UserId, nowMs: number): Promise<string> {
    const left = await tx.secTokens.keepLastUsed(userId, limits.secTokensPerUser - 1);
    if (left > 0) onLimitReached?.("secTokensPerUser");
    const secToken = newSecToken(userId);
    await tx.secTokens.add({ userId, hash: hashOf(secToken) }, nowMs);
    return secToken;
  }

  return {
    login({ name, password, appId, source, disconnected }) {
      return signIn({ tenantId: appId, name, password, source, disconnected }, async (tx, { id: userId }) => {
        return { userId, secToken: await add(tx, userId, await tx.clock.nowMs()) };
      });
    },

    async issueFor(userId) {
      return store.transaction(async (tx) => {
        // The lock serialises this with a password change, which ends all tokens.
        const nowMs = await tx.users.lock(userId);
        if (nowMs === undefined) throw new NotFound(`There is no user ${userId}. See all with: breezeway user list`);
        return add(tx, userId, nowMs);
      });
    },

    async logout(secToken) {
      const wasThere = await store.transaction((tx) => tx.secTokens.remove(keyOf(secToken)));
      if (!wasThere) throw new InvalidSecToken();
    },

    async authenticate(secToken) {
      if (!isOwnedSecret(secTokenPrefix, secToken)) throw new InvalidSecToken();
      const key = keyOf(secToken);
      const found = await store.read(async (tx) => {
        const row = await tx.secTokens.find(key);
        const user = row && (await tx.users.byId(row.userId));
        return user && { row, user, nowMs: await tx.clock.nowMs() };
      });
      if (!found || isExpired(found.row, found.nowMs)) throw new InvalidSecToken();
      const problem = suspensionProblem(found.user);
      if (problem) throw new InvalidSecToken(problem);
      if (needsRenewal(found.row, found.nowMs)) await renew(key);
      return { kind: "user", userId: found.user.id, tenantId: found.user.tenantId };
    },

    sweep() {
      const { idleMs, longestMs } = secTokenLifetime;
      return store.transaction(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        return tx.secTokens.removeUnusedSince(nowMs - idleMs, nowMs - longestMs);
      });
    },
  };
}

function isExpired({ issuedMs, usedMs }: SecTokenRow, nowMs: number): boolean {
  return nowMs - usedMs >= secTokenLifetime.idleMs || nowMs - issuedMs >= secTokenLifetime.longestMs;
}

function needsRenewal({ usedMs }: SecTokenRow, nowMs: number): boolean {
  return nowMs - usedMs >= secTokenLifetime.renewEveryMs;
}

const secTokenPrefix = "bws_";

function newSecToken(userId: UserId): string {
  return newOwnedSecret(secTokenPrefix, userId);
}
