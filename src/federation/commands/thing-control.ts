import { type CommandReceipt, receiptNumber, receiptOfCommand } from "../../devices/command-receipts.ts";
import type { CommitTables } from "../../devices/commit.ts";
import { receiptsShown, type ThingControl } from "../../devices/thing-control.ts";
import { isRelative } from "../../home/command.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { AccessScope } from "../../model/access-scope.ts";
import { UnknownCommand, UnknownThing } from "../../model/errors.ts";
import type { Store } from "../../store/seam.ts";
import type { ThingRow } from "../../store/tables/things.ts";
import { receiptOfFan } from "./fan-as-command.ts";
import { admitToThing, type GateReceipt, type ThingGateParts } from "./thing-gate.ts";

export interface ThingControlParts extends ThingGateParts {
  readonly store: Store<CommitTables>;
  readonly isStale: (thing: Pick<ThingRow, "userId" | "deviceId">) => Promise<boolean>;
  /** A command was stored on this node. */
  readonly stored: () => void;
}

export function thingControl(parts: ThingControlParts): ThingControl {
  const { store } = parts;
  const find = async (accessScope: AccessScope, thingId: string) => {
    const thing = await store.read((tx) => tx.things.within(accessScope, thingId));
    if (!thing) throw new UnknownThing();
    return thing;
  };
  return {
    async command(accessScope, thingId, requested, keep) {
      const found = await find(accessScope, thingId);
      const isStale = isRelative(requested.command) && (await parts.isStale(found));
      const receipt = await store.transaction(async (tx) => {
        const nowMs = await tx.users.lock(found.userId);
        const [thing] = nowMs === undefined ? [] : await tx.things.some(found.userId, [thingId]);
        // It was removed after the read above.
        if (nowMs === undefined || !thing) throw new UnknownThing();
        const admitted = await admitToThing(tx, parts, thing, { ...requested, isStale }, nowMs);
        const receipt = receiptOf(admitted, thingId);
        await keep?.(tx, receipt);
        return receipt;
      });
      parts.stored();
      return receipt;
    },
    async admit(tx, userId, thingIds, requested) {
      const things = new Map((await tx.things.some(userId, thingIds)).map((thing) => [thing.thingId, thing]));
      const nowMs = await tx.clock.nowMs();
      const receipts: CommandReceipt[] = [];
      for (const thingId of thingIds) {
        const thing = things.get(thingId);
        if (!thing) continue;
        receipts.push(
          receiptOf(await admitToThing(tx, parts, thing, { ...requested, isStale: false }, nowMs), thingId),
        );
      }
      return receipts;
    },
    async reached(tx, userId, target, limit) {
      if (!("thingId" in target)) return tx.things.ofKind(userId, target.kind, target.room, limit);
      const thing = await tx.things.within({ kind: "user", userId }, target.thingId);
      return thing ? [thing.thingId] : [];
    },
    wake: () => parts.stored(),
    async receipts(accessScope, thingId) {
      const { userId, deviceId, key } = await find(accessScope, thingId);
      const thermostatId = thermostatIn(key);
      const all = await store.read(async (tx) => {
        const commands = await tx.thingCommands.ofThing(userId, deviceId, thingId, receiptsShown);
        const fans =
          thermostatId === undefined
            ? []
            : await tx.fanRequests.ofThermostat(userId, deviceId, thermostatId, receiptsShown);
        return [...commands.map(receiptOfCommand), ...fans.map((row) => receiptOfFan(row, thingId))];
      });
      return all.sort((a, b) => b.requestedMs - a.requestedMs).slice(0, receiptsShown);
    },
    async receipt(accessScope, thingId, commandId) {
      const { userId, deviceId, key } = await find(accessScope, thingId);
      const { kind, id } = receiptNumber(commandId) ?? {};
      if (kind === undefined || id === undefined) throw new UnknownCommand();
      const receipt = await store.read(async (tx) => {
        if (kind === "c") {
          const row = await tx.thingCommands.find(userId, deviceId, id);
          return row?.thingId === thingId ? receiptOfCommand(row) : undefined;
        }
        const row = await tx.fanRequests.find(userId, deviceId, id);
        return row && row.thermostatId === thermostatIn(key) ? receiptOfFan(row, thingId) : undefined;
      });
      if (!receipt) throw new UnknownCommand();
      return receipt;
    },
  };
}

function receiptOf(receipt: GateReceipt, thingId: string): CommandReceipt {
  return "command" in receipt ? receiptOfCommand(receipt.command) : receiptOfFan(receipt.fanRequest, thingId);
}
