import { NotFound } from "../model/errors.ts";
import type { DeviceId, UserId } from "../model/ids.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { LockedUsers } from "../store/tables/users.ts";
import type { AdditionLimits } from "./addition-limits.ts";
import type { ApplyInGroup, CommitTables } from "./commit.ts";
import { deviceEntry } from "./log-entries.ts";
import type { NewDevice } from "./new-device.ts";
import type { NewOwnThings } from "./own-things.ts";
import type { DeviceState } from "./states.ts";

/**
 * Adds a device within a transaction that has locked its user. All refusals come before the first write, so that a
 * refused device leaves nothing behind.
 */
export async function addIn(
  tx: CommitTables,
  apply: ApplyInGroup,
  device: NewDevice,
  users: LockedUsers,
  limits: AdditionLimits,
  things?: NewOwnThings,
): Promise<DeviceState> {
  const { userId, name, typeName, room = null, changes = [] } = device;
  if (!users.ids.has(userId)) throw new NotFound("User does not exist.");
  const typeId = await limits.admit(device);
  const id = await tx.devices.add({ userId, typeName, typeId, name, room, isVirtual: false });
  await tx.log.append(deviceEntry(userId, id, users.nowMs, "added"));
  await things?.added(tx, { id, userId, typeId }, users.nowMs);
  const row = { id, userId, typeId, typeName, name, room, isVirtual: false };
  if (changes.length === 0) return { device: { ...row, lastTimeMs: 0 }, attributes: new Map() };
  const lastTimeMs = await writeFirstValues(apply, userId, id, changes);
  const attributes = new Map(changes.map(({ key, value }) => [key, { value, timeMs: lastTimeMs }]));
  return { device: { ...row, lastTimeMs } satisfies DeviceRow, attributes };
}

async function writeFirstValues(
  apply: ApplyInGroup,
  userId: UserId,
  deviceId: DeviceId,
  changes: NonNullable<NewDevice["changes"]>,
): Promise<number> {
  const updates = [{ deviceId, changes, isNew: true as const }];
  const commits = await apply({ userId, cause: { by: "administrator" }, updates });
  return commits[0]?.timeMs ?? 0;
}
