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
import { type HeldLink, isAnothers, SharedLinks } from "./shared-links.ts";
import { loadMirrored, writeStanding } from "./stored-link.ts";

export type FederationTables = Pick<
  Transaction,
  | "users"
  | "devices"
  | "attributes"
  | "attributeUsage"
  | "triggers"
  | "links"
  | "commands"
  | "blindIntervals"
  | "log"
  | "nodes"
  | "clock"
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

const confirmEveryMs = 60_000;

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
  readonly #shared: SharedLinks;
  #nextFlush: Cancel | undefined;
  #stopping: Promise<void> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#admission = new Admission(parts.surroundings);
    this.#shared = new SharedLinks({
      ...parts,
      held: () => this.#held(),
      adopt: (row) => this.adopt(row),
      letGo: (held, sentence) => this.#letGo(held, sentence),
    });
  }

  /** Takes up every link that is this node's or nobody's. */
  async start(): Promise<void> {
    const { store, membership } = this.#parts;
    for (const row of await store.read((tx) => tx.links.ownedBy(membership.id))) this.adopt(row);
    await this.#shared.start();
    this.#scheduleFlush();
  }

  /** Links may have changed hands, or may be to be had. */
  wake(): void {
    this.#shared.wake();
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
    const unsureMs = () => membership.unsureMs;
    const record = new LinkRecord({ link, write, surroundings, unsureMs, signal: stopping.signal }, row);
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
    // Whoever noted a time that is still to come was wrong about it, and it would hide how old all that follows is.
    const confirmedMs = Math.min(row.confirmedMs, surroundings.nowMs());
    const follower = new Follower(parts, confirmedMs);
    this.#followed.set(row.deviceId, { link, token, connector, follower, record, flushedMs: confirmedMs });
    follower.start();
  }

  /** The follower of a link that this node owns. */
  follower(deviceId: DeviceId): Follower | undefined {
    return this.#shared.isSure ? this.#followed.get(deviceId)?.follower : undefined;
  }

  /** How to reach the account of a link that this node owns. */
  reach(deviceId: DeviceId): Pick<Followed, "link" | "token" | "connector"> | undefined {
    return this.#shared.isSure ? this.#followed.get(deviceId) : undefined;
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
    this.#nextFlush?.();
    await this.#shared.stop();
    await Promise.all([...this.#followed.values()].map(({ follower }) => follower.stop()));
    await this.#flush();
    const { store, membership } = this.#parts;
    if (!store.isShared) return;
    try {
      await store.transaction((tx) => tx.links.release(membership.id), { soon: true });
    } catch (error) {
      // Then the others find out by themselves, once this node is gone.
      this.#parts.surroundings.report.warn({ error }, "the links could not be given back");
    }
  }

  async #abandon(link: LinkKey, sentence: string): Promise<void> {
    const followed = this.#followed.get(link.deviceId);
    if (followed?.link !== link) return;
    this.#followed.delete(link.deviceId);
    this.#parts.surroundings.report.info({ ...link }, sentence);
    await followed.follower.stop();
  }

  #held(): readonly HeldLink[] {
    const followed = [...this.#followed.values()].map(({ link }) => ({
      deviceId: link.deviceId,
      epoch: link.ownership.epoch,
    }));
    return [...followed, ...[...this.#unfollowed].map(([deviceId, epoch]) => ({ deviceId, epoch }))];
  }

  async #letGo({ deviceId, epoch }: HeldLink, sentence: string): Promise<void> {
    if (this.#unfollowed.get(deviceId) === epoch) this.#unfollowed.delete(deviceId);
    const link = this.#followed.get(deviceId)?.link;
    if (link?.ownership.epoch === epoch) await this.#abandon(link, sentence);
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

  #scheduleFlush(): void {
    this.#nextFlush = this.#parts.surroundings.after(confirmEveryMs, () => {
      void this.#flush().then(() => {
        if (!this.#stopping) this.#scheduleFlush();
      });
    });
  }
}
