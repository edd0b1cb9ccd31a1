import assert from "node:assert/strict";
import { type AlertTables, alertsOn, type Commanding, type TriggerInput } from "../../src/alerts/alerts.ts";
import { type AttributeChange, commitOn } from "../../src/devices/commit.ts";
import type { AlertBody } from "../../src/devices/log-entries.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import type { DeviceId, TriggerId } from "../../src/model/ids.ts";
import type { OnLimitReached } from "../../src/model/limits.ts";
import type { Target } from "../../src/model/trigger-targets.ts";
import type { OpenStore, Store } from "../../src/store/seam.ts";
import { structureAttribute } from "../../src/virtual-device/attribute-names.ts";
import { makeHome, silent } from "../contracts/store/home.ts";

export const away = structureAttribute(1, "away");
export const awayName = "d.structures[1].a.away";

export const target = (deviceId: DeviceId, attributeName: string, value: string): Target => ({
  deviceId,
  attributeName,
  value,
});

export interface MadeAlerts {
  readonly lamps?: number;
  readonly name?: string;
  readonly onLimitReached?: OnLimitReached;
  readonly commanding?: Commanding;
}

/** A user with a linked account and lamps, and the alert engine on a real store. */
export async function madeAlerts(store: OpenStore, made: MadeAlerts = {}) {
  const { lamps = 2, name = "Ada", onLimitReached, commanding } = made;
  const home = await makeHome(store, { devices: lamps, name });
  const { userId } = home;
  const account = await store.transaction((tx) =>
    tx.devices.add({ userId, typeName: "EcosystemAccount", name: "Nest account", isVirtual: true }),
  );
  const accessScope = { kind: "user", userId } as const;
  const alerts = alertsOn({
    store: store as Store<AlertTables>,
    ...(onLimitReached && { onLimitReached }),
    ...(commanding && { commanding }),
  });
  const commit = commitOn({ store, reactions: [alerts.react], committed: alerts.afterCommit, report: silent });
  const devices = deviceWriting(store, commit);
  const lamp = home.devices[0]!;

  /** An alert on the account's away that switches the first lamp; each test says what is different. */
  const given = (change: Partial<TriggerInput> = {}): TriggerInput => ({
    deviceId: account,
    attributeName: awayName,
    action: "attribute",
    operation: "equals",
    threshold: "",
    stringThreshold: "home",
    address: "",
    message: "",
    autoDisarm: true,
    autoDelete: false,
    autoDisable: false,
    isEnabled: true,
    targets: [target(lamp, "power", "on")],
    ...change,
  });
  const add = async (change: Partial<TriggerInput> = {}): Promise<TriggerId> =>
    (await alerts.add(accessScope, given(change))).id;
  /** An alert whose pattern an older version has accepted: it may be too complex today. */
  const addOld = async (pattern: string, change: Partial<TriggerInput> = {}): Promise<TriggerId> => {
    const made = await alerts.add(accessScope, given({ ...change, operation: "regex", stringThreshold: "x" }));
    await store.transaction((tx) => tx.triggers.redefine({ ...made, condition: { operation: "regex", pattern } }));
    return made.id;
  };
  /** Commits changes as the ecosystem. */
  const show = (changes: readonly AttributeChange[]) =>
    commit({ userId, cause: { by: "ecosystem" }, updates: [{ deviceId: account, changes }] });
  const showAway = (value: string | null) => show([{ key: away, value }]);
  const write = (deviceId: DeviceId, attribute: string, value: string | null) =>
    devices.write(accessScope, deviceId, [{ name: attribute, value }]);
  const logOf = (deviceId: DeviceId) => store.read((tx) => tx.log.ofDevice(userId, deviceId));
  /** Every firing on the device, oldest first. */
  const firings = async (deviceId = account): Promise<readonly AlertBody[]> =>
    (await logOf(deviceId)).filter(({ kind }) => kind === "alert").map(({ body }) => JSON.parse(body));
  /** The values that were written to an attribute, oldest first. */
  const writesTo = async (deviceId: DeviceId, attribute: string): Promise<readonly (string | null)[]> => {
    const values: (string | null)[] = [];
    for (const { kind, body } of await logOf(deviceId)) {
      if (kind !== "attribute") continue;
      for (const [key, value] of JSON.parse(body).changes) if (key === attribute) values.push(value);
    }
    return values;
  };
  const standing = async (id: TriggerId) => {
    const { isEnabled, isArmed } = await alerts.find(accessScope, id);
    return { isEnabled, isArmed };
  };
  const evaluationsOf = async (id: TriggerId) => {
    const { evaluations } = await alerts.explain(accessScope, id);
    assert.ok(evaluations.length <= 50);
    return evaluations.map(({ value, outcome, note }) => [value, outcome, ...(note ? [note] : [])].join(" "));
  };
  return {
    ...home,
    account,
    lamp,
    accessScope,
    alerts,
    commit,
    given,
    add,
    addOld,
    show,
    showAway,
    write,
    logOf,
    firings,
    writesTo,
    standing,
    evaluationsOf,
  };
}
