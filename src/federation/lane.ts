import type { AttributeChange, Commit, DeviceUpdate } from "../devices/commit.ts";
import type { Account } from "../model/account.ts";
import { type AttributeValues, mirrorChanges } from "../model/attribute-values.ts";
import { NotFound, OwnershipLost, StoreUnavailable } from "../model/errors.ts";
import { assignIndexes, type Eviction, type IndexMap } from "../model/index-map.ts";
import { mirror } from "../model/mirror.ts";
import { encodeIndexMap } from "../model/stored-index-map.ts";
import { isUrgent, sameAlarms, sameTransitions } from "../model/transitions.ts";
import { pause, type Runtime } from "../runtime/runtime.ts";
import { disableAlertsOn } from "./alerts-on-lost-slots.ts";
import type { Restatement } from "./awaited-fans.ts";
import type { LinkKey } from "./link-key.ts";
import { encodeNotices } from "./notices.ts";

/** What the lane believes the store to hold: only the owner of the link's epoch writes it. */
export interface Mirrored {
  readonly indexMap: IndexMap;
  readonly notices: string;
  readonly values: AttributeValues;
}

export interface LaneParts {
  readonly link: LinkKey;
  readonly commit: Commit;
  /** Reads back what is stored; rejects with OwnershipLost when the link is no longer this node's. */
  readonly load: () => Promise<Mirrored>;
  /** What a snapshot that was received then confirms without changing it. */
  readonly restated?: (receivedMs: number, values: AttributeValues) => Restatement | undefined;
  /** That account, as it was offered, is in the store; `hasChanged` tells whether it differed from what was there. */
  readonly stored: (account: Account, hasChanged: boolean) => void;
  /** Too many transitions waited for a slow store: one that was offered since then is given up. */
  readonly passedOver: (sinceMs: number) => void;
  /** Another node has the link now, or it is gone: the lane has ended. */
  readonly lost: () => void;
  /** A snapshot can't be mirrored or stored for another reason than a store that is down: the lane has ended. */
  readonly failed: (error: unknown) => void;
  readonly runtime: Runtime;
}

/** An emergency that ends while the store is slow must not vanish, nor may waiting snapshots fill the memory. */
const mostWaiting = 16;
const retry = { fromMs: 100, toMs: 2_000 };
const mostTries = 5;

/**
 * The lane of one account: snapshots in, commits out, one at a time and in order. Accounts never wait for each other;
 * within one, a waiting snapshot gives way to a newer one only if no transition between them would be lost.
 */
export class Lane {
  readonly #parts: LaneParts;
  readonly #waiting: Account[] = [];
  /** When each was offered, on this node's own unjumping clock. */
  readonly #offered = new WeakMap<Account, number>();
  #mirrored: Mirrored | undefined;
  /** The last that waits and tells of alarms what the one before it doesn't: until it is stored, all is urgent. */
  #alarming: Account | undefined;
  /** Of the commit that is under way. */
  #hurry: AbortController | undefined;
  #run: Promise<void> | undefined;
  #lastOfferedMs = 0;

  constructor(parts: LaneParts, mirrored?: Mirrored) {
    this.#parts = parts;
    this.#mirrored = mirrored;
  }

  offer(account: Account, signal: AbortSignal): void {
    if (signal.aborted) return;
    this.#offered.set(account, this.#parts.runtime.elapsedMs());
    const last = this.#waiting.at(-1);
    if (last && !sameAlarms(last, account)) {
      this.#alarming = account;
      this.#hurry?.abort();
    }
    if (last && sameTransitions(last, account)) this.#replaceLast(account);
    else if (this.#waiting.length < mostWaiting) this.#waiting.push(account);
    else {
      this.#replaceLast(account);
      this.#report.warn({ ...this.#parts.link }, "the store is too slow: a snapshot was passed over");
      this.#parts.passedOver(this.#lastOfferedMs);
    }
    this.#lastOfferedMs = this.#parts.runtime.nowMs();
    this.#run ??= this.#work(signal).catch((error) => this.#fail(error));
  }

  /** Whether all that was offered is committed or given up. */
  get isIdle(): boolean {
    return this.#run === undefined;
  }

  /** Resolves when all that was offered is committed or given up. */
  async idle(): Promise<void> {
    await this.#run;
  }

  async #work(signal: AbortSignal): Promise<void> {
    for (let failures = 0; this.#waiting.length > 0 && !signal.aborted; ) {
      const account = this.#waiting[0]!;
      let hasChanged = false;
      try {
        const before = this.#mirrored ?? (await this.#parts.load());
        const brought = await this.#bring(account, before);
        this.#mirrored = brought?.mirrored ?? before;
        hasChanged = brought?.hasChanged ?? false;
        failures = 0;
      } catch (error) {
        // Whether a failed commit took effect can't be known: what we believe must be read back before it is used.
        this.#mirrored = undefined;
        if (error instanceof OwnershipLost || error instanceof NotFound) {
          this.#waiting.length = 0;
          this.#run = undefined;
          return this.#parts.lost();
        }
        this.#complain(error, failures);
        failures += 1;
        // A snapshot that we can't digest must not hold up those behind it for ever; a store that is down may.
        if (!(error instanceof StoreUnavailable) && failures > mostTries) {
          this.#waiting.shift();
          this.#parts.passedOver(this.#lastOfferedMs);
          if (this.#waiting.length === 0) throw error;
          failures = 0;
        }
        await pause(this.#parts.runtime, this.#retryMs(failures), signal);
        continue;
      }
      // A newer one may have taken its place meanwhile; then that one is still to do.
      if (this.#waiting[0] === account) this.#waiting.shift();
      if (this.#alarming === account) this.#alarming = undefined;
      this.#parts.stored(account, hasChanged);
    }
    if (signal.aborted) this.#waiting.length = 0;
    this.#alarming = undefined;
    // In the same turn as the last look at what waits: what is offered after it starts a run of its own.
    this.#run = undefined;
  }

  /** Undefined when the store holds all that already. */
  async #bring(
    account: Account,
    before: Mirrored,
  ): Promise<{ readonly mirrored: Mirrored; readonly hasChanged: boolean } | undefined> {
    const { link, commit } = this.#parts;
    const receivedMs = this.#offered.get(account) ?? 0;
    const { indexMap, notices, values, evicted } = mirrorOf(account, before);
    const changes = mirrorChanges(before.values, values);
    const isMapNew = indexMap !== before.indexMap || notices !== before.notices;
    const restated = this.#parts.restated?.(receivedMs, values);
    const hasChanged = changes.length > 0 || isMapNew;
    if (!hasChanged && !restated) return undefined;
    this.#hurry = new AbortController();
    const updates = [{ deviceId: link.deviceId, changes: changes.map(toAttributeChange) }];
    await commit({
      userId: link.userId,
      cause: { by: "ecosystem" },
      // Before anything is written: what a slot shows of its new owner must set off nothing that was meant for the old.
      updates:
        evicted.length === 0 && !restated
          ? updates
          : async (tx) => {
              if (evicted.length > 0) await disableAlertsOn(tx, link, evicted);
              return withRestated(updates[0]!, await restated?.changes(tx));
            },
      urgent: isUrgent(changes) || this.#alarming !== undefined,
      hurry: this.#hurry.signal,
      ownership: { deviceId: link.deviceId, ...link.ownership },
      receivedMs,
      also: async (tx) => {
        if (isMapNew) await tx.links.setMirror(link.userId, link.deviceId, encodeIndexMap(indexMap), notices);
      },
    });
    restated?.stored();
    return { mirrored: { indexMap, notices, values }, hasChanged };
  }

  #replaceLast(account: Account): void {
    const last = this.#waiting.pop();
    this.#waiting.push(account);
    if (last === this.#alarming) this.#alarming = account;
  }

  #fail(error: unknown): void {
    this.#waiting.length = 0;
    this.#mirrored = undefined;
    this.#alarming = undefined;
    this.#run = undefined;
    this.#parts.failed(error);
  }

  #complain(error: unknown, failures: number): void {
    if (error instanceof StoreUnavailable && failures > 0) return;
    this.#report.warn({ ...this.#parts.link, error }, "a snapshot could not be stored; trying again");
  }

  #retryMs(failures: number): number {
    const longest = Math.min(retry.toMs, retry.fromMs * 2 ** failures);
    return longest * (0.5 + this.#parts.runtime.random() / 2);
  }

  get #report() {
    return this.#parts.runtime.report;
  }
}

/** What changes anyway needs no restatement. */
function withRestated(update: DeviceUpdate, restated: readonly AttributeChange[] = []): readonly DeviceUpdate[] {
  const changed = new Set(update.changes.map(({ key }) => key));
  return [{ ...update, changes: [...update.changes, ...restated.filter(({ key }) => !changed.has(key))] }];
}

/** What the store should hold after a snapshot. */
function mirrorOf(account: Account, before: Mirrored): Mirrored & { readonly evicted: readonly Eviction[] } {
  const { map, overLimit, evicted } = assignIndexes(before.indexMap, account);
  const values = mirror(account, map, before.values);
  return { indexMap: map, notices: encodeNotices(overLimit, account, map), values, evicted };
}

export function toAttributeChange(change: {
  readonly attribute: number;
  readonly value: string | null;
}): AttributeChange {
  return { key: change.attribute, value: change.value };
}
