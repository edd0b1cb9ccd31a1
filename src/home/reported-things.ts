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

type Group = "alarm" | "thermostat" | "structure" | "other";

/** The things of a home. Each structure is a thing too: it tells whether somebody is at home. */
export function reportedThings(home: Home): ThingReport {
  const read: ReportedThing[] = [];
  const unread: string[] = [];
  const nameOf = (structureId: string | null) => structureName(home.structures, structureId);
  const add = (group: Group, listing: Listing<Thing>) => {
    for (const [id, sighting] of listing.byId) {
      if (!sighting.isRead) unread.push(keyOf(group, id));
      else read.push({ key: keyOf(group, id), thing: sighting.object, homeName: nameOf(sighting.object.structureId) });
    }
  };
  add("alarm", home.alarms);
  for (const [id, sighting] of home.structures.byId) {
    if (!sighting.isRead) unread.push(keyOf("structure", id));
    else
      read.push({ key: keyOf("structure", id), thing: homeThing(sighting.object, id), homeName: sighting.object.name });
  }
  add("thermostat", home.thermostats);
  if (home.others) add("other", home.others);
  return { read, unread, isGoneUnlessNamed: goneRule(home) };
}

function keyOf(group: Group, id: string): string {
  return `${group}/${id}`;
}

/** The key of the thing for a thermostat with the ecosystem's id. */
export function thermostatKey(id: string): string {
  return keyOf("thermostat", id);
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
  const isWhole: Readonly<Record<Group, boolean>> = {
    alarm: alarms.isWhole && isListed,
    thermostat: thermostats.isWhole && isListed,
    structure: structures.isWhole,
    other: (others?.isWhole ?? false) && isListed,
  };
  return (key) => isWhole[key.slice(0, key.indexOf("/")) as Group] ?? false;
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
