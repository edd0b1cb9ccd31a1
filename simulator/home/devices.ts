import type { AccountDocument, DeviceKind, Structure, Where } from "./account-document.ts";
import { followAlarms, putDevice, setIdList, takeDevice } from "./edits.ts";
import { entryOf } from "./element.ts";
import { type Home, type RemovedDevice, takeId } from "./home.ts";
import { newAlarm, newThermostat } from "./new-device.ts";
import { placeIn, usualRooms, wheresOf } from "./places.ts";
import { integerBetween, pick, type Random } from "./random.ts";

const rememberedDevices = 100;

/** Hangs a new device in a usual room, one that has no device of this kind yet when there is such a room. */
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
  return [deviceId, { ...next, document: hang(home.document, { kind, device }) }];
}

/** Takes a device out of the account and remembers it, so that it can come back as it was. */
export function removeDevice(home: Home, kind: DeviceKind, deviceId: string): Home {
  const device = entryOf<RemovedDevice["device"]>(home.document.devices?.[kind], deviceId);
  if (device === undefined) return home;
  const removedDevices = [...home.removedDevices, { kind, device }].slice(-rememberedDevices);
  return { ...home, removedDevices, document: unhang(home.document, kind, deviceId, device.structure_id) };
}

/** Hangs a device of this account in a structure, in a room of the same name. */
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
  return hang(unhang(document, kind, device.device_id, device.structure_id), { kind, device: moved });
}

/** Puts a device into `devices` and into its structure's list. */
export function hang(document: AccountDocument, { kind, device }: RemovedDevice): AccountDocument {
  const listed = entryOf(document.structures, device.structure_id)?.[kind] ?? [];
  const withDevice = putDevice(document, kind, device.device_id, device);
  const withList = setIdList(withDevice, device.structure_id, kind, [...new Set([...listed, device.device_id])]);
  return kind === "smoke_co_alarms" ? followAlarms(withList, device.structure_id) : withList;
}

function unhang(document: AccountDocument, kind: DeviceKind, deviceId: string, structureId: string): AccountDocument {
  const listed = entryOf(document.structures, structureId)?.[kind] ?? [];
  const left = listed.filter((id) => id !== deviceId);
  const withoutDevice = takeDevice(setIdList(document, structureId, kind, left), kind, deviceId);
  return kind === "smoke_co_alarms" ? followAlarms(withoutDevice, structureId) : withoutDevice;
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

/** A document that was put in from outside may know no rooms: then the device hangs in one of the ordinary ones. */
function roomsOf(structure: Structure): readonly Where[] {
  const rooms = Object.values(structure.wheres ?? {}).filter((room) => typeof room?.name === "string");
  return rooms.length > 0 ? rooms : Object.values(wheresOf(structure.structure_id));
}

/** Room and label make the device's name; a removed device may come back, so its name stays taken. */
export function unusedLabel(home: Home, room: string, random: Random): string {
  const present = Object.values({ ...home.document.devices?.thermostats, ...home.document.devices?.smoke_co_alarms });
  const removed = [...home.removedDevices, ...home.removedStructures.flatMap((structure) => structure.devices)];
  const names = new Set([...present, ...removed.map(({ device }) => device)].map((device) => device.name));
  for (;;) {
    const label = integerBetween(random, 0, 0xffff).toString(16).toUpperCase().padStart(4, "0");
    if (!names.has(`${room} (${label})`)) return label;
  }
}
