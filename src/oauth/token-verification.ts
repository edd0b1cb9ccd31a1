import type { ScopedPrincipal } from "../identity/principal.ts";
import { isCredential, keyOf } from "../identity/secrets.ts";
import { InvalidToken, StoreUnavailable } from "../model/errors.ts";
import { storedScopes } from "../model/scopes.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { AccessTokenRow } from "../store/tables/access-tokens.ts";
import { comparePositions, type LogPosition } from "../store/tables/log.ts";
import { WatchedGrants } from "./watched-grants.ts";

export interface VerificationParts {
  readonly store: Store<Pick<Transaction, "accessTokens" | "grants" | "log" | "logEpoch">>;
  readonly runtime: Runtime;
}

/** How often a node of many asks what was revoked elsewhere, and how old its knowledge may be to count. */
export const revocationNews = { everyMs: 250, trustedMs: 700 };

/** About 300 bytes each. */
const tokensHeld = 100_000;

/** The life of an access token, for what goes on longer than a call. */
export interface TokenLife {
  /** When it expires, on this node's own unjumping clock. */
  readonly untilMs: number;
  /** Which client was given it. */
  readonly clientId: string;
  /** From now on nobody wants to know. */
  readonly release: () => void;
}

/** How many grants are looked up in one transaction. */
const grantsAtOnce = 500;
/** How many revocations are read at once. Beyond that, to forget all tokens costs less than to read all revocations. */
const revocationsAtOnce = 10_000;

/** Up to where this node has heard of revocations. */
interface NewsMark {
  readonly epoch: string;
  readonly end: LogPosition;
}

interface Held {
  readonly principal: ScopedPrincipal;
  readonly grantId: string;
  readonly clientId: string;
  /** On this node's own unjumping clock. */
  readonly untilMs: number;
}

/**
 * Who holds an access token: one look-up in memory, the store for what isn't there. What this node revokes is forgotten
 * before the revocation is answered. What other nodes revoke is read from the log several times a second, and when this
 * node is told of it; when that fails, memory stops counting and each token is looked up in the store, which then says that it is unavailable.
 */
export class Verification {
  readonly #store: VerificationParts["store"];
  readonly #runtime: Runtime;
  readonly #hearingTask: BackgroundTask;
  readonly #held = new Map<string, Held>();
  readonly #ofGrant = new Map<string, Set<string>>();
  readonly #watched = new WatchedGrants();
  /** Counts what was forgotten: who read the store before that must not keep what it read. */
  #forgotten = 0;
  #newsMark: NewsMark | undefined;
  /** When the last news that arrived was asked for. */
  #newsFromMs: number | undefined;
  #next: Cancel | undefined;
  #hearing: Promise<void> | undefined;
  #isHinted = false;
  #isStopped = false;

  constructor({ store, runtime }: VerificationParts) {
    this.#store = store;
    this.#runtime = runtime;
    const sentence = "what other nodes revoked could not be read";
    this.#hearingTask = new BackgroundTask("revocations", sentence, runtime);
  }

  async start(): Promise<void> {
    if (this.#store.isShared) await this.#keepHearing();
  }

  /** Some node may have revoked something: there is no need to wait for the next time. */
  hinted(): void {
    this.#isHinted = true;
    if (this.#store.isShared && !this.#isStopped) void this.#keepHearing();
  }

  stop(): void {
    this.#isStopped = true;
    this.#next?.();
  }

  async verify(accessToken: string): Promise<ScopedPrincipal> {
    const held = this.#held.get(accessToken);
    if (held && this.#isTrusted) {
      if (this.#runtime.elapsedMs() < held.untilMs) return held.principal;
      this.#drop(accessToken, held);
      throw new InvalidToken();
    }
    if (!isCredential("bwa_", accessToken)) throw new InvalidToken();
    return this.#lookUp(accessToken);
  }

  /** The client of a token that this node remembers; undefined for all others. The token may have ended since. */
  rememberedClientOf(accessToken: string): string | undefined {
    return this.#held.get(accessToken)?.clientId;
  }

  /** Which client was given the token. */
  async clientOf(accessToken: string): Promise<string> {
    const row = await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken)));
    if (!row || row.remainingMs <= 0) throw new InvalidToken();
    return row.grant.clientId;
  }

  /** Tells once when the token is revoked; when it expires the watcher sees for itself. */
  async watch(accessToken: string, revoked: () => void): Promise<TokenLife> {
    for (;;) {
      const forgotten = this.#forgotten;
      const askedMs = this.#runtime.elapsedMs();
      const row = await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken)));
      if (!row || row.remainingMs <= 0) throw new InvalidToken();
      // A revocation that arrived since we asked may be this token's.
      if (forgotten !== this.#forgotten) continue;
      const release = this.#watched.add(row.grant, revoked);
      return { untilMs: askedMs + row.remainingMs, clientId: row.grant.clientId, release };
    }
  }

  /**
   * Resolves when this node has heard of all that was revoked, up to what its memory may miss as well; rejects when it
   * can't. What is told to streams waits for it: else one that was cut off would tell what happened since before it
   * hears whose access ended meanwhile.
   */
  async caughtUp(): Promise<void> {
    if (this.#isTrusted) return;
    const fromMs = this.#runtime.elapsedMs();
    // What was asked before says nothing of what was revoked since.
    await this.#hearing;
    await this.#keepHearing();
    if (this.#newsFromMs === undefined || this.#newsFromMs < fromMs) {
      throw new StoreUnavailable("What other nodes revoked could not be read.");
    }
  }

  /** The tokens of these grants are no longer good, from now on. */
  forget(grantIds: readonly string[]): void {
    if (grantIds.length > 0) this.#forgotten++;
    for (const grantId of grantIds) {
      for (const accessToken of this.#ofGrant.get(grantId) ?? []) this.#held.delete(accessToken);
      this.#ofGrant.delete(grantId);
      this.#watched.end(grantId);
    }
  }

  /**
   * The store was restored or promoted, or revocations were removed before this node read them: nothing in memory can be
   * trusted. Streams whose grant is still in the store go on.
   */
  async #forgetAll(): Promise<void> {
    this.#forgotten++;
    this.#held.clear();
    this.#ofGrant.clear();
    const watched = this.#watched.grants;
    for (let at = 0; at < watched.length; at += grantsAtOnce) {
      const some = watched.slice(at, at + grantsAtOnce);
      const found = await this.#store.read((tx) => tx.grants.existing(some));
      this.forget(some.map(({ id }) => id).filter((id) => !found.has(id)));
    }
  }

  async #lookUp(accessToken: string, tries = 3): Promise<ScopedPrincipal> {
    const forgotten = this.#forgotten;
    const askedMs = this.#runtime.elapsedMs();
    const row = await this.#store.read((tx) => tx.accessTokens.find(keyOf(accessToken)));
    if (this.#store.isShared && this.#runtime.elapsedMs() - askedMs >= revocationNews.trustedMs) {
      // What was true when we asked may have been revoked elsewhere since, too long ago to be let pass.
      if (tries > 1) return this.#lookUp(accessToken, tries - 1);
      throw new StoreUnavailable("The store is too slow to tell whether a token is good.");
    }
    const principal = row && row.remainingMs > 0 ? principalOf(row) : undefined;
    if (!row || !principal) throw new InvalidToken();
    // A revocation that arrived since we asked may be this token's: then what was read is good for this call at most.
    if (forgotten === this.#forgotten) {
      const { id: grantId, clientId } = row.grant;
      this.#keep(accessToken, { principal, grantId, clientId, untilMs: askedMs + row.remainingMs });
    }
    return principal;
  }

  get #isTrusted(): boolean {
    if (!this.#store.isShared) return true;
    const elapsedMs = this.#runtime.elapsedMs();
    return this.#newsFromMs !== undefined && elapsedMs - this.#newsFromMs < revocationNews.trustedMs;
  }

  #keepHearing(): Promise<void> {
    this.#next?.();
    this.#hearing ??= this.#hearNews().finally(() => {
      this.#hearing = undefined;
      const delayMs = this.#isHinted ? 0 : revocationNews.everyMs;
      if (!this.#isStopped) this.#next = this.#runtime.after(delayMs, () => void this.#keepHearing());
    });
    return this.#hearing;
  }

  async #hearNews(): Promise<void> {
    this.#isHinted = false;
    const askedMs = this.#runtime.elapsedMs();
    try {
      const mark = this.#newsMark;
      const { epoch, end, horizon, bodies } = await this.#store.read(async (tx) => {
        const [epoch, end, horizon, bodies] = await Promise.all([
          tx.logEpoch.current(),
          tx.log.end(),
          tx.log.horizon(),
          mark ? tx.log.revocations(mark.end, revocationsAtOnce) : [],
        ]);
        return { epoch: epoch.name, end, horizon, bodies };
      });
      const isWhole = bodies.length < revocationsAtOnce;
      const isContinued = !mark || (isWhole && mark.epoch === epoch && comparePositions(mark.end, horizon) >= 0);
      if (isContinued) this.forget(bodies.map((body) => (JSON.parse(body) as { grant: string }).grant));
      else await this.#forgetAll();
      this.#newsMark = { epoch, end };
      this.#newsFromMs = askedMs;
      this.#hearingTask.succeeded();
    } catch (error) {
      // Not for ever: what was kept before may have been revoked in the dark, but is forgotten once we hear of it.
      this.#hearingTask.failed(error);
    }
  }

  #keep(accessToken: string, held: Held): void {
    this.#held.delete(accessToken);
    this.#held.set(accessToken, held);
    const siblings = this.#ofGrant.get(held.grantId);
    if (siblings) siblings.add(accessToken);
    else this.#ofGrant.set(held.grantId, new Set([accessToken]));
    for (const [oldest, one] of this.#held) {
      if (this.#held.size <= tokensHeld) break;
      this.#drop(oldest, one);
    }
  }

  #drop(accessToken: string, { grantId }: Held): void {
    this.#held.delete(accessToken);
    const siblings = this.#ofGrant.get(grantId);
    siblings?.delete(accessToken);
    if (siblings?.size === 0) this.#ofGrant.delete(grantId);
  }
}

function principalOf({ grant: { covers, userId, tenantId }, scope }: AccessTokenRow): ScopedPrincipal | undefined {
  const scopes = storedScopes(scope);
  if (covers === "tenant") return { kind: "enterprise", tenantId, scopes };
  return userId === null ? undefined : { kind: "user", userId, tenantId, scopes };
}
