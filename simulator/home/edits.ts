import type { AccountDocument, DeviceKind, Listing, SmokeCoAlarm, Structure, Thermostat } from "./account-document.ts";
import { colorOf, worstState } from "./alarm-states.ts";
import { entryOf } from "./element.ts";

/** Changes fields of a structure. An unknown id changes nothing. */
export function changeStructure(document: AccountDocument, id: string, fields: Partial<Structure>): AccountDocument {
  const structure = entryOf(document.structures, id);
  if (structure === undefined) return document;
  return { ...document, structures: { ...document.structures, [id]: { ...structure, ...fields } } };
}

/** Changes fields of a thermostat. An unknown id changes nothing. */
export function changeThermostat(document: AccountDocument, id: string, fields: Partial<Thermostat>): AccountDocument {
  const thermostat = entryOf(document.devices?.thermostats, id);
  if (thermostat === undefined) return document;
  return putDevice(document, "thermostats", id, { ...thermostat, ...fields });
}

/** Changes fields of an alarm, and derives its colour and the alarm states of its structure. */
export function changeAlarm(document: AccountDocument, id: string, fields: Partial<SmokeCoAlarm>): AccountDocument {
  const alarm = entryOf(document.devices?.smoke_co_alarms, id);
  if (alarm === undefined) return document;
  const changed = { ...alarm, ...fields };
  const withAlarm = putDevice(document, "smoke_co_alarms", id, { ...changed, ui_color_state: colorOf(changed) });
  return updateAlarmStates(withAlarm, changed.structure_id);
}

/** Adds or replaces a device in `devices`. The id lists of the structures do not change. */
export function putDevice(
  document: AccountDocument,
  kind: DeviceKind,
  id: string,
  device: Thermostat | SmokeCoAlarm,
): AccountDocument {
  return { ...document, devices: { ...document.devices, [kind]: { ...document.devices?.[kind], [id]: device } } };
}

/** Removes a device from `devices`, and the key of its kind with the last device. */
export function removeFromListing(document: AccountDocument, kind: DeviceKind, id: string): AccountDocument {
  const { [kind]: listing = {}, ...otherKinds } = document.devices ?? {};
  const rest = without(listing as Listing<Thermostat | SmokeCoAlarm>, id);
  return { ...document, devices: Object.keys(rest).length === 0 ? otherKinds : { ...otherKinds, [kind]: rest } };
}

/** Sets a structure's list of ids of one kind; the key of an empty list is left out. */
export function setIdList(
  document: AccountDocument,
  structureId: string,
  kind: DeviceKind,
  ids: readonly string[],
): AccountDocument {
  const structure = entryOf(document.structures, structureId);
  if (structure === undefined) return document;
  const { [kind]: _, ...rest } = structure;
  const changed = ids.length === 0 ? rest : { ...rest, [kind]: ids };
  return { ...document, structures: { ...document.structures, [structureId]: changed as Structure } };
}

/** Sets the structure's alarm states to the worst states of its alarms. */
export function updateAlarmStates(document: AccountDocument, structureId: string): AccountDocument {
  const ids = entryOf(document.structures, structureId)?.smoke_co_alarms ?? [];
  const alarms = ids.map((id) => entryOf(document.devices?.smoke_co_alarms, id)).filter((alarm) => alarm !== undefined);
  return changeStructure(document, structureId, {
    co_alarm_state: worstState(alarms.map((alarm) => alarm.co_alarm_state)),
    smoke_alarm_state: worstState(alarms.map((alarm) => alarm.smoke_alarm_state)),
  });
}

export function without<T>(listing: Listing<T>, id: string): Listing<T> {
  const { [id]: _, ...rest } = listing;
  return rest;
}
