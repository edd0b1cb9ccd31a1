import type { DeviceId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { claimShare, orphansIn, type ShareTables, streamsAtMost, surplusIn } from "./shares.ts";

/** A link that this node counts as its own, and in which epoch. */
export interface HeldLink {
  readonly deviceId: DeviceId;
  readonly epoch: number;
}

export interface SharedLinksParts {
  readonly store: Store<ShareTables>;
  readonly membership: Membership;
  readonly runtime: Runtime;
  readonly held: () => readonly HeldLink[];
  readonly adopt: (row: LinkRow) => void;
  /** Resolves when nothing is done for it any more. */
  readonly letGo: (link: HeldLink, sentence: string) => Promise<void>;
}

export const isAnothers = "the link is another node's now";
const isHandedBack = "the link is handed back: this node has more than its share";

/** A node looks for links to take this often, and this often whether its own are still its own, and not too many. */
const times = { lookMs: 500, settleMs: 3_000 };
/** A hundred links that were just taken have much to ask of the store; those that nobody follows yet go before them. */
const first = { soon: true };
/** Few enough that a node which starts at the same time gets its share. */
const claimedAtOnce = 100;
/** Of what a node has beyond its share it gives up so many in each round: streams move, and nobody is stormed. */
const handedBackAtOnce = 40;

/**
 * Which of the links are this node's: it claims its share of those that are nobody's or whose owner is dead, finds out
 * which of its own others have taken, and hands back what is too much. While the store can't be reached nothing is let
 * go: nobody else may have taken it. On SQLite there is nobody else.
 */
export class SharedLinks {
  readonly #parts: SharedLinksParts;
  readonly #task: BackgroundTask;
  /** In which of this node's lives it was last seen that its links are still its own; undefined before it starts. */
  #sureOfLife: number | undefined;
  #isInDoubt = false;
  #settleMs = 0;
  #next: Cancel | undefined;
  #round: Promise<void> | undefined;
  #isAwaited = false;
  #isFull = false;
  #isStopped = false;

  constructor(parts: SharedLinksParts) {
    this.#parts = parts;
    const sentence = "links could not be looked after; trying again";
    this.#task = new BackgroundTask("link_shares", sentence, parts.runtime);
  }

  async start(): Promise<void> {
    const { store, membership } = this.#parts;
    this.#sureOfLife = membership.life;
    await this.#claim();
    if (store.isShared) this.#schedule();
  }

  /** Links may have changed hands, or may be to be had. */
  wake(): void {
    this.#isInDoubt = true;
    if (this.#parts.store.isShared) this.#keepUp();
  }

  /** Others may have taken what was this node's while it was as good as dead: until that is seen, it owns nothing. */
  get isSure(): boolean {
    return this.#sureOfLife === undefined || this.#sureOfLife === this.#parts.membership.life;
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    this.#next?.();
    await this.#round;
  }

  /** One round at a time, and another if something was heard meanwhile. */
  #keepUp(): void {
    this.#isAwaited = true;
    if (this.#isStopped) return;
    this.#next?.();
    this.#round ??= this.#lookAfter().finally(() => {
      this.#round = undefined;
      this.#schedule();
    });
  }

  async #lookAfter(): Promise<void> {
    const { membership, runtime } = this.#parts;
    while (this.#isAwaited && !this.#isStopped && membership.isAlive) {
      this.#isAwaited = false;
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

  /** Lets go of what others have taken, and takes up what this node owns without having heard of it. */
  async #compare(): Promise<void> {
    const { store, membership } = this.#parts;
    const { life } = membership;
    this.#isInDoubt = false;
    try {
      // Only what was held before the look: what was taken up since may not be in it.
      const held = this.#parts.held();
      const tally = await store.read((tx) => tx.links.tallyOf(membership.id), first);
      const epochs = held.reduce((sum, { epoch }) => sum + epoch, 0);
      if (tally.count !== held.length || tally.epochs !== epochs) await this.#correct(held);
      this.#sureOfLife = life;
    } catch (error) {
      this.#isInDoubt = true;
      throw error;
    }
  }

  async #correct(held: readonly HeldLink[]): Promise<void> {
    const { store, membership, adopt, letGo } = this.#parts;
    const rows = await store.read((tx) => tx.links.epochsOf(membership.id), first);
    const owned = new Map(rows.map(({ deviceId, epoch }) => [deviceId, epoch]));
    for (const link of held) if (owned.get(link.deviceId) !== link.epoch) void letGo(link, isAnothers);
    const known = new Set(this.#parts.held().map(({ deviceId }) => deviceId));
    if (!rows.some(({ deviceId }) => !known.has(deviceId))) return;
    for (const row of await store.read((tx) => tx.links.ownedBy(membership.id), first)) {
      if (!known.has(row.deviceId)) adopt(row);
    }
  }

  /** Takes what is nobody's or was left by the dead, up to this node's fair share. */
  async #claim(): Promise<void> {
    const { store, membership, runtime, adopt } = this.#parts;
    while (!this.#isStopped && membership.isAlive) {
      if (!(await store.read((tx) => orphansIn(tx, membership), first))) return;
      const { claimed, room, isFull } = await store.transaction(
        (tx) => claimShare(tx, membership, claimedAtOnce),
        first,
      );
      for (const row of claimed) adopt(row);
      if (isFull && !this.#isFull) {
        runtime.report.error({ streamsAtMost }, "this node follows as many links as it can; start another");
      }
      this.#isFull = isFull;
      if (claimed.length < claimedAtOnce || room === 0) return;
    }
  }

  /** A node that has joined gets its share from those who have more than theirs, a few at a time. */
  async #handBackSurplus(): Promise<void> {
    const { store, membership, letGo } = this.#parts;
    const surplus = await store.read((tx) => surplusIn(tx, membership), first);
    if (surplus === 0) return;
    const links = this.#parts.held().slice(0, Math.min(surplus, handedBackAtOnce));
    await Promise.all(links.map((link) => letGo(link, isHandedBack)));
    // Should that fail, the next comparison takes them up again.
    await store.transaction((tx) => tx.links.handBack(membership.id, links), first);
  }

  #schedule(): void {
    this.#next?.();
    if (!this.#isStopped) this.#next = this.#parts.runtime.after(times.lookMs, () => this.#keepUp());
  }
}
