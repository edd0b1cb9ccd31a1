import { type Audit, auditEntry } from "../identity/audit.ts";
import type { FailureLimits } from "../identity/failure-limits.ts";
import { readName, readText } from "../identity/names.ts";
import type { Passwords } from "../identity/passwords.ts";
import { hashOf } from "../identity/secrets.ts";
import { auditedOneByOne, isAudited } from "../identity/sign-in.ts";
import { InvalidLogin, NotSignedIn } from "../model/errors.ts";
import type { OnLimitReached } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import type { OperatorRow } from "../store/tables/operators.ts";
import type { Operator } from "./operator.ts";
import { openSession, type SessionOrigin } from "./sessions.ts";
import type { OperatorTables } from "./tables.ts";

export interface OperatorSignInAttempt extends SessionOrigin {
  readonly name: string;
  readonly password: string;
  readonly disconnected?: AbortSignal | undefined;
}

export interface SignIns {
  /** Rejects with InvalidLogin. Returns the secret of the session's cookie. */
  signIn(attempt: OperatorSignInAttempt): Promise<string>;
  signOut(secret: string, source: string): Promise<void>;
  /** Checks the password again. The session counts as confirmed for 5 minutes. */
  confirm(operator: Operator, secret: string, attempt: Omit<OperatorSignInAttempt, "name">): Promise<void>;
}

export interface SignInParts {
  readonly store: Store<OperatorTables>;
  readonly passwords: Passwords;
  readonly failureLimits: FailureLimits;
  readonly audit: Pick<Audit, "record">;
  readonly onLimitReached: OnLimitReached;
}

export function operatorSignInOn({ store, passwords, failureLimits, audit, onLimitReached }: SignInParts): SignIns {
  type Entered<Result> = (tx: OperatorTables, operator: OperatorRow) => Promise<Result>;

  /** Undefined when the password is wrong, or was changed during the check. */
  async function tryOnce<Result>(attempt: OperatorSignInAttempt, name: string, enter: Entered<Result>) {
    const operator = await store.read((tx) => tx.operators.byName(name));
    const storedHash = operator?.isSuspended ? undefined : (operator?.passwordHash ?? undefined);
    const isRight = await passwords.isRight(attempt.password, storedHash, attempt);
    if (!operator || !isRight) return { operator, entered: undefined };
    const entered = await store.transaction(async (tx) => {
      // The lock serialises this with a suspension and with a claim, which end all sessions.
      const current = await tx.operators.lock(operator.id);
      if (!current || current.isSuspended || current.passwordHash !== storedHash) return undefined;
      return { result: await enter(tx, current) };
    });
    return { operator, entered };
  }

  async function attemptOf<Result>(attempt: OperatorSignInAttempt, enter: Entered<Result>): Promise<Result> {
    const name = readName("name", attempt.name);
    readText("password", attempt.password);
    const { source, disconnected } = attempt;
    const check = async (failuresOfSource: number) => {
      const { operator, entered } = await tryOnce(attempt, name, enter);
      if (!entered && isAudited(failuresOfSource)) {
        const detail = failuresOfSource < auditedOneByOne ? {} : { failuresOfSource: failuresOfSource + 1 };
        // Only the name of a known operator: other text may be a password in the wrong field.
        await audit.record({ act: "operator_sign_in_failed", operator: operator?.name, source, detail });
      }
      return entered;
    };
    const admitted = await failureLimits.attempt(JSON.stringify(["operator", name]), source, check, disconnected);
    if (!admitted) throw new InvalidLogin();
    return admitted.result;
  }

  return {
    signIn: (attempt) =>
      attemptOf(attempt, async (tx, { id, name }) => {
        await tx.audit.add(auditEntry({ act: "operator_sign_in", operator: name, source: attempt.source }));
        return openSession(tx, id, attempt, onLimitReached);
      }),
    signOut: (secret, source) =>
      store.transaction(async (tx) => {
        const session = await tx.operatorSessions.find(hashOf(secret));
        const operator = session && (await tx.operators.byId(session.operatorId));
        if (!session || !(await tx.operatorSessions.remove(session.hash))) return;
        await tx.audit.add(auditEntry({ act: "operator_sign_out", operator: operator?.name, source }));
      }),
    confirm: ({ name, operatorId }, secret, attempt) =>
      attemptOf({ ...attempt, name }, async (tx, operator) => {
        const session = await tx.operatorSessions.find(hashOf(secret));
        if (session?.operatorId !== operatorId || operator.id !== operatorId) throw new NotSignedIn();
        await tx.operatorSessions.confirmed(session.hash, await tx.clock.nowMs());
        await tx.audit.add(auditEntry({ act: "operator_password", operator: name, source: attempt.source }));
      }),
  };
}
