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
  /** When the device last wrote. It is ahead of the clock after that was set back, as later writes are then. */
  readonly lastTimeMs: number;
  readonly map: TraitMap;
  readonly traits: Traits;
  /** The times are those of the device's writes: a change of the map is no answer to a command. */
  readonly state: ThingState;
}

/** As it is now, or was at the time `atMs`. Undefined when the device was removed, or its type has no map any more. */
export async function commandedThing(
  tx: CommitTables,
  ownThings: OwnThings,
  userId: UserId,
  deviceId: DeviceId,
  atMs?: number,
): Promise<CommandedThing | undefined> {
  return (await commandedThings(tx, ownThings, userId, [deviceId], atMs))[0];
}

/** The things of those devices that are there and whose types have a map, ascending, with a fixed number of statements. */
export async function commandedThings(
  tx: CommitTables,
  ownThings: OwnThings,
  userId: UserId,
  deviceIds: readonly DeviceId[],
  atMs?: number,
): Promise<readonly CommandedThing[]> {
  const devices = await tx.mappedDevices.some(userId, deviceIds);
  const found = new Map<DeviceId, { readonly map: TraitMap; readonly lastTimeMs: number }>();
  for (const device of devices) {
    const { map } = (await ownThings.maps.of(tx, device)) ?? {};
    if (map) found.set(device.id, { map, lastTimeMs: device.lastTimeMs });
  }
  return (await ownThings.derive(tx, devices, { timesOf: "writes", atMs })).flatMap((thing) => {
    const { deviceId, thingId, state } = thing;
    const device = found.get(deviceId);
    return device ? [{ userId, deviceId, thingId, ...device, traits: storedTraits(thing, state), state }] : [];
  });
}
