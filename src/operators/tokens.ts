import { checkNewName, readName } from "../identity/names.ts";
import { hashOf, isOwnedSecret, newSecret } from "../identity/secrets.ts";
import { BadParameter, LimitReached, NotFound, NotSignedIn, StoreUnavailable } from "../model/errors.ts";
import type { OperatorId } from "../model/ids.ts";
import { limits } from "../model/limits.ts";
import type { Store } from "../store/seam.ts";
import type { OperatorTokenRow } from "../store/tables/operator-tokens.ts";
import type { Operator, OperatorCredential } from "./operator.ts";
import { accessOf } from "./operator-access.ts";
import { newId } from "./sessions.ts";
import type { OperatorTables } from "./tables.ts";

/** A token without its secret. */
export type TokenRecord = Omit<OperatorTokenRow, "hash">;

export interface NewToken {
  readonly name: string;
  /** `defaultTokenDays` when it is left out, or fewer: until the maker ends. */
  readonly days?: number | undefined;
  /**
   * The credential of the operator who makes it. What a token makes ends with that token. What a session makes stays: the
   * password was typed for it.
   */
  readonly maker?: OperatorCredential | undefined;
}

export interface Tokens {
  /** The operator of a token. Rejects with NotSignedIn. */
  byToken(token: string): Promise<Operator>;
  /** Makes a token, which is shown once. Rejects with BadParameter if it would outlive the token that makes it. */
  addToken(operatorId: OperatorId, token: NewToken): Promise<{ readonly secret: string; readonly token: TokenRecord }>;
  /** Of one operator, or of all. */
  listTokens(operatorId?: OperatorId): Promise<readonly TokenRecord[]>;
  /** Ends a token by its id; `operatorId` restricts it to this operator's own. */
  revokeToken(id: string, operatorId?: OperatorId): Promise<TokenRecord>;
}

const tokenPrefix = "bwop_";
export const longestTokenDays = 366;
export const defaultTokenDays = 90;
const dayMs = 86_400_000;
/** The last use is stored at most this often. */
const renewEveryMs = 60_000;

export function tokensOn(store: Store<OperatorTables>): Tokens {
  async function renew(hash: string): Promise<void> {
    try {
      await store.transaction(async (tx) => tx.operatorTokens.used(hash, await tx.clock.nowMs()));
    } catch (error) {
      if (!(error instanceof StoreUnavailable)) throw error;
    }
  }
  return {
    async byToken(secret) {
      if (!isOwnedSecret(tokenPrefix, secret)) throw new NotSignedIn();
      const found = await store.read(async (tx) => {
        const token = await tx.operatorTokens.find(hashOf(secret));
        const operator = token && (await tx.operators.byId(token.operatorId));
        return operator && { token, operator, nowMs: await tx.clock.nowMs() };
      });
      if (!found || found.operator.isSuspended || found.nowMs >= found.token.expiresMs) throw new NotSignedIn();
      const { token, operator, nowMs } = found;
      if (nowMs - (token.usedMs ?? 0) >= renewEveryMs) await renew(token.hash);
      return {
        operatorId: operator.id,
        name: operator.name,
        ...accessOf(operator),
        by: { kind: "token", id: token.id },
      };
    },
    async addToken(operatorId, { name: newName, days: wantedDays, maker }) {
      const name = checkNewName("name", readName("name", newName));
      const days = wantedDays ?? defaultTokenDays;
      if (!(Number.isInteger(days) && days >= 1 && days <= longestTokenDays)) {
        throw new BadParameter("days", `A token is valid for 1 to ${longestTokenDays} days.`);
      }
      const secret = newSecret(tokenPrefix);
      const token = await store.transaction(async (tx) => {
        await tx.operators.lockAll();
        const operator = await tx.operators.byId(operatorId);
        if (!operator || operator.isSuspended) throw new NotFound("The operator is suspended, or does not exist.");
        const nowMs = await tx.clock.nowMs();
        const held = (await tx.operatorTokens.list(operatorId)).filter(({ expiresMs }) => expiresMs > nowMs);
        if (held.length >= limits.tokensPerOperator) {
          const most = `The operator has ${limits.tokensPerOperator} tokens.`;
          throw new LimitReached("tokensPerOperator", `${most} Revoke one first.`);
        }
        const parent = maker?.kind === "token" ? await tx.operatorTokens.hold(maker.id) : undefined;
        if (maker?.kind === "token" && !(parent && parent.expiresMs > nowMs)) throw new NotSignedIn();
        const lastMs = parent?.expiresMs ?? Number.POSITIVE_INFINITY;
        const wantedMs = nowMs + days * dayMs;
        if (wantedDays !== undefined && wantedMs > lastMs) throw outlivesMaker(nowMs, lastMs);
        const parentId = parent?.id ?? null;
        const expiresMs = Math.min(wantedMs, lastMs);
        const row = { id: newId("ot_"), operatorId, name, parentId, createdMs: nowMs, expiresMs };
        await tx.operatorTokens.add({ ...row, hash: hashOf(secret) });
        return { ...row, usedMs: null };
      });
      return { secret, token };
    },
    async listTokens(operatorId) {
      const { rows, nowMs } = await store.read(async (tx) => {
        return { rows: await tx.operatorTokens.list(operatorId), nowMs: await tx.clock.nowMs() };
      });
      return rows.filter(({ expiresMs }) => expiresMs > nowMs).map(withoutSecret);
    },
    revokeToken: (id, operatorId) =>
      store.transaction(async (tx) => {
        const token = await tx.operatorTokens.byId(id);
        if (!token || (operatorId !== undefined && token.operatorId !== operatorId)) {
          throw new NotFound("There is no such token. See all with: breezeway operator token list");
        }
        await tx.operatorTokens.remove(token.hash);
        return withoutSecret(token);
      }),
  };
}

function outlivesMaker(nowMs: number, lastMs: number): BadParameter {
  const days = Math.floor((lastMs - nowMs) / dayMs);
  const allowed = days === 0 ? "Leave days out" : `Choose at most ${days}, or leave days out`;
  const until = new Date(lastMs).toISOString();
  return new BadParameter("days", `The token that makes this one is valid until ${until}. ${allowed} to end with it.`);
}

function withoutSecret({ hash: _, ...token }: OperatorTokenRow): TokenRecord {
  return token;
}
