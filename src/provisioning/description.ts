import { deviceEntry } from "../devices/log-entries.ts";
import type { DeviceState } from "../devices/states.ts";
import { Conflict, UnknownDevice } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { OwnThings } from "../own-things/own-things.ts";
import type { Transaction } from "../store/seam.ts";
import { lastHeardMs } from "../store/tables/devices.ts";
import { checkDescription, type DeviceDescription } from "./new-device.ts";

type DescriptionTables = Pick<Transaction, "users" | "devices" | "deviceTypeMaps" | "attributes" | "log">;

const noGrowth = { names: 0, bytes: 0, isErasing: false };

/**
 * Changes name and room of an ordinary device. The device gets a new time, because caches on other nodes compare it. A
 * silent device stays silent. Nothing is written if nothing differs.
 */
export async function describeIn(
  tx: DescriptionTables,
  userId: UserId,
  deviceId: DeviceId,
  description: DeviceDescription,
  ownThings?: OwnThings,
): Promise<DeviceState> {
  const nowMs = await tx.users.lock(userId);
  const [device] = await tx.devices.lock(userId, [deviceId]);
  if (nowMs === undefined || !device) throw new UnknownDevice();
  if (device.isVirtual) {
    throw new Conflict(`Device ${deviceId} belongs to a linked account: its name and rooms come from the ecosystem.`);
  }
  checkDescription(description, device);
  const { name = device.name, room = device.room } = description;
  const attributes = new Map((await tx.attributes.all(userId, deviceId)).map((row) => [row.key, row]));
  if (name === device.name && room === device.room) return { device, attributes };
  const heardMs = lastHeardMs(device);
  const lastTimeMs = Math.max(device.lastTimeMs + 1, nowMs);
  await tx.devices.rename(userId, deviceId, { name, room });
  await tx.devices.setLastTime(userId, deviceId, lastTimeMs, noGrowth);
  await tx.devices.setDescribed(userId, deviceId, heardMs);
  await tx.log.append(deviceEntry(userId, deviceId, lastTimeMs, "changed"));
  await ownThings?.log(tx, device, "changed", lastTimeMs);
  return { device: { ...device, name, room, lastTimeMs, describedMs: lastTimeMs, heardMs }, attributes };
}
