import type { AccountDocument, DeviceKind, Structure, Where } from "./account-document.ts";
import { putDevice, removeFromListing, setIdList, updateAlarmStates } from "./edits.ts";
import { entryOf } from "./element.ts";
import { type Home, type RemovedDevice, takeId } from "./home.ts";
import { newAlarm, newThermostat } from "./new-device.ts";
import { placeIn, usualRooms, wheresOf } from "./places.ts";
import { integerBetween, pick, type Random } from "./random.ts";

const rememberedDevices = 100;

/** Adds a device to a usual room, if possible to one that has no device of this kind. */
export function addDevice(
  home: Home,
  kind: DeviceKind,
  structure: Structure,
  random: Random,
  connectedMs: number,
): [deviceId: string, home: Home] {
  const [deviceId, next] = takeId(home, 32);
  const where = chooseRoom(home.document, kind, structure, random);
  const label = unusedLabel(home, where.name, random);
  const place = placeIn(structure.country_code);
  const identity = { deviceId, structureId: structure.structure_id, where, label, place, connectedMs };
  const device = kind === "thermostats" ? newThermostat(identity, random) : newAlarm(identity, random);
  return [deviceId, { ...next, document: attach(home.document, { kind, device }) }];
}

/** Removes a device from the account and stores it, so that it can return unchanged. */
export function removeDevice(home: Home, kind: DeviceKind, deviceId: string): Home {
  const device = entryOf<RemovedDevice["device"]>(home.document.devices?.[kind], deviceId);
  if (device === undefined) return home;
  const removedDevices = [...home.removedDevices, { kind, device }].slice(-rememberedDevices);
  return { ...home, removedDevices, document: detach(home.document, kind, deviceId, device.structure_id) };
}

/** Moves a device to a room of the same name in another structure. */
export function moveDevice(
  document: AccountDocument,
  { kind, device }: RemovedDevice,
  structure: Structure,
): AccountDocument {
  const rooms = roomsOf(structure);
  const where = rooms.find((room) => room.name === device.where_name) ?? rooms[0]!;
  const moved = {
    ...device,
    structure_id: structure.structure_id,
    where_id: where.where_id,
    where_name: where.name,
  };
  return attach(detach(document, kind, device.device_id, device.structure_id), { kind, device: moved });
}

/** Adds a device to `devices` and to its structure's list. */
export function attach(document: AccountDocument, { kind, device }: RemovedDevice): AccountDocument {
  const listed = entryOf(document.structures, device.structure_id)?.[kind] ?? [];
  const withDevice = putDevice(document, kind, device.device_id, device);
  const withList = setIdList(withDevice, device.structure_id, kind, [...new Set([...listed, device.device_id])]);
  return kind === "smoke_co_alarms" ? updateAlarmStates(withList, device.structure_id) : withList;
}

function detach(document: AccountDocument, kind: DeviceKind, deviceId: string, structureId: string): AccountDocument {
  const listed = entryOf(document.structures, structureId)?.[kind] ?? [];
  const rest = listed.filter((id) => id !== deviceId);
  const withoutDevice = removeFromListing(setIdList(document, structureId, kind, rest), kind, deviceId);
  return kind === "smoke_co_alarms" ? updateAlarmStates(withoutDevice, structureId) : withoutDevice;
}

function chooseRoom(document: AccountDocument, kind: DeviceKind, structure: Structure, random: Random): Where {
  const rooms = roomsOf(structure);
  const usual = rooms.filter((room) => usualRooms[kind].includes(room.name));
  const taken = new Set(
    (structure[kind] ?? []).map((id) => entryOf<RemovedDevice["device"]>(document.devices?.[kind], id)?.where_name),
  );
  const free = usual.filter((room) => !taken.has(room.name));
  return pick(random, free) ?? pick(random, usual) ?? rooms[0]!;
}

/** A replaced document may have no rooms; then the default ones are used. */
function roomsOf(structure: Structure): readonly Where[] {
  const rooms = Object.values(structure.wheres ?? {}).filter((room) => typeof room?.name === "string");
  return rooms.length > 0 ? rooms : Object.values(wheresOf(structure.structure_id));
}

/** A label that makes the device's name unique, also among removed devices, which may return. */
export function unusedLabel(home: Home, room: string, random: Random): string {
  const present = Object.values({ ...home.document.devices?.thermostats, ...home.document.devices?.smoke_co_alarms });
  const removed = [...home.removedDevices, ...home.removedStructures.flatMap((structure) => structure.devices)];
  const names = new Set([...present, ...removed.map(({ device }) => device)].map((device) => device.name));
  for (;;) {
    const label = integerBetween(random, 0, 0xffff).toString(16).toUpperCase().padStart(4, "0");
    if (!names.has(`${room} (${label})`)) return label;
  }
}
