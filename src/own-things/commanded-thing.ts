import type { CommitTables } from "../devices/commit.ts";
import type { Traits } from "../home/catalogue.ts";
import type { Plan } from "../home/command-plan.ts";
import { storedTraits, type ThingState } from "../home/stored-thing.ts";
import type { TraitMap } from "../home/trait-map.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { OwnThings } from "./own-things.ts";

/** The key of every command to an own thing: the device alone identifies the thing. */
export const ownCommandKey = "own";

/** The plan of a command to an own thing, as it is stored. */
export interface StoredOwnPlan extends Plan {
  /** The attributes that the device should show, with their values. */
  readonly writes: Readonly<Record<string, string>>;
}

/** An own thing as it is now, with the map of its type. */
export interface CommandedThing {
  readonly userId: UserId;
  readonly deviceId: DeviceId;
  readonly thingId: string;
  readonly map: TraitMap;
  readonly traits: Traits;
  readonly state: ThingState;
}

/** Undefined when the device was removed, or when its type has no map any more. */
export async function commandedThing(
  tx: CommitTables,
  ownThings: OwnThings,
  userId: UserId,
  deviceId: DeviceId,
): Promise<CommandedThing | undefined> {
  const device = await tx.mappedDevices.within({ kind: "user", userId }, deviceId);
  const found = device && (await ownThings.maps.of(tx, device));
  if (!device || !found) return undefined;
  const [thing] = await ownThings.derive(tx, [device]);
  if (!thing) return undefined;
  const { thingId, state } = thing;
  return { userId, deviceId, thingId, map: found.map, traits: storedTraits(thing, state), state };
}
