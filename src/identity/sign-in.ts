import { InvalidLogin } from "../model/errors.ts";
import { parseId, type TenantId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { UserRow } from "../store/tables/users.ts";
import { type Audit, auditEntry } from "./audit.ts";
import type { FailureLimits } from "./failure-limits.ts";
import { readName, readText } from "./names.ts";
import type { Passwords } from "./passwords.ts";

export interface SignInAttempt {
  /** As the caller sent it; one that is no tenant's id fails like a wrong password. */
  readonly tenantId: string;
  readonly name: string;
  readonly password: string;
  /** The address the attempt comes from. */
  readonly source: string;
  /** Aborts when the attempt's client is gone: an attempt that still waits ends, and nothing is counted. */
  readonly gone?: AbortSignal | undefined;
  /** The client that sent them here; none at the platform's own door. */
  readonly clientId?: string;
}

/** The tables that a door may write to while it lets somebody in. */
export type SignInTables = Pick<Transaction, "tenants" | "users" | "secTokens" | "signIns" | "audit" | "clock">;

/**
 * Checks a password and lets its owner in: `enter` runs under the user's lock, when it is certain that the password is
 * still the one that was checked. Rejects with InvalidLogin, alike for a wrong name and a wrong password. All doors share
 * one count of failures, and leave an entry in the audit log.
 */
export type SignIn = <Result>(attempt: SignInAttempt, enter: Enter<Result>) => Promise<Result>;

type Enter<Result> = (tx: SignInTables, user: UserRow) => Promise<Result>;

export interface SignInParts {
  readonly store: Store<SignInTables>;
  readonly passwords: Passwords;
  readonly limits: FailureLimits;
  readonly audit: Pick<Audit, "record">;
}

/** Failures of one source in one window (10 minutes) that the audit log shows one by one; then every 100th. */
export const writtenOneByOne = 100;

/** A stranger must not fill the audit log, which is kept for a year. */
function isWritten(failuresOfSource: number): boolean {
  return failuresOfSource < writtenOneByOne || (failuresOfSource + 1) % 100 === 0;
}

export function signInOn({ store, passwords, limits, audit }: SignInParts): SignIn {
  async function find(tenantId: string, name: string) {
    const id = parseId<TenantId>(tenantId);
    return store.read(async (tx) => ({
      tenant: id && (await tx.tenants.byId(id)),
      user: id && (await tx.users.byName(id, name)),
    }));
  }

  /** Undefined when the password was changed, or the user removed, while we were checking the old one. */
  async function letIn<Result>(user: UserRow, attempt: SignInAttempt, enter: Enter<Result>) {
    const { password, source, clientId } = attempt;
    // With yesterday's parameters it was stored, with today's it is kept.
    const renewedHash = passwords.isOutdated(user.passwordHash) ? await passwords.rehash(password, attempt) : undefined;
    return store.transaction(async (tx) => {
      await tx.users.lock(user.id);
      const current = await tx.users.byId(user.id);
      if (current?.passwordHash !== user.passwordHash) return undefined;
      if (renewedHash !== undefined) await tx.users.setPasswordHash(user.id, renewedHash);
      await tx.audit.add(auditEntry({ act: "sign_in", tenantId: user.tenantId, userId: user.id, clientId, source }));
      return { result: await enter(tx, user) };
    });
  }

  async function tryOnce<Result>(attempt: SignInAttempt, name: string, enter: Enter<Result>) {
    const { tenant, user } = await find(attempt.tenantId, name);
    const isRight = await passwords.isRight(attempt.password, user?.passwordHash, attempt);
    return { tenant, user, isRight, letInside: user && isRight ? await letIn(user, attempt, enter) : undefined };
  }

  return async (attempt, enter) => {
    const { tenantId, password, source, clientId, gone } = attempt;
    const name = readName("name", attempt.name);
    readText("password", password);
    const check = async (failuresOfSource: number) => {
      const first = await tryOnce(attempt, name, enter);
      // Changed while we checked: by a new password, or by another sign-in that hashed the same one anew.
      const last = first.isRight && !first.letInside ? await tryOnce(attempt, name, enter) : first;
      // Nothing that was typed: an unknown name may be a password in the wrong field.
      const meant = { tenantId: last.tenant?.id, userId: last.user?.id, clientId };
      if (!last.letInside && isWritten(failuresOfSource)) {
        const detail = failuresOfSource < writtenOneByOne ? {} : { failuresOfSource: failuresOfSource + 1 };
        await audit.record({ act: "sign_in_failed", ...meant, source, detail });
      }
      return last.letInside;
    };
    const entered = await limits.attempt(JSON.stringify([tenantId, name]), source, check, gone);
    if (!entered) throw new InvalidLogin();
    return entered.result;
  };
}
