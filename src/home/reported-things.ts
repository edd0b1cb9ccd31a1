import type { Home, Listing, Structure } from "./home.ts";
import type { Thing } from "./thing.ts";

/** A thing as a snapshot shows it, with what the snapshot says of its surroundings. */
export interface ReportedThing {
  /** Identifies the thing within its account, for ever. */
  readonly key: string;
  readonly thing: Thing;
  /** The name of the structure that it belongs to. */
  readonly homeName: string | null;
}

export interface ThingReport {
  /** Things that were read. */
  readonly read: readonly ReportedThing[];
  /** The keys of things that the snapshot names but that can't be read: they keep their values. */
  readonly unread: readonly string[];
  /** Whether a thing with this key is gone if the snapshot does not name it. */
  readonly isGoneUnlessNamed: (key: string) => boolean;
}

export const thingGroups = ["alarm", "structure", "thermostat", "other"] as const;

/** A key begins with the group; an id identifies a thing within its group. */
export type ThingGroup = (typeof thingGroups)[number];

type VisitThing = (group: ThingGroup, id: string, thing: Thing, homeName: string | null) => void;

/** Visits the things of a home that were read. Each structure is a thing too: it tells whether somebody is at home. */
export function visitThings(
  home: Home,
  visit: VisitThing,
  visitUnread: (group: ThingGroup, id: string) => void = () => undefined,
): void {
  const visitListing = (group: ThingGroup, listing: Listing<Thing>) => {
    for (const [id, sighting] of listing.byId) {
      if (!sighting.isRead) visitUnread(group, id);
      else visit(group, id, sighting.object, structureName(home.structures, sighting.object.structureId));
    }
  };
  visitListing("alarm", home.alarms);
  for (const [id, sighting] of home.structures.byId) {
    if (!sighting.isRead) visitUnread("structure", id);
    else visit("structure", id, homeThing(sighting.object, id), sighting.object.name);
  }
  visitListing("thermostat", home.thermostats);
  if (home.others) visitListing("other", home.others);
}

export function reportedThings(home: Home): ThingReport {
  const read: ReportedThing[] = [];
  const unread: string[] = [];
  visitThings(
    home,
    (group, id, thing, homeName) => read.push({ key: thingKey(group, id), thing, homeName }),
    (group, id) => unread.push(thingKey(group, id)),
  );
  return { read, unread, isGoneUnlessNamed: goneRule(home) };
}

export function thingKey(group: ThingGroup, id: string): string {
  return `${group}/${id}`;
}

/** Undefined for a key of a later version. */
export function groupIn(key: string): ThingGroup | undefined {
  const group = key.slice(0, key.indexOf("/"));
  return thingGroups.find((one) => one === group);
}

/** The key of the thing for a thermostat with the ecosystem's id. */
export function thermostatKey(id: string): string {
  return thingKey("thermostat", id);
}

/** The ecosystem's id of the thermostat that has this key; undefined for any other thing. */
export function thermostatIn(key: string): string | undefined {
  return key.startsWith("thermostat/") ? key.slice("thermostat/".length) : undefined;
}

/** The ecosystem's id of the structure that has this key; undefined for any other thing. */
export function structureIn(key: string): string | undefined {
  return key.startsWith("structure/") ? key.slice("structure/".length) : undefined;
}

/** The ecosystem's id of a thing with this key. */
export function idIn(key: string): string {
  return key.slice(key.indexOf("/") + 1);
}

/** A missing device is gone only when its own listing and the lists of all structures are complete. */
function goneRule({ alarms, thermostats, structures, others }: Home): (key: string) => boolean {
  const isListed =
    structures.isWhole && [...structures.byId.values()].every((one) => one.isRead && one.object.listsDevices);
  const isWhole: Readonly<Record<ThingGroup, boolean>> = {
    alarm: alarms.isWhole && isListed,
    thermostat: thermostats.isWhole && isListed,
    structure: structures.isWhole,
    other: (others?.isWhole ?? false) && isListed,
  };
  return (key) => {
    const group = groupIn(key);
    return group !== undefined && isWhole[group];
  };
}

function structureName({ byId }: Listing<Structure>, structureId: string | null): string | null {
  const sighting = structureId === null ? undefined : byId.get(structureId);
  return (sighting?.isRead ? sighting.object.name : sighting?.partial.name) ?? null;
}

function homeThing({ name, presence }: Structure, structureId: string): Thing {
  return {
    kind: "home",
    structureId,
    name,
    room: null,
    maker: null,
    model: null,
    isOnline: null,
    traits: presence ? { presence } : {},
  };
}
