import type { LinkRow } from "../../../src/store/tables/links.ts";
import type { NewThingCommand, ThingCommandRow } from "../../../src/store/tables/thing-commands.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import type { Draft, Rows } from "./rows.ts";

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
  const add = (rows: Draft, command: NewThingCommand) => {
    const id = session.nextId();
    const unsent = { alertId: null, dueMs: null, step: 0, sentMs: null };
    rows.set(table(command.deviceId), id, { ...unsent, ...command, id, blockedUntilMs: null });
    if (command.state === "queued") session.hint("commands");
    return id;
  };
  return standIn<SimulatedTables["thingCommands"]>("thingCommands", {
    add: (command) => session.run(`add command to ${command.thingId}`, (rows) => add(rows, command)),
    addMany: (commands) =>
      session.run(`add ${commands.length} commands`, (rows) => commands.map((command) => add(rows, command))),
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
    openOf: (_, deviceIds) =>
      session.run("open commands to own things", (rows) =>
        deviceIds
          .flatMap((id) => thingCommandsOf(rows, id))
          .filter(isOpen)
          .sort((a, b) => a.id - b.id),
      ),
    due: (nowMs, limit, after = { dueMs: 0, id: 0 }) =>
      session.run("due commands", (rows) =>
        everyones(rows)
          .filter(({ state, dueMs }) => state === "sending" && dueMs !== null && dueMs <= nowMs)
          .sort(byDue)
          .filter((row) => byDue(row, after) > 0)
          .slice(0, limit),
      ),
    ownAhead: (nowMs, limit, afterId) =>
      session.run("own commands ahead of the clock", (rows) =>
        everyones(rows)
          .filter(
            ({ id, state, dueMs, requestedMs }) =>
              state === "sending" && dueMs !== null && requestedMs > nowMs && id > afterId,
          )
          .sort((a, b) => a.id - b.id)
          .slice(0, limit),
      ),
    running: (_, deviceId, key) =>
      select("running thing commands", deviceId, (row) => row.key === key && isRunning(row)),
    awaitingEcho: (_, deviceId, sentAfterMs) =>
      select("thing commands that await an echo", deviceId, (row) => {
        const isAwaited =
          row.state === "expired" || row.state === "sending" || (row.state === "accepted" && isOpen(row));
        return isAwaited && row.sentMs !== null && row.sentMs > sentAfterMs;
      }),
    blockedUntil: (_, deviceId, key, atMostMs = Number.MAX_SAFE_INTEGER) =>
      session.run("blocked until?", (rows) => {
        const times = thingCommandsOf(rows, deviceId)
          .flatMap((row) => (row.key === key && row.blockedUntilMs !== null ? [row.blockedUntilMs] : []))
          .filter((untilMs) => untilMs <= atMostMs);
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
    overdue: (queuedBeforeMs, sendingBeforeMs, sentBeforeMs, limit, requestedAfterMs = Number.MAX_SAFE_INTEGER) =>
      session.run("overdue thing commands", (rows) =>
        everyones(rows)
          .filter(({ state, requestedMs, sentMs, settledMs, dueMs }) => {
            if (dueMs !== null) return false;
            const isAhead = requestedMs > requestedAfterMs;
            if (state === "queued") return requestedMs <= queuedBeforeMs || isAhead;
            if (state === "sending") return requestedMs <= sendingBeforeMs || isAhead;
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

type Due = Pick<ThingCommandRow, "dueMs" | "id">;

function byDue(a: Due, b: Due): number {
  return a.dueMs! - b.dueMs! || a.id - b.id;
}
