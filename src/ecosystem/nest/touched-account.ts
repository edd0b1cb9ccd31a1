import type { Account, Listing, Oddities, Sighting } from "../../model/account.ts";
import type { JsonObject } from "./parse-json.ts";
import type { LaidKind } from "./snapshot-layout.ts";
import { type Counts, readAlarm, readStructure, readThermostat } from "./snapshot-objects.ts";

const rangeOf = { structures: "structures", thermostats: "thermostats", smoke_co_alarms: "alarms" } as const;

/** An account while some of its objects are read anew. */
export class TouchedAccount {
  #account: Account;
  readonly #lists: Lists;
  /** Listings that were copied already: a copy for each object that changed would make thousands of them quadratic. */
  readonly #copied: Partial<Record<(typeof rangeOf)[LaidKind], Map<string, unknown>>> = {};

  constructor(account: Account, lists: Lists) {
    this.#account = account;
    this.#lists = lists;
  }

  get account(): Account {
    return this.#account;
  }

  isRead(kind: LaidKind, id: string): boolean {
    return this.#account[rangeOf[kind]].byId.get(id)?.isRead === true;
  }

  /** False when what it says concerns others too: then all have to be read. */
  replace(
    kind: LaidKind,
    id: string,
    before: () => JsonObject | undefined,
    now: JsonObject,
    listsAreSame = false,
  ): boolean {
    if (kind === "structures") {
      const lists = this.#lists.get(id) ?? listsOf(before() ?? {});
      if (!listsAreSame && listsOf(now) !== lists) return false;
      this.#lists.set(id, lists);
      return this.#put("structures", id, before, now, readStructure);
    }
    // Where one is that doesn't say so itself is told by its structure.
    if (typeof now.structure_id !== "string") return false;
    return kind === "thermostats"
      ? this.#put("thermostats", id, before, now, (object, counts) => readThermostat(object, null, counts))
      : this.#put("alarms", id, before, now, (object, counts) => readAlarm(object, null, counts));
  }

  #put<Range extends "structures" | "thermostats" | "alarms">(
    range: Range,
    id: string,
    before: () => JsonObject | undefined,
    now: JsonObject,
    read: (object: JsonObject | undefined, counts: Counts) => SightingIn<Range>,
  ): boolean {
    const counts = { ...this.#account.oddities };
    // What it added to the counts before is to be taken back.
    const counted = countNames.some((name) => counts[name] > 0) ? noCounts() : undefined;
    if (counted) read(before(), counted);
    const sighting = read(now, counts);
    if (counted) for (const name of countNames) counts[name] -= counted[name];
    const listing: Listing<unknown> = this.#account[range];
    const known = listing.byId.get(id);
    if (known === undefined) return false;
    if (!sameSighting(known, sighting)) this.#copyOf(range).set(id, sighting);
    const isCountedAlike = countNames.every((name) => counts[name] === this.#account.oddities[name]);
    if (!isCountedAlike) this.#account = { ...this.#account, oddities: counts };
    return true;
  }

  /** The listing before stays as it is: others hold it. */
  #copyOf(range: (typeof rangeOf)[LaidKind]): Map<string, unknown> {
    const copied = this.#copied[range];
    if (copied) return copied;
    const listing: Listing<unknown> = this.#account[range];
    const byId: Map<string, unknown> = new Map(listing.byId);
    this.#copied[range] = byId;
    this.#account = { ...this.#account, [range]: { ...listing, byId } };
    return byId;
  }
}

type SightingIn<Range extends "structures" | "thermostats" | "alarms"> =
  Account[Range] extends Listing<infer Kind> ? Sighting<Kind> : never;

/** What structures list, by their ids, as far as that was looked at. */
export type Lists = Map<string, string>;

/** What a structure lists tells where its devices are, and that there are such. */
function listsOf(structure: JsonObject): string {
  const { thermostats = [], smoke_co_alarms } = structure;
  return JSON.stringify([thermostats, Object.hasOwn(structure, "smoke_co_alarms"), smoke_co_alarms]);
}

function noCounts(): Counts {
  return { incomplete: 0, unknownAlarmStates: 0, unknownAwayStates: 0 };
}

const countNames = Object.keys(noCounts()) as (keyof Oddities)[];

function sameSighting(one: Sighting<unknown>, other: Sighting<unknown>): boolean {
  if (one.isRead !== other.isRead) return false;
  const [before, now] = [one, other].map((sighting) => (sighting.isRead ? sighting.object : sighting.partial)) as [
    Readonly<Record<string, unknown>>,
    Readonly<Record<string, unknown>>,
  ];
  for (const field in now) if (before[field] !== now[field]) return false;
  return true;
}
