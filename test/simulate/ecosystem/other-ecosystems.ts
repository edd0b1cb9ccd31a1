import type { UserId } from "../../../src/model/ids.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import { immediateTurns } from "../../ecosystems/immediate-turns.ts";
import type { Calls } from "../actors/calls.ts";
import { OtherLinkOwners } from "../actors/other-link-owners.ts";
import type { StoredRow } from "../checks/history.ts";
import type { Faults } from "../faults.ts";
import { type GoogleRecord, googleBehind } from "../google/check-google.ts";
import { feedMessagesOf } from "../google/feed-rows.ts";
import { GoogleCloud } from "../google/google-cloud.ts";
import { instanceBehind } from "../home-assistant/check-instances.ts";
import { Instance } from "../home-assistant/instance.ts";
import type { OtherWires, SimulatedNode } from "../node.ts";
import type { Process, Scheduler } from "../scheduler.ts";
import type { Database } from "../store/rows.ts";
import { thingsOf } from "../store/thing-rows.ts";

export interface OtherEcosystemsParts {
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

/** The ecosystems beside the first one: Google Device Access and Home Assistant, each in some of the runs. */
export class OtherEcosystems {
  readonly users: readonly UserId[];
  readonly #parts: OtherEcosystemsParts;
  readonly #google: GoogleCloud | undefined;
  readonly #googleUsers: readonly UserId[];
  readonly #losesMessages: boolean;
  readonly #instances: ReadonlyMap<UserId, Instance>;
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
    const linked = someOf(instanceUsers, 0.25);
    this.#instances = new Map(linked.map((userId) => [userId, new Instance(userId, scheduler, faults)]));
    this.users = [...this.#googleUsers, ...linked];
  }

  /** How a node reaches the ecosystems of this run. */
  get wires(): OtherWires {
    const [google, instances] = [this.#google, [...this.#instances.values()]];
    const instanceAt = ({ origin }: URL) => instances.find(({ address }) => address === origin)!;
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
              turns: immediateTurns,
              // Long enough that entities are found by the registry's events first.
              searchMs: 60_000,
            }),
    };
  }

  start(calls: Calls, slowness: () => number): void {
    const { linkOf, scheduler } = this.#parts;
    const [google, users] = [this.#google, this.#googleUsers];
    const ofInstances = [...this.#instances.keys()];
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
        consent: (userId, nowMs) => this.#instances.get(userId)!.consent(nowMs),
      }),
    ];
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
    return googleBehind(ofGoogle) ?? instanceBehind(ofInstances);
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
