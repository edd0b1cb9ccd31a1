import type { Commit } from "../devices/commit.ts";
import type { Connector } from "../ecosystems/connector.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type ErrorOwners, noErrorOwners } from "../runtime/error-owners.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { ConnectionRateLimiter, renewalsPerSecond } from "./admission.ts";
import { ClaimedLinks, type OwnLink, ownedElsewhere } from "./claimed-links.ts";
import type { AwaitedFans } from "./commands/awaited-fans.ts";
import type { TokenSealing } from "./credential.ts";
import type { Feeds } from "./feeds/feeds.ts";
import type { Mirrored } from "./lane.ts";
import type { LinkFaultKind, PauseCause } from "./link-faults.ts";
import type { LinkKey } from "./link-key.ts";
import type { LinkStanding } from "./link-record.ts";
import { LinkSupervisor } from "./link-supervisor.ts";
import { SampleTurns } from "./sample-turns.ts";
import type { ThingIdOf } from "./thing-marks.ts";

export type FederationTables = Pick<
  Transaction,
  | "users"
  | "devices"
  | "deviceTypeMaps"
  | "mappedDevices"
  | "attributes"
  | "attributeUsage"
  | "things"
  | "thingCommands"
  | "triggers"
  | "thingTriggers"
  | "links"
  | "fanRequests"
  | "blindIntervals"
  | "idempotencyKeys"
  | "linkSessions"
  | "audit"
  | "log"
  | "nodes"
  | "clock"
>;

export interface KeeperParts {
  readonly store: Store<FederationTables>;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly commit: Commit;
  readonly sealing: TokenSealing;
  readonly thingIdOf: ThingIdOf;
  readonly runtime: Runtime;
  /** The feeds of ecosystems that have no connection for each account. */
  readonly feeds?: Pick<Feeds, "messagesOf" | "callsOf">;
  /** Counts an unexpected error in one link's work. */
  readonly countFault?: (kind: LinkFaultKind) => void;
  readonly owners?: ErrorOwners;
  /** Which values a snapshot confirms without changing them. */
  readonly restated?: AwaitedFans["restated"];
  /** How often confirmation times are stored; every minute. */
  readonly confirmEveryMs?: number;
}

const usualConfirmEveryMs = 60_000;
/**
 * Maximal number of remembered dropped links. A stale read is at most seconds old, and far fewer links end in that
 * time.
 */
const droppedRemembered = 10_000;

const storeRestored = "the store was restored or promoted; the link is followed again from the store";

interface Followed {
  readonly supervisor: LinkSupervisor;
  flushedMs: number;
  /** Since when, on this node's monotonic clock. */
  readonly sinceMs: number;
  /** The owner before may have sent a command whose outcome the ecosystem has not shown yet. */
  mayInheritCommands: boolean;
}

/**
 * Follows the links that this node owns: all of them on SQLite; on a shared store the node's fair share, claimed when
 * they have no owner or a dead one. All writes of a link carry its epoch. While the store is unreachable the node keeps
 * its links, because possibly no other node has claimed them.
 */
export class LinkKeeper {
  readonly #parts: KeeperParts;
  readonly #admission: ConnectionRateLimiter;
  readonly #renewals: ConnectionRateLimiter;
  readonly #sampleTurns: SampleTurns;
  readonly #followed = new Map<DeviceId, Followed>();
  /** Links that were removed on this node. A stale read may still contain one. */
  readonly #dropped = new Set<DeviceId>();
  /** Links of this node whose ecosystem is not configured here, with their epochs. */
  readonly #unfollowed = new Map<DeviceId, number>();
  readonly #claimed: ClaimedLinks;
  readonly #flushing: BackgroundTask;
  #nextFlush: Cancel | undefined;
  #isStartingOver = false;
  #stopping: Promise<void> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#admission = new ConnectionRateLimiter(parts.runtime);
    this.#renewals = new ConnectionRateLimiter(parts.runtime, renewalsPerSecond);
    this.#sampleTurns = new SampleTurns(parts.runtime);
    const sentence = "confirmation times could not be stored";
    this.#flushing = new BackgroundTask("confirmation_times", sentence, parts.runtime);
    this.#claimed = new ClaimedLinks({
      ...parts,
      ownLinks: () => this.#ownLinks(),
      adopt: (row) => this.adopt(row),
      stopFollowing: (link, sentence) => this.#stopFollowing(link, sentence),
    });
  }

  /** Follows every link that this node owns, and claims links without an owner. */
  async start(): Promise<void> {
    const { store, membership } = this.#parts;
    for (const row of await store.read((tx) => tx.links.ownedBy(membership.id))) this.adopt(row);
    await this.#claimed.start();
    this.#scheduleFlush();
  }

  /** A hint: links may have changed owners, or may be claimable. */
  wake(): void {
    this.#claimed.wake();
  }

  /**
   * After the store was restored or a standby promoted: what lanes hold in memory may not be stored. Every link is
   * given up and followed again from the store, so that its account is mirrored again.
   */
  async startOver(): Promise<void> {
    if (this.#isStartingOver || this.#stopping) return;
    this.#isStartingOver = true;
    // A restored store may reuse the id of a link that was dropped here.
    this.#dropped.clear();
    await Promise.all(
      [...this.#followed.values()].map(({ supervisor: { link } }) => this.#abandon(link, storeRestored)),
    );
    this.#isStartingOver = false;
    this.#claimed.wake();
  }

  /** Starts to follow a link of this node. A new link passes what it has mirrored. */
  adopt(row: LinkRow, mirrored?: Mirrored): void {
    const connector = this.#parts.connectors.get(row.ecosystem);
    // Links that `startOver` gives up are followed again after the next comparison with the store.
    if (this.#stopping || this.#isStartingOver || this.#dropped.has(row.deviceId)) return;
    if (!connector) {
      this.#unfollowed.set(row.deviceId, row.epoch);
      return;
    }
    // A round and a call may both bring the same link: only the newest epoch gets a follower.
    const present = this.#followed.get(row.deviceId)?.supervisor;
    if (present && present.link.ownership.epoch >= row.epoch) return;
    if (present) void this.#abandon(present.link, ownedElsewhere);
    const { countFault = () => undefined, owners = noErrorOwners } = this.#parts;
    const lost = () => void this.#abandon(supervisor.link, ownedElsewhere);
    const admitted = { admission: this.#admission, renewals: this.#renewals, sampleTurns: this.#sampleTurns };
    const parts = { ...this.#parts, ...admitted, connector, owners, countFault, lost };
    const supervisor: LinkSupervisor = new LinkSupervisor(parts, row);
    this.#followed.set(row.deviceId, {
      supervisor,
      flushedMs: supervisor.confirmedMs,
      sinceMs: this.#parts.runtime.elapsedMs(),
      mayInheritCommands: true,
    });
    supervisor.start(mirrored);
  }

  /** The supervisor of a link, if it is certain that this node owns the link. */
  supervisor(deviceId: DeviceId): LinkSupervisor | undefined {
    return this.#claimed.isSure ? this.#followed.get(deviceId)?.supervisor : undefined;
  }

  /** Whether the owner before may have sent a command in the last `ms` whose outcome the ecosystem has not shown yet. */
  mayInheritCommands(deviceId: DeviceId, ms: number): boolean {
    const followed = this.#followed.get(deviceId);
    return followed?.mayInheritCommands === true && this.#parts.runtime.elapsedMs() - followed.sinceMs < ms;
  }

  /** The store has no such command. There will be none: only the owner of a link sends commands. */
  inheritsNoCommands(deviceId: DeviceId): void {
    const followed = this.#followed.get(deviceId);
    if (followed) followed.mayInheritCommands = false;
  }

  /** The standing of a link that this node owns; ahead of the store by at most one write. */
  standing(deviceId: DeviceId): LinkStanding | undefined {
    return this.#followed.get(deviceId)?.supervisor.standing;
  }

  /** The link was removed: ends all work for it. */
  async drop(deviceId: DeviceId): Promise<void> {
    const followed = this.#followed.get(deviceId);
    this.#dropped.add(deviceId);
    const [oldest] = this.#dropped;
    if (oldest !== undefined && this.#dropped.size > droppedRemembered) this.#dropped.delete(oldest);
    this.#followed.delete(deviceId);
    this.#unfollowed.delete(deviceId);
    await followed?.supervisor.stop();
  }

  /** Whether this node follows the link in its stored epoch with that token. */
  isFollowing({ deviceId, owner, epoch }: LinkRow, token: string): boolean {
    const supervisor = this.#followed.get(deviceId)?.supervisor;
    if (supervisor?.link.ownership.owner !== owner || supervisor.link.ownership.epoch !== epoch) return false;
    return supervisor.isFollowingWith(token);
  }

  get followed(): number {
    return this.#followed.size;
  }

  /** False when other nodes may have claimed the links of this node meanwhile. */
  get isSure(): boolean {
    return this.#claimed.isSure;
  }

  /** How many links of this node are not followed, because their ecosystem is not configured here. */
  get unfollowed(): number {
    return this.#unfollowed.size;
  }

  /** Whether this ecosystem is configured here. */
  knows(ecosystem: string): boolean {
    return this.#parts.connectors.has(ecosystem);
  }

  /** The standings of the links that this node owns. */
  *standings(): Iterable<{
    readonly userId: UserId;
    readonly state: LinkStanding["state"];
    readonly isLive: boolean;
    readonly confirmedMs: number;
    readonly unconfirmedMs: number;
    readonly pausedBy: PauseCause | undefined;
    readonly isSlowed: boolean;
  }> {
    for (const { supervisor } of this.#followed.values()) {
      const { isLive, confirmedMs, unconfirmedMs, pausedBy, isSlowed, standing, link } = supervisor;
      yield { userId: link.userId, state: standing.state, isLive, confirmedMs, unconfirmedMs, pausedBy, isSlowed };
    }
  }

  /** Ends all streams, waits for commits in progress, and releases the links so that other nodes claim them at once. */
  stop(): Promise<void> {
    this.#stopping ??= this.#stop();
    return this.#stopping;
  }

  async #stop(): Promise<void> {
    this.#nextFlush?.();
    await this.#claimed.stop();
    await Promise.all([...this.#followed.values()].map(({ supervisor }) => supervisor.stop()));
    this.#sampleTurns.stop();
    await this.#flush();
    const { store, membership } = this.#parts;
    if (!store.isShared) return;
    try {
      await store.transaction((tx) => tx.links.releaseAll(membership.id), { soon: true });
    } catch (error) {
      // Best effort: other nodes claim the links anyway when this node's lease has ended.
      this.#parts.runtime.report.warn(
        { error },
        "the links could not be released; other nodes claim them when this node's lease ends",
      );
    }
  }

  async #abandon(link: LinkKey, sentence: string): Promise<void> {
    const supervisor = this.#followed.get(link.deviceId)?.supervisor;
    if (supervisor?.link !== link) return;
    this.#followed.delete(link.deviceId);
    this.#parts.runtime.report.info({ ...link }, sentence);
    await supervisor.stop();
  }

  #ownLinks(): readonly OwnLink[] {
    const followed = [...this.#followed.values()].map(({ supervisor: { link } }) => ({
      deviceId: link.deviceId,
      epoch: link.ownership.epoch,
    }));
    return [...followed, ...[...this.#unfollowed].map(([deviceId, epoch]) => ({ deviceId, epoch }))];
  }

  async #stopFollowing({ deviceId, epoch }: OwnLink, sentence: string): Promise<number | undefined> {
    if (this.#unfollowed.get(deviceId) === epoch) this.#unfollowed.delete(deviceId);
    const followed = this.#followed.get(deviceId);
    if (followed?.supervisor.link.ownership.epoch !== epoch) return undefined;
    await this.#abandon(followed.supervisor.link, sentence);
    return isUnflushed(followed) ? followed.supervisor.confirmedMs : undefined;
  }

  async #flush(): Promise<void> {
    const unflushed = [...this.#followed.values()].filter(isUnflushed);
    if (unflushed.length === 0) return;
    const times = unflushed.map(({ supervisor: { link, confirmedMs } }) => ({
      deviceId: link.deviceId,
      epoch: link.ownership.epoch,
      confirmedMs,
    }));
    try {
      await this.#parts.store.transaction((tx) => tx.links.confirm(this.#parts.membership.id, times));
      unflushed.forEach((followed, i) => {
        followed.flushedMs = times[i]!.confirmedMs;
      });
      this.#flushing.succeeded();
    } catch (error) {
      this.#flushing.failed(error);
    }
  }

  #scheduleFlush(): void {
    const { runtime, confirmEveryMs = usualConfirmEveryMs } = this.#parts;
    this.#nextFlush = runtime.after(confirmEveryMs, () => {
      void this.#flush().finally(() => {
        if (!this.#stopping) this.#scheduleFlush();
      });
    });
  }
}

/**
 * Whether the confirmation time should be stored. Only when the standing is stored: until then the old confirmation time
 * shows since when the link was blind.
 */
function isUnflushed({ supervisor, flushedMs }: Followed): boolean {
  return supervisor.isWritten && supervisor.confirmedMs > flushedMs;
}
