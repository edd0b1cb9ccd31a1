import type { CommitTables, DeviceCommit } from "../devices/commit.ts";
import { presentValues } from "../devices/commit.ts";
import { growthOf, refusalOf } from "../devices/growth.ts";
import { loggedThing } from "../devices/log-entries.ts";
import type { FieldValue } from "../home/stored-thing.ts";
import type { LimitReached } from "../model/errors.ts";
import type { DeviceId, TriggerId, UserId } from "../model/ids.ts";
import { type LimitName, limits } from "../model/limits.ts";
import { type Evaluation, evaluationsKept } from "../model/trigger.ts";
import type { WatchingAlert } from "../store/tables/alert-rows.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { DeviceRow, Growth } from "../store/tables/devices.ts";
import type { WatchingThingTrigger } from "../store/tables/thing-triggers.ts";
import type { WatchingTrigger } from "../store/tables/triggers.ts";
import { loggedValues } from "./thing-subject.ts";

/** An alert while its chain runs. The user's lock is held, so nothing else can change the alert. */
export type Watcher = Watching<WatchingTrigger> | Watching<WatchingThingTrigger>;

type Watching<Trigger extends WatchingAlert> = Omit<Trigger, "isArmed"> & {
  isArmed: boolean;
  /** False after it has disabled or deleted itself. */
  isLive: boolean;
};

/** The writes of an alert to one device. */
export interface PlannedWrite {
  readonly device: DeviceRow;
  readonly changes: readonly { readonly key: AttributeKey; readonly value: string | null }[];
}

/**
 * All consequences of one change, while its transaction is open. All alerts that the change reaches share one budget;
 * another change in the same transaction has its own.
 */
export class Chain {
  /** Alerts that a limit stopped: each gets one log entry and one record about it. */
  readonly stopped = new Set<TriggerId>();
  /** Evaluations of alerts in the transaction. They move to `Records` when the commit is durable. */
  readonly seen: Map<TriggerId, Evaluation[]>;
  /** Limits that were reached. They are counted when the commit is durable. */
  readonly reached = new Set<LimitName>();
  readonly #watchers = new Map<DeviceId, Map<AttributeKey, readonly Watching<WatchingTrigger>[]>>();
  readonly #planned = new Map<DeviceId, ReadonlyMap<AttributeKey, string | null>>();
  #firings = 0;
  #firingBytes = 0;
  #patternSteps = 0;
  #patternCost = 0;
  readonly #patterns = new Set<string>();
  #commands = 0;

  constructor(seen: Chain["seen"] = new Map()) {
    this.seen = seen;
  }

  /**
   * The live alerts on the changed attributes, ascending by id. Each alert is read once in a chain, however often it is
   * reached.
   */
  async watchers(
    tx: CommitTables,
    { userId, deviceId, changes }: DeviceCommit,
  ): Promise<readonly Watching<WatchingTrigger>[]> {
    const keys = [...new Set(changes.map(({ key }) => key))];
    const known = this.#watchers.get(deviceId) ?? new Map<AttributeKey, readonly Watching<WatchingTrigger>[]>();
    this.#watchers.set(deviceId, known);
    const unread = keys.filter((key) => !known.has(key));
    if (unread.length > 0) {
      const found = (await tx.triggers.watching(userId, deviceId, unread)).map((row) => ({ ...row, isLive: true }));
      const byKey = Map.groupBy(found, ({ key }) => key);
      for (const key of unread) known.set(key, byKey.get(key) ?? []);
    }
    const all = keys.flatMap((key) => known.get(key)!);
    return all.filter(({ isLive }) => isLive).sort((a, b) => a.id - b.id);
  }

  /**
   * The alerts on the fields that the commit sets, with their values. They are read anew for each commit, because the
   * transaction stores their states at once.
   */
  async thingWatchers(
    tx: CommitTables,
    { userId, things }: DeviceCommit,
  ): Promise<readonly (readonly [watcher: Watching<WatchingThingTrigger>, value: FieldValue])[]> {
    const valuesOfThings = new Map(things.map((thing) => [thing.thingId, loggedValues(loggedThing(thing))]));
    const fields = new Set([...valuesOfThings.values()].flatMap((values) => [...values.keys()]));
    if (fields.size === 0) return [];
    const found = await tx.thingTriggers.watching(userId, [...valuesOfThings.keys()], [...fields]);
    return found.flatMap((row) => {
      const value = valuesOfThings.get(row.thingId)?.get(row.field);
      return value === undefined ? [] : [[{ ...row, isLive: true }, value] as const];
    });
  }

  /**
   * Whether the budget allows compiling another pattern. It counts also when the pattern is in memory: otherwise alerts
   * would be evaluated or not by what a node has in memory.
   */
  mayCompile(pattern: string, cost: number): boolean {
    if (this.#patterns.has(pattern)) return true;
    if (!this.#within("patternCostPerCause", this.#patternCost + cost)) return false;
    this.#patterns.add(pattern);
    this.#patternCost += cost;
    return true;
  }

  /** Whether the budget allows this number of steps more. Only then they count: the alerts after it may need fewer. */
  maySpend(steps: number): boolean {
    if (!this.#within("patternStepsPerCause", this.#patternSteps + steps)) return false;
    this.#patternSteps += steps;
    return true;
  }

  /**
   * Whether the budget allows another firing of an alert with that size: each firing writes the definition's texts to
   * the log.
   */
  mayFire(bytes: number): boolean {
    return (
      this.#within("firingsPerCause", this.#firings + 1) &&
      this.#within("firingBytesPerCause", this.#firingBytes + bytes)
    );
  }

  countFiring(bytes: number): void {
    this.#firings += 1;
    this.#firingBytes += bytes;
  }

  /** How many commands the budget still allows. */
  get commandRoom(): number {
    return limits.alertCommandsPerCause - this.#commands;
  }

  /** Whether an alert of this chain has commanded a thing. */
  get hasCommanded(): boolean {
    return this.#commands > 0;
  }

  countCommands(count: number): void {
    this.#commands += count;
  }

  /**
   * Why an alert may not write this; undefined when it may. Allowed writes count towards the limits at once: writes of
   * alerts of one wave reach the store only after all of them have fired.
   */
  async refusalOf(
    tx: CommitTables,
    userId: UserId,
    writes: readonly PlannedWrite[],
  ): Promise<LimitReached | undefined> {
    const planned = new Map(this.#planned);
    const growths = new Map<DeviceId, Growth>();
    for (const { device, changes } of writes) {
      if (device.isVirtual) continue;
      const all = new Map([
        ...(planned.get(device.id) ?? []),
        ...changes.map(({ key, value }) => [key, value] as const),
      ]);
      planned.set(device.id, all);
    }
    for (const [deviceId, values] of planned) {
      const changes = [...values].map(([key, value]) => ({ key, value }));
      growths.set(deviceId, growthOf(changes, await presentValues(tx, userId, { deviceId, changes })));
    }
    const refusal = await refusalOf(tx, userId, growths);
    if (refusal) this.reached.add(refusal.limit);
    else for (const [deviceId, values] of planned) this.#planned.set(deviceId, values);
    return refusal;
  }

  remember(id: TriggerId, evaluation: Evaluation): void {
    const before = this.seen.get(id) ?? [];
    before.push(evaluation);
    if (before.length > evaluationsKept) before.shift();
    this.seen.set(id, before);
  }

  #within(limit: LimitName, value: number): boolean {
    if (value <= limits[limit]) return true;
    this.reached.add(limit);
    return false;
  }
}
