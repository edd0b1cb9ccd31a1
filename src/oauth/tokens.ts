import { randomUUID } from "node:crypto";
import { endGrants } from "../identity/grants.ts";
import { keyOf, newOwnedSecret } from "../identity/secrets.ts";
import { suspensionProblem } from "../identity/suspension.ts";
import { InvalidClient, InvalidGrant, UnauthorizedClient } from "../model/errors.ts";
import { ownerIdOf } from "../model/ids.ts";
import type { OnLimitReached } from "../model/limits.ts";
import { InvalidScope } from "../model/scope-errors.ts";
import { missingScopes, namedScopes, type Scopes, scopeText, storedScopes } from "../model/scopes.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";
import type { SweepCursor } from "../store/tables/keyset-sweep.ts";
import type { RefreshTokenRow } from "../store/tables/refresh-tokens.ts";
import { missingTerms } from "./accepted-terms.ts";
import type { Client } from "./clients.ts";
import { exchangeProblem } from "./exchange-problem.ts";
import { type AddTokenEntry, tokenAuditWith } from "./token-audit.ts";
import { tokenLimits } from "./token-limits.ts";

/** The tokens of a successful token request. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  /** None for client_credentials: the client can always get a new access token with its secret. */
  readonly refreshToken?: string;
  /** The scopes of the access token; null means everything. */
  readonly scopes: Scopes;
}

export interface CodeExchange {
  readonly code: string;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

export interface Refresh {
  readonly refreshToken: string;
  /** The requested scopes; null means all that were granted. */
  readonly requestedScopes: Scopes;
}

export interface Tokens {
  exchangeCode(client: Client, exchange: CodeExchange, source: string): Promise<IssuedTokens>;
  /** Requested scopes narrow the new access token, not the grant. */
  refresh(client: Client, refresh: Refresh, source: string): Promise<IssuedTokens>;
  /** `scope` as text, null means everything. */
  issueToClient(client: Client, scope: string | null, source: string): Promise<IssuedTokens>;
  /** Ends the whole grant of the token. An unknown token, or another client's, is ignored. */
  revoke(client: Client, token: string, source: string): Promise<void>;
  /** Removes expired tokens, codes and sign-ins, and grants without tokens. */
  sweep(): Promise<void>;
}

export interface Lifetimes {
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
}

export type TokenTables = Pick<
  Transaction,
  | "tenants"
  | "users"
  | "clients"
  | "codes"
  | "grants"
  | "accessTokens"
  | "refreshTokens"
  | "signIns"
  | "audit"
  | "log"
  | "clock"
>;

export interface TokenParts {
  readonly store: Store<TokenTables>;
  readonly lifetimes: Lifetimes;
  /** This node's monotonic clock. */
  readonly elapsedMs: () => number;
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  /** Called when tokens were removed because there were too many. */
  readonly onLimitReached?: OnLimitReached | undefined;
}

/** How long a refresh token stays valid after its successor was used, for clients that refresh twice at the same time. */
const retirementMs = 60_000;
/** The most valid successors of one refresh token. */
const mostSiblings = 8;
/** How long a redeemed code is kept, to detect a replay. */
const spentCodesMs = 24 * 60 * 60_000;
/** How long a retired refresh token is kept, to detect its reuse. */
const retiredTokensMs = 30 * 24 * 60 * 60_000;

export function tokensOn({ store, lifetimes, elapsedMs, grantsEnded, onLimitReached }: TokenParts): Tokens {
  const tokenLimit = tokenLimits(onLimitReached);
  const audit = tokenAuditWith(elapsedMs);
  /**
   * Runs a body that may end grants and then refuse the client. The body returns the refusal instead of throwing it: an
   * exception would roll back the ended grants and the redeemed code.
   */
  async function settle(
    client: Client,
    body: (tx: TokenTables, addEntry: AddTokenEntry) => Promise<GrantResult>,
  ): Promise<IssuedTokens> {
    const settled = await audit.transaction(store, async (tx, addEntry) => {
      await lockClient(tx, client);
      return body(tx, addEntry);
    });
    grantsEnded(settled.ended ?? []);
    if ("issued" in settled) return settled.issued;
    throw new InvalidGrant(settled.refused);
  }

  async function issue(
    tx: TokenTables,
    grant: GrantRow,
    parentHash: string | null,
    requestedScopes: Scopes = null,
  ): Promise<IssuedTokens> {
    const nowMs = await tx.clock.nowMs();
    const accessToken = newOwnedSecret("bwa_", ownerIdOf(grant));
    if (parentHash !== null) await tokenLimit.ofGrant(tx, grant, keyOf(accessToken).hash);
    const access = await addAccess(tx, grant, accessToken, nowMs, requestedScopes);
    const refreshToken = newOwnedSecret("bwr_", ownerIdOf(grant));
    await tx.refreshTokens.add({
      ...keyOf(refreshToken),
      grantId: grant.id,
      parentHash,
      issuedMs: nowMs,
      expiresMs: nowMs + lifetimes.refreshSeconds * 1_000,
    });
    return { ...access, refreshToken };
  }

  async function addAccess(
    tx: TokenTables,
    grant: GrantRow,
    accessToken: string,
    nowMs: number,
    requestedScopes: Scopes = null,
  ): Promise<IssuedTokens> {
    const expiresMs = nowMs + lifetimes.accessSeconds * 1_000;
    await tx.accessTokens.add(keyOf(accessToken), grant.id, expiresMs, scopeText(requestedScopes));
    return {
      accessToken,
      expiresInSeconds: lifetimes.accessSeconds,
      scopes: requestedScopes ?? namedScopes(grant.scope),
    };
  }

  /** Sweeps a whole table, one page in each transaction, so that other transactions don't wait long. */
  async function sweepPages(
    step: (tx: TokenTables, nowMs: number, after?: SweepCursor) => Promise<SweepCursor | undefined>,
  ): Promise<void> {
    let cursor: SweepCursor | undefined;
    do {
      const after = cursor;
      cursor = await store.transaction(async (tx) => step(tx, await tx.clock.nowMs(), after));
    } while (cursor);
  }

  return {
    exchangeCode: (client, { code, redirectUri, verifier }, source) =>
      settle(client, async (tx, addEntry) => {
        const known = await tx.codes.find(keyOf(code));
        // The lock serialises this with a password change, which ends all grants of the user.
        const nowMs = known && (await tx.users.lock(known.userId));
        if (!known || nowMs === undefined) return { refused: "The code is not valid." };
        const grantId = randomUUID();
        const spent = await tx.codes.spend(known, client.id, grantId);
        if (!spent) return handleReplay(tx, addEntry, client, code, source);
        const isEnterprise = client.kind === "enterprise";
        const user = await tx.users.byId(spent.userId);
        const isAllowed = !isEnterprise || user?.isAdmin;
        const problem =
          nowMs >= spent.expiresMs || !isAllowed
            ? "The code is not valid."
            : (exchangeProblem(spent, { redirectUri, verifier }) ?? suspensionProblem(user));
        if (problem) return { refused: problem };
        const { scope, termsVersion, termsMs } = spent;
        const grant: GrantRow = {
          id: grantId,
          tenantId: client.tenantId,
          userId: spent.userId,
          clientId: client.id,
          covers: isEnterprise ? "tenant" : "user",
          scope,
          termsVersion,
          termsMs,
        };
        const ended = await tokenLimit.ofUser(tx, spent.userId, client.id);
        await tx.grants.add(grant);
        await addEntry(tx, "grant", grant, { source, grantsEnded: ended.length });
        return { issued: await issue(tx, grant, null), ended };
      }),

    refresh: (client, { refreshToken, requestedScopes }, source) =>
      settle(client, async (tx, addEntry) => {
        const key = keyOf(refreshToken);
        const grant = await tx.grants.lockOfRefreshToken(key);
        if (!grant || grant.clientId !== client.id) return invalidToken;
        // Read again under the lock: another refresh of the same grant may have just succeeded.
        const token = await tx.refreshTokens.find(key);
        const nowMs = await tx.clock.nowMs();
        if (!token || nowMs >= token.expiresMs) return invalidToken;
        if (token.retiresMs !== null && nowMs >= token.retiresMs) {
          // The successor is in use, so this token was stolen or copied: end the grant (RFC 9700 4.14.2).
          await addEntry(tx, "refresh_reuse", grant, { source });
          return { ...invalidToken, ended: await endGrants(tx, [grant]) };
        }
        const user = grant.userId === null ? undefined : await tx.users.byId(grant.userId);
        const problem = suspensionProblem(user) ?? (await missingTerms(tx, grant, nowMs));
        if (problem) return { refused: problem };
        refuseWiderScope(grant, requestedScopes);
        await tx.refreshTokens.use(token, nowMs + lifetimes.refreshSeconds * 1_000);
        const isFirstOfSiblings = await tx.refreshTokens.retireParent(token, nowMs + retirementMs);
        // Two successors of one token are in use: a client that runs twice, or a stolen token. The retry window allows it,
        // so both stay valid, and the audit log records it.
        if (!token.isUsed && !isFirstOfSiblings && (await tx.refreshTokens.hasUsedSibling(token))) {
          await addEntry(tx, "refresh_siblings", grant, { source });
        }
        if (token.isUsed) await makeRoom(tx, token);
        return { issued: await issue(tx, grant, token.hash, requestedScopes) };
      }),

    async issueToClient(client, scope, source) {
      if (client.kind !== "enterprise") {
        throw new UnauthorizedClient("Only an enterprise client may use client_credentials.");
      }
      const { issued, ended } = await audit.transaction(store, async (tx, addEntry) => {
        await lockClient(tx, client);
        const ended = await tokenLimit.ofClient(tx, client);
        const { tenantId, id: clientId } = client;
        const noTerms = { termsVersion: null, termsMs: null };
        const grant: GrantRow = {
          id: randomUUID(),
          tenantId,
          userId: null,
          clientId,
          covers: "tenant",
          scope,
          ...noTerms,
        };
        await tx.grants.add(grant);
        await addEntry(tx, "client_credentials", grant, { source });
        const accessToken = newOwnedSecret("bwa_", ownerIdOf(grant));
        return { issued: await addAccess(tx, grant, accessToken, await tx.clock.nowMs()), ended };
      });
      grantsEnded(ended);
      return issued;
    },

    async revoke(client, token, source) {
      const ended = await audit.transaction(store, async (tx, addEntry) => {
        const key = keyOf(token);
        const access = await tx.accessTokens.find(key);
        const grant = access
          ? await tx.grants.lock(ownerIdOf(access.grant), access.grant.id)
          : await tx.grants.lockOfRefreshToken(key);
        if (!grant || grant.clientId !== client.id) return [];
        await addEntry(tx, "revocation", grant, { source });
        return endGrants(tx, [grant]);
      });
      grantsEnded(ended);
    },

    async sweep() {
      await store.transaction(async (tx) => {
        const nowMs = await tx.clock.nowMs();
        await tx.signIns.removeExpired(nowMs);
        await tx.codes.removeExpired(nowMs - spentCodesMs);
      });
      await sweepPages((tx, nowMs, after) => tx.accessTokens.removeExpired(nowMs, after));
      await sweepPages((tx, nowMs, after) => tx.refreshTokens.removeOld(nowMs, nowMs - retiredTokensMs, after));
      await sweepPages((tx, nowMs, after) => tx.grants.removeEmpty(nowMs - lifetimes.accessSeconds * 1_000, after));
    },
  };
}

/** Keeps the client from being removed until the transaction ends: the removal must see all its grants. */
async function lockClient(tx: TokenTables, { id }: Client): Promise<void> {
  if (!(await tx.clients.hold(id))) throw new InvalidClient();
}

type GrantResult = ({ readonly issued: IssuedTokens } | { readonly refused: string }) & {
  /** Grants that ended with it. */
  readonly ended?: readonly string[];
};

const invalidToken = { refused: "The refresh token is not valid." };

/** A redeemed code is used again: one of the two uses may be an attacker's, so its grant ends (RFC 6749 4.1.2). */
async function handleReplay(
  tx: TokenTables,
  addEntry: AddTokenEntry,
  client: Client,
  code: string,
  source: string,
): Promise<GrantResult> {
  const refused = "The code is not valid.";
  const known = await tx.codes.find(keyOf(code));
  if (known?.clientId !== client.id || known.grantId === null) return { refused };
  const grant = await tx.grants.lock(known.userId, known.grantId);
  if (!grant) return { refused };
  await addEntry(tx, "code_replay", grant, { source });
  return { refused, ended: await endGrants(tx, [grant]) };
}

/** Throws InvalidScope when more is requested than was granted. The refresh token stays valid for another request. */
function refuseWiderScope({ scope }: GrantRow, requestedScopes: Scopes): void {
  const granted = storedScopes(scope);
  const missing = missingScopes(granted, requestedScopes ?? []);
  if (granted && missing.length > 0) throw new InvalidScope(granted, missing);
}

/** Removes the oldest unused successor of a token that has too many. */
async function makeRoom(tx: TokenTables, token: RefreshTokenRow): Promise<void> {
  const siblings = await tx.refreshTokens.children(token);
  const oldest = siblings.find(({ isUsed }) => !isUsed);
  if (siblings.length >= mostSiblings && oldest) await tx.refreshTokens.remove(oldest);
}
