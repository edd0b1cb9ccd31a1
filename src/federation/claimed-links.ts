import type { DeviceId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type Cancel, outsideRequests, type Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import { checksumOfLinks } from "../store/tables/link-checksum.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { claimShare, maximalStreams, orphansIn, type ShareTables, surplusIn } from "./shares.ts";

/** A link that this node regards as its own, with its epoch. */
export interface OwnLink {
  readonly deviceId: DeviceId;
  readonly epoch: number;
}

export interface ClaimedLinksParts {
  readonly store: Store<ShareTables>;
  readonly membership: Membership;
  readonly runtime: Runtime;
  readonly ownLinks: () => readonly OwnLink[];
  readonly adopt: (row: LinkRow) => void;
  /**
   * Stops following the link. Resolves when its work has ended, with the time of its last confirmation if the store has
   * an older one.
   */
  readonly stopFollowing: (link: OwnLink, sentence: string) => Promise<number | undefined>;
}

export const ownedElsewhere = "another node owns the link now";
const surplusHandedBack = "the link is handed back, because this node has more than its share";

/**
 * Intervals: `lookMs` for claimable links, `settleMs` for comparing the own links with the store and for handing back
 * surplus.
 */
const times = { lookMs: 500, settleMs: 3_000 };
/**
 * Priority over ordinary transactions: links that no node follows go before the work of links that were just claimed.
 */
const priority = { soon: true };
/** Small enough that a node which starts at the same time gets its share. */
const claimedAtOnce = 100;
/**
 * Surplus links that are handed back in one round: a small number, so that the ecosystem does not get too many new
 * connections at once.
 */
const handedBackAtOnce = 40;

/**
 * Decides which links this node owns: it claims its share of links without an owner or with a dead one, notices links
 * that other nodes have claimed, and hands back surplus. While the store is unreachable the node keeps its links,
 * because possibly no other node has claimed them. On SQLite there is no other node.
 */
export class ClaimedLinks {
  readonly #parts: ClaimedLinksParts;
  readonly #task: BackgroundTask;
  /** The membership life in which the links were last compared with the store; undefined before the start. */
  #sureOfLife: number | undefined;
  #isInDoubt = false;
  #settleMs = 0;
  #next: Cancel | undefined;
  #round: Promise<void> | undefined;
  #isRoundRequested = false;
  #isFull = false;
  #isStopped = false;

  constructor(parts: ClaimedLinksParts) {
    this.#parts = parts;
    const sentence = "links could not be compared with the store or claimed; trying again";
    this.#task = new BackgroundTask("link_shares", sentence, parts.runtime);
  }

  async start(): Promise<void> {
    const { store, membership } = this.#parts;
    this.#sureOfLife = membership.life;
    await this.#claim();
    if (store.isShared) this.#schedule();
  }

  /** A hint: links may have changed owners, or may be claimable. */
  wake(): void {
    this.#isInDoubt = true;
    if (this.#parts.store.isShared) this.#requestRound();
  }

  /**
   * False after this node's lease had ended: other nodes may have claimed its links, so it owns nothing until the next
   * comparison.
   */
  get isSure(): boolean {
    return this.#sureOfLife === undefined || this.#sureOfLife === this.#parts.membership.life;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#round;
  }

  /** Single-flight: one round at a time, and another one if `wake` was called meanwhile. */
  #requestRound(): void {
    this.#isRoundRequested = true;
    if (this.#isStopped) return;
    this.#next?.();
    this.#round ??= outsideRequests(this.#parts.runtime, () => this.#runRounds()).finally(() => {
      this.#round = undefined;
      this.#schedule();
    });
  }

  async #runRounds(): Promise<void> {
    const { membership, runtime } = this.#parts;
    while (this.#isRoundRequested && !this.#isStopped && membership.isAlive) {
      this.#isRoundRequested = false;
      try {
        const isDue = runtime.elapsedMs() >= this.#settleMs;
        if (isDue) this.#settleMs = runtime.elapsedMs() + times.settleMs;
        if (isDue || this.#isInDoubt || !this.isSure) await this.#compare();
        await this.#claim();
        if (isDue) await this.#handBackSurplus();
        this.#task.succeeded();
      } catch (error) {
        this.#task.failed(error);
        return;
      }
    }
  }

  /** Gives up links that other nodes have claimed, and follows owned links that this node doesn't follow yet. */
  async #compare(): Promise<void> {
    const { store, membership } = this.#parts;
    const { life } = membership;
    this.#isInDoubt = false;
    try {
      // Links that were added after this line may be missing from the read.
      const ownLinks = this.#parts.ownLinks();
      const stored = await store.read((tx) => tx.links.checksumOf(membership.id), priority);
      const { count, digest } = checksumOfLinks(ownLinks);
      if (stored.count !== count || stored.digest !== digest) await this.#correct(ownLinks);
      this.#sureOfLife = life;
    } catch (error) {
      this.#isInDoubt = true;
      throw error;
    }
  }

  async #correct(ownLinks: readonly OwnLink[]): Promise<void> {
    const { store, membership, adopt, stopFollowing } = this.#parts;
    const rows = await store.read((tx) => tx.links.epochsOf(membership.id), priority);
    const owned = new Map(rows.map(({ deviceId, epoch }) => [deviceId, epoch]));
    for (const link of ownLinks) if (owned.get(link.deviceId) !== link.epoch) void stopFollowing(link, ownedElsewhere);
    const known = new Set(this.#parts.ownLinks().map(({ deviceId }) => deviceId));
    if (!rows.some(({ deviceId }) => !known.has(deviceId))) return;
    for (const row of await store.read((tx) => tx.links.ownedBy(membership.id), priority)) {
      if (!known.has(row.deviceId)) adopt(row);
    }
  }

  /** Claims links without an owner or with a dead one, up to this node's fair share. */
  async #claim(): Promise<void> {
    const { store, membership, runtime, adopt } = this.#parts;
    while (!this.#isStopped && membership.isAlive) {
      if (!(await store.read((tx) => orphansIn(tx, membership), priority))) return;
      const { claimed, room, isFull } = await store.transaction(
        (tx) => claimShare(tx, membership, claimedAtOnce),
        priority,
      );
      for (const row of claimed) adopt(row);
      if (isFull && !this.#isFull) {
        runtime.report.error(
          { streamsAtMost: maximalStreams },
          "this node follows as many links as it can; start another node",
        );
      }
      this.#isFull = isFull;
      if (claimed.length < claimedAtOnce || room === 0) return;
    }
  }

  /** Hands back some surplus links, so that a node that has joined gets its share. */
  async #handBackSurplus(): Promise<void> {
    const { store, membership, stopFollowing } = this.#parts;
    const surplus = await store.read((tx) => surplusIn(tx, membership), priority);
    if (surplus === 0) return;
    const links = this.#parts.ownLinks().slice(0, Math.min(surplus, handedBackAtOnce));
    const confirmedMs = await Promise.all(links.map((link) => stopFollowing(link, surplusHandedBack)));
    const confirmed = links.flatMap((link, i) => {
      const timeMs = confirmedMs[i];
      return timeMs === undefined ? [] : [{ ...link, confirmedMs: timeMs }];
    });
    // If one of these fails, the next comparison follows the links again. The next owner counts a link as blind since
    // its last stored confirmation.
    if (confirmed.length > 0) await store.transaction((tx) => tx.links.confirm(membership.id, confirmed), priority);
    await store.transaction((tx) => tx.links.releaseSome(membership.id, links), priority);
  }

  #schedule(): void {
    this.#next?.();
    if (!this.#isStopped) this.#next = this.#parts.runtime.after(times.lookMs, () => this.#requestRound());
  }
}
