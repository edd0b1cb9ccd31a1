import type { Reaction } from "../devices/commit.ts";
import { commandedThing } from "./commanded-thing.ts";
import { settleByWrite } from "./own-command-outcome.ts";
import type { OwnThings } from "./own-things.ts";

/**
 * Settles commands to own things by later writes of their attributes, by any writer. All writes of a user's
 * devices happen under the user's lock, so a write that finds an open command is later than the sending.
 */
export function ownThingEcho(ownThings: OwnThings): Reaction {
  return async (tx, { userId, deviceId, isMapped, changes, timeMs }) => {
    if (!isMapped || changes.length === 0) return [];
    const open = await tx.thingCommands.open(userId, deviceId, ownThings.ids.thingIdOf(deviceId));
    // A transaction that takes long must not find the device silent: it has just written.
    const thing = open.length > 0 ? await commandedThing(tx, ownThings, userId, deviceId, timeMs) : undefined;
    if (thing) await settleByWrite(tx, thing, open, new Set(changes.map(({ key }) => key)), timeMs);
    return [];
  };
}
