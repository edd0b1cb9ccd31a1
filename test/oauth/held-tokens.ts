import { hashOf } from "../../src/identity/secrets.ts";
import type { Suspended } from "../../src/identity/suspension.ts";
import type { TenantId, UserId } from "../../src/model/ids.ts";
import type { VerificationParts } from "../../src/oauth/token-verification.ts";
import type { AccessTokenRow } from "../../src/store/tables/access-tokens.ts";
import { type LogPosition, logStart } from "../../src/store/tables/log-position.ts";

type Tables = Parameters<Parameters<VerificationParts["store"]["read"]>[0]>[0];

export const tenantId = 1 as TenantId;
export const hourMs = 3_600_000;

/**
 * A store for token verification. A read sees the state at its start. While reads are held, `answerOldest` answers them
 * one by one.
 */
export class HeldTokens {
  readonly isShared: boolean;
  isHeld = false;
  /** The error of every read, if it is set. */
  failure: Error | undefined;
  /** The error of every transaction, if it is set. */
  writeFailure: Error | undefined;
  /** The grants whose use was stored, in order. */
  readonly uses: string[] = [];
  /** The epoch of the store's log; another one after a restore. */
  epoch = "first";
  /** Revocations up to here are no longer in the log. */
  horizon: LogPosition = logStart;
  /** The number of token look-ups. */
  lookUps = 0;
  /** The grants of open streams that were looked up, in order. */
  readonly checked: string[] = [];
  /** The number of reads of revocations. */
  revocationReads = 0;
  readonly #rows = new Map<string, AccessTokenRow>();
  readonly #revoked: string[] = [];
  readonly #waiting: (() => void)[] = [];

  constructor({ isShared }: { readonly isShared: boolean }) {
    this.isShared = isShared;
  }

  /** Adds an access token of that grant, and returns it. */
  add(grantId: string, { userId = 1, clientId = "client", remainingMs = hourMs } = {}): string {
    const token = `bwa_${String(this.#rows.size).padStart(43, "0")}`;
    const whose = {
      tenantId,
      userId: userId as UserId,
      clientId,
      covers: "user" as const,
      termsVersion: null,
      termsMs: null,
    };
    const grant = { id: grantId, ...whose, scope: null };
    this.#rows.set(hashOf(token), { grant, scope: null, remainingMs, suspended: null });
    return token;
  }

  /** Revokes a grant as another node would: the revocation is in the log. */
  end(grantId: string): void {
    for (const [hash, { grant }] of this.#rows) if (grant.id === grantId) this.#rows.delete(hash);
    this.#revoked.push(JSON.stringify({ grant: grantId }));
  }

  /** Suspends a user or a client as another node would: their tokens stay, and are refused. */
  suspend(suspended: Suspended): void {
    for (const [hash, row] of this.#rows) {
      const { userId, clientId } = row.grant;
      const isMeant = suspended.userId === userId || suspended.clientId === clientId;
      if (isMeant) this.#rows.set(hash, { ...row, suspended: suspended.clientId === undefined ? "user" : "client" });
    }
    this.#revoked.push(JSON.stringify({ suspended }));
  }

  /** Removes a grant without a revocation, as a restore of an older state does. */
  lose(grantId: string): void {
    for (const [hash, { grant }] of this.#rows) if (grant.id === grantId) this.#rows.delete(hash);
  }

  readonly transaction = async <Result>(body: (tx: Tables) => Promise<Result>): Promise<Result> => {
    if (this.writeFailure) throw this.writeFailure;
    return body(this.#tables());
  };

  readonly read = async <Result>(body: (tx: Tables) => Promise<Result>): Promise<Result> => {
    const found = body(this.#tables());
    const failure = this.failure;
    if (this.isHeld) await new Promise<void>((resolve) => this.#waiting.push(resolve));
    if (failure) throw failure;
    return found;
  };

  /** Answers the oldest held read. */
  answerOldest(): void {
    const next = this.#waiting.shift();
    if (!next) throw new Error("no read is held");
    next();
  }

  #tables(): Tables {
    const accessTokens = {
      find: async ({ hash }: { readonly hash: string }) => {
        this.lookUps += 1;
        return this.#rows.get(hash);
      },
    };
    const log = {
      end: async () => ({ transaction: 0, id: this.#revoked.length }),
      horizon: async () => this.horizon,
      revocations: async ({ id }: LogPosition, limit: number) => this.#revoked.slice(id, id + limit),
    };
    const logEpoch = {
      current: async () => {
        this.revocationReads += 1;
        return { name: this.epoch, takesOldIds: false };
      },
    };
    const grants = {
      usable: async (requested: readonly { readonly id: string }[]) => {
        this.checked.push(...requested.map(({ id }) => id));
        const usable = [...this.#rows.values()].filter(({ suspended }) => suspended === null);
        const held = new Set(usable.map(({ grant }) => grant.id));
        return new Set(requested.map(({ id }) => id).filter((id) => held.has(id)));
      },
      used: async ({ id }: { readonly id: string }) => void this.uses.push(id),
    };
    const clock = { nowMs: async () => 0 };
    return { accessTokens, grants, log, logEpoch, clock } as unknown as Tables;
  }
}
