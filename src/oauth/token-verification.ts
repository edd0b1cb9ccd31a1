import type { CallingPrincipal } from "../identity/principal.ts";
import { isOwnedSecret, keyOf } from "../identity/secrets.ts";
import type { Suspended } from "../identity/suspension.ts";
import { InvalidToken, StoreUnavailable } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import { storedScopes } from "../model/scopes.ts";
import { ageMs, type Moment, momentOf } from "../runtime/age.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AccessTokenRow } from "../store/tables/access-tokens.ts";
import type { GrantRow } from "../store/tables/grants.ts";
import { comparePositions, type LogPosition } from "../store/tables/log-position.ts";
import { GrantUse, useStoredEveryMs } from "./grant-use.ts";
import { WatchedGrants } from "./watched-grants.ts";

export interface VerificationParts {
  readonly store: Store<Pick<Transaction, "accessTokens" | "grants" | "log" | "logEpoch" | "clock">>;
  readonly runtime: Runtime;
}

/** How often a node reads revocations of other nodes, and for how long a read keeps the cache valid. */
export const revocationPolling = { everyMs: 250, trustedMs: 700 };

/** Each takes about 300 bytes. */
const mostCachedTokens = 100_000;

/** The lifetime of an access token, for streams, which last longer than a call. */
export interface TokenLife {
  readonly hasExpired: () => boolean;
  /** The client that got the token. */
  readonly clientId: string;
  /** Stops watching the token. */
  readonly release: () => void;
}

/** How many grants are looked up in one transaction. */
const grantsAtOnce = 500;
/** The most revocations that are read at once. Beyond that, clearing the whole cache costs less. */
const revocationsAtOnce = 10_000;

/** The position up to which this node has read revocations. */
interface RevocationCursor {
  readonly epoch: string;
  readonly end: LogPosition;
}

interface CachedToken {
  readonly principal: CallingPrincipal;
  readonly grantId: string;
  /** The user who gave the grant; null for a client's own. */
  readonly grantorId: UserId | null;
  /** When the store was read. */
  readonly readAt: Moment;
  /** How long it needs no other look-up, which tells whether it has expired and notes that its grant is used. */
  readonly usableMs: number;
}

/**
 * Verifies access tokens with a cache in front of the store. A token that this node revokes leaves the cache before the
 * revocation is answered. Revocations of other nodes are read from the log several times a second, and at each hint. If
 * that fails, the cache is not used: each token is looked up in the store.
 */
export class TokenVerifier {
  readonly #store: VerificationParts["store"];
  readonly #runtime: Runtime;
  readonly #pollTask: BackgroundTask;
  readonly #cache = new Map<string, CachedToken>();
  /** The cached tokens of each grant. */
  readonly #ofGrant = new Map<string, Set<string>>();
  readonly #watched = new WatchedGrants();
  readonly #use: GrantUse;
  /** Counts invalidations: a row that was read before one must not be cached after it. */
  #invalidations = 0;
  #cursor: RevocationCursor | undefined;
  /** When the last successful read of revocations started. */
  #polledAt: Moment | undefined;
  #next: Cancel | undefined;
  #polling: Promise<void> | undefined;
  #isHinted = false;
  #isStopped = false;

  constructor({ store, runtime }: VerificationParts) {
    this.#store = store;
    this.#runtime = runtime;
    const sentence = "what other nodes revoked could not be read";
    this.#pollTask = new BackgroundTask("revocations", sentence, runtime);
    this.#use = new GrantUse(store, runtime);
  }

  async start(): Promise<void> {
    if (this.#store.isShared) await this.#keepPolling();
  }

  /** Another node may have revoked a token: read revocations at once. */
  hinted(): void {
    this.#isHinted = true;
    if (this.#store.isShared && !this.#isStopped) void this.#keepPolling();
  }

  stop(): void {
    this.#isStopped = true;
    this.#next?.();
    this.#use.stop();
  }

  async verify(accessToken: string): Promise<CallingPrincipal> {
    const cached = this.#cache.get(accessToken);
    if (cached && this.#isCacheValid) {
      if (ageMs(this.#runtime, cached.readAt) < cached.usableMs) return cached.principal;
      this.#drop(accessToken, cached);
    }
    if (!isOwnedSecret("bwa_", accessToken)) throw new InvalidToken();
    return this.#lookUp(accessToken);
  }

  /** The client that got the token. */
  async clientOf(accessToken: string): Promise<string> {
    const row = await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken)));
    return usable(row).grant.clientId;
  }

  /** Whether the token was valid and has expired. Tokens that expired long ago are not known any more. */
  async isExpired(accessToken: string): Promise<boolean> {
    if (!isOwnedSecret("bwa_", accessToken)) return false;
    const row = await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken)));
    return row !== undefined && row.remainingMs <= 0;
  }

  /** Calls `onRevoked` once when the token is revoked. The caller itself ends when it has expired. */
  async watch(accessToken: string, onRevoked: () => void): Promise<TokenLife> {
    for (;;) {
      const invalidations = this.#invalidations;
      const readAt = momentOf(this.#runtime);
      const row = usable(await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken))));
      // A revocation that arrived during the read may be this token's.
      if (invalidations !== this.#invalidations) continue;
      this.#use.note(row.grant);
      const release = this.#watched.add(row.grant, onRevoked);
      const hasExpired = () => ageMs(this.#runtime, readAt) >= row.remainingMs;
      return { hasExpired, clientId: row.grant.clientId, release };
    }
  }

  /**
   * Resolves when this node has read revocations as recently as its cache requires; rejects when it can't. Event streams
   * wait for it: a node that was cut off from the store must not send events to a client whose access ended meanwhile.
   */
  async caughtUp(): Promise<void> {
    if (this.#isCacheValid) return;
    const fromMs = this.#runtime.elapsedMs();
    // A read that is in progress may have started before the latest revocations.
    await this.#polling;
    await this.#keepPolling();
    if (this.#polledAt === undefined || this.#polledAt.elapsedMs < fromMs) {
      throw new StoreUnavailable("What other nodes revoked could not be read.");
    }
  }

  /** Drops the tokens of these grants from the cache, and ends their streams. */
  forget(grantIds: readonly string[]): void {
    if (grantIds.length > 0) this.#invalidations++;
    for (const grantId of grantIds) {
      for (const accessToken of this.#ofGrant.get(grantId) ?? []) this.#cache.delete(accessToken);
      this.#ofGrant.delete(grantId);
      this.#watched.end(grantId);
    }
  }

  /** Drops all tokens of a suspended user or client from the cache, and ends their streams. */
  suspend(suspended: Suspended): void {
    const isMeant = meantBy([suspended]);
    this.#dropSuspended(isMeant);
    this.#watched.endOf((grant) => isMeant(grant.userId, grant.clientId));
  }

  #dropSuspended(isMeant: IsMeant): void {
    this.#invalidations++;
    for (const [accessToken, cached] of this.#cache) {
      if (isMeant(cached.grantorId, cached.principal.clientId)) this.#drop(accessToken, cached);
    }
  }

  /**
   * Clears the cache, because the store was restored or promoted, or retention removed revocations before this node read
   * them. Streams whose grant is still in the store continue.
   */
  async #forgetAll(): Promise<void> {
    this.#invalidations++;
    this.#cache.clear();
    this.#ofGrant.clear();
    await this.#endUnusable(this.#watched.grants);
  }

  /** Ends the streams of those grants that have ended, or whose user or client is suspended. */
  async #endUnusable(watched: readonly GrantRow[]): Promise<void> {
    for (let at = 0; at < watched.length; at += grantsAtOnce) {
      const some = watched.slice(at, at + grantsAtOnce);
      const found = await this.#store.read((tx) => tx.grants.usable(some));
      this.forget(some.map(({ id }) => id).filter((id) => !found.has(id)));
    }
  }

  async #lookUp(accessToken: string, tries = 3): Promise<CallingPrincipal> {
    const invalidations = this.#invalidations;
    const readAt = momentOf(this.#runtime);
    const row = await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken)));
    if (this.#store.isShared && ageMs(this.#runtime, readAt) >= revocationPolling.trustedMs) {
      // The read took so long that the token may have been revoked on another node meanwhile.
      if (tries > 1) return this.#lookUp(accessToken, tries - 1);
      throw new StoreUnavailable("The store is too slow to tell whether a token is valid.");
    }
    const { grant, remainingMs, scope } = usable(row);
    const principal = principalOf(grant, scope);
    if (!principal) throw new InvalidToken();
    this.#use.note(grant);
    // A revocation that arrived during the read may be this token's: then the row is valid for this call only.
    if (invalidations === this.#invalidations) {
      const times = { readAt, usableMs: Math.min(remainingMs, useStoredEveryMs) };
      this.#keep(accessToken, { principal, grantId: grant.id, grantorId: grant.userId, ...times });
    }
    return principal;
  }

  get #isCacheValid(): boolean {
    if (!this.#store.isShared) return true;
    return this.#polledAt !== undefined && ageMs(this.#runtime, this.#polledAt) < revocationPolling.trustedMs;
  }

  #keepPolling(): Promise<void> {
    this.#next?.();
    this.#polling ??= this.#poll().finally(() => {
      this.#polling = undefined;
      const delayMs = this.#isHinted ? 0 : revocationPolling.everyMs;
      if (!this.#isStopped) this.#next = this.#runtime.after(delayMs, () => void this.#keepPolling());
    });
    return this.#polling;
  }

  async #poll(): Promise<void> {
    this.#isHinted = false;
    const startedAt = momentOf(this.#runtime);
    try {
      const cursor = this.#cursor;
      const { epoch, end, horizon, bodies } = await this.#store.read(async (tx) => {
        const [epoch, end, horizon, bodies] = await Promise.all([
          tx.logEpoch.current(),
          tx.log.end(),
          tx.log.horizon(),
          cursor ? tx.log.revocations(cursor.end, revocationsAtOnce) : [],
        ]);
        return { epoch: epoch.name, end, horizon, bodies };
      });
      const isWhole = bodies.length < revocationsAtOnce;
      const isContinued = !cursor || (isWhole && cursor.epoch === epoch && comparePositions(cursor.end, horizon) >= 0);
      if (isContinued) await this.#hear(bodies.map((body) => JSON.parse(body) as Revocation));
      else await this.#forgetAll();
      this.#cursor = { epoch, end };
      this.#polledAt = startedAt;
      this.#pollTask.succeeded();
    } catch (error) {
      // The cache is kept, unused: the next successful read removes the tokens that were revoked meanwhile.
      this.#pollTask.failed(error);
    }
  }

  /**
   * While an older transaction is open, the same entries are read again at each poll. A grant that ended never comes back,
   * but a suspension may be over: so its streams end only if it still holds. The cache may hold many tokens: it is
   * searched once for all suspensions.
   */
  async #hear(revocations: readonly Revocation[]): Promise<void> {
    this.forget(revocations.flatMap(({ grant }) => grant ?? []));
    const suspensions = revocations.flatMap(({ suspended }) => suspended ?? []);
    if (suspensions.length === 0) return;
    const isMeant = meantBy(suspensions);
    this.#dropSuspended(isMeant);
    await this.#endUnusable(this.#watched.grants.filter(({ userId, clientId }) => isMeant(userId, clientId)));
  }

  #keep(accessToken: string, cached: CachedToken): void {
    this.#cache.delete(accessToken);
    this.#cache.set(accessToken, cached);
    const siblings = this.#ofGrant.get(cached.grantId);
    if (siblings) siblings.add(accessToken);
    else this.#ofGrant.set(cached.grantId, new Set([accessToken]));
    for (const [oldest, token] of this.#cache) {
      if (this.#cache.size <= mostCachedTokens) break;
      this.#drop(oldest, token);
    }
  }

  #drop(accessToken: string, { grantId }: CachedToken): void {
    this.#cache.delete(accessToken);
    const siblings = this.#ofGrant.get(grantId);
    siblings?.delete(accessToken);
    if (siblings?.size === 0) this.#ofGrant.delete(grantId);
  }
}

/** What a node reads of the log: a grant that ended, or a user or client who was suspended. */
interface Revocation {
  readonly grant?: string;
  readonly suspended?: Suspended;
}

type IsMeant = (userId: UserId | null, clientId: string | undefined) => boolean;

/** Whether a grant of a user, or of a client, is meant by one of the suspensions. */
function meantBy(suspensions: readonly Suspended[]): IsMeant {
  const users = new Set<UserId | null>(suspensions.flatMap(({ userId }) => userId ?? []));
  const clients = new Set<string | undefined>(suspensions.flatMap(({ clientId }) => clientId ?? []));
  return (userId, clientId) => users.has(userId) || clients.has(clientId);
}

/** Throws InvalidToken unless the token is valid now. */
function usable(row: AccessTokenRow | undefined): AccessTokenRow {
  if (!row || row.remainingMs <= 0) throw new InvalidToken();
  if (row.suspended) throw new InvalidToken(row.suspended);
  return row;
}

function principalOf(grant: AccessTokenRow["grant"], scope: string | null): CallingPrincipal | undefined {
  const { covers, userId, tenantId, clientId } = grant;
  const scopes = storedScopes(scope);
  // A client that got the grant with its own secret needed nobody's consent.
  const isUnscopedGrant = userId !== null && grant.scope === null;
  if (covers === "tenant") return { kind: "enterprise", tenantId, scopes, isUnscopedGrant, clientId };
  if (userId === null) return undefined;
  return { kind: "user", userId, tenantId, scopes, isUnscopedGrant, clientId };
}
