import { randomUUID } from "node:crypto";
import { type AuditAct, auditEntry } from "../identity/audit.ts";
import { endGrants } from "../identity/grants.ts";
import { keyOf, newCredential } from "../identity/secrets.ts";
import { InvalidClient, InvalidGrant, UnauthorizedClient } from "../model/errors.ts";
import { ownerIdOf } from "../model/ids.ts";
import type { ReachLimit } from "../model/limits.ts";
import { InvalidScope } from "../model/scope-errors.ts";
import { missingScopes, type Scopes, scopeText, storedScopes } from "../model/scopes.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { GrantRow } from "../store/tables/grants.ts";
import type { SweepCursor } from "../store/tables/keyset-sweep.ts";
import type { RefreshTokenRow } from "../store/tables/refresh-tokens.ts";
import type { Client } from "./clients.ts";
import { exchangeProblem } from "./exchange-problem.ts";
import { tokenBounds } from "./token-bounds.ts";

/** What a client is given. */
export interface IssuedTokens {
  readonly accessToken: string;
  readonly expiresInSeconds: number;
  /** None for a client that has only its own secret to show: it can come again at any time. */
  readonly refreshToken?: string;
  /** What the access token may be used for; null: all. */
  readonly scopes: Scopes;
}

export interface CodeExchange {
  readonly code: string;
  readonly redirectUri: string | undefined;
  readonly verifier: string | undefined;
}

export interface Refresh {
  readonly refreshToken: string;
  readonly asked: Scopes;
}

export interface Tokens {
  exchangeCode(client: Client, exchange: CodeExchange, source: string): Promise<IssuedTokens>;
  /** Scopes that are asked for narrow the new access token; null leaves it all that was granted. */
  refresh(client: Client, refresh: Refresh, source: string): Promise<IssuedTokens>;
  issueToClient(client: Client, asked: Scopes, source: string): Promise<IssuedTokens>;
  /** Ends the whole grant that the token belongs to; one of another client's, or an unknown one, is left alone. */
  revoke(client: Client, token: string, source: string): Promise<void>;
  /** Clears away what nobody can use any more. */
  sweep(): Promise<void>;
}

export interface Lifetimes {
  readonly accessSeconds: number;
  readonly refreshSeconds: number;
}

export type TokenTables = Pick<
  Transaction,
  "users" | "clients" | "codes" | "grants" | "accessTokens" | "refreshTokens" | "signIns" | "audit" | "log" | "clock"
>;

export interface TokenParts {
  readonly store: Store<TokenTables>;
  readonly lifetimes: Lifetimes;
  readonly grantsEnded: (grantIds: readonly string[]) => void;
  /** Counts tokens that left because there were too many. */
  readonly reached?: ReachLimit | undefined;
}

/** How long a refresh token goes on after its successor was used: whoever asked at the same moment still gets through. */
const retirementMs = 60_000;
/** Successors of one token that live side by side. */
const mostSiblings = 8;
/** A code that was spent is remembered so long, to notice a replay. */
const spentCodesMs = 24 * 60 * 60_000;
/** A retired refresh token is remembered so long, to notice its use. */
const retiredTokensMs = 30 * 24 * 60 * 60_000;

export function tokensOn({ store, lifetimes, grantsEnded, reached }: TokenParts): Tokens {
  const bounds = tokenBounds(reached);
  /**
   * Runs a body that may have to end grants and refuse: what it ended and spent stays so, although the client is
   * refused. A body that threw would undo both.
   */
  async function settle(client: Client, body: (tx: TokenTables) => Promise<Settled>): Promise<IssuedTokens> {
    const settled = await store.transaction(async (tx) => {
      await stay(tx, client);
      return body(tx);
    });
    if ("issued" in settled) return settled.issued;
    grantsEnded(settled.ended ?? []);
    throw new InvalidGrant(settled.refused);
  }

  async function issue(
    tx: TokenTables,
    grant: GrantRow,
    parentHash: string | null,
    asked: Scopes = null,
  ): Promise<IssuedTokens> {
    const nowMs = await tx.clock.nowMs();
    const access = await issueAccess(tx, grant, nowMs, asked);
    const refreshToken = newCredential("bwr_", ownerIdOf(grant));
    await tx.refreshTokens.add({
      ...keyOf(refreshToken),
      grantId: grant.id,
      parentHash,
      issuedMs: nowMs,
      expiresMs: nowMs + lifetimes.refreshSeconds * 1_000,
    });
    return { ...access, refreshToken };
  }

  async function issueAccess(
    tx: TokenTables,
    grant: GrantRow,
    nowMs: number,
    asked: Scopes = null,
  ): Promise<IssuedTokens> {
    const accessToken = newCredential("bwa_", ownerIdOf(grant));
    const expiresMs = nowMs + lifetimes.accessSeconds * 1_000;
    await tx.accessTokens.add(keyOf(accessToken), grant.id, expiresMs, scopeText(asked));
    return { accessToken, expiresInSeconds: lifetimes.accessSeconds, scopes: asked ?? storedScopes(grant.scope) };
  }

  /** Through a whole table, one stretch a transaction: it may be long, and others have to get their turn. */
  async function walk(
    step: (tx: TokenTables, nowMs: number, after?: SweepCursor) => Promise<SweepCursor | undefined>,
  ): Promise<void> {
    let mark: SweepCursor | undefined;
    do {
      const after = mark;
      mark = await store.transaction(async (tx) => step(tx, await tx.clock.nowMs(), after));
    } while (mark);
  }

  return {
    exchangeCode: (client, { code, redirectUri, verifier }, source) =>
      settle(client, async (tx) => {
        const known = await tx.codes.find(keyOf(code));
        // A new password ends what the user has granted: no grant may slip in behind it.
        const nowMs = known && (await tx.users.lock(known.userId));
        if (!known || nowMs === undefined) return { refused: "The code is not valid." };
        const grantId = randomUUID();
        const spent = await tx.codes.spend(known, client.id, grantId);
        if (!spent) return replayed(tx, client, code, source);
        const isEnterprise = client.kind === "enterprise";
        const isAllowed = !isEnterprise || (await tx.users.byId(spent.userId))?.isAdmin;
        const problem =
          nowMs >= spent.expiresMs || !isAllowed
            ? "The code is not valid."
            : exchangeProblem(spent, { redirectUri, verifier });
        if (problem) return { refused: problem };
        const grant: GrantRow = {
          id: grantId,
          tenantId: client.tenantId,
          userId: spent.userId,
          clientId: client.id,
          covers: isEnterprise ? "tenant" : "user",
          scope: spent.scope,
        };
        await tx.grants.add(grant);
        await audit(tx, "grant", grant, source);
        return { issued: await issue(tx, grant, null) };
      }),

    refresh: (client, { refreshToken, asked }, source) =>
      settle(client, async (tx) => {
        const key = keyOf(refreshToken);
        const grant = await tx.grants.lockOfRefreshToken(key);
        if (!grant || grant.clientId !== client.id) return dead;
        // Under the lock: another refresh of the same grant may have just gone through.
        const token = await tx.refreshTokens.find(key);
        const nowMs = await tx.clock.nowMs();
        if (!token || nowMs >= token.expiresMs) return dead;
        if (token.retiresMs !== null && nowMs >= token.retiresMs) {
          // Its successor is in use, so two hold this grant, and one of them shouldn't.
          await audit(tx, "refresh_reuse", grant, source);
          return { ...dead, ended: await endGrants(tx, [grant]) };
        }
        refuseWider(grant, asked);
        await tx.refreshTokens.use(token, nowMs + lifetimes.refreshSeconds * 1_000);
        const isFirstOfSiblings = await tx.refreshTokens.retireParent(token, nowMs + retirementMs);
        // Two copies of one token, each with a successor in use: a client that runs twice, or a stolen token. The retry
        // window allows it, so both go on, and the audit log tells it.
        if (!token.isUsed && !isFirstOfSiblings && (await tx.refreshTokens.hasUsedSibling(token))) {
          await audit(tx, "refresh_siblings", grant, source);
        }
        if (token.isUsed) await makeRoom(tx, token);
        await bounds.ofGrant(tx, grant, token.hash);
        return { issued: await issue(tx, grant, token.hash, asked) };
      }),

    async issueToClient(client, asked, source) {
      if (client.kind !== "enterprise") {
        throw new UnauthorizedClient("Only an enterprise client may use client_credentials.");
      }
      const { issued, ended } = await store.transaction(async (tx) => {
        await stay(tx, client);
        const { ended, isWritten } = await bounds.ofClient(tx, client);
        const { tenantId, id: clientId } = client;
        const scope = scopeText(asked);
        const grant: GrantRow = { id: randomUUID(), tenantId, userId: null, clientId, covers: "tenant", scope };
        await tx.grants.add(grant);
        if (isWritten) await audit(tx, "client_credentials", grant, source);
        return { issued: await issueAccess(tx, grant, await tx.clock.nowMs()), ended };
      });
      grantsEnded(ended);
      return issued;
    },

    async revoke(client, token, source) {
      const ended = await store.transaction(async (tx) => {
        const key = keyOf(token);
        const access = await tx.accessTokens.find(key);
        const grant = access
          ? await tx.grants.lock(ownerIdOf(access.grant), access.grant.id)
          : await tx.grants.lockOfRefreshToken(key);
        if (!grant || grant.clientId !== client.id) return [];
        await audit(tx, "revocation", grant, source);
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
      await walk((tx, nowMs, after) => tx.accessTokens.removeExpired(nowMs, after));
      await walk((tx, nowMs, after) => tx.refreshTokens.removeOld(nowMs, nowMs - retiredTokensMs, after));
      await walk((tx, nowMs, after) => tx.grants.removeEmpty(nowMs - lifetimes.accessSeconds * 1_000, after));
    },
  };
}

/** A client that is removed takes its grants along: none may slip in behind it. */
async function stay(tx: TokenTables, { id }: Client): Promise<void> {
  if (!(await tx.clients.hold(id))) throw new InvalidClient();
}

type Settled = { readonly issued: IssuedTokens } | { readonly refused: string; readonly ended?: readonly string[] };

const dead = { refused: "The refresh token is not valid." };

/** A code that was spent before: its owner comes twice, so somebody else may have come first. All it gave ends. */
async function replayed(tx: TokenTables, client: Client, code: string, source: string): Promise<Settled> {
  const refused = "The code is not valid.";
  const known = await tx.codes.find(keyOf(code));
  if (known?.clientId !== client.id || known.grantId === null) return { refused };
  const grant = await tx.grants.lock(known.userId, known.grantId);
  if (!grant) return { refused };
  await audit(tx, "code_replay", grant, source);
  return { refused, ended: await endGrants(tx, [grant]) };
}

/** Nothing is changed then: the same refresh token may come again with fewer scopes, or with none. */
function refuseWider({ scope }: GrantRow, asked: Scopes): void {
  const granted = storedScopes(scope);
  const missing = missingScopes(granted, asked ?? []);
  if (granted && missing.length > 0) throw new InvalidScope(granted, missing);
}

/** The ninth successor of a token that was used before ends the oldest that was never used itself. */
async function makeRoom(tx: TokenTables, token: RefreshTokenRow): Promise<void> {
  const siblings = await tx.refreshTokens.children(token);
  const oldest = siblings.find(({ isUsed }) => !isUsed);
  if (siblings.length >= mostSiblings && oldest) await tx.refreshTokens.remove(oldest);
}

function audit(tx: TokenTables, act: AuditAct, grant: GrantRow, source: string): Promise<void> {
  const { tenantId, userId, clientId, scope } = grant;
  const isGiven = act === "grant" || act === "client_credentials";
  const detail = act === "refresh_siblings" ? { grant: grant.id } : isGiven ? { scope: scope ?? undefined } : {};
  return tx.audit.add(auditEntry({ act, tenantId, userId, clientId, source, detail }));
}
