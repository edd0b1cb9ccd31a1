import type { LinkRow } from "../../src/store/tables/links.ts";
import type { ThingCommandRow } from "../../src/store/tables/thing-commands.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import type { Draft, Rows } from "./rows.ts";
import { standIn } from "./stand-in.ts";

const table = (deviceId: number) => `thingCommands/${deviceId}`;

/** The commands to things of a device, the oldest first. */
export function thingCommandsOf(rows: Rows, deviceId: number): ThingCommandRow[] {
  const own = rows.all<ThingCommandRow>(table(deviceId));
  return own.size === 0 ? [] : [...own.values()].sort((a, b) => a.id - b.id);
}

/** The table of commands to things in memory. */
export function thingCommandRows(session: Session): SimulatedTables["thingCommands"] {
  const lock = (id: number) => [{ key: `thingCommands/${id}`, mode: "exclusive" as const }];
  const everyones = (rows: Draft) =>
    [...rows.all("devices").keys()].flatMap((id) => thingCommandsOf(rows, id as number)).sort((a, b) => a.id - b.id);
  const isRunning = ({ state }: ThingCommandRow) => state === "queued" || state === "sending";
  const isOpen = (row: ThingCommandRow) => isRunning(row) || (row.state === "accepted" && row.settledMs === null);
  const select = (what: string, deviceId: number, isMeant: (row: ThingCommandRow) => boolean) =>
    session.run(what, (rows) => thingCommandsOf(rows, deviceId).filter(isMeant));
  return standIn<SimulatedTables["thingCommands"]>("thingCommands", {
    add: (command) =>
      session.run(`add command to ${command.thingId}`, (rows) => {
        const id = session.nextId();
        rows.set(table(command.deviceId), id, { ...command, id, step: 0, sentMs: null, blockedUntilMs: null });
        session.hint("commands");
        return id;
      }),
    find: (_, deviceId, id) =>
      session.run(`thing command ${id}`, (rows) => rows.get<ThingCommandRow>(table(deviceId), id)),
    change: (command, from, change) =>
      session.run(
        `thing command ${command.id} becomes ${change.state}`,
        (rows) => {
          const row = rows.get<ThingCommandRow>(table(command.deviceId), command.id);
          if (!row || !from.includes(row.state)) return false;
          rows.set(table(command.deviceId), command.id, { ...command, ...change });
          return true;
        },
        () => lock(command.id),
      ),
    open: (_, deviceId, thingId) =>
      select("open thing commands", deviceId, (row) => row.thingId === thingId && isOpen(row)),
    running: (_, deviceId, key) =>
      select("running thing commands", deviceId, (row) => row.key === key && isRunning(row)),
    awaitingEcho: (_, deviceId, sentAfterMs) =>
      select("thing commands that await an echo", deviceId, (row) => {
        const isAwaited =
          row.state === "expired" || row.state === "sending" || (row.state === "accepted" && isOpen(row));
        return isAwaited && row.sentMs !== null && row.sentMs > sentAfterMs;
      }),
    blockedUntil: (_, deviceId, key) =>
      session.run("blocked until?", (rows) => {
        const times = thingCommandsOf(rows, deviceId).flatMap((row) =>
          row.key === key && row.blockedUntilMs !== null ? [row.blockedUntilMs] : [],
        );
        return times.length === 0 ? null : Math.max(...times);
      }),
    queuedFor: (owner, limit) =>
      session.run("queued thing commands", (rows) => {
        const running = everyones(rows).filter(
          (row) => isRunning(row) && rows.get<LinkRow>("links", row.deviceId)?.owner === owner,
        );
        const heads = running.filter(
          (row) => row.state === "queued" && running.find(({ thingId }) => thingId === row.thingId) === row,
        );
        return heads.slice(0, limit);
      }),
    overdue: (queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit) =>
      session.run("overdue thing commands", (rows) =>
        everyones(rows)
          .filter(({ state, requestedMs, sentMs, settledMs }) => {
            if (state === "queued") return requestedMs <= queuedBeforeMs;
            if (state === "sending") return requestedMs <= sendingBeforeMs;
            return state === "accepted" && settledMs === null && sentMs! <= sentBeforeMs;
          })
          .slice(0, limit),
      ),
    // Simulated time is too short for a receipt to be removed.
    trim: async () => undefined,
    removeOfDevice: (_, deviceId) =>
      session.run(
        `remove thing commands of ${deviceId}`,
        (rows) => {
          const own = thingCommandsOf(rows, deviceId);
          for (const { id } of own) rows.set(table(deviceId), id, undefined);
          return own.length;
        },
        (rows) => thingCommandsOf(rows, deviceId).flatMap(({ id }) => lock(id)),
      ),
  });
}
