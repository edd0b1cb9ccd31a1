import type { Commit } from "../devices/commit.ts";
import type { Connector } from "../ecosystem/connector.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Membership } from "../nodes/membership.ts";
import { BackgroundTask } from "../runtime/background-task.ts";
import { type ErrorOwners, noErrorOwners } from "../runtime/error-owners.ts";
import type { Cancel, Runtime } from "../runtime/runtime.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { LinkRow } from "../store/tables/links.ts";
import { Admission } from "./admission.ts";
import type { AwaitedFans } from "./awaited-fans.ts";
import type { Mirrored } from "./lane.ts";
import type { LinkFaultKind, PauseCause } from "./link-faults.ts";
import type { LinkKey } from "./link-key.ts";
import type { LinkStanding } from "./link-record.ts";
import { LinkSupervisor, type OpenToken } from "./link-supervisor.ts";
import { type HeldLink, isAnothers, SharedLinks } from "./shared-links.ts";

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
  | "idempotencyKeys"
  | "log"
  | "nodes"
  | "clock"
>;

export interface KeeperParts {
  readonly store: Store<FederationTables>;
  readonly membership: Membership;
  readonly connectors: ReadonlyMap<string, Connector>;
  readonly commit: Commit;
  readonly openToken: OpenToken;
  readonly runtime: Runtime;
  /** Counts an unexpected error in one link's work. */
  readonly countFault?: (kind: LinkFaultKind) => void;
  readonly owners?: ErrorOwners;
  /** What a snapshot of a device confirms without changing it. */
  readonly restated?: AwaitedFans["restated"];
}

const confirmEveryMs = 60_000;
/** Bound on remembered ids of dropped links. A read from before the drop is seconds old; far fewer links end in that time. */
const droppedRemembered = 10_000;

const isRestored = "the store was restored or promoted: the link is taken up anew";

interface Followed {
  readonly supervisor: LinkSupervisor;
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
  readonly #flushing: BackgroundTask;
  #nextFlush: Cancel | undefined;
  #isStartingOver = false;
  #stopping: Promise<void> | undefined;

  constructor(parts: KeeperParts) {
    this.#parts = parts;
    this.#admission = new Admission(parts.runtime);
    const sentence = "confirmation times could not be stored";
    this.#flushing = new BackgroundTask("confirmation_times", sentence, parts.runtime);
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

  /**
   * The store was restored, or a standby promoted: what lanes believe to be stored may not be there. Every link is let go
   * and taken up again from the store, so that its account is mirrored anew.
   */
  async startOver(): Promise<void> {
    if (this.#isStartingOver || this.#stopping) return;
    this.#isStartingOver = true;
    // A restored store may give an id again that a link had which ended here.
    this.#dropped.clear();
    await Promise.all([...this.#followed.values()].map(({ supervisor: { link } }) => this.#abandon(link, isRestored)));
    this.#isStartingOver = false;
    this.#shared.wake();
  }

  /** Begins to follow a link that is this node's; one that was just made brings what it has mirrored along. */
  adopt(row: LinkRow, mirrored?: Mirrored): void {
    const connector = this.#parts.connectors.get(row.ecosystem);
    // What is let go to start over is taken up by the next comparison with the store.
    if (this.#stopping || this.#isStartingOver || this.#dropped.has(row.deviceId)) return;
    if (!connector) {
      this.#unfollowed.set(row.deviceId, row.epoch);
      return;
    }
    // A round and a call may both bring the same link: one follower for each, and the newest epoch's.
    const present = this.#followed.get(row.deviceId)?.supervisor;
    if (present && present.link.ownership.epoch >= row.epoch) return;
    if (present) void this.#abandon(present.link, isAnothers);
    const { countFault = () => undefined, owners = noErrorOwners } = this.#parts;
    const lost = () => void this.#abandon(supervisor.link, isAnothers);
    const parts = { ...this.#parts, connector, admission: this.#admission, owners, countFault, lost };
    const supervisor: LinkSupervisor = new LinkSupervisor(parts, row);
    this.#followed.set(row.deviceId, { supervisor, flushedMs: supervisor.confirmedMs });
    supervisor.start(mirrored);
  }

  /** The supervisor of a link that this node owns for certain. */
  supervisor(deviceId: DeviceId): LinkSupervisor | undefined {
    return this.#shared.isSure ? this.#followed.get(deviceId)?.supervisor : undefined;
  }

  /** How a link stands that this node owns; ahead of the store by at most one write. */
  standing(deviceId: DeviceId): LinkStanding | undefined {
    return this.#followed.get(deviceId)?.supervisor.standing;
  }

  /** The link is gone: this node ends all work for it. */
  async drop(deviceId: DeviceId): Promise<void> {
    const followed = this.#followed.get(deviceId);
    this.#dropped.add(deviceId);
    const [oldest] = this.#dropped;
    if (oldest !== undefined && this.#dropped.size > droppedRemembered) this.#dropped.delete(oldest);
    this.#followed.delete(deviceId);
    this.#unfollowed.delete(deviceId);
    await followed?.supervisor.stop();
  }

  /** Whether this node follows the link, as it stands in the store, with that token. */
  isFollowing({ deviceId, owner, epoch }: LinkRow, token: string): boolean {
    const supervisor = this.#followed.get(deviceId)?.supervisor;
    if (supervisor?.link.ownership.owner !== owner || supervisor.link.ownership.epoch !== epoch) return false;
    return supervisor.isFollowingWith(token);
  }

  get followed(): number {
    return this.#followed.size;
  }

  /** How the links stand that this node owns. */
  *standings(): Iterable<{
    readonly state: LinkStanding["state"];
    readonly isLive: boolean;
    readonly confirmedMs: number;
    readonly pausedBy: PauseCause | undefined;
  }> {
    for (const { supervisor } of this.#followed.values()) {
      const { isLive, confirmedMs, pausedBy, standing } = supervisor;
      yield { state: standing.state, isLive, confirmedMs, pausedBy };
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
    await Promise.all([...this.#followed.values()].map(({ supervisor }) => supervisor.stop()));
    await this.#flush();
    const { store, membership } = this.#parts;
    if (!store.isShared) return;
    try {
      await store.transaction((tx) => tx.links.release(membership.id), { soon: true });
    } catch (error) {
      // Then the others find out by themselves, once this node is gone.
      this.#parts.runtime.report.warn({ error }, "the links could not be given back");
    }
  }

  async #abandon(link: LinkKey, sentence: string): Promise<void> {
    const supervisor = this.#followed.get(link.deviceId)?.supervisor;
    if (supervisor?.link !== link) return;
    this.#followed.delete(link.deviceId);
    this.#parts.runtime.report.info({ ...link }, sentence);
    await supervisor.stop();
  }

  #held(): readonly HeldLink[] {
    const followed = [...this.#followed.values()].map(({ supervisor: { link } }) => ({
      deviceId: link.deviceId,
      epoch: link.ownership.epoch,
    }));
    return [...followed, ...[...this.#unfollowed].map(([deviceId, epoch]) => ({ deviceId, epoch }))];
  }

  async #letGo({ deviceId, epoch }: HeldLink, sentence: string): Promise<void> {
    if (this.#unfollowed.get(deviceId) === epoch) this.#unfollowed.delete(deviceId);
    const link = this.#followed.get(deviceId)?.supervisor.link;
    if (link?.ownership.epoch === epoch) await this.#abandon(link, sentence);
  }

  async #flush(): Promise<void> {
    // Not before the store knows how the link stands: until then only the old time tells since when it was blind.
    const news = [...this.#followed.values()].filter(
      ({ supervisor, flushedMs }) => supervisor.isWritten && supervisor.confirmedMs > flushedMs,
    );
    if (news.length === 0) return;
    const times = news.map(({ supervisor: { link, confirmedMs } }) => ({
      deviceId: link.deviceId,
      epoch: link.ownership.epoch,
      confirmedMs,
    }));
    try {
      await this.#parts.store.transaction((tx) => tx.links.confirm(this.#parts.membership.id, times));
      news.forEach((followed, i) => {
        followed.flushedMs = times[i]!.confirmedMs;
      });
      this.#flushing.succeeded();
    } catch (error) {
      this.#flushing.failed(error);
    }
  }

  #scheduleFlush(): void {
    this.#nextFlush = this.#parts.runtime.after(confirmEveryMs, () => {
      void this.#flush().finally(() => {
        if (!this.#stopping) this.#scheduleFlush();
      });
    });
  }
}
