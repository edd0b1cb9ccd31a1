import { type Commit, commitOn } from "../../src/devices/commit.ts";
import { ErasedNames } from "../../src/devices/erased-names.ts";
import { DeviceStates } from "../../src/devices/states.ts";
import { type DeviceWriting, deviceWriting } from "../../src/devices/write.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import type { StoreHarness } from "../contracts/store/harness.ts";
import { makeHome, silent } from "../contracts/store/home.ts";
import { postgresHarness } from "../contracts/store/postgres-harness.ts";
import { sqliteHarness } from "../contracts/store/sqlite-harness.ts";
import { missingPostgres } from "../set-up/postgres.ts";

/** Both databases, with the reason if one can't be tested here. */
export const harnesses: readonly { readonly harness: StoreHarness; readonly skip: string | false }[] = [
  { harness: sqliteHarness, skip: false },
  { harness: postgresHarness, skip: missingPostgres() ?? false },
];

export type Values = Readonly<Record<string, string | null>>;

/** A user with devices, ways to write to them, and what the store really holds. */
export async function limitedHome(store: OpenStore, { devices = 2, name = "Ada" } = {}) {
  const home = await makeHome(store, { devices, name });
  const { userId } = home;
  const states = new DeviceStates(store);
  const commit: Commit = commitOn({
    store,
    reactions: [],
    committed: (commits) => states.apply(commits),
    report: silent,
  });
  const writing: DeviceWriting = deviceWriting(store, commit);
  const write = (deviceId: DeviceId, values: Values) =>
    writing.write(
      { kind: "user", userId },
      deviceId,
      Object.entries(values).map(([attribute, value]) => ({ name: attribute, value })),
    );
  /** Writes as a node of an older version: it moves the device's time and counts nothing. */
  const writeUncounted = (deviceId: DeviceId, values: Values) =>
    store.transaction(async (tx) => {
      await tx.users.lock(userId);
      const [device] = await tx.devices.lock(userId, [deviceId]);
      const timeMs = Math.max(device!.lastTimeMs + 1, await tx.clock.nowMs());
      const changes = Object.entries(values).map(([key, value]) => ({ key, value }));
      await tx.attributes.write(userId, deviceId, timeMs, changes);
      await tx.devices.setLastTime(userId, deviceId, timeMs);
    });
  const rowsOf = (deviceId: DeviceId) => store.read((tx) => tx.attributes.all(userId, deviceId));
  const bytesIn = async (deviceId: DeviceId) =>
    (await rowsOf(deviceId)).reduce(
      (sum, { key, value }) => sum + Buffer.byteLength(`${key}`) + Buffer.byteLength(value ?? ""),
      0,
    );
  /** The counters of device and user, as a check would use them. */
  const counted = (deviceId: DeviceId) =>
    store.transaction(async (tx) => {
      await tx.users.lock(userId);
      const usage =
        (await tx.attributeUsage.ofDevice(userId, deviceId)) ?? (await tx.attributeUsage.count(userId, deviceId));
      return { names: usage.names, bytes: usage.bytes, ofUser: await tx.attributeUsage.bytesOfUser(userId) };
    });
  const erasedNames = new ErasedNames({
    store,
    states,
    runtime: {
      nowMs: Date.now,
      elapsedMs: () => 0,
      random: () => 0,
      report: silent,
      // Pauses end at once.
      after: (_, act) => {
        const timer = setImmediate(act);
        return () => clearImmediate(timer);
      },
    },
  });
  return { ...home, states, commit, write, writeUncounted, rowsOf, bytesIn, counted, erasedNames };
}

/** `count` attributes with distinct names. */
export function namesFrom(first: number, count: number, value: string | null = "x"): Values {
  return Object.fromEntries(Array.from({ length: count }, (_, i) => [`name ${first + i}`, value]));
}
