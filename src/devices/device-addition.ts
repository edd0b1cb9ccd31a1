import type { Cause } from "../model/cause.ts";
import type { TenantId, UserId } from "../model/ids.ts";
import type { Growth } from "../store/tables/devices.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { AttributeChange, CommitTables, DeviceCommit } from "./device-commit.ts";
import { attributeEntry, deviceEntry, thingEntry } from "./log-entries.ts";
import type { OwnDeviceThings } from "./own-device-things.ts";
import type { DeviceState } from "./states.ts";

/** A device to be added that is within all limits. */
export interface AddedDevice {
  readonly userId: UserId;
  readonly typeId: number;
  readonly typeName: string;
  readonly name: string;
  readonly room?: string | null;
  /** The first values of its attributes; their names are distinct. */
  readonly changes?: readonly AttributeChange[];
  /** What these values take. */
  readonly growth: Growth;
}

/** What was added: the devices with their values, and the commits of those that have values. */
export interface Addition {
  readonly states: readonly DeviceState[];
  readonly commits: readonly DeviceCommit[];
}

const cause: Cause = { by: "administrator" };

/**
 * Adds own devices of a tenant with their first values, in a transaction that has locked their users. The number of
 * statements does not depend on the number of devices, because on SQLite all other writers wait. It needs neither gates
 * nor reactions: no link, alert or command can refer to a device before it exists.
 */
export async function addDevices(
  tx: CommitTables,
  tenantId: TenantId,
  devices: readonly AddedDevice[],
  nowMs: number,
  ownThings?: OwnDeviceThings,
): Promise<Addition> {
  const rows = devices.map(({ userId, typeId, name, room = null, changes = [], growth }) => {
    return { userId, typeId, name, room, lastTimeMs: changes.length > 0 ? nowMs : 0, growth };
  });
  const ids = await tx.devices.addOwn(tenantId, rows);
  const added = devices.map(({ changes = [], userId, typeId, typeName, name }, index) => {
    return { id: ids[index]!, userId, typeId, typeName, name, changes };
  });
  const things = await ownThings?.ofNewDevices(tx, tenantId, added, nowMs);
  const entries: LogEntry[] = [];
  const commits: DeviceCommit[] = [];
  for (const [index, { id: deviceId, userId, changes }] of added.entries()) {
    const { thingId, first } = things?.[index] ?? {};
    entries.push(deviceEntry(userId, deviceId, nowMs, "added"));
    if (thingId !== undefined) {
      entries.push(thingEntry(userId, deviceId, nowMs, [{ thingId, what: "added", fields: [] }], cause));
    }
    if (changes.length === 0) continue;
    const thingChanges = first ? [first] : [];
    entries.push(attributeEntry(userId, deviceId, nowMs, cause, changes, thingChanges));
    commits.push({
      ...{ userId, deviceId, cause, hop: 0, timeMs: nowMs, previousTimeMs: 0, things: thingChanges },
      changes: changes.map((change) => ({ ...change, before: null })),
      ...{ isWatched: false, areThingsWatched: false, isMapped: thingId !== undefined },
    });
  }
  for (const [index, { id, userId }] of added.entries()) {
    if (things?.[index]?.sounds) await tx.mappedDevices.setSounding(userId, id, true);
  }
  await tx.attributes.writeFirst(commits.map((commit) => ({ ...commit, values: commit.changes })));
  await tx.log.appendAll(entries);
  const states = added.map(({ changes, ...device }, index) => {
    const { room, lastTimeMs } = rows[index]!;
    const attributes = new Map(changes.map(({ key, value }) => [key, { value, timeMs: lastTimeMs }]));
    return { device: { ...device, room, isVirtual: false, lastTimeMs }, attributes };
  });
  return { states, commits };
}
