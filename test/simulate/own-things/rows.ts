import type { AccessScope } from "../../../src/model/access-scope.ts";
import type { DeviceId, TenantId } from "../../../src/model/ids.ts";
import type { AttributeRow } from "../../../src/store/tables/attributes.ts";
import type { DeviceTypeMapRow } from "../../../src/store/tables/device-type-maps.ts";
import type { DeviceTypeWorkRow } from "../../../src/store/tables/device-type-work.ts";
import type { DeviceRow } from "../../../src/store/tables/devices.ts";
import type { MappedDeviceRow } from "../../../src/store/tables/mapped-devices.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "../store/memory-tables.ts";
import { exclusive } from "../store/row-locks.ts";
import type { Draft, Rows } from "../store/rows.ts";

/** All simulated users are of one tenant. */
export const tenantId = 1 as TenantId;

/** The device types of the company; type 1 has no trait map. */
export const ownTypes: Readonly<Record<string, number>> = { Light: 2, Valve: 3 };

const mapTable = "deviceTypeMaps";
const workTable = "deviceTypeWork";

export function mapOfType(rows: Rows, typeId: number): DeviceTypeMapRow | undefined {
  return rows.get<DeviceTypeMapRow>(mapTable, typeId);
}

/** The work that is left on the device types. */
export function typeWorkIn(rows: Rows): DeviceTypeWorkRow[] {
  return [...rows.all<DeviceTypeWorkRow>(workTable).values()];
}

/** The trait maps in memory. */
export function deviceTypeMapRows(session: Session): SimulatedTables["deviceTypeMaps"] {
  const all = (rows: Rows) => [...rows.all<DeviceTypeMapRow>(mapTable).values()].sort((a, b) => a.typeId - b.typeId);
  return standIn<SimulatedTables["deviceTypeMaps"]>("deviceTypeMaps", {
    find: (_, typeId) => session.run(`map of type ${typeId}`, (rows) => mapOfType(rows, typeId)),
    byName: (_, name) => session.run(`map of ${name}`, (rows) => all(rows).find(({ typeName }) => typeName === name)),
    ofTenant: () => session.run("maps", all),
    lock: () =>
      session.run(
        "lock maps",
        (rows) => all(rows).length,
        () => [exclusive("tenants", tenantId)],
      ),
    put: (_, typeName, map) =>
      session.run(`set the map of ${typeName}`, (rows) => {
        const typeId = ownTypes[typeName]!;
        const before = mapOfType(rows, typeId);
        const changedMs = Math.max(session.nowMs(), (before?.changedMs ?? 0) + 1);
        rows.set(mapTable, typeId, { tenantId, typeId, typeName, map, changedMs } satisfies DeviceTypeMapRow);
      }),
    remove: (_, typeName) =>
      session.run(`remove the map of ${typeName}`, (rows) => {
        const isThere = mapOfType(rows, ownTypes[typeName]!) !== undefined;
        if (isThere) rows.set(mapTable, ownTypes[typeName]!, undefined);
        return isThere;
      }),
  });
}

/** The devices whose types have a map, in memory. */
export function mappedDeviceRows(session: Session): SimulatedTables["mappedDevices"] {
  const all = (rows: Rows): MappedDeviceRow[] =>
    [...rows.all<DeviceRow>("devices").values()]
      .flatMap((device) => {
        const map = device.isVirtual ? undefined : mapOfType(rows, device.typeId);
        return map ? [{ ...device, tenantId, mapChangedMs: map.changedMs }] : [];
      })
      .sort((a, b) => a.id - b.id);
  return standIn<SimulatedTables["mappedDevices"]>("mappedDevices", {
    within: (scope, id) =>
      session.run(`own thing ${id}`, (rows) => all(rows).find((one) => one.id === id && isWithin(scope, one))),
    some: (userId, ids) =>
      session.run(`own things ${ids}`, (rows) =>
        all(rows).filter((one) => one.userId === userId && ids.includes(one.id)),
      ),
    page: (scope, { afterId, typeIds }, limit) =>
      session.run("a page of own things", (rows) =>
        all(rows)
          .filter((one) => one.id > afterId && typeIds.includes(one.typeId) && isWithin(scope, one))
          .slice(0, limit),
      ),
    attributes: (devices, names) =>
      session.run(`attributes of own things ${devices.map(({ id }) => id)}`, (rows) =>
        devices.flatMap(({ id: deviceId }) =>
          names.flatMap((name) => {
            const row = rows.get<AttributeRow>(`attributes/${deviceId}`, name);
            return row ? [{ deviceId, name, value: row.value, timeMs: row.timeMs }] : [];
          }),
        ),
      ),
  });
}

/** The work on all devices of a type, in memory. */
export function deviceTypeWorkRows(session: Session): SimulatedTables["deviceTypeWork"] {
  const find = (rows: Draft, typeId: number) => rows.get<DeviceTypeWorkRow>(workTable, typeId);
  const devicesOf = (rows: Draft, { typeId, afterId }: DeviceTypeWorkRow) =>
    [...rows.all<DeviceRow>("devices").values()]
      .filter((device) => device.typeId === typeId && device.id > afterId && !device.isVirtual)
      .sort((a, b) => a.id - b.id);
  /** The statement has an effect if the row is as the caller knows it. */
  const unlessChanged = (what: string, { typeId, dueMs }: DeviceTypeWorkRow, act: (rows: Draft) => void) =>
    session.run(
      `${what} of type ${typeId}`,
      (rows) => {
        const isSame = find(rows, typeId)?.dueMs === dueMs;
        if (isSame) act(rows);
        return isSame;
      },
      () => [exclusive(workTable, typeId)],
    );
  return standIn<SimulatedTables["deviceTypeWork"]>("deviceTypeWork", {
    begin: (_, typeId, what) =>
      session.run(
        `work on type ${typeId}`,
        (rows) => {
          const before = find(rows, typeId);
          const nowMs = session.nowMs();
          const isStillAdded = before?.what === "added" && what === "changed";
          const row: DeviceTypeWorkRow = {
            tenantId,
            typeId,
            what: isStillAdded ? "added" : what,
            begunMs: nowMs,
            afterId: 0,
            dueMs: nowMs,
          };
          rows.set(workTable, typeId, row);
        },
        () => [exclusive(workTable, typeId)],
      ),
    // The maps of the simulation are all set by this version.
    beginMissing: async () => undefined,
    due: (nowMs, limit, aheadMs = Number.MAX_SAFE_INTEGER) =>
      session.run("due work on types", (rows) =>
        [...rows.all<DeviceTypeWorkRow>(workTable).values()]
          .filter(({ dueMs }) => dueMs <= nowMs || dueMs > aheadMs)
          .sort((a, b) => a.dueMs - b.dueMs)
          .slice(0, limit),
      ),
    advance: (row, next) =>
      unlessChanged("advance the work", row, (rows) => {
        const { what, afterId, dueMs } = next;
        rows.set(workTable, row.typeId, { ...find(rows, row.typeId)!, what, afterId, dueMs });
      }),
    end: (row) => unlessChanged("end the work", row, (rows) => rows.set(workTable, row.typeId, undefined)),
    devices: (row, limit) =>
      session.run(`next devices of type ${row.typeId}`, (rows) => devicesOf(rows, row).slice(0, limit)),
    silent: (row, beforeMs, examined) =>
      session.run(`silent devices of type ${row.typeId}`, (rows) => {
        const next = devicesOf(rows, row).slice(0, examined);
        const devices = next.filter(({ lastTimeMs, silentMs = null }) => {
          return lastTimeMs > 0 && lastTimeMs < beforeMs && silentMs !== lastTimeMs;
        });
        return { devices, lastId: next.at(-1)?.id as DeviceId | undefined };
      }),
  });
}

function isWithin(scope: AccessScope, { userId }: MappedDeviceRow): boolean {
  return scope.kind === "user" ? scope.userId === userId : scope.tenantId === tenantId;
}
