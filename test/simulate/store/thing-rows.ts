import type { DeviceRow } from "../../../src/store/tables/devices.ts";
import type { ThingRow } from "../../../src/store/tables/things.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import type { Rows } from "./rows.ts";

const table = (deviceId: number) => `things/${deviceId}`;

/** The things of a link. */
export function thingsOf(rows: Rows, deviceId: number): ThingRow[] {
  return [...rows.all<ThingRow>(table(deviceId)).values()];
}

function thingsOfUser(rows: Rows, userId: number): ThingRow[] {
  return devicesOf(rows, userId).flatMap(({ id }) => thingsOf(rows, id));
}

function devicesOf(rows: Rows, userId: number): DeviceRow[] {
  return [...rows.all<DeviceRow>("devices").values()].filter((device) => device.userId === userId);
}

/** The table of things in memory. */
export function thingRows(session: Session): SimulatedTables["things"] {
  return standIn<SimulatedTables["things"]>("things", {
    marks: (_, deviceId) => session.run(`things of ${deviceId}`, (rows) => thingsOf(rows, deviceId)),
    some: (userId, thingIds) =>
      session.run(`${thingIds.length} things`, (rows) => {
        const wanted = new Set(thingIds);
        return thingsOfUser(rows, userId).filter(({ thingId }) => wanted.has(thingId));
      }),
    within: (accessScope, thingId) =>
      session.run(`thing ${thingId}`, (rows) => {
        if (accessScope.kind !== "user") throw new Error("the simulation has no enterprise clients");
        return thingsOfUser(rows, accessScope.userId).find((row) => row.thingId === thingId);
      }),
    ofDevices: (devices, { afterDevice, afterThing }, limit) =>
      session.run(`things of ${devices.map(({ id }) => id)}`, (rows) =>
        devices
          .flatMap(({ id }) => thingsOf(rows, id))
          .filter(({ deviceId, thingId, goneMs }) => {
            const isLater = deviceId > afterDevice || (deviceId === afterDevice && thingId > afterThing);
            return isLater && goneMs === null;
          })
          .sort((a, b) => a.deviceId - b.deviceId || (a.thingId < b.thingId ? -1 : 1))
          .slice(0, limit),
      ),
    ofKind: (userId, kind, room, limit) =>
      session.run(`things of kind ${kind}`, (rows) =>
        thingsOfUser(rows, userId)
          .filter((row) => row.kind === kind && row.goneMs === null && (room === undefined || row.room === room))
          .map(({ thingId }) => thingId)
          .slice(0, limit),
      ),
    put: (row) => session.run(`thing ${row.thingId}`, (rows) => rows.set(table(row.deviceId), row.thingId, row)),
    setState: ({ userId, thingId, state, print, samples }) =>
      session.run(`state of thing ${thingId}`, (rows) => {
        for (const { id } of devicesOf(rows, userId)) {
          const row = rows.get<ThingRow>(table(id), thingId);
          if (row) rows.set(table(id), thingId, { ...row, state, print, samples });
        }
      }),
    setGone: (userId, thingIds, goneMs) =>
      session.run(`${thingIds.length} things are gone`, (rows) => {
        for (const { id } of devicesOf(rows, userId)) {
          for (const thingId of thingIds) {
            const row = rows.get<ThingRow>(table(id), thingId);
            if (row) rows.set(table(id), thingId, { ...row, goneMs });
          }
        }
      }),
    // Simulated time is too short for a gone thing to be removed by its age.
    trimGone: (_, deviceId, _beforeMs, keep) =>
      session.run(`trim things of ${deviceId}`, (rows) => {
        const gone = thingsOf(rows, deviceId).filter(({ goneMs }) => goneMs !== null);
        if (gone.length <= keep) return;
        const newest = gone.sort((a, b) => b.goneMs! - a.goneMs! || (a.thingId < b.thingId ? -1 : 1));
        for (const { thingId } of newest.slice(keep)) rows.set(table(deviceId), thingId, undefined);
      }),
    removeOfDevice: (_, deviceId) =>
      session.run(`remove things of ${deviceId}`, (rows) => {
        const own = thingsOf(rows, deviceId);
        for (const { thingId } of own) rows.set(table(deviceId), thingId, undefined);
        return own.filter(({ goneMs }) => goneMs === null).map(({ thingId }) => thingId);
      }),
  });
}
