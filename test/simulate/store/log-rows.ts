import type { DeviceId, TenantId } from "../../../src/model/ids.ts";
import type { LogEntry, TailedEntry } from "../../../src/store/tables/log.ts";
import { comparePositions, type LogPosition, logStart } from "../../../src/store/tables/log-position.ts";
import { standIn } from "../stand-in.ts";
import { lockFeed, removeDeliveries } from "./delivery-rows.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import { exclusive } from "./row-locks.ts";
import { type Draft, type PositionedEntry, type Rows, removeAll } from "./rows.ts";

const table = (deviceId: DeviceId | null) => `log/${deviceId}`;
const horizon = "log horizon";

/** The position up to which retention removed entries. */
export function horizonOf(rows: Rows): LogPosition {
  return rows.get<LogPosition>(horizon, 1) ?? logStart;
}

/** The log in memory. On a shared store an entry becomes visible only after all earlier transactions have ended. */
export function logRows(session: Session): SimulatedTables["log"] {
  const visible = (rows: Draft, after: LogPosition) => {
    const before = session.seenBefore();
    return rows.loggedAfter(after).filter((one) => one.position.transaction < before && isThere(rows, one));
  };
  const isThere = (rows: Draft, { deviceId, position }: PositionedEntry) => rows.get(table(deviceId), position.id);
  const ordered = (entries: PositionedEntry[]) => entries.sort((a, b) => comparePositions(a.position, b.position));
  /** A durable entry, never a transaction id: ids are assigned again after a crash. */
  const endOf = (rows: Draft) => ordered(visible(rows, horizonOf(rows))).at(-1)?.position ?? horizonOf(rows);
  const append = (rows: Draft, entry: LogEntry) => {
    const position = session.nextPosition();
    rows.log.push({ ...entry, position });
    rows.set(table(entry.deviceId), position.id, entry);
    session.hint("log");
  };
  return standIn<SimulatedTables["log"]>("log", {
    append: (entry) => session.run(`log ${entry.kind}`, (rows) => append(rows, entry)),
    appendAll: (entries) =>
      session.run(`log ${entries.length} entries`, (rows) => {
        for (const entry of entries) append(rows, entry);
      }),
    tail: (after, limit) =>
      session.run("tail of the log", (rows) => {
        return ordered(visible(rows, after))
          .slice(0, limit)
          .map((entry): TailedEntry => ({ ...entry, tenantId: 1 as TenantId }));
      }),
    tailUsers: (after, limit) =>
      session.run("users of the tail of the log", (rows) =>
        ordered(visible(rows, after))
          .slice(0, limit)
          .map(({ position, userId }) => ({ position, userId, tenantId: 1 as TenantId })),
      ),
    end: () => session.run("end of the log", (rows) => endOf(rows)),
    horizon: () => session.run("horizon of the log", (rows) => horizonOf(rows)),
    removeOlder: (beforeMs, limit) =>
      session.run(
        "shorten the log",
        (rows) => {
          const all = ordered(visible(rows, logStart));
          const last = all.slice(0, limit).findLast(({ timeMs }) => timeMs < beforeMs);
          if (!last) return 0;
          const old = all.filter(({ position }) => comparePositions(position, last.position) <= 0);
          for (const { deviceId, position } of old) rows.set(table(deviceId), position.id, undefined);
          if (comparePositions(horizonOf(rows), last.position) < 0) rows.set(horizon, 1, last.position);
          return old.length;
        },
        () => [exclusive(horizon, 1)],
      ),
    async removeOfDevice(_, id) {
      await lockFeed(session);
      await removeDeliveries(session, `of device ${id}`, ({ deviceId }) => deviceId === id);
      return session.run(`remove log of ${id}`, (rows) => removeAll(rows, table(id)));
    },
  });
}
