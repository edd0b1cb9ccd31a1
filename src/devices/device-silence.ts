import type { TenantId } from "../model/ids.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { CommitTables, DeviceCommit } from "./device-commit.ts";
import { thingEntry } from "./log-entries.ts";
import type { OwnDeviceThings } from "./own-device-things.ts";

/**
 * Logs which of these own devices of a tenant have fallen silent, in a transaction that has locked them and their users. The log
 * alone says it: their things are derived, and their times stay, because they wrote nothing. The number of statements
 * does not depend on the number of devices, because on SQLite all other writers wait.
 */
export async function silenceDevices(
  tx: CommitTables,
  tenantId: TenantId,
  devices: readonly DeviceRow[],
  nowMs: number,
  { ownThings, ...origin }: Pick<DeviceCommit, "cause" | "hop"> & { readonly ownThings: OwnDeviceThings | undefined },
): Promise<readonly DeviceCommit[]> {
  const entries: LogEntry[] = [];
  const commits: DeviceCommit[] = [];
  for (const device of devices) {
    const silence = await ownThings?.silenced(tx, device, nowMs);
    if (!silence) continue;
    const { id: deviceId, userId, lastTimeMs, isWatched, areThingsWatched } = device;
    const { change, timeMs } = silence;
    entries.push(thingEntry(userId, deviceId, timeMs, [change]));
    commits.push({
      ...{ ...origin, userId, deviceId, timeMs, previousTimeMs: lastTimeMs, changes: [], things: [change] },
      ...{ isWatched, areThingsWatched, isMapped: true, isSilence: true },
    });
  }
  if (commits.length === 0) return commits;
  const silent = commits.map(({ deviceId }) => deviceId);
  await tx.devices.setSilent(tenantId, silent);
  await tx.log.appendAll(entries);
  return commits;
}
