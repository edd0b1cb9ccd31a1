import { isDeepStrictEqual } from "node:util";
import type { Home, Listing, ObjectReading, Oddities } from "../../home/home.ts";
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
 */
export class WholeHome {
  readonly #listings: { readonly [Kind in HomeKind]: GrowingListing<Objects[Kind]> };
  readonly #kinds: readonly HomeKind[];
  #hasChanged = true;

  /** `kinds`: what the ecosystem can list. A kind that it does not know is empty and whole. */
  constructor(kinds: readonly HomeKind[] = ["structures", "thermostats", "alarms"]) {
    this.#kinds = kinds;
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
    const { structures, thermostats, alarms, others } = this.#listings;
    const listed = {
      structures: structures.listing(this.#kinds.includes("structures")),
      thermostats: thermostats.listing(this.#kinds.includes("thermostats")),
      alarms: alarms.listing(this.#kinds.includes("alarms")),
      ...(this.#kinds.includes("others") && { others: others.listing(true) }),
    };
    return { ...listed, speaksOfAlarms: this.#kinds.includes("alarms"), oddities: odditiesOf(listed) };
  }

  /** Tells the listener the home, or that it has not changed since the last call; nothing before the first listing. */
  report(listener: Pick<StreamListener, "home" | "unchanged">): void {
    const home = this.#hasChanged ? this.home() : undefined;
    if (!this.#hasChanged) listener.unchanged();
    if (!home) return;
    this.#hasChanged = false;
    listener.home(home);
  }

  #see<Kind extends HomeKind>(kind: Kind, id: string, sighting: ObjectReading<Objects[Kind]>): void {
    this.#note((this.#listings[kind] as GrowingListing<Objects[Kind]>).see(id, sighting));
  }

  #note(hasChanged: boolean): void {
    this.#hasChanged ||= hasChanged;
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
    return isFirst || gone.length > 0 || before !== this.#isWhole;
  }

  lose(): boolean {
    // An open listing began before the loss: its end must not make the kind whole.
    this.#seen = undefined;
    const before = this.#isWhole;
    this.#isWhole = false;
    return before;
  }

  see(id: string, sighting: ObjectReading<T>): boolean {
    const before = this.#byId.get(id);
    if (before === undefined && this.#byId.size >= maximalObjects) return this.#overflow();
    this.#seen?.add(id);
    if (isDeepStrictEqual(before, sighting)) return false;
    this.#byId.set(id, sighting);
    return true;
  }

  remove(id: string): boolean {
    this.#seen?.delete(id);
    return this.#byId.delete(id);
  }

  listing(isListed: boolean): Listing<T> {
    return { isWhole: this.#isWhole || !isListed, byId: new Map(this.#byId) };
  }

  #overflow(): boolean {
    this.#isFull = true;
    const before = this.#isWhole;
    this.#isWhole = false;
    return before;
  }
}

/** What a home leaves out, and the words in it that are unknown. */
export function odditiesOf({ structures, thermostats, alarms, others }: Pick<Home, HomeKind>): Oddities {
  const listings: readonly Listing<unknown>[] = [structures, thermostats, alarms, ...(others ? [others] : [])];
  const sightings = listings.flatMap(({ byId }) => [...byId.values()]);
  const readStructures = [...structures.byId.values()].flatMap((sighting) =>
    sighting.isRead ? [sighting.object] : [],
  );
  const states = [...alarms.byId.values()].flatMap((sighting) => {
    if (!sighting.isRead) return [];
    const { smoke, carbonMonoxide } = sighting.object.traits;
    return [smoke?.state.state, carbonMonoxide?.state.state];
  });
  return {
    incomplete:
      listings.filter(({ isWhole }) => !isWhole).length +
      sightings.filter(({ isRead }) => !isRead).length +
      readStructures.filter(({ listsDevices }) => !listsDevices).length,
    unknownAlarmStates: states.filter((state) => state === "unknown").length,
    unknownAwayStates: readStructures.filter(({ presence }) => presence?.state.state === "unknown").length,
  };
}
