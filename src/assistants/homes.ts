import type { ReadThing } from "../devices/read-thing.ts";
import { storedTraits } from "../home/stored-thing.ts";
import type { AccessScope } from "../model/access-scope.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import { ownSource } from "../own-things/own-things.ts";
import type { ThingPlace, ThingReading } from "../own-things/thing-reading.ts";
import type { CurrentThing } from "./current-thing.ts";

export interface HomeParts {
  readonly things: ThingReading;
  /** For each link of these things, whether its state is stale. A link that has just ended is left out. */
  readonly staleOfEach: (
    links: readonly { readonly userId: UserId; readonly deviceId: DeviceId }[],
  ) => Promise<ReadonlyMap<DeviceId, boolean>>;
  /** Whether Google has the device of a linked thing already. */
  readonly isGoogles: (thing: ReadThing) => boolean;
}

/** The things of one user, as assistants see them. */
export interface AssistantHomes {
  /** All present things. */
  all(userId: UserId): Promise<readonly CurrentThing[]>;
  /** Those of these things that the user has, gone ones included, by id. */
  some(userId: UserId, thingIds: readonly string[]): Promise<ReadonlyMap<string, CurrentThing>>;
}

export function assistantHomes({ things, staleOfEach, isGoogles }: HomeParts): AssistantHomes {
  const current = async (read: readonly ReadThing[]): Promise<readonly CurrentThing[]> => {
    const linked = read.filter(({ source }) => source !== ownSource);
    const stale = linked.length > 0 ? await staleOfEach(linked) : new Map<DeviceId, boolean>();
    return read.map((thing) => ({
      ...thing,
      traits: storedTraits(thing, thing.state),
      isGoogles: thing.source !== ownSource && isGoogles(thing),
      isStale: thing.source !== ownSource && (stale.get(thing.deviceId) ?? true),
    }));
  };
  return {
    async all(userId) {
      const accessScope: AccessScope = { kind: "user", userId };
      const read: ReadThing[] = [];
      for (let place: ThingPlace | undefined = { afterDevice: 0, afterThing: "" }; place; ) {
        const page = await things.page(accessScope, place);
        read.push(...page.things);
        place = page.next;
      }
      return current(read);
    },
    async some(userId, thingIds) {
      if (thingIds.length === 0) return new Map();
      const found = await current(await things.some(userId, thingIds));
      return new Map(found.map((thing) => [thing.thingId, thing]));
    },
  };
}
