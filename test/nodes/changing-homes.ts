import assert from "node:assert/strict";
import { setTimeout as pass } from "node:timers/promises";
import { attributeName, structureAttribute } from "../../src/virtual-device/attribute-names.ts";
import { eventuallySlowly, type Fleet, type LinkedHome } from "./fleet.ts";

const burstPauseMs = 50;
/** The part of the homes that change together, of those whose last change is stored. */
const partOfBurst = 0.7;
/** One home of so many has an alert. A commit that an alert reacts to leaves its group, so the others fill the groups. */
const homesForEachAlert = 3;

/**
 * Homes in which people come and go all the time, many at once. A home changes again only when its last change is
 * stored, so that each change is a transition that the service must see.
 */
export class ChangingHomes {
  readonly #fleet: Fleet;
  readonly #random: () => number;
  /** How often each home has changed, and how often everybody left it. */
  readonly #changed = new Map<string, number>();
  readonly #left = new Map<string, number>();
  #isStopped = false;
  #running: Promise<void> = Promise.resolve();

  /** Some homes get an alert that fires when everybody has left. No other alert of the homes fires. */
  static async of(fleet: Fleet, random: () => number): Promise<ChangingHomes> {
    for (const { userId, deviceId } of watched(fleet)) {
      await fleet.parts.alerts.add({ kind: "user", userId }, { ...onLeaving, deviceId });
    }
    return new ChangingHomes(fleet, random);
  }

  private constructor(fleet: Fleet, random: () => number) {
    this.#fleet = fleet;
    this.#random = random;
  }

  /** The number of all changes. */
  get changes(): number {
    return [...this.#changed.values()].reduce((sum, count) => sum + count, 0);
  }

  start(): void {
    this.#running = this.#run();
  }

  async stop(): Promise<void> {
    this.#isStopped = true;
    await this.#running;
  }

  /** Each home has begun two more changes, so that the first of them is stored. */
  async untilChanged(signal: AbortSignal): Promise<void> {
    const wanted = this.#fleet.homes.map(({ accountId }) => [accountId, this.#count(accountId) + 2] as const);
    await eventuallySlowly(signal, () => {
      const missing = wanted.filter(([accountId, count]) => this.#count(accountId) < count);
      assert.equal(missing.length, 0, `${missing.length} homes are not mirrored any more`);
    });
  }

  /** The log shows one firing for each time that everybody left a home. */
  async assertFiredOnceEach(): Promise<void> {
    const { rows } = await this.#fleet.sql.query(
      "SELECT device_id, COUNT(*)::int AS count FROM log WHERE kind = 'alert' GROUP BY device_id",
    );
    const fired = new Map(rows.map(({ device_id, count }) => [device_id as number, count as number]));
    const wrong = watched(this.#fleet).flatMap(({ accountId, deviceId }) => {
      const [expected, actual] = [this.#left.get(accountId) ?? 0, fired.get(deviceId) ?? 0];
      return expected === actual ? [] : [`device ${deviceId}: left ${expected} times, fired ${actual} times`];
    });
    assert.deepEqual(wrong, []);
    assert.equal(fired.size, watched(this.#fleet).length);
  }

  #count(accountId: string): number {
    return this.#changed.get(accountId) ?? 0;
  }

  async #run(): Promise<void> {
    while (!this.#isStopped) {
      // While the database is down nothing is known to be stored, and no home changes.
      const behind = await this.#fleet.behind().catch(() => undefined);
      if (behind) await this.#changeSome(new Set(behind));
      await pass(burstPauseMs);
    }
  }

  async #changeSome(behind: ReadonlySet<string>): Promise<void> {
    for (const { accountId } of this.#fleet.homes) {
      if (behind.has(accountId) || this.#random() > partOfBurst) continue;
      const before = this.#fleet.whereabouts(accountId);
      await this.#fleet.change([accountId]);
      const after = this.#fleet.whereabouts(accountId);
      if (after === before) continue;
      this.#changed.set(accountId, this.#count(accountId) + 1);
      if (after === "away") this.#left.set(accountId, (this.#left.get(accountId) ?? 0) + 1);
    }
  }
}

/** The homes with an alert. */
function watched({ homes }: Fleet): readonly LinkedHome[] {
  return homes.filter((_, i) => i % homesForEachAlert === 0);
}

const onLeaving = {
  attributeName: attributeName(structureAttribute(1, "away")),
  action: "note",
  operation: "equals",
  threshold: "",
  stringThreshold: "away",
  address: "",
  message: "",
  autoDisarm: true,
  autoDelete: false,
  autoDisable: false,
  isEnabled: true,
  targets: [],
};
