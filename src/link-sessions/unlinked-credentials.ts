import type { Connector } from "../ecosystems/connector.ts";
import { aborted } from "../federation/aborted.ts";
import type { OwnerId } from "../model/ids.ts";
import { type Logger, type Runtime, within } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkSessionKey, LinkSessionRow, UndiscardedSession } from "../store/tables/link-sessions.ts";
import { discardCredential } from "./discarded-credential.ts";
import { withoutCredential } from "./session-end.ts";
import { openSecrets, type Sealer } from "./session-secrets.ts";
import { claimMs } from "./session-status.ts";

export interface DiscardParts {
  readonly store: Store<Pick<Transaction, "linkSessions" | "clock">>;
  readonly sealer: Sealer;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly runtime: Pick<Runtime, "after" | "elapsedMs"> & { readonly report: Pick<Logger, "error"> };
}

/** How many credentials are revoked at the same time, each of another owner. */
const atOnce = 16;

/** Owners who have a turn in this run, at most; the others follow. */
const ownersInTurn = 1_000;

/** Sessions of one owner that are read at once. */
const sessionsAtOnce = 100;

/** A run that takes longer looks for further owners after this time. */
const lookEveryMs = 30_000;

/** Time limit for a revocation: best effort, and others wait for it. */
const revokeLimitMs = 5_000;

/**
 * Revokes the credentials of expired sessions, whose users left the page before the account was linked, and erases them.
 * A credential stays sealed in its row until its revocation was tried: when a node dies, another one tries again after
 * the claim's time. A node without the connector or the key leaves it to other nodes. Owners take turns, and each has
 * one revocation at a time: an ecosystem that does not answer delays no other owner. Returns how many were erased.
 */
export async function discardCredentials(parts: DiscardParts, signal: AbortSignal): Promise<number> {
  const owners = new OwnerSearch(parts);
  const waiting = new Map<OwnerId, Sessions>();
  const running = new Map<OwnerId, Promise<void>>();
  const failures: unknown[] = [];
  let discarded = 0;

  const takeTurn = async (ownerId: OwnerId, sessions: Sessions) => {
    try {
      const { value: key } = await sessions.next();
      if (!key) return;
      if (!(await discard(parts, key, signal))) return;
      discarded += 1;
      waiting.set(ownerId, sessions);
    } catch (error) {
      failures.push(error);
    } finally {
      running.delete(ownerId);
    }
  };

  try {
    for (;;) {
      if (waiting.size < ownersInTurn) {
        for (const ownerId of await owners.next()) {
          if (!waiting.has(ownerId) && !running.has(ownerId)) waiting.set(ownerId, sessionsOf(parts, ownerId));
        }
      }
      if (signal.aborted || failures.length > 0) break;
      for (const [ownerId, sessions] of waiting) {
        if (running.size === atOnce) break;
        waiting.delete(ownerId);
        running.set(ownerId, takeTurn(ownerId, sessions));
      }
      if (running.size === 0) break;
      await Promise.race(running.values());
    }
  } finally {
    await Promise.all(running.values());
  }
  if (failures.length > 0) throw failures[0];
  return discarded;
}

type Sessions = AsyncGenerator<LinkSessionKey, undefined>;

/** The owner's sessions that this node has the connector and the key for. */
async function* sessionsOf({ store, connectors, sealer }: DiscardParts, ownerId: OwnerId): Sessions {
  for (let afterId = ""; ; ) {
    const found = await store.read((tx) => tx.linkSessions.undiscarded(ownerId, afterId, sessionsAtOnce));
    for (const session of found) {
      if (connectors.has(session.ecosystem) && opens(sealer, session)) yield session;
    }
    if (found.length < sessionsAtOnce) return undefined;
    afterId = found.at(-1)!.id;
  }
}

/** Goes through all owners in pages, and again after `lookEveryMs`. */
class OwnerSearch {
  readonly #parts: DiscardParts;
  #after: OwnerId | undefined;
  #isOver = false;
  #begunMs: number;

  constructor(parts: DiscardParts) {
    this.#parts = parts;
    this.#begunMs = parts.runtime.elapsedMs();
  }

  /** The next owners. None when all were read: those of sessions that expire meanwhile wait for the next look. */
  async next(): Promise<readonly OwnerId[]> {
    const { store, runtime } = this.#parts;
    if (this.#isOver) {
      if (runtime.elapsedMs() - this.#begunMs < lookEveryMs) return [];
      this.#begunMs = runtime.elapsedMs();
    }
    const found = await store.read(async (tx) =>
      tx.linkSessions.undiscardedOwners((await tx.clock.nowMs()) - claimMs, atOnce, this.#after),
    );
    this.#isOver = found.length < atOnce;
    this.#after = this.#isOver ? undefined : found.at(-1);
    return found;
  }
}

/** Returns false when another node works on the session, or this node stops. */
async function discard(parts: DiscardParts, key: LinkSessionKey, signal: AbortSignal): Promise<boolean> {
  const claimed = await claim(parts, key);
  if (!claimed) return false;
  await within(parts.runtime, revokeLimitMs, signal, (inTime) => revoke(parts, claimed, inTime));
  // This node stops, and may have ended the call: the revocation is tried again.
  if (signal.aborted) return false;
  return parts.store.transaction(
    async (tx) => {
      const current = await tx.linkSessions.lock(key);
      if (current?.phase !== "discarding" || current.claimedMs !== claimed.claimedMs) return false;
      const sealed = withoutCredential(parts.sealer, claimed);
      await tx.linkSessions.save({ ...current, phase: "expired", claimedMs: null, sealed });
      return true;
    },
    { background: true },
  );
}

/** Claims the session under its lock, so that of several nodes one revokes its credential. */
function claim({ store }: DiscardParts, key: LinkSessionKey): Promise<LinkSessionRow | undefined> {
  return store.transaction(
    async (tx) => {
      const current = await tx.linkSessions.lock(key);
      const nowMs = await tx.clock.nowMs();
      if (current?.phase !== "discarding") return undefined;
      if (current.claimedMs !== null && nowMs < current.claimedMs + claimMs) return undefined;
      // The claim is a fencing token, so that no two claims may be the same.
      const claimed = { ...current, claimedMs: Math.max(nowMs, (current.claimedMs ?? 0) + 1) };
      await tx.linkSessions.save(claimed);
      return claimed;
    },
    { background: true },
  );
}

function opens(sealer: Sealer, session: UndiscardedSession): boolean {
  try {
    openSecrets(sealer, session);
    return true;
  } catch {
    return false;
  }
}

/** The time limit also holds for a connector that ignores its signal. */
async function revoke(parts: DiscardParts, session: LinkSessionRow, inTime: AbortSignal): Promise<void> {
  try {
    await Promise.race([discardCredential(parts, session, inTime), aborted(inTime)]);
  } catch (error) {
    const fields = { linkSession: session.id, ecosystem: session.ecosystem, error };
    parts.runtime.report.error(fields, "the credential of an expired link session could not be revoked");
  }
}
