import type { DeviceId, TriggerId } from "../../../src/model/ids.ts";
import type { Evaluation } from "../../../src/model/trigger.ts";
import type { AlertRow, AlertTable, CommandingWindow } from "../../../src/store/tables/alert-rows.ts";
import type { ThingTriggerRow } from "../../../src/store/tables/thing-triggers.ts";
import type { TriggerRow } from "../../../src/store/tables/triggers.ts";
import { standIn } from "../stand-in.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import { exclusive } from "./row-locks.ts";
import { type Draft, type Rows, removeAll } from "./rows.ts";

type Stored<Row> = Row & {
  readonly record: readonly Evaluation[];
  readonly commanding: CommandingWindow | undefined;
};

/** The alerts on attributes, and the alerts on things. */
type TableName = "triggers" | "thing triggers";

/** The alerts of a user on attributes, ascending. */
export function triggersOf(rows: Rows, userId: number): Stored<TriggerRow>[] {
  return alertsOf(rows, "triggers", userId);
}

/** The alerts of a user on things, ascending. */
export function thingTriggersOf(rows: Rows, userId: number): Stored<ThingTriggerRow>[] {
  return alertsOf(rows, "thing triggers", userId);
}

/** Whether an enabled alert of the table counts towards the device. */
export function isWatched(rows: Rows, table: TableName, deviceId: number): boolean {
  return alertsOn<AlertRow>(rows, table, deviceId).some(({ isEnabled }) => isEnabled);
}

/** The table of alerts on attributes in memory. */
export function triggerRows(session: Session): SimulatedTables["triggers"] {
  const ofDevice = (rows: Draft, deviceId: number) => alertsOn<TriggerRow>(rows, "triggers", deviceId);
  return standIn<SimulatedTables["triggers"]>("triggers", {
    ...alertRows<TriggerRow>(session, "triggers"),
    watching: (_, deviceId, keys) =>
      session.run(`alerts on ${deviceId}`, (rows) =>
        ofDevice(rows, deviceId).filter(({ isEnabled, key }) => isEnabled && keys.includes(key)),
      ),
    ofDevice: (_, deviceId) => session.run(`alerts of ${deviceId}`, (rows) => ofDevice(rows, deviceId)),
    setEnabledOfDevice: (_, deviceId, isEnabled) =>
      session.run(
        `alerts of ${deviceId} ${isEnabled ? "on" : "off"}`,
        (rows) => {
          for (const row of ofDevice(rows, deviceId)) {
            const change = { isEnabled, reason: null, ...(isEnabled && { isArmed: true }) };
            rows.set(`triggers/${deviceId}`, row.id, { ...row, ...change });
          }
        },
        (rows) => ofDevice(rows, deviceId).map(({ id }) => exclusive("triggers", id)),
      ),
  });
}

/** The table of alerts on things in memory. */
export function thingTriggerRows(session: Session): SimulatedTables["thingTriggers"] {
  return standIn<SimulatedTables["thingTriggers"]>("thingTriggers", {
    ...alertRows<ThingTriggerRow>(session, "thing triggers"),
    watching: (userId, thingIds, fields) =>
      session.run(`alerts on ${thingIds.length} things`, (rows) =>
        thingTriggersOf(rows, userId).filter(
          ({ isEnabled, thingId, field }) => isEnabled && thingIds.includes(thingId) && fields.includes(field),
        ),
      ),
  });
}

/** What both tables have in common. */
function alertRows<Row extends AlertRow>(
  session: Session,
  table: TableName,
): Omit<AlertTable<Row>, "removeOfUser" | "hasMoreOfUser" | "listed"> {
  const ofUser = (rows: Rows, userId: number) => alertsOf<Row>(rows, table, userId);
  const ofDevice = (rows: Rows, deviceId: number) => alertsOn<Row>(rows, table, deviceId);
  const find = (rows: Rows, userId: number, id: TriggerId) => ofUser(rows, userId).find((row) => row.id === id);
  const put = (rows: Draft, deviceId: DeviceId, id: TriggerId, row: object | undefined) =>
    rows.set(`${table}/${deviceId}`, id, row);
  const update = (what: string, userId: number, id: TriggerId, change: object) =>
    session.run(
      `${what} alert ${id}`,
      (rows) => {
        const row = find(rows, userId, id);
        if (row) put(rows, row.deviceId, id, { ...row, ...change });
      },
      () => [exclusive(table, id)],
    );
  return {
    add: (trigger) =>
      session.run(`add alert on ${trigger.deviceId}`, (rows) => {
        const id = session.nextId() as TriggerId;
        put(rows, trigger.deviceId, id, {
          ...trigger,
          id,
          firedMs: null,
          firings: 0,
          record: [],
          commanding: undefined,
        });
        return id;
      }),
    within: (accessScope, id) =>
      session.run(`alert ${id}`, (rows) =>
        accessScope.kind === "user" ? find(rows, accessScope.userId, id) : undefined,
      ),
    ofUser: (userId) => session.run("alerts of user", (rows) => ofUser(rows, userId)),
    enabledWriting: (userId, text, afterId, limit) =>
      session.run("alerts that write", (rows) =>
        ofUser(rows, userId)
          .filter(({ id, isEnabled, targets }) => isEnabled && id > afterId && JSON.stringify(targets).includes(text))
          .sort((a, b) => a.id - b.id)
          .slice(0, limit),
      ),
    disable: (userId, ids, reason) =>
      session.run(
        `disable ${ids.length} alerts`,
        (rows) => {
          for (const id of ids) {
            const row = find(rows, userId, id);
            if (row) put(rows, row.deviceId, id, { ...row, isEnabled: false, reason });
          }
        },
        () => ids.map((id) => exclusive(table, id)),
      ),
    totals: (userId, deviceId) =>
      session.run("count alerts", (rows) => ({
        ofUser: ofUser(rows, userId).length,
        ofDevice: ofDevice(rows, deviceId).length,
        bytesOfUser: 0,
      })),
    withRecord: (userId, id) =>
      session.run(`alert ${id} with its record`, (rows) => {
        const found = find(rows, userId, id);
        if (!found) return undefined;
        const { record, commanding, ...trigger } = found;
        return { trigger: trigger as unknown as Row, record, commanding };
      }),
    record: (userId, id) => session.run(`record of alert ${id}`, (rows) => find(rows, userId, id)?.record ?? []),
    change: (userId, id, change) => update("change", userId, id, change),
    redefine: ({ firedMs: _, firings: __, createdMs: ___, ...definition }) =>
      update("redefine", definition.userId, definition.id, definition),
    remove: (userId, id) =>
      session.run(
        `remove alert ${id}`,
        (rows) => {
          const row = find(rows, userId, id);
          if (row) put(rows, row.deviceId, id, undefined);
        },
        () => [exclusive(table, id)],
      ),
    removeOfDevice: (_, deviceId) =>
      session.run(
        `remove alerts of ${deviceId}`,
        (rows) => removeAll(rows, `${table}/${deviceId}`),
        (rows) => ofDevice(rows, deviceId).map(({ id }) => exclusive(table, id)),
      ),
  };
}

function alertsOf<Row extends AlertRow>(rows: Rows, table: TableName, userId: number): Stored<Row>[] {
  return [...rows.all<{ userId: number }>("devices")]
    .flatMap(([id, device]) => (device.userId === userId ? alertsOn<Row>(rows, table, id as number) : []))
    .sort((a, b) => a.id - b.id);
}

function alertsOn<Row extends AlertRow>(rows: Rows, table: TableName, deviceId: number): Stored<Row>[] {
  return [...rows.all<Stored<Row>>(`${table}/${deviceId}`).values()].sort((a, b) => a.id - b.id);
}
