import type { CommandReceipt } from "../devices/command-receipts.ts";
import type { ThingControl } from "../devices/thing-control.ts";
import type { OwnThingIds } from "../own-things/own-thing-ids.ts";

/** Commands to all things: the id of a thing shows whether it is derived from an own device. */
export function controlOfAll(linked: ThingControl, own: ThingControl, ids: OwnThingIds): ThingControl {
  const of = (thingId: string) => (ids.deviceOf(thingId) === undefined ? linked : own);
  return {
    command: (accessScope, thingId, ...more) => of(thingId).command(accessScope, thingId, ...more),
    async admit(tx, userId, thingIds, requested) {
      const receipts: CommandReceipt[] = [];
      for (const control of [linked, own]) {
        const its = thingIds.filter((thingId) => of(thingId) === control);
        if (its.length > 0) receipts.push(...(await control.admit(tx, userId, its, requested)));
      }
      return receipts;
    },
    async reached(tx, userId, target, limit) {
      if ("thingId" in target) return of(target.thingId).reached(tx, userId, target, limit);
      const found = await linked.reached(tx, userId, target, limit);
      if (found.length >= limit) return found;
      return [...found, ...(await own.reached(tx, userId, target, limit - found.length))];
    },
    wake() {
      linked.wake();
      own.wake();
    },
    receipts: (accessScope, thingId) => of(thingId).receipts(accessScope, thingId),
    receipt: (accessScope, thingId, commandId) => of(thingId).receipt(accessScope, thingId, commandId),
  };
}
