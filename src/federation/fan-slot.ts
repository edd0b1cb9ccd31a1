import type { CommitTables } from "../devices/commit.ts";
import { type AttributeNumber, placeOf, thermostatAttribute } from "../model/attribute-names.ts";
import { isAbout } from "../model/fan-request.ts";
import type { CommandRow } from "../store/tables/commands.ts";

/** The slot for which a fan request was written, as it is now. */
export interface FanSlot {
  /** Its thermostat is still the one that was meant. */
  readonly isSameThermostat: boolean;
  /** No later request was let through. */
  readonly isLatest: boolean;
  /** What is to be said of the request may be written there. */
  readonly isWritable: boolean;
  /** What the fan is shown to do. */
  readonly fan: string | null;
}

export async function slotOf(tx: CommitTables, command: CommandRow): Promise<FanSlot> {
  const { userId, deviceId, attribute } = command;
  const { x, y } = placeOf(attribute) as { readonly x: number; readonly y: number };
  const thermostat = thermostatAttribute(x, y, "deviceId");
  const fan = thermostatAttribute(x, y, "fanTimerActive");
  const rows = await tx.attributes.some(userId, deviceId, [thermostat, fan, attribute]);
  const shown = (key: AttributeNumber) => rows.find((row) => row.key === key)?.value ?? null;
  const isSameThermostat = shown(thermostat) === command.thermostatId;
  const isLatest = (await tx.commands.latest(userId, deviceId, attribute))?.id === command.id;
  const isWritable = isSameThermostat && isLatest && isAbout(command, shown(attribute));
  return { isSameThermostat, isLatest, isWritable, fan: shown(fan) };
}
