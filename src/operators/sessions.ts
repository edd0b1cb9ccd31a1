import { randomBytes } from "node:crypto";
import { hashOf, isOwnedSecret, newSecret } from "../identity/secrets.ts";
import { NotFound, NotSignedIn, StoreUnavailable } from "../model/errors.ts";
import type { OperatorId } from "../model/ids.ts";
import { limits, type OnLimitReached } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import type { OperatorSessionRow } from "../store/tables/operator-sessions.ts";
import type { Operator } from "./operator.ts";
import { accessOf } from "./operator-access.ts";
import type { OperatorTables } from "./tables.ts";

/**
 * A session ends 12 hours after the sign-in, and 60 minutes after its last use. The password is confirmed for 5 minutes.
 * `aheadMs`: so far may a last use lie in the future. Beyond that the clock was set back, and how old the session is
 * can't be told.
 */
export const sessionLifetime = {
  longestMs: 12 * 3_600_000,
  idleMs: 60 * 60_000,
  confirmedMs: 5 * 60_000,
  renewEveryMs: 60_000,
  aheadMs: 60_000,
};

/** Where a session comes from, as lists show it. */
export interface SessionOrigin {
  readonly source: string;
  readonly userAgent: string;
}

/** A session without its secret. */
export interface SessionRecord {
  readonly id: string;
  readonly operatorId: OperatorId;
  readonly createdMs: number;
  readonly usedMs: number;
  readonly expiresMs: number;
  readonly address: string;
  readonly userAgent: string;
}

export interface Sessions {
  /**
   * The operator of a cookie's secret. Rejects with NotSignedIn. `isUse`: whether the operator does something. A request
   * that a page sends by itself is no use: a page that nobody looks at must not prolong its session.
   */
  bySession(secret: string, isUse?: boolean): Promise<Operator>;
  /** Of one operator, or of all. */
  listSessions(operatorId?: OperatorId): Promise<readonly SessionRecord[]>;
  /** Ends a session by its id; `operatorId` restricts it to this operator's own. */
  endSession(id: string, operatorId?: OperatorId): Promise<SessionRecord>;
}

const sessionPrefix = "bwos_";
const longestUserAgent = 200;

export function sessionsOn(store: Store<OperatorTables>): Sessions {
  /** Best effort: a call must not fail because its time could not be stored. */
  async function renew(hash: string): Promise<void> {
    try {
      await store.transaction(async (tx) => tx.operatorSessions.used(hash, await tx.clock.nowMs()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
  return {
    async bySession(secret, isUse = true) {
      if (!isOwnedSecret(sessionPrefix, secret)) throw new NotSignedIn();
      const found = await store.read(async (tx) => {
        const session = await tx.operatorSessions.find(hashOf(secret));
        const operator = session && (await tx.operators.byId(session.operatorId));
        return operator && { session, operator, nowMs: await tx.clock.nowMs() };
      });
      if (!found || found.operator.isSuspended || isOver(found.session, found.nowMs)) throw new NotSignedIn();
      const { session, operator, nowMs } = found;
      if (isUse && nowMs - session.usedMs >= sessionLifetime.renewEveryMs) await renew(session.hash);
      const confirmedForMs = nowMs - session.passwordMs;
      const isConfirmed = confirmedForMs < sessionLifetime.confirmedMs && confirmedForMs >= -sessionLifetime.aheadMs;
      return {
        operatorId: operator.id,
        name: operator.name,
        ...accessOf(operator),
        by: { kind: "session", id: session.id, isConfirmed },
      };
    },
    async listSessions(operatorId) {
      const { rows, nowMs } = await store.read(async (tx) => {
        return { rows: await tx.operatorSessions.list(operatorId), nowMs: await tx.clock.nowMs() };
      });
      return rows.filter((row) => !isOver(row, nowMs)).map(withoutSecret);
    },
    endSession: (id, operatorId) =>
      store.transaction(async (tx) => {
        const session = await tx.operatorSessions.byId(id);
        if (!session || (operatorId !== undefined && session.operatorId !== operatorId)) {
          throw new NotFound("There is no such session. See all with: breezeway operator sessions");
        }
        await tx.operatorSessions.remove(session.hash);
        return withoutSecret(session);
      }),
  };
}

/**
 * Opens a session in an open transaction; returns the secret of its cookie. At the limit, the least used one ends.
 * `confirmedMs`: when the person proved who they are; now, if a password was typed.
 */
export async function openSession(
  tx: OperatorTables,
  operatorId: OperatorId,
  { source, userAgent }: SessionOrigin,
  onLimitReached: OnLimitReached,
  confirmedMs?: number,
): Promise<string> {
  const nowMs = await tx.clock.nowMs();
  const left = await tx.operatorSessions.keepLastUsed(operatorId, limits.sessionsPerOperator - 1);
  if (left > 0) onLimitReached("sessionsPerOperator");
  const secret = newSecret(sessionPrefix);
  await tx.operatorSessions.add({
    hash: hashOf(secret),
    id: newId("os_"),
    operatorId,
    createdMs: nowMs,
    usedMs: nowMs,
    passwordMs: Math.min(confirmedMs ?? nowMs, nowMs),
    address: source,
    userAgent: cleanUserAgent(userAgent),
    expiresMs: nowMs + sessionLifetime.longestMs,
  });
  await tx.operators.signedIn(operatorId, nowMs);
  return secret;
}

/** A new sign-in counts as the password typed again. Returns whether the operator still has that session. */
export async function confirmSession(tx: OperatorTables, id: string, operatorId: OperatorId): Promise<boolean> {
  const session = await tx.operatorSessions.byId(id);
  const nowMs = await tx.clock.nowMs();
  if (session?.operatorId !== operatorId || isOver(session, nowMs)) return false;
  await tx.operatorSessions.confirmed(session.hash, nowMs);
  return true;
}

/** An id that is no secret. */
export function newId(prefix: string): string {
  return prefix + randomBytes(9).toString("base64url");
}

function cleanUserAgent(text: string): string {
  return text
    .toWellFormed()
    .replace(/\p{Cc}/gu, " ")
    .slice(0, longestUserAgent);
}

/** Whether a session has expired, or was not used for too long, or the clock was set back since its last use. */
export function isOver({ usedMs, expiresMs }: OperatorSessionRow, nowMs: number): boolean {
  const idleMs = nowMs - usedMs;
  return nowMs >= expiresMs || idleMs >= sessionLifetime.idleMs || idleMs < -sessionLifetime.aheadMs;
}

function withoutSecret({ hash: _hash, passwordMs: _passwordMs, ...session }: OperatorSessionRow): SessionRecord {
  return session;
}
