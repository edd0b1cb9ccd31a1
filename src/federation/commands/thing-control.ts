import type { CommitTables } from "../../devices/commit.ts";
import { isRelative } from "../../home/command.ts";
import { thermostatIn } from "../../home/reported-things.ts";
import type { AccessScope } from "../../model/access-scope.ts";
import type { CommandTarget } from "../../model/alert-commands.ts";
import { UnknownCommand, UnknownThing } from "../../model/errors.ts";
import type { UserId } from "../../model/ids.ts";
import type { Store } from "../../store/seam.ts";
import type { ThingRow } from "../../store/tables/things.ts";
import { type CommandReceipt, receiptOf, receiptOfCommand, receiptOfFan } from "./command-receipt.ts";
import { admitToThing, type RequestedCommand, type ThingGateParts } from "./thing-gate.ts";

/**
 * Commands to things within the caller's access scope. A thing or receipt outside it looks as if it did not exist.
 */
export interface ThingControl {
  /**
   * Accepts or refuses a command; the receipt is durable when the promise resolves. `keep` stores the answer of a
   * request with an Idempotency-Key in the same transaction.
   */
  command(
    accessScope: AccessScope,
    thingId: string,
    requested: Omit<RequestedCommand, "isStale">,
    keep?: (tx: CommitTables, receipt: CommandReceipt) => Promise<void>,
  ): Promise<CommandReceipt>;
  /**
   * The same inside an open transaction that holds the user's lock, for a command that does not depend on the state.
   * Undefined when the user has no such thing. `wake` must be called when the transaction is durable.
   */
  admit(
    tx: CommitTables,
    userId: UserId,
    thingId: string,
    requested: Omit<RequestedCommand, "isStale">,
  ): Promise<CommandReceipt | undefined>;
  /** The ids of the user's present things that an alert's command reaches, at most `limit`. */
  reached(
    tx: Pick<CommitTables, "things">,
    userId: UserId,
    target: CommandTarget,
    limit: number,
  ): Promise<readonly string[]>;
  /** Commands were stored on this node. */
  wake(): void;
  /** The newest receipts of a thing, newest first; fan requests of a thermostat are among them. */
  receipts(accessScope: AccessScope, thingId: string): Promise<readonly CommandReceipt[]>;
  receipt(accessScope: AccessScope, thingId: string, commandId: string): Promise<CommandReceipt>;
}

export interface ThingControlParts extends ThingGateParts {
  readonly store: Store<CommitTables>;
  readonly isStale: (thing: Pick<ThingRow, "userId" | "deviceId">) => Promise<boolean>;
  /** A command was stored on this node. */
  readonly stored: () => void;
}

const receiptsShown = 100;

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
    async admit(tx, userId, thingId, requested) {
      const [thing] = await tx.things.some(userId, [thingId]);
      if (!thing) return undefined;
      const nowMs = await tx.clock.nowMs();
      return receiptOf(await admitToThing(tx, parts, thing, { ...requested, isStale: false }, nowMs), thingId);
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
            : await tx.commands.ofThermostat(userId, deviceId, thermostatId, receiptsShown);
        return [...commands.map(receiptOfCommand), ...fans.map((row) => receiptOfFan(row, thingId))];
      });
      return all.sort((a, b) => b.requestedMs - a.requestedMs).slice(0, receiptsShown);
    },
    async receipt(accessScope, thingId, commandId) {
      const { userId, deviceId, key } = await find(accessScope, thingId);
      const [, kind, digits] = /^([cf])([1-9]\d{0,9})$/.exec(commandId) ?? [];
      const id = Number(digits);
      if (kind === undefined || id > 2_147_483_647) throw new UnknownCommand();
      const receipt = await store.read(async (tx) => {
        if (kind === "c") {
          const row = await tx.thingCommands.find(userId, deviceId, id);
          return row?.thingId === thingId ? receiptOfCommand(row) : undefined;
        }
        const row = await tx.commands.find(userId, deviceId, id);
        return row && row.thermostatId === thermostatIn(key) ? receiptOfFan(row, thingId) : undefined;
      });
      if (!receipt) throw new UnknownCommand();
      return receipt;
    },
  };
}
