import assert from "node:assert/strict";
import type { TestContext } from "node:test";
import type { Home } from "../../src/home/home.ts";
import type { DeviceId } from "../../src/model/ids.ts";
import { structureAttribute, thermostatAttribute } from "../../src/virtual-device/attribute-names.ts";
import { fanOf } from "../ecosystems/actions.ts";
import { type AwayWord, homeWith, structure, type ThermostatFields, thermostat } from "../home/home-parts.ts";
import { type MadeFederationPlan, madeFederation } from "./made-federation.ts";
import { flushPromises } from "./manual-runtime.ts";

export interface FanHome {
  readonly away?: AwayWord;
  /** Thermostats by id; only t1, with its fan off, when left out. */
  readonly thermostats?: Readonly<Record<string, Partial<ThermostatFields>>>;
}

export function fanHome({ away = "home", thermostats = { t1: {} } }: FanHome = {}): Home {
  return homeWith({
    structures: { s1: structure({ away }) },
    thermostats: Object.entries(thermostats).map(([id, fields]) => [id, thermostat("s1", fields)] as const),
  });
}

/** The same home with the fan of t1 on or off. */
export const fanShown = (fanTimerActive: boolean) => fanHome({ thermostats: { t1: { fanTimerActive } } });

export interface FanPlan extends FanHome {
  readonly isShared?: boolean;
  readonly fanNeedsHome?: boolean;
  readonly openToken?: (sealed: string) => string;
  readonly react?: MadeFederationPlan["react"];
}

/** Ada's linked and live account, a writer of fan requests, and an ecosystem that the test controls. */
export async function madeFans(
  t: TestContext,
  { isShared = false, fanNeedsHome = true, openToken, react, ...plan }: FanPlan = {},
) {
  const made = await madeFederation(t, {
    isShared,
    fanNeedsHome,
    ...(openToken && { openToken }),
    ...(react && { react }),
  });
  const { federation, connector, store, userId } = made;
  const deviceId = await made.linkLive(fanHome(plan));
  await federation.fans.start();

  /** The slot's attribute, read from the store. */
  async function shown(field: "requestWrite" | "fanTimerActive" | "deviceId", y = 1): Promise<string | null> {
    const key = thermostatAttribute(1, y, field);
    const [row] = await store.read((tx) => tx.attributes.some(userId, deviceId, [key]));
    return row?.value ?? null;
  }

  /** When the slot's attribute was last written. */
  async function time(field: "requestWrite" | "fanTimerActive", y = 1): Promise<number> {
    const key = thermostatAttribute(1, y, field);
    const rows = await store.read((tx) => tx.attributes.all(userId, deviceId));
    return rows.find((row) => row.key === key)?.timeMs ?? 0;
  }

  return {
    ...made,
    deviceId,
    shown,
    time,
    write: (value: string | null, y = 1) => writeRequest(made, deviceId, value, y),
    request: (y = 1) => shown("requestWrite", y),
    receipts: () => federation.receipts(userId, deviceId),
    /** The states of all receipts, oldest first. */
    states: async () => (await federation.receipts(userId, deviceId)).map(({ state }) => state).reverse(),
    /** The sent commands, when there are `count`. */
    async sent(count: number) {
      await until(() => assert.equal(connector.actions.length, count));
      const action = connector.actions[count - 1]!;
      return { ...action, ...fanOf(action) };
    },
    /** Sends the home on the stream and waits until it is stored. */
    async shows(plan: FanHome) {
      const before = await lastTime(made, deviceId);
      connector.stream.brings(fanHome(plan));
      await until(async () => assert.notEqual(await lastTime(made, deviceId), before));
    },
    away: structureAttribute(1, "away"),
  };
}

/** Waits until the check passes, while no time passes; the test's timeout is the deadline. */
export async function until(check: () => void | Promise<void>): Promise<void> {
  for (;;) {
    try {
      return await check();
    } catch (error) {
      if (!(error instanceof assert.AssertionError)) throw error;
      await flushPromises();
    }
  }
}

type Made = Pick<Awaited<ReturnType<typeof madeFederation>>, "commit" | "userId" | "store">;

async function writeRequest({ commit, userId }: Made, deviceId: DeviceId, value: string | null, y: number) {
  const changes = [{ key: thermostatAttribute(1, y, "requestWrite"), value }];
  await commit({ userId, cause: { by: "client", user: userId }, updates: [{ deviceId, changes }] });
}

async function lastTime({ store, userId }: Made, deviceId: DeviceId): Promise<number | undefined> {
  return (await store.read((tx) => tx.devices.find(userId, deviceId)))?.lastTimeMs;
}
