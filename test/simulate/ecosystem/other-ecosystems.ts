import type { UserId } from "../../../src/model/ids.ts";
import type { LimitName } from "../../../src/model/limits.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import { type Calls, expectOurs } from "../actors/calls.ts";
import { OtherLinkOwners } from "../actors/other-link-owners.ts";
import type { StoredRow } from "../checks/history.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import { type GoogleRecord, googleBehind } from "../google/check-google.ts";
import { feedMessagesOf } from "../google/feed-rows.ts";
import { GoogleCloud } from "../google/google-cloud.ts";
import type { HostileRecord, LevelFlood } from "../home-assistant/check-hostile.ts";
import { instanceBehind } from "../home-assistant/check-instances.ts";
import { HostileInstance } from "../home-assistant/hostile-instance.ts";
import { Instance } from "../home-assistant/instance.ts";
import { LastWish } from "../home-assistant/last-wish.ts";
import { LoopTurns } from "../home-assistant/loop-turns.ts";
import type { OtherWires, SimulatedNode } from "../node.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import type { Database } from "../store/rows.ts";
import { thingsOf } from "../store/thing-rows.ts";

export interface OtherEcosystemsParts {
  readonly hostileDice: Dice;
  readonly scheduler: Scheduler;
  readonly faults: Faults;
  readonly database: Database;
  readonly linkOf: (userId: number) => LinkRow | undefined;
  readonly livingNodes: () => readonly SimulatedNode[];
  readonly kill: (node: Process) => void;
}

/** Their users are not those of the first ecosystem. */
const googleUsers = [21, 22] as UserId[];
const instanceUsers = [31, 32] as UserId[];
const hostileUsers = [41, 42] as UserId[];

/** The ecosystems beside the first one: Google Device Access and Home Assistant, each in some of the runs. */
export class OtherEcosystems {
  readonly users: readonly UserId[];
  readonly #parts: OtherEcosystemsParts;
  readonly #google: GoogleCloud | undefined;
  readonly #googleUsers: readonly UserId[];
  readonly #losesMessages: boolean;
  readonly #instances: ReadonlyMap<UserId, Instance>;
  readonly #hostile: ReadonlyMap<UserId, HostileInstance>;
  readonly #floods: LevelFlood[] = [];
  readonly #broken: string[] = [];
  /** What honest homes are asked for at the end, while hostile ones go on. */
  #lastWishes: readonly LastWish[] = [];
  #owners: readonly OtherLinkOwners[] = [];
  #isSettled = false;

  constructor(parts: OtherEcosystemsParts) {
    this.#parts = parts;
    const { scheduler, faults, database, kill } = parts;
    const { dice } = scheduler;
    const someOf = (users: readonly UserId[], chance: number) =>
      dice.chance(chance) ? users.slice(0, dice.between(1, users.length)) : [];
    this.#googleUsers = someOf(googleUsers, 0.25);
    this.#losesMessages = dice.chance(0.5);
    if (this.#googleUsers.length > 0) {
      this.#google = new GoogleCloud({
        scheduler,
        faults,
        committedSoFar: () => database.history.length,
        users: this.#googleUsers,
        areOneAccount: dice.chance(0.5),
        losesMessages: this.#losesMessages,
        kill,
      });
    }
    const { hostileDice } = parts;
    const hostile = hostileDice.chance(0.1) ? hostileUsers.slice(0, hostileDice.between(1, 2)) : [];
    const chosen = someOf(instanceUsers, 0.25);
    // Beside a hostile home there is always an honest one of the same connector.
    const linked = hostile.length > 0 && chosen.length === 0 ? instanceUsers.slice(0, 1) : chosen;
    this.#hostile = new Map(
      hostile.map((userId) => {
        const flooded = (fromMs: number, toMs: number) => this.#floods.push({ userId, fromMs, toMs });
        const own = { userId, scheduler, faults, dice: hostileDice, flooded };
        return [userId, new HostileInstance(own)];
      }),
    );
    this.#instances = new Map(linked.map((userId) => [userId, new Instance(userId, scheduler, faults)]));
    this.users = [...this.#googleUsers, ...linked, ...hostile];
  }

  /** How a node reaches the ecosystems of this run. */
  get wires(): OtherWires {
    const [google, instances] = [this.#google, [...this.#instances.values(), ...this.#hostile.values()]];
    const instanceAt = ({ origin }: URL) => instances.find(({ address }) => address === origin)!;
    const { scheduler, faults } = this.#parts;
    return {
      google:
        google &&
        ((node) => ({
          call: google.callFor(node),
          feedTokens: google.feedTokens(),
          // Only a list shows what a lost message said.
          relistMs: this.#losesMessages ? 25_000 : 3_600_000,
        })),
      homeAssistant:
        instances.length === 0
          ? undefined
          : (node) => ({
              openSocket: (url, signal) => instanceAt(url).openSocketFor(node)(url, signal),
              post: (form, signal) => instanceAt(form.url).postFor(node)(form, signal),
              turns: new LoopTurns(node, scheduler, (guarantee) => this.#broken.push(guarantee)),
              onLimitReached: (limit) => {
                const what = limitWords[limit];
                if (what && this.#hostile.size > 0) faults.count(`hostile home at the limit of its ${what}`);
              },
              // Long enough that entities are found by the registry's events first.
              searchMs: 60_000,
            }),
      linkFaulted: (userId, sentence) => {
        if (this.isHostile(userId)) this.#broken.push(sentence);
      },
    };
  }

  start(calls: Calls, slowness: () => number): void {
    const { linkOf, scheduler } = this.#parts;
    const [google, users] = [this.#google, this.#googleUsers];
    const ofInstances = [...this.#instances.keys(), ...this.#hostile.keys()];
    const shared = { calls, linkOf };
    this.#owners = [
      ...(google
        ? [
            new OtherLinkOwners({
              ...shared,
              ecosystem: "Google",
              users,
              consent: (id, nowMs) => google.consent(id, nowMs),
            }),
          ]
        : []),
      new OtherLinkOwners({
        ...shared,
        ecosystem: "Home",
        users: ofInstances,
        consent: (userId, nowMs) => (this.#instances.get(userId) ?? this.#hostile.get(userId))!.consent(nowMs),
      }),
    ];
    for (const instance of this.#hostile.values()) instance.start(slowness);
    if (this.#hostile.size > 0) for (const userId of ofInstances) this.#command(calls, userId, slowness);
    this.#lastWishes = this.#hostile.size === 0 ? [] : this.#newWishes(calls);
    for (const owners of this.#owners) owners.start();
    const live = (what: string, longestMs: number, change: () => void) => {
      scheduler.after(scheduler.dice.between(100, longestMs) * slowness(), undefined, what, () => {
        if (this.#isSettled) return;
        change();
        live(what, longestMs, change);
      });
    };
    for (const account of google?.accounts ?? []) live(`${account.id} changes`, 4_000, () => google?.change(account));
    for (const instance of this.#instances.values())
      live(`${instance.address} changes`, 1_500, () => instance.change());
  }

  /** Injects a fault that concerns these ecosystems; false when there was none. */
  strike(): boolean {
    const { faults, scheduler } = this.#parts;
    const [google, instances] = [this.#google, [...this.#instances.values()]];
    if (google && faults.strikes("google consent withdrawn", 0.05)) {
      google.withdraw(scheduler.dice.pick(this.#googleUsers));
      return true;
    }
    if (instances.length > 0 && faults.strikes("instance restarted", 0.1)) {
      scheduler.dice.pick(instances).restart();
      return true;
    }
    if (instances.length > 0 && faults.strikes("instance consent withdrawn", 0.05)) {
      scheduler.dice.pick(instances).withdraw();
      return true;
    }
    return false;
  }

  /** The faults are over. */
  repair(): void {
    for (const instance of this.#instances.values()) instance.repair();
  }

  beQuiet(): void {
    this.#isSettled = true;
    for (const owners of this.#owners) owners.areQuiet = true;
  }

  /** Last changes, which must be shown in the end. */
  settle(): void {
    this.#google?.settle();
    for (const instance of this.#instances.values()) instance.settle();
  }

  /** The first difference between a home and its link. */
  behind(): string | undefined {
    const google = this.#google;
    const ofGoogle = this.#googleUsers.map((userId) => ({
      ...this.#standing(userId),
      thermostats: google!.accountOf(userId).thermostats,
      messages: this.#messagesOf(userId),
    }));
    const ofInstances = [...this.#instances].map(([userId, { entities }]) => {
      return { ...this.#standing(userId), entities: [...entities.all.values()] };
    });
    const behind = googleBehind(ofGoogle) ?? instanceBehind(ofInstances);
    for (const wish of this.#lastWishes) {
      const ofWisher = ofInstances.filter(({ userId }) => userId === wish.userId);
      const missing = wish.missing(instanceBehind(ofWisher));
      if (missing !== undefined) return missing;
    }
    return behind;
  }

  isHostile(userId: number | null): boolean {
    return this.#hostile.has(userId as UserId);
  }

  hostileRecord(): HostileRecord {
    return { users: [...this.#hostile.keys()], floods: this.#floods, broken: this.#broken };
  }

  /** Commands to thermostats, whatever becomes of them. */
  #command(calls: Calls, userId: UserId, slowness: () => number): void {
    const { linkOf, faults, scheduler } = this.#parts;
    calls.laterOnSomeNode(`user ${userId} commands`, [500 * slowness(), 4_000 * slowness()], (node) => {
      if (this.#isSettled && !this.isHostile(userId)) return;
      this.#command(calls, userId, slowness);
      const link = linkOf(userId);
      if (!link) return;
      if (this.isHostile(userId)) faults.count("hostile home commanded");
      const mode = scheduler.dice.pick(["heat", "off"] as const);
      const command = { trait: "thermostat", command: "setMode", params: { mode } } as const;
      const pick = (ids: readonly string[]) => scheduler.dice.pick(ids);
      node.commandThermostat(userId, link.deviceId, command, pick).catch(expectOurs);
    });
  }

  #newWishes(calls: Calls): readonly LastWish[] {
    const { linkOf, database, scheduler } = this.#parts;
    const broken = (guarantee: string) => this.#broken.push(guarantee);
    return [...this.#instances].map(([userId, instance]) => {
      return new LastWish({ userId, instance, calls, scheduler, database, linkOf, broken });
    });
  }

  record(): GoogleRecord | undefined {
    return this.#google && { acknowledged: this.#google.pubSub.acknowledged };
  }

  #standing(userId: UserId) {
    const { database, linkOf, livingNodes } = this.#parts;
    const link = linkOf(userId);
    const things: readonly object[] = link ? thingsOf(database, link.deviceId) : [];
    return {
      userId,
      link: link as StoredRow | undefined,
      things: things as readonly StoredRow[],
      followers: livingNodes().flatMap((node) => {
        const follower = node.followerOf(userId);
        return follower ? [{ node: node.name, isLive: follower.isLive }] : [];
      }),
    };
  }

  #messagesOf(userId: UserId): number {
    const link = this.#parts.linkOf(userId);
    return link ? feedMessagesOf(this.#parts.database, link.deviceId).length : 0;
  }
}

/** The limits that only a hostile home reaches. */
const limitWords: Readonly<Partial<Record<LimitName, "states" | "CPU time">>> = {
  homeStateBytes: "states",
  linkCpuMsPerSecond: "CPU time",
};
