import type { HomeDevices } from "../cli/administration/homes/home-devices.ts";
import type { DeviceReading, ReadAttribute } from "../devices/read.ts";
import type { DeviceWriting } from "../devices/write.ts";
import type { Events } from "../events/events.ts";
import type { RunningFederation } from "../federation/federation.ts";
import { ordinaryFreshness } from "../federation/freshness.ts";
import { UnknownDevice } from "../model/errors.ts";
import type { UserId } from "../model/ids.ts";
import type { Store, Transaction } from "../store/seam.ts";

interface Sources {
  readonly store: Store<Pick<Transaction, "webhooks">>;
  readonly devices: DeviceReading & DeviceWriting;
  readonly federation: Pick<RunningFederation, "freshness">;
  readonly events: Pick<Events, "history">;
}

/** What operators see of devices, and write there. */
export function homeDevices({ store, devices, federation, events }: Sources): HomeDevices {
  const ofUser = (userId: UserId) => ({ kind: "user", userId }) as const;
  return {
    async state(userId, deviceId) {
      const { device, attributes } = await devices.state(ofUser(userId), deviceId);
      const [freshness, hearing] = await Promise.all([
        device.isVirtual ? federation.freshness(userId, deviceId) : ordinaryFreshness,
        store.read((tx) => tx.webhooks.hearing([userId])),
      ]);
      const shown = [...attributes].map(
        ([key, { value, timeMs }]): ReadAttribute => ({ key, value, updateTimeMs: timeMs }),
      );
      const webhooks = hearing.filter(({ deviceIds }) => deviceIds.length === 0 || deviceIds.includes(deviceId));
      return {
        device,
        freshness,
        attributes: shown,
        webhooks: webhooks.map(({ id, clientId, userId: of }) => ({ id, clientId, isOfTenant: of === null })),
      };
    },
    async history(userId, deviceId, fromMs) {
      await devices.device(ofUser(userId), deviceId);
      const range = { fromMs, toMs: Number.MAX_SAFE_INTEGER };
      const { changes, nextFromMs } = await events.history(userId, deviceId, { ...range, attributes: [] });
      return { changes, isCut: nextFromMs !== undefined };
    },
    async write(userId, deviceId, tenantId, writes) {
      const scope = { kind: "enterprise", tenantId } as const;
      const device = await devices.device(scope, deviceId);
      if (device.userId !== userId) throw new UnknownDevice();
      await devices.write(scope, deviceId, writes);
    },
  };
}
