import { receiptNumber, receiptOfCommand } from "../devices/command-receipts.ts";
import type { CommitTables } from "../devices/commit.ts";
import { type ReachTables, receiptsShown, type ThingControl } from "../devices/thing-control.ts";
import type { AccessScope } from "../model/access-scope.ts";
import { UnknownCommand, UnknownThing } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { Store } from "../store/seam.ts";
import { commandedThing, commandedThings } from "./commanded-thing.ts";
import { admitToOwnThings } from "./own-command-gate.ts";
import type { OwnThings } from "./own-things.ts";

export interface OwnThingControlParts {
  readonly store: Store<CommitTables>;
  readonly ownThings: OwnThings;
}

/** Commands to the things of own devices. */
export function ownThingControl({ store, ownThings }: OwnThingControlParts): ThingControl {
  const find = async (accessScope: AccessScope, thingId: string) => {
    const deviceId = ownThings.ids.deviceOf(thingId);
    const device =
      deviceId === undefined ? undefined : await store.read((tx) => tx.mappedDevices.within(accessScope, deviceId));
    if (!device) throw new UnknownThing();
    return device;
  };
  return {
    async command(accessScope, thingId, requested, keep) {
      const { userId, id: deviceId } = await find(accessScope, thingId);
      return store.transaction(async (tx) => {
        const nowMs = await tx.users.lock(userId);
        const thing = nowMs === undefined ? undefined : await commandedThing(tx, ownThings, userId, deviceId);
        // It was removed after the read above.
        if (nowMs === undefined || !thing) throw new UnknownThing();
        const [admitted] = await admitToOwnThings(tx, [thing], requested, nowMs);
        const receipt = receiptOfCommand(admitted!);
        await keep?.(tx, receipt);
        return receipt;
      });
    },
    async admit(tx, userId, thingIds, requested) {
      const deviceIds = thingIds.flatMap((thingId) => ownThings.ids.deviceOf(thingId) ?? []);
      const things = await commandedThings(tx, ownThings, userId, deviceIds);
      return (await admitToOwnThings(tx, things, requested, await tx.clock.nowMs())).map(receiptOfCommand);
    },
    async reached(tx, userId, target, limit) {
      if (!("thingId" in target)) return ofKind(tx, ownThings, userId, target, limit);
      const deviceId = ownThings.ids.deviceOf(target.thingId) ?? (0 as DeviceId);
      const device = await tx.mappedDevices.within({ kind: "user", userId }, deviceId);
      return device ? [target.thingId] : [];
    },
    // The company reads the log: nothing on this node sends.
    wake: () => undefined,
    async receipts(accessScope, thingId) {
      const { userId, id } = await find(accessScope, thingId);
      const rows = await store.read((tx) => tx.thingCommands.ofThing(userId, id, thingId, receiptsShown));
      return rows.map(receiptOfCommand);
    },
    async receipt(accessScope, thingId, commandId) {
      const { userId, id: deviceId } = await find(accessScope, thingId);
      const { kind, id } = receiptNumber(commandId) ?? {};
      if (kind !== "c" || id === undefined) throw new UnknownCommand();
      const row = await store.read((tx) => tx.thingCommands.find(userId, deviceId, id));
      if (row?.thingId !== thingId) throw new UnknownCommand();
      return receiptOfCommand(row);
    },
  };
}

const devicesPerPage = 500;

/** The things of a user whose types have this kind, ascending by device. */
async function ofKind(
  tx: ReachTables,
  ownThings: OwnThings,
  userId: UserId,
  { kind, room }: { readonly kind: string; readonly room?: string | undefined },
  limit: number,
): Promise<readonly string[]> {
  const user = await tx.users.byId(userId);
  const maps = user ? await tx.deviceTypeMaps.ofTenant(user.tenantId) : [];
  const typeIds = maps.filter((row) => ownThings.maps.read(row)?.map.kind === kind).map(({ typeId }) => typeId);
  const found: string[] = [];
  if (typeIds.length === 0) return found;
  for (let afterId = 0; found.length < limit; ) {
    const page = await tx.mappedDevices.page({ kind: "user", userId }, { afterId, typeIds, room }, devicesPerPage);
    found.push(...page.map(({ id }) => ownThings.ids.thingIdOf(id)));
    const last = page.at(-1);
    if (!last || page.length < devicesPerPage) break;
    afterId = last.id;
  }
  return found.slice(0, limit);
}
