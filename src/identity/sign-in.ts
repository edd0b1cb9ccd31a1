import { InvalidLogin } from "../model/errors.ts";
import { parseId, type TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { UserRow } from "../store/tables/users.ts";
import { type Audit, auditEntry } from "./audit.ts";
import { type FailureLimits, signInAccount } from "./failure-limits.ts";
import { readName, readText } from "./names.ts";
import type { Passwords } from "./passwords.ts";
import { refuseSuspended } from "./suspension.ts";

export interface SignInAttempt {
  /** As the caller sent it. An unknown tenant id fails like a wrong password. */
  readonly tenantId: string;
  readonly name: string;
  readonly password: string;
  /** The address of the caller. */
  readonly source: string;
  /** Aborts when the caller disconnects: an attempt that still waits ends, and is not counted. */
  readonly disconnected?: AbortSignal | undefined;
  /** The OAuth client that sent the user here; undefined for a platform login and on the account page. */
  readonly clientId?: string;
  /** Where the user signs in, for the audit log, if no client sent the user there. */
  readonly page?: "account";
}

/** The tables that a sign-in may write to. */
export type SignInTables = Pick<
  Transaction,
  "tenants" | "users" | "secTokens" | "userSessions" | "signIns" | "linkSessions" | "audit" | "clock"
>;

/**
 * Checks a password, then runs `enter` under the user's lock, after it has made sure that the password was not changed
 * meanwhile. Rejects with InvalidLogin, both for a wrong name and a wrong password, and for a suspended user, whom the error
 * names as such. Platform logins and OAuth sign-ins share one count of failures, and both are audited.
 */
export type SignIn = <Result>(attempt: SignInAttempt, enter: Enter<Result>) => Promise<Result>;

type Enter<Result> = (tx: SignInTables, user: UserRow) => Promise<Result>;

export interface SignInParts {
  readonly store: Store<SignInTables>;
  readonly passwords: Passwords;
  readonly limits: FailureLimits;
  readonly audit: Pick<Audit, "record">;
}

/** The first failures of one source in a window (10 minutes) are audited one by one; after these, every 100th. */
export const auditedOneByOne = 100;

/** An attacker must not fill the audit log, which is kept for a year. */
export function isAudited(failuresOfSource: number): boolean {
  return failuresOfSource < auditedOneByOne || (failuresOfSource + 1) % 100 === 0;
}

export function signInOn({ store, passwords, limits, audit }: SignInParts): SignIn {
  async function find(tenantId: string, name: string) {
    const id = parseId<TenantId>(tenantId);
    return store.read(async (tx) => ({
      tenant: id && (await tx.tenants.byId(id)),
      user: id && (await tx.users.byName(id, name)),
    }));
  }

  /** Undefined when the password was changed, or the user removed, during the check. */
  async function enterWith<Result>(user: UserRow, attempt: SignInAttempt, enter: Enter<Result>) {
    const { password, source, clientId, page } = attempt;
    // A hash with outdated parameters is replaced.
    const renewedHash = passwords.isOutdated(user.passwordHash) ? await passwords.rehash(password, attempt) : undefined;
    return store.transaction(async (tx) => {
      await tx.users.lock(user.id);
      const current = await tx.users.byId(user.id);
      if (current?.passwordHash !== user.passwordHash) return undefined;
      refuseSuspended(current);
      if (renewedHash !== undefined) await tx.users.setPasswordHash(user.id, renewedHash);
      const subject = { tenantId: user.tenantId, userId: user.id, clientId };
      await tx.audit.add(auditEntry({ act: "sign_in", ...subject, source, detail: { page } }));
      return { result: await enter(tx, user) };
    });
  }

  async function tryOnce<Result>(attempt: SignInAttempt, name: string, enter: Enter<Result>) {
    const { tenant, user } = await find(attempt.tenantId, name);
    const isRight = await passwords.isRight(attempt.password, user?.passwordHash, attempt);
    if (user && isRight && user.suspendedMs !== null) {
      const { source, clientId } = attempt;
      const subject = { tenantId: user.tenantId, userId: user.id, clientId };
      await audit.record({ act: "sign_in_failed", ...subject, source, detail: { suspended: true } });
      refuseSuspended(user);
    }
    return { tenant, user, isRight, entered: user && isRight ? await enterWith(user, attempt, enter) : undefined };
  }

  return async (attempt, enter) => {
    const { tenantId, password, source, clientId, disconnected, page } = attempt;
    const name = readName("name", attempt.name);
    readText("password", password);
    const check = async (failuresOfSource: number) => {
      const first = await tryOnce(attempt, name, enter);
      // The stored hash changed meanwhile, by a new password or by another sign-in that replaced an outdated hash: retry.
      const last = first.isRight && !first.entered ? await tryOnce(attempt, name, enter) : first;
      // Only ids, never typed text: an unknown name may be a password in the wrong field.
      const subject = { tenantId: last.tenant?.id, userId: last.user?.id, clientId };
      if (!last.entered && isAudited(failuresOfSource)) {
        const detail = { page, ...(failuresOfSource >= auditedOneByOne && { failuresOfSource: failuresOfSource + 1 }) };
        await audit.record({ act: "sign_in_failed", ...subject, source, detail });
      }
      return last.entered;
    };
    const admitted = await limits.attempt(signInAccount(tenantId, name), source, check, disconnected);
    if (!admitted) throw new InvalidLogin();
    return admitted.result;
  };
}
