import type { Account, Listing, Oddities, Sighting } from "../../model/account.ts";
import { isJsonObject, type JsonObject, parseJson } from "./parse-json.ts";
import { readSnapshot } from "./snapshot.ts";
import { endOfNested, type LaidKind, type Layout, layoutOf } from "./snapshot-layout.ts";
import { type Counts, readAlarm, readStructure, readThermostat } from "./snapshot-objects.ts";

/**
 * Reads one account's puts in a row. Most are the last one but for a field or two, and parsing is most of what a snapshot
 * costs; so the bytes are compared with those of the last, object by object, and only an object that differs is
 * parsed. Whatever else differs is read as a whole. What comes of it is the same either way, but for what is shared: an
 * object that says what it said before is the very same in both accounts, and so is an account.
 */
export class SnapshotReader {
  /** The last put, at the beginning of a buffer that may be longer. */
  #bytes: Buffer = nothing;
  #length = 0;
  /** Undefined before the first put; null when the last one can't be laid out. */
  #layout: Layout | null | undefined;
  #account: Account | undefined;
  #lists: Lists = new Map();
  #misses = 0;

  /** Whether the next put will most likely cost next to nothing. */
  get isQuick(): boolean {
    return this.#account !== undefined && this.#misses < 2;
  }

  isSame(put: Buffer): boolean {
    return this.#account !== undefined && put.length === this.#length && this.#equals(put, 0, 0, this.#length);
  }

  /** The account that a put tells; undefined when it isn't JSON for the whole account. */
  read(put: Buffer): Account | undefined {
    const account = this.#account && (this.#readTouched(put) ?? this.#miss());
    if (account) {
      this.#misses = 0;
      return this.#keep(put, account);
    }
    const value = parseJson(put);
    if (!isJsonObject(value) || value.path !== "/") return undefined;
    this.#layout = undefined;
    this.#lists = new Map();
    return this.#keep(put, readSnapshot(value.data));
  }

  #miss(): undefined {
    this.#misses += 1;
  }

  /** In the same buffer where it fits: one for each put would be more work than to compare it. */
  #keep(put: Buffer, account: Account): Account {
    const hasRoom = put.length <= this.#bytes.length && put.length >= this.#bytes.length / 2;
    if (!hasRoom) this.#bytes = Buffer.allocUnsafeSlow(put.length);
    put.copy(this.#bytes);
    this.#length = put.length;
    this.#account = account;
    return account;
  }

  /** Undefined when more has changed than what is inside of objects. The layout moves along when nothing else has. */
  #readTouched(put: Buffer): Account | undefined {
    this.#layout ??= this.#layout === undefined ? (layoutOf(this.#bytes.subarray(0, this.#length)) ?? null) : null;
    const layout = this.#layout;
    if (layout === null) return undefined;
    const touched = new TouchedAccount(this.#account!, this.#lists);
    const { bounds, objects } = layout;
    const moved = bounds.slice();
    /** How much further back things are than they were. */
    let shift = 0;
    const walk = (from: number, to: number): boolean => {
      const [start, end] = [bounds[from]!, bounds[to]!];
      if (this.#equals(put, start + shift, start, end - start)) {
        if (shift !== 0) for (let bound = from + 1; bound <= to; bound++) moved[bound] = bounds[bound]! + shift;
        return true;
      }
      if (to - from > 1) {
        const middle = (from + to) >> 1;
        return walk(from, middle) && walk(middle, to);
      }
      // Every other stretch is an object; what lies between them says which ones there are.
      if (from % 2 === 0) return false;
      const { kind, id } = objects[(from - 1) / 2]!;
      const newEnd = endOfNested(put, start + shift);
      if (newEnd < 0) return false;
      const now = objectIn(put, start + shift, newEnd, kind);
      const before = () => objectIn(this.#bytes, start, end, kind);
      if (now === undefined || !touched.replace(kind, id, before, now)) return false;
      shift = newEnd - end;
      moved[to] = newEnd;
      return true;
    };
    if (!walk(0, bounds.length - 1) || moved.at(-1) !== put.length) return undefined;
    this.#layout = { objects, bounds: moved };
    return touched.account;
  }

  #equals(put: Buffer, putStart: number, start: number, length: number): boolean {
    if (putStart + length > put.length) return false;
    return put.compare(this.#bytes, start, start + length, putStart, putStart + length) === 0;
  }
}

const nothing: Buffer = Buffer.alloc(0);

/** How far below a put's own object an object of the kind lies: so much less deep may it be. */
const levelsAbove: Readonly<Record<LaidKind, number>> = { structures: 3, thermostats: 4, smoke_co_alarms: 4 };

/** Text that is an object from its first byte to its last ends there in every document in which it begins there. */
function objectIn(bytes: Buffer, start: number, end: number, kind: LaidKind): JsonObject | undefined {
  if (bytes[start] !== 0x7b) return undefined;
  const value = parseJson(bytes.subarray(start, end), levelsAbove[kind]);
  return isJsonObject(value) ? value : undefined;
}

/** An account while some of its objects are read anew. */
class TouchedAccount {
  #account: Account;
  readonly #lists: Lists;

  constructor(account: Account, lists: Lists) {
    this.#account = account;
    this.#lists = lists;
  }

  get account(): Account {
    return this.#account;
  }

  /** False when what it says concerns others too: then all have to be read. */
  replace(kind: LaidKind, id: string, before: () => JsonObject | undefined, now: JsonObject): boolean {
    if (kind === "structures") {
      const lists = this.#lists.get(id) ?? listsOf(before() ?? {});
      if (listsOf(now) !== lists) return false;
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
    if (!sameSighting(known, sighting)) {
      const byId = new Map(listing.byId).set(id, sighting);
      this.#account = { ...this.#account, [range]: { ...listing, byId } };
    }
    const isCountedAlike = countNames.every((name) => counts[name] === this.#account.oddities[name]);
    if (!isCountedAlike) this.#account = { ...this.#account, oddities: counts };
    return true;
  }
}

type SightingIn<Range extends "structures" | "thermostats" | "alarms"> =
  Account[Range] extends Listing<infer Kind> ? Sighting<Kind> : never;

/** What structures list, by their ids, as far as that was looked at. */
type Lists = Map<string, string>;

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
