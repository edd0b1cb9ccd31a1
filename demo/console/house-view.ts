import { type Alert, type PastChange, ServiceError } from "../../sdk/src/index.ts";
import { StoreUnavailable } from "../../src/model/errors.ts";
import type { PageContext } from "../../src/outlets/console/console-page.ts";
import type { ShownHome } from "../../src/outlets/console/pages/home.ts";
import type { ShownReceipt } from "../../src/outlets/console/tiles/shown-thing.ts";
import type { DemoEcosystem } from "../ecosystems/ecosystem.ts";
import type { House } from "../house.ts";

/** A thing of the demo's user, as the console reads it. */
export type HouseThing = ShownHome["things"][number] & { readonly deviceId: number };

/** What the demo's pages show: the home as the console reads it, and further data that the demo reads from /v3. */
export interface HouseView {
  readonly home: ShownHome;
  readonly lamp: LampView;
  readonly alerts: readonly Alert[];
  /** Newest first. */
  readonly changes: readonly ChangeView[];
}

export interface LampView {
  readonly deviceId: number;
  /** Undefined after somebody has removed the lamp. */
  readonly thing: HouseThing | undefined;
  readonly receipt: ShownReceipt | undefined;
  /** The times at which commands to the lamp ended, with any outcome. */
  readonly commandedTimes: readonly number[];
}

export interface ChangeView extends PastChange {
  readonly deviceId: number;
}

const historyMs = 30 * 60_000;

export async function readHouse(
  { deviceId, lampId, access }: House,
  { configuration }: Pick<DemoEcosystem, "configuration">,
  { call, nowMs }: Pick<PageContext, "call" | "nowMs">,
): Promise<HouseView> {
  const { byClient, userId } = access;
  const user = String(userId);
  const home: ShownHome = await call("home show", { user, ecosystem: configuration.name });
  const thing = (await readThings(call, user)).find((one) => one.deviceId === lampId);
  const changesOf = async (id: number): Promise<readonly ChangeView[]> => {
    const changes = await Array.fromAsync(byClient.getHistory(id, { from: nowMs - historyMs }));
    return changes.map((change) => ({ deviceId: id, ...change }));
  };
  try {
    const [alerts, receipts, ofHome, ofLamp] = await Promise.all([
      byClient.alerts.list({ deviceId }),
      thing === undefined ? [] : byClient.commands(thing.thingId),
      changesOf(deviceId),
      thing === undefined ? [] : changesOf(lampId),
    ]);
    const commandedTimes = receipts.flatMap(({ settledTime }) => settledTime ?? []);
    return {
      home,
      lamp: { deviceId: lampId, thing, receipt: receipts[0], commandedTimes },
      alerts,
      changes: [...ofHome, ...ofLamp].sort((a, b) => b.updateTime - a.updateTime),
    };
  } catch (error) {
    if (error instanceof ServiceError && error.status === 503) throw new StoreUnavailable(error.message);
    throw error;
  }
}

/** All things of the user, own things included. */
export async function readThings(call: PageContext["call"], user: string): Promise<readonly HouseThing[]> {
  return (await call("home things", { user })).things;
}
