import assert from "node:assert/strict";
import { alertsOn } from "../../src/alerts/alerts.ts";
import { commitOn } from "../../src/devices/commit.ts";
import { deviceWriting } from "../../src/devices/write.ts";
import { readCommand } from "../../src/home/command.ts";
import { isCommandError } from "../../src/home/command-errors.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { OnLimitReached } from "../../src/model/limits.ts";
import { OwnCommandDeadlines } from "../../src/own-things/own-command-deadlines.ts";
import { ownThingEcho } from "../../src/own-things/own-command-echo.ts";
import { ownThingControl } from "../../src/own-things/own-thing-control.ts";
import { OwnThings } from "../../src/own-things/own-things.ts";
import { processRuntime } from "../../src/runtime/process/process-runtime.ts";
import type { Runtime } from "../../src/runtime/runtime.ts";
import { alertCommanding } from "../../src/service/alert-commanding.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { makeHome, silent } from "../contracts/store/home.ts";

const power = { attribute: "power", words: { true: "on", false: "off" }, writable: true };

/** A dimmable lamp. */
export const lampMap = {
  kind: "light",
  commandSeconds: 30,
  online: { attribute: "connected", words: { true: "yes", false: "no" } },
  traits: { onOff: { on: power }, brightness: { percent: { attribute: "level", writable: true, decimals: 0 } } },
};

/** Ids that tests can read. */
export const plainIds = {
  thingIdOf: (deviceId: DeviceId) => `t_own_${deviceId}`,
  deviceOf: (thingId: string) => (Number(/^t_own_(\d+)$/.exec(thingId)?.[1] ?? "") as DeviceId) || undefined,
};

/** A tenant with lamps of its own as things, a client that commands them, and the company that writes their states. */
export async function madeOwnThings(
  store: OpenStore,
  {
    lamps = 2,
    map = lampMap as object,
    runtime = processRuntime(silent) as Runtime,
    onLimitReached = (() => undefined) as OnLimitReached,
  } = {},
) {
  const home = await makeHome(store, { devices: lamps });
  const { userId, tenantId } = home;
  const typeName = (await store.read((tx) => tx.devices.find(userId, home.devices[0]!)))!.typeName;
  const setMap = (next: object) =>
    store.transaction((tx) => tx.deviceTypeMaps.put(tenantId, typeName, JSON.stringify(next)));
  await setMap(map);
  const ownThings = new OwnThings(plainIds);
  const control = ownThingControl({ store, ownThings });
  const alerts = alertsOn({ store, commanding: alertCommanding(() => control), onLimitReached });
  const commit = commitOn({
    store,
    reactions: [ownThingEcho(ownThings), alerts.react],
    ownThings,
    committed: alerts.afterCommit,
    report: silent,
  });
  const deadlines = new OwnCommandDeadlines({ store, ownThings, runtime });
  const accessScope = { kind: "user", userId } as const;
  const lamp = home.devices[0]!;
  const thingId = plainIds.thingIdOf(lamp);
  const devices = deviceWriting(store, commit);
  const write = (values: Readonly<Record<string, string | null>>, deviceId = lamp) =>
    devices.write(
      accessScope,
      deviceId,
      Object.entries(values).map(([name, value]) => ({ name, value })),
    );
  return {
    ...home,
    accessScope,
    alerts,
    control,
    lamp,
    thingId,
    thingIdOf: plainIds.thingIdOf,
    setMap,
    write,
    settleDue: () => deadlines.settleDue(),
    async send(trait: string, name: string, params: object, to = thingId) {
      const command = readCommand(trait, name, params);
      assert.ok(!isCommandError(command), JSON.stringify(command));
      return control.command(accessScope, to, { command, clientId: "app" });
    },
    state: async ({ id }: { readonly id: string }) => (await control.receipt(accessScope, thingId, id)).state,
    /** The bodies of the log entries about commands to a device, oldest first. */
    async logged(deviceId = lamp) {
      const entries = await store.read((tx) => tx.log.ofDevice(userId, deviceId));
      return entries.filter(({ kind }) => kind === "thingCommand").map(({ body }) => JSON.parse(body));
    },
  };
}
