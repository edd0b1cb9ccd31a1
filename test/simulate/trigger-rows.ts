import type { TriggerId } from "../../src/model/ids.ts";
import type { Evaluation } from "../../src/model/trigger.ts";
import type { TriggerRow } from "../../src/store/tables/triggers.ts";
import type { Session, SimulatedTables } from "./memory-tables.ts";
import { exclusive } from "./row-locks.ts";
import { type Draft, type Rows, removeAll } from "./rows.ts";
import { standIn } from "./stand-in.ts";

type StoredTrigger = TriggerRow & { readonly record: readonly Evaluation[] };

const table = (deviceId: number) => `triggers/${deviceId}`;

/** The alerts of a user, ascending. */
export function triggersOf(rows: Rows, userId: number): StoredTrigger[] {
  return [...rows.all<{ userId: number }>("devices")]
    .flatMap(([id, device]) =>
      device.userId === userId ? [...rows.all<StoredTrigger>(table(id as number)).values()] : [],
    )
    .sort((a, b) => a.id - b.id);
}

/** The table of alerts in memory. */
export function triggerRows(session: Session): SimulatedTables["triggers"] {
  const find = (rows: Draft, userId: number, id: TriggerId) => triggersOf(rows, userId).find((row) => row.id === id);
  const ofDevice = (rows: Draft, deviceId: number) =>
    [...rows.all<StoredTrigger>(table(deviceId)).values()].sort((a, b) => a.id - b.id);
  const update = (what: string, userId: number, id: TriggerId, change: Partial<StoredTrigger>) =>
    session.run(
      `${what} alert ${id}`,
      (rows) => {
        const row = find(rows, userId, id);
        if (row) rows.set(table(row.deviceId), id, { ...row, ...change });
      },
      () => [exclusive("triggers", id)],
    );
  return standIn<SimulatedTables["triggers"]>("triggers", {
    add: (trigger) =>
      session.run(`add alert on ${trigger.deviceId}`, (rows) => {
        const id = session.nextId() as TriggerId;
        rows.set(table(trigger.deviceId), id, { ...trigger, id, firedMs: null, firings: 0, record: [] });
        return id;
      }),
    watching: (_, deviceId, keys) =>
      session.run(`alerts on ${deviceId}`, (rows) =>
        ofDevice(rows, deviceId).filter(({ isEnabled, key }) => isEnabled && keys.includes(key)),
      ),
    within: (accessScope, id) =>
      session.run(`alert ${id}`, (rows) =>
        accessScope.kind === "user" ? find(rows, accessScope.userId, id) : undefined,
      ),
    ofDevice: (_, deviceId) => session.run(`alerts of ${deviceId}`, (rows) => ofDevice(rows, deviceId)),
    ofUser: (userId) => session.run("alerts of user", (rows) => triggersOf(rows, userId)),
    totals: (userId, deviceId) =>
      session.run("count alerts", (rows) => ({
        ofUser: triggersOf(rows, userId).length,
        ofDevice: ofDevice(rows, deviceId).length,
        bytesOfUser: 0,
      })),
    withRecord: (userId, id) =>
      session.run(`alert ${id} with its record`, (rows) => {
        const { record, ...trigger } = find(rows, userId, id) ?? {};
        return record && { trigger: trigger as TriggerRow, record };
      }),
    record: (userId, id) => session.run(`record of alert ${id}`, (rows) => find(rows, userId, id)?.record ?? []),
    change: (userId, id, change) => update("change", userId, id, change),
    redefine: ({ firedMs: _, firings: __, createdMs: ___, ...definition }) =>
      update("redefine", definition.userId, definition.id, definition),
    setEnabledOfDevice: (_, deviceId, isEnabled) =>
      session.run(
        `alerts of ${deviceId} ${isEnabled ? "on" : "off"}`,
        (rows) => {
          for (const row of ofDevice(rows, deviceId)) {
            rows.set(table(deviceId), row.id, { ...row, isEnabled, reason: null, ...(isEnabled && { isArmed: true }) });
          }
        },
        (rows) => ofDevice(rows, deviceId).map(({ id }) => exclusive("triggers", id)),
      ),
    remove: (userId, id) =>
      session.run(
        `remove alert ${id}`,
        (rows) => {
          const row = find(rows, userId, id);
          if (row) rows.set(table(row.deviceId), id, undefined);
        },
        () => [exclusive("triggers", id)],
      ),
    removeOfDevice: (_, deviceId) =>
      session.run(
        `remove alerts of ${deviceId}`,
        (rows) => removeAll(rows, table(deviceId)),
        (rows) => ofDevice(rows, deviceId).map(({ id }) => exclusive("triggers", id)),
      ),
  });
}
