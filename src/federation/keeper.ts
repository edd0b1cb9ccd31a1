import type { Commit } from "../devices/commit.ts";
import type { Connector } from "../ecosystem/connector.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Cancel, Surroundings } from "../model/surroundings.ts";
import type { Membership } from "../nodes/membership.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { Admission } from "./admission.ts";
import { Follower } from "./follower.ts";
import { Lane, type Mirrored } from "./lane.ts";
import { type LinkKey, tokenPlace } from "./link-key.ts";
import { LinkRecord, type LinkRecordParts, type LinkStanding } from "./link-record.ts";
import { claimShare, orphansIn, streamsAtMost, surplusIn } from "./shares.ts";
import { loadMirrored, writeStanding } from "./stored-link.ts";

export type FederationTables = Pick<
  Transaction,
  "users" | "devices" | "attributes" | "triggers" | "links" | "commands" | "blindIntervals" | "log" | "nodes" | "clock"
>;

/** Opens what an ecosystem's token was sealed into, for one place only. */
export type OpenToken = (sealedToken: string, place: string) => string;

export interface KeeperParts {
  readonly store: Store<FederationTables>;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly commit: Commit;
  readonly openToken: OpenToken;
  readonly surroundings: Surroundings;
}

/** A node looks for links to take this often, and this often whether its own are still its own, and not too many. */
export const keeperTimes = { lookMs: 500, settleMs: 3_000, confirmMs: 60_000 };
/** Few enough that a node which starts at the same time gets its share. */
const claimedAtOnce = 100;
/** Of what a node has beyond its share it gives up so many in each round: streams move, and nobody is stormed. */
const handedBackAtOnce = 40;

interface Followed {
  readonly link: LinkKey;
  readonly token: string;
  readonly connector: Connector;
  readonly follower: Follower;
  readonly record: LinkRecord;
  flushedMs: number;
}

/**
 * Keeps the links that this node owns followed: all of them on SQLite; on a shared store its fair share of them, claimed
 * when they are nobody's or their owner is dead, and until another node has them. Whoever owns a link writes with its
 * epoch, and with no other. While the store can't be reached nothing is let go: nobody else may have taken it.
 */
export class LinkKeeper {
  readonly #parts: KeeperParts;
  readonly #admission: Admission;
  readonly #followed = new Map<DeviceId, Followed>();
  /** Links that ended here. Their ids never come back, but a look from before may still bring one. */
  readonly #dropped = new Set<DeviceId>();
  /** Links that are this node's and of an ecosystem that it doesn't know, with their epochs. */
  readonly #unfollowed = new Map<DeviceId, number>();
  /** In which of this node's lives it was last seen that its links are still its own. */
  #sureOfLife = 1;
  #isInDoubt = false;
  #settleMs = 0;
  #nextRound: Cancel | undefined;
  #nextFlush: Cancel | undefined;
  #round: Promise<void> | undefined;
  #isAwaited = false;
  #isFull = false;
  #stopping: Promise<void> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#admission = new Admission(parts.surroundings);
  }

  /** Takes up every link that is this node's or nobody's. */
  async start(): Promise<void> {
    const { store, membership } = this.#parts;
    for (const row of await store.read((tx) => tx.links.ownedBy(membership.id))) this.adopt(row);
    await this.#claim();
    if (store.isShared) this.#scheduleRound();
    this.#scheduleFlush();
  }

  /** Links may have changed hands, or may be to be had. */
  wake(): void {
    this.#isInDoubt = true;
    if (this.#parts.store.isShared) this.#keepUp();
  }

  /** Begins to follow a link that is this node's; one that was just made brings what it has mirrored along. */
  adopt(row: LinkRow, mirrored?: Mirrored): void {
    const { store, connectors, openToken, surroundings, membership } = this.#parts;
    const connector = connectors.get(row.ecosystem);
    if (this.#stopping || this.#dropped.has(row.deviceId)) return;
    if (!connector) {
      this.#unfollowed.set(row.deviceId, row.epoch);
      return;
    }
    // A round and a call may both bring the same link: one follower for each, and the newest epoch's.
    const present = this.#followed.get(row.deviceId);
    if (present && present.link.ownership.epoch >= row.epoch) return;
    if (present) void this.#abandon(present.link, isAnothers);
    const ownership = { owner: membership.id, epoch: row.epoch };
    const link: LinkKey = { userId: row.userId, deviceId: row.deviceId, ecosystem: row.ecosystem, ownership };
    const stopping = new AbortController();
    const write: LinkRecordParts["write"] = (standing, ended) =>
      writeStanding(store, link, standing, ended, follower.confirmedMs);
    const record = new LinkRecord({ link, write, surroundings, signal: stopping.signal }, row);
    const lane = new Lane(
      {
        link,
        commit: this.#parts.commit,
        load: () => loadMirrored(store, link),
        stored: (account, hasChanged) => follower.stored(account, hasChanged),
        passedOver: (sinceMs) => record.passedOver(sinceMs, "the store was too slow"),
        lost: () => void this.#abandon(link, isAnothers),
        surroundings,
      },
      mirrored,
    );
    const token = openToken(row.sealedToken, tokenPlace(row.userId, row.ecosystem));
    const parts = { token, connector, lane, record, admission: this.#admission, surroundings, stopping };
    const follower = new Follower(parts, row.confirmedMs);
    this.#followed.set(row.deviceId, { link, token, connector, follower, record, flushedMs: row.confirmedMs });
    follower.start();
  }

  /** The follower of a link that this node owns. */
  follower(deviceId: DeviceId): Follower | undefined {
    return this.#isSure ? this.#followed.get(deviceId)?.follower : undefined;
  }

  /** How to reach the account of a link that this node owns. */
  reach(deviceId: DeviceId): Pick<Followed, "link" | "token" | "connector"> | undefined {
    return this.#isSure ? this.#followed.get(deviceId) : undefined;
  }

  /** How a link stands that this node owns; ahead of the store by at most one write. */
  standing(deviceId: DeviceId): LinkStanding | undefined {
    return this.#followed.get(deviceId)?.record.standing;
  }

  /** The link is gone: whatever this node still does for it ends. */
  async drop(deviceId: DeviceId): Promise<void> {
    const followed = this.#followed.get(deviceId);
    this.#dropped.add(deviceId);
    this.#followed.delete(deviceId);
    await followed?.follower.stop();
  }

  /** Whether this node follows the link, as it stands in the store, with that token. */
  isFollowing({ deviceId, owner, epoch }: LinkRow, token: string): boolean {
    const followed = this.#followed.get(deviceId);
    if (!followed || followed.link.ownership.owner !== owner || followed.link.ownership.epoch !== epoch) return false;
    return followed.follower.isFollowingWith(token);
  }

  get followed(): number {
    return this.#followed.size;
  }

  /** How the links stand that this node owns. */
  *standings(): Iterable<{
    readonly state: LinkStanding["state"];
    readonly isLive: boolean;
    readonly confirmedMs: number;
  }> {
    for (const { record, follower } of this.#followed.values()) {
      yield { state: record.standing.state, isLive: follower.isLive, confirmedMs: follower.confirmedMs };
    }
  }

  /** Ends all streams, finishes what is under way, and gives the links back so that others take them at once. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#nextRound?.();
    this.#nextFlush?.();
    await this.#round;
    await Promise.all([...this.#followed.values()].map(({ follower }) => follower.stop()));
    await this.#flush();
    const { store, membership } = this.#parts;
    if (!store.isShared) return;
    try {
      await store.transaction((tx) => tx.links.release(membership.id));
    } catch (error) {
      // Then the others find out by themselves, once this node is gone.
      this.#parts.surroundings.report.warn({ error }, "the links could not be given back");
    }
  }

  /** Others may have taken what was this node's while it was as good as dead: until that is seen, it owns nothing. */
  get #isSure(): boolean {
    return !this.#parts.store.isShared || this.#sureOfLife >= this.#parts.membership.life;
  }

  async #abandon(link: LinkKey, sentence: string): Promise<void> {
    const followed = this.#followed.get(link.deviceId);
    if (followed?.link !== link) return;
    this.#followed.delete(link.deviceId);
    this.#parts.surroundings.report.info({ ...link }, sentence);
    await followed.follower.stop();
  }

  /** On a shared store: one round at a time, and another if something was heard meanwhile. */
  #keepUp(): void {
    this.#isAwaited = true;
    if (this.#stopping) return;
    this.#nextRound?.();
    this.#round ??= this.#lookAfter().finally(() => {
      this.#round = undefined;
      if (!this.#stopping) this.#scheduleRound();
    });
  }

  async #lookAfter(): Promise<void> {
    const { membership, surroundings } = this.#parts;
    while (this.#isAwaited && !this.#stopping && membership.isAlive) {
      this.#isAwaited = false;
      try {
        const isDue = surroundings.elapsedMs() >= this.#settleMs;
        if (isDue) this.#settleMs = surroundings.elapsedMs() + keeperTimes.settleMs;
        if (isDue || this.#isInDoubt || !this.#isSure) await this.#compare();
        await this.#claim();
        if (isDue) await this.#handBackSurplus();
      } catch (error) {
        surroundings.report.warn({ error }, "links could not be looked after; trying again");
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
      // Only what was followed before the look: what was taken up since may not be in it.
      const followed = [...this.#followed.values()];
      const epochs = [...followed.map(({ link }) => link.ownership.epoch), ...this.#unfollowed.values()];
      const tally = await store.read((tx) => tx.links.tallyOf(membership.id));
      const isSame = tally.count === epochs.length && tally.epochs === epochs.reduce((sum, epoch) => sum + epoch, 0);
      if (!isSame) await this.#correct(followed);
      this.#sureOfLife = life;
    } catch (error) {
      this.#isInDoubt = true;
      throw error;
    }
  }

  async #correct(followed: readonly Followed[]): Promise<void> {
    const { store, membership } = this.#parts;
    const rows = await store.read((tx) => tx.links.epochsOf(membership.id));
    const owned = new Map(rows.map(({ deviceId, epoch }) => [deviceId, epoch]));
    for (const { link } of followed) {
      if (owned.get(link.deviceId) !== link.ownership.epoch) void this.#abandon(link, isAnothers);
    }
    for (const [deviceId, epoch] of this.#unfollowed) {
      if (owned.get(deviceId) !== epoch) this.#unfollowed.delete(deviceId);
    }
    const isUnknown = ({ deviceId }: Pick<LinkRow, "deviceId">) =>
      !this.#followed.has(deviceId) && !this.#unfollowed.has(deviceId);
    if (!rows.some(isUnknown)) return;
    for (const row of await store.read((tx) => tx.links.ownedBy(membership.id))) if (isUnknown(row)) this.adopt(row);
  }

  /** Takes what is nobody's or was left by the dead, up to this node's fair share. */
  async #claim(): Promise<void> {
    const { store, membership, surroundings } = this.#parts;
    while (!this.#stopping && membership.isAlive) {
      if (!(await store.read((tx) => orphansIn(tx, membership)))) return;
      const { claimed, room, isFull } = await store.transaction((tx) => claimShare(tx, membership, claimedAtOnce));
      for (const row of claimed) this.adopt(row);
      if (isFull && !this.#isFull) {
        surroundings.report.error({ streamsAtMost }, "this node follows as many links as it can; others need another");
      }
      this.#isFull = isFull;
      if (claimed.length < claimedAtOnce || room === 0) return;
    }
  }

  /** A node that has joined gets its share from those who have more than theirs, a few at a time. */
  async #handBackSurplus(): Promise<void> {
    const { store, membership } = this.#parts;
    const surplus = await store.read((tx) => surplusIn(tx, membership));
    if (surplus === 0) return;
    const links = [...this.#followed.values()].slice(0, Math.min(surplus, handedBackAtOnce)).map(({ link }) => link);
    await Promise.all(
      links.map((link) => this.#abandon(link, "the link is handed back: this node has more than its share")),
    );
    const given = links.map(({ deviceId, ownership }) => ({ deviceId, epoch: ownership.epoch }));
    // Should that fail, the next comparison takes them up again.
    await store.transaction((tx) => tx.links.handBack(membership.id, given));
  }

  async #flush(): Promise<void> {
    // Not before the store knows how the link stands: until then only the old time tells since when it was blind.
    const news = [...this.#followed.values()].filter(
      ({ follower, record, flushedMs }) => record.isWritten && follower.confirmedMs > flushedMs,
    );
    if (news.length === 0) return;
    const times = news.map(({ link, follower }) => ({
      deviceId: link.deviceId,
      epoch: link.ownership.epoch,
      confirmedMs: follower.confirmedMs,
    }));
    try {
      await this.#parts.store.transaction((tx) => tx.links.confirm(this.#parts.membership.id, times));
      news.forEach((followed, i) => {
        followed.flushedMs = times[i]!.confirmedMs;
      });
    } catch (error) {
      this.#parts.surroundings.report.warn({ error }, "confirmation times could not be stored");
    }
  }

  #scheduleRound(): void {
    this.#nextRound?.();
    this.#nextRound = this.#parts.surroundings.after(keeperTimes.lookMs, () => this.#keepUp());
  }

  #scheduleFlush(): void {
    this.#nextFlush = this.#parts.surroundings.after(keeperTimes.confirmMs, () => {
      void this.#flush().then(() => {
        if (!this.#stopping) this.#scheduleFlush();
      });
    });
  }
}

const isAnothers = "the link is another node's now";
