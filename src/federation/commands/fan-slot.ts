import type { CommitTables } from "../../devices/commit.ts";
import { thermostatKey } from "../../home/reported-things.ts";
import type { FanRequestRow } from "../../store/tables/fan-requests.ts";
import { type AttributeNumber, positionOf, thermostatAttribute } from "../../virtual-device/attribute-names.ts";
import { isAbout } from "../../virtual-device/fan-request.ts";

/** The present state of the slot for which a fan request was written. */
export interface FanSlot {
  /** The slot still belongs to the thermostat of the request. */
  readonly isSameThermostat: boolean;
  /** The ecosystem no longer has the thermostat. One that moved to another structure is not gone. */
  readonly isGone: boolean;
  /** No later request was accepted by the gate. */
  readonly isLatest: boolean;
  /** The request's outcome may be written to `requestWrite`. */
  readonly isWritable: boolean;
  /** The thermostat's `fan_timer_active`. */
  readonly fanKey: AttributeNumber;
  /** Its mirrored value; null when it is blank. */
  readonly fan: string | null;
}

export async function slotOf(tx: CommitTables, command: FanRequestRow): Promise<FanSlot> {
  const { userId, deviceId, attribute } = command;
  // The attribute is a `requestWrite`, so it belongs to a thermostat and has X and Y.
  const { x, y } = positionOf(attribute) as { readonly x: number; readonly y: number };
  const idKey = thermostatAttribute(x, y, "deviceId");
  const fanKey = thermostatAttribute(x, y, "fanTimerActive");
  const rows = await tx.attributes.some(userId, deviceId, [idKey, fanKey, attribute]);
  const valueAt = (key: AttributeNumber) => rows.find((row) => row.key === key)?.value ?? null;
  const isSameThermostat = valueAt(idKey) === command.thermostatId;
  const isLatest = (await tx.fanRequests.latest(userId, deviceId, attribute))?.id === command.id;
  const isWritable = isSameThermostat && isLatest && isAbout(command, valueAt(attribute));
  const isGone = !isSameThermostat && (await isThingGone(tx, command));
  return { isSameThermostat, isGone, isLatest, isWritable, fanKey, fan: valueAt(fanKey) };
}

async function isThingGone(tx: CommitTables, { userId, deviceId, thermostatId }: FanRequestRow): Promise<boolean> {
  const key = thermostatKey(thermostatId);
  return (await tx.things.marks(userId, deviceId)).some((thing) => thing.key === key && thing.goneMs !== null);
}
