import { isDeepStrictEqual } from "node:util";
import type { Home, Listing, ObjectReading, Oddities } from "../../home/home.ts";
import { sameReadings } from "../../home/transitions.ts";
import type { StreamListener } from "../connector.ts";

/** What the object of each listing is. */
interface Objects {
  readonly structures: ListedIn<"structures">;
  readonly thermostats: ListedIn<"thermostats">;
  readonly alarms: ListedIn<"alarms">;
  readonly others: ListedIn<"others">;
}

type ListedIn<Kind extends keyof Home> = NonNullable<Home[Kind]> extends Listing<infer T> ? T : never;

export type HomeKind = keyof Objects;

/** Bound on memory: further objects of a kind are left out, and the listing counts as incomplete. */
export const maximalObjects = 1_000;

/**
 * Builds whole homes for an ecosystem that sends objects one by one. There is no home before every kind was listed
 * completely once, because a missing object would look as if it were gone.
 *
 * A listing is opened with `beginListing` and closed with `endListing`: objects that were not sent in between are gone.
 * Changes may arrive at any time, also within a listing.
 *
 * An object or listing that has not changed is the same object in the next home: comparing two homes costs as much as
 * what has changed.
 */
export class WholeHome {
  readonly #listings: { readonly [Kind in HomeKind]: GrowingListing<Objects[Kind]> };
  readonly #kinds: readonly HomeKind[];
  readonly #isSilentWithoutAlarms: boolean;
  #hasChanged = true;
  /** Whether nothing but levels of known objects has changed since the last report. */
  #hasOnlyLevels = false;
  /** The home as it is now, until the next change. The lane compares the next one with it. */
  #home: Home | undefined;
  /** Objects that are new, or whose transition fields have changed, since the last report. */
  readonly #moved = new Set<string>();
  /**
   * Called when the home must be reported before the caller would do it: an alarm has changed, or a transition would
   * replace one that was not reported.
   */
  reportNow: () => void = () => undefined;

  /**
   * `kinds`: what the ecosystem can list. A kind that it does not know is empty and whole. `isSilentWithoutAlarms`: a home
   * without alarms says nothing about alarms, so that their summaries are blank, not "false".
   */
  constructor(
    kinds: readonly HomeKind[] = ["structures", "thermostats", "alarms"],
    { isSilentWithoutAlarms = false } = {},
  ) {
    this.#kinds = kinds;
    this.#isSilentWithoutAlarms = isSilentWithoutAlarms;
    this.#listings = {
      structures: new GrowingListing(),
      thermostats: new GrowingListing(),
      alarms: new GrowingListing(),
      others: new GrowingListing(),
    };
  }

  beginListing(kind: HomeKind): void {
    this.#listings[kind].begin();
  }

  endListing(kind: HomeKind): void {
    this.#note(this.#listings[kind].end());
  }

  /** Removals may have been missed: until the next complete listing, a missing object is not gone. */
  lose(kind: HomeKind): void {
    this.#note(this.#listings[kind].lose());
  }

  /** An object was added, or has changed. */
  set<Kind extends HomeKind>(kind: Kind, id: string, object: Objects[Kind]): void {
    this.#see(kind, id, { isRead: true, object });
  }

  /** An object exists but can't be read: its last values stay. */
  setUnreadable<Kind extends HomeKind>(kind: Kind, id: string, partial: Partial<Objects[Kind]> = {}): void {
    this.#see(kind, id, { isRead: false, partial });
  }

  remove(kind: HomeKind, id: string): void {
    this.#note(this.#listings[kind].remove(id));
  }

  /** Whether every kind was listed completely at least once. */
  get isListed(): boolean {
    return this.#kinds.every((kind) => this.#listings[kind].wasListed);
  }

  /** The home as it is now; undefined before the first complete listing. */
  home(): Home | undefined {
    if (!this.isListed) return undefined;
    if (this.#home) return this.#home;
    const { structures, thermostats, alarms, others } = this.#listings;
    const listed = {
      structures: structures.listing(this.#kinds.includes("structures")),
      thermostats: thermostats.listing(this.#kinds.includes("thermostats")),
      alarms: alarms.listing(this.#kinds.includes("alarms")),
      ...(this.#kinds.includes("others") && { others: others.listing(true) }),
    };
    const speaksOfAlarms = this.#isSilentWithoutAlarms ? listed.alarms.byId.size > 0 : this.#kinds.includes("alarms");
    this.#home = { ...listed, speaksOfAlarms, oddities: odditiesOf(listed) };
    return this.#home;
  }

  get hasChanged(): boolean {
    return this.#hasChanged && this.isListed;
  }

  get hasOnlyLevels(): boolean {
    return this.#hasOnlyLevels;
  }

  /** Tells the listener the home, or that it has not changed since the last call; nothing before the first listing. */
  report(listener: Pick<StreamListener, "home" | "unchanged">): void {
    const home = this.#hasChanged ? this.home() : undefined;
    if (!this.#hasChanged) listener.unchanged();
    if (!home) return;
    this.#hasChanged = false;
    this.#hasOnlyLevels = true;
    this.#moved.clear();
    listener.home(home);
  }

  #see<Kind extends HomeKind>(kind: Kind, id: string, reading: ObjectReading<Objects[Kind]>): void {
    const listing = this.#listings[kind] as GrowingListing<Objects[Kind]>;
    const previous = listing.find(id);
    if (previous && isDeepStrictEqual(previous, reading)) {
      listing.confirm(id);
      return;
    }
    const hasMoved = !previous || !sameReadings<Objects[HomeKind]>(previous, reading);
    const key = `${kind}/${id}`;
    if (hasMoved && this.#moved.has(key)) this.reportNow();
    this.#note(listing.see(id, reading), !hasMoved);
    if (!hasMoved) return;
    this.#moved.add(key);
    if (kind === "alarms") this.reportNow();
  }

  #note(hasChanged: boolean, isLevel = false): void {
    if (!hasChanged) return;
    this.#hasChanged = true;
    if (!isLevel) this.#hasOnlyLevels = false;
    this.#home = undefined;
  }
}

/** The objects of one kind. Methods return whether the listing has changed. */
class GrowingListing<T> {
  readonly #byId = new Map<string, ObjectReading<T>>();
  /** Ids of the listing that is open. */
  #seen: Set<string> | undefined;
  #isWhole = false;
  #isFull = false;
  wasListed = false;
  /** What `listing` returned, until the next change. */
  #listing: Listing<T> | undefined;

  begin(): void {
    this.#seen = new Set();
    this.#isFull = false;
  }

  end(): boolean {
    const seen = this.#seen;
    if (!seen) return false;
    this.#seen = undefined;
    const before = this.#isWhole;
    this.#isWhole = !this.#isFull;
    const isFirst = !this.wasListed;
    this.wasListed = true;
    const gone = [...this.#byId.keys()].filter((id) => !seen.has(id));
    for (const id of gone) this.#byId.delete(id);
    this.#listing = undefined;
    return isFirst || gone.length > 0 || before !== this.#isWhole;
  }

  lose(): boolean {
    // An open listing began before the loss: its end must not make the kind whole.
    this.#seen = undefined;
    return this.#loseWhole();
  }

  find(id: string): ObjectReading<T> | undefined {
    return this.#byId.get(id);
  }

  /** The object was sent again as it was. */
  confirm(id: string): void {
    this.#seen?.add(id);
  }

  see(id: string, reading: ObjectReading<T>): boolean {
    if (this.#byId.size >= maximalObjects && !this.#byId.has(id)) {
      this.#isFull = true;
      return this.#loseWhole();
    }
    this.#seen?.add(id);
    this.#byId.set(id, reading);
    this.#listing = undefined;
    return true;
  }

  remove(id: string): boolean {
    this.#seen?.delete(id);
    this.#listing = undefined;
    return this.#byId.delete(id);
  }

  /** The same object until the next change. */
  listing(isListed: boolean): Listing<T> {
    this.#listing ??= { isWhole: this.#isWhole || !isListed, byId: new Map(this.#byId) };
    return this.#listing;
  }

  #loseWhole(): boolean {
    const wasWhole = this.#isWhole;
    this.#isWhole = false;
    if (wasWhole) this.#listing = undefined;
    return wasWhole;
  }
}

/** What a home leaves out, and the words in it that are unknown. Plain loops: it is called for every report. */
export function odditiesOf({ structures, thermostats, alarms, others }: Pick<Home, HomeKind>): Oddities {
  let [incomplete, unknownAlarmStates, unknownAwayStates] = [0, 0, 0];
  for (const listing of [structures, thermostats, alarms, others]) {
    if (!listing) continue;
    if (!listing.isWhole) incomplete += 1;
    for (const reading of listing.byId.values()) if (!reading.isRead) incomplete += 1;
  }
  for (const reading of structures.byId.values()) {
    if (!reading.isRead) continue;
    if (!reading.object.listsDevices) incomplete += 1;
    if (reading.object.presence?.state.state === "unknown") unknownAwayStates += 1;
  }
  for (const reading of alarms.byId.values()) {
    if (!reading.isRead) continue;
    const { smoke, carbonMonoxide } = reading.object.traits;
    if (smoke?.state.state === "unknown") unknownAlarmStates += 1;
    if (carbonMonoxide?.state.state === "unknown") unknownAlarmStates += 1;
  }
  return { incomplete, unknownAlarmStates, unknownAwayStates };
}
