import type { FanRequestRow } from "../../../src/store/tables/fan-requests.ts";
import type { LinkRow } from "../../../src/store/tables/links.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import type { Draft, Rows } from "./rows.ts";

const table = (deviceId: number) => `commands/${deviceId}`;

/** The fan requests of a device, the oldest first. */
export function commandsOf(rows: Rows, deviceId: number): FanRequestRow[] {
  const own = rows.all<FanRequestRow>(table(deviceId));
  return own.size === 0 ? [] : [...own.values()].sort((a, b) => a.id - b.id);
}

/** The table of fan requests in memory. */
export function fanRequestRows(session: Session): SimulatedTables["fanRequests"] {
  const lock = (id: number) => [{ key: `commands/${id}`, mode: "exclusive" as const }];
  const everyones = (rows: Draft) =>
    [...rows.all("devices").keys()].flatMap((id) => commandsOf(rows, id as number)).sort((a, b) => a.id - b.id);
  const isRefusedAtTheDoor = ({ state, sentMs }: FanRequestRow) => state === "rejected" && sentMs === null;
  return standIn<SimulatedTables["fanRequests"]>("fanRequests", {
    add: (command) =>
      session.run(`add command of ${command.deviceId}`, (rows) => {
        const id = session.nextId();
        rows.set(table(command.deviceId), id, { ...command, id, sentMs: null, blockedUntilMs: null });
        session.hint("commands");
        return id;
      }),
    find: (_, deviceId, id) => session.run(`command ${id}`, (rows) => rows.get<FanRequestRow>(table(deviceId), id)),
    latest: (_, deviceId, attribute) =>
      session.run(`latest command of ${deviceId}`, (rows) =>
        commandsOf(rows, deviceId).findLast((row) => row.attribute === attribute && !isRefusedAtTheDoor(row)),
      ),
    acceptedBefore: ({ deviceId, attribute, id }) =>
      session.run(`accepted commands of ${deviceId}`, (rows) =>
        commandsOf(rows, deviceId).filter(
          (row) => row.attribute === attribute && row.id < id && row.state === "accepted" && row.settledMs === null,
        ),
      ),
    change: (command, from, change) =>
      session.run(
        `command ${command.id} becomes ${change.state}`,
        (rows) => {
          const row = rows.get<FanRequestRow>(table(command.deviceId), command.id);
          if (!row || !from.includes(row.state)) return false;
          rows.set(table(command.deviceId), command.id, { ...command, ...change });
          return true;
        },
        () => lock(command.id),
      ),
    running: (_, deviceId, thermostatId) =>
      session.run("running commands", (rows) =>
        commandsOf(rows, deviceId).filter(
          ({ thermostatId: id, state }) => id === thermostatId && (state === "queued" || state === "sending"),
        ),
      ),
    blockedUntil: (_, deviceId, thermostatId, atMostMs = Number.MAX_SAFE_INTEGER) =>
      session.run(`blocked until?`, (rows) => {
        const times = commandsOf(rows, deviceId)
          .flatMap((row) =>
            row.thermostatId === thermostatId && row.blockedUntilMs !== null ? [row.blockedUntilMs] : [],
          )
          .filter((untilMs) => untilMs <= atMostMs);
        return times.length === 0 ? null : Math.max(...times);
      }),
    queuedFor: (owner, limit) =>
      session.run("queued commands", (rows) =>
        everyones(rows)
          .filter(({ state, deviceId }) => state === "queued" && rows.get<LinkRow>("links", deviceId)?.owner === owner)
          .slice(0, limit),
      ),
    overdue: (queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit, requestedAfterMs = Number.MAX_SAFE_INTEGER) =>
      session.run("overdue commands", (rows) =>
        everyones(rows)
          .filter(({ state, requestedMs, sentMs, settledMs }) => {
            const isAhead = requestedMs > requestedAfterMs;
            if (state === "queued") return requestedMs <= queuedBeforeMs || isAhead;
            if (state === "sending") return requestedMs <= sendingBeforeMs || isAhead;
            return state === "accepted" && settledMs === null && sentMs! <= sentBeforeMs;
          })
          .slice(0, limit),
      ),
    trim: (_, deviceId, keep, nowMs) =>
      session.run(`trim commands of ${deviceId}`, (rows) => {
        for (const row of commandsOf(rows, deviceId).slice(0, -keep)) {
          const isAwaited = row.state === "accepted" && row.settledMs === null;
          const isUnderWay = row.state === "queued" || row.state === "sending" || isAwaited;
          const isBlocking = row.blockedUntilMs !== null && row.blockedUntilMs > nowMs;
          if (!isUnderWay && !isBlocking) rows.set(table(deviceId), row.id, undefined);
        }
      }),
    removeOfDevice: (_, deviceId) =>
      session.run(
        `remove commands of ${deviceId}`,
        (rows) => {
          const own = commandsOf(rows, deviceId);
          for (const { id } of own) rows.set(table(deviceId), id, undefined);
          return own.length;
        },
        (rows) => commandsOf(rows, deviceId).flatMap(({ id }) => lock(id)),
      ),
  });
}
