import type { Alert, CommandReceipt, PastChange, Thing } from "../../sdk/src/index.ts";
import type { House } from "../house.ts";

/** Everything that the page shows, as any client reads it from /v3. */
export interface HouseView {
  readonly homes: readonly HomeView[];
  /** All things of the tenant, those of own devices too. */
  readonly things: readonly Thing[];
  readonly lamp: LampView;
  /** The values may be out of date: the ecosystem's stream is down, or was silent for too long. */
  readonly isStale: boolean;
  readonly confirmedTime: number | undefined;
  readonly attributes: readonly AttributeView[];
  readonly alerts: readonly Alert[];
  /** Commands to things. Newest first. */
  readonly receipts: readonly CommandReceipt[];
  /** Newest first. */
  readonly changes: readonly ChangeView[];
}

export interface LampView {
  readonly deviceId: number;
  readonly name: string;
  readonly power: string | undefined;
  /** The times at which commands to the lamp were carried out. */
  readonly commandedTimes: readonly number[];
}

export interface HomeView {
  /** Undefined for things whose home is not known. */
  readonly home: Thing | undefined;
  readonly thermostats: readonly Thing[];
  readonly alarms: readonly Thing[];
  /** Lights, switches, fans and sensors. */
  readonly others: readonly Thing[];
}

export interface AttributeView {
  readonly name: string;
  readonly value: string;
  readonly updateTime: number;
}

export interface ChangeView extends PastChange {
  readonly deviceId: number;
}

const otherKinds: readonly Thing["kind"][] = ["light", "switch", "fan", "sensor"];

/** `presenceInfo` of a device whose stream is live. */
const present = 1;
const historyMs = 30 * 60_000;

export async function readHouse({ deviceId, lampId, access }: House, nowMs: number): Promise<HouseView> {
  const { byClient } = access;
  const changesOf = async (id: number): Promise<readonly ChangeView[]> => {
    const changes = await Array.fromAsync(byClient.getHistory(id, { from: nowMs - historyMs }));
    return changes.map((change) => ({ deviceId: id, ...change }));
  };
  const thingsAndReceipts = async () => {
    const all = await Array.fromAsync(byClient.things());
    const things = all.filter((thing) => thing.deviceId === deviceId);
    const commanded = things.filter(({ kind }) => kind === "thermostat" || otherKinds.includes(kind));
    const lamps = all.filter((thing) => thing.deviceId === lampId);
    const receiptsOf = async (some: readonly Thing[]) =>
      (await Promise.all(some.map(({ thingId }) => byClient.commands(thingId)))).flat();
    const [receipts, ofLamp] = await Promise.all([receiptsOf(commanded), receiptsOf(lamps)]);
    const commandedTimes = ofLamp.flatMap(({ settledTime }) => settledTime ?? []);
    return { all, things, commandedTimes, receipts: receipts.sort((a, b) => b.requestedTime - a.requestedTime) };
  };
  const [device, { all, things, commandedTimes, receipts }, lamp, alerts, ...changes] = await Promise.all([
    byClient.getDevice(deviceId),
    thingsAndReceipts(),
    byClient.getDevice(lampId),
    byClient.alerts.list({ deviceId }),
    changesOf(deviceId),
    changesOf(lampId),
  ]);
  return {
    homes: homesOf(things),
    things: all,
    lamp: {
      deviceId: lampId,
      name: String(lamp.deviceName),
      power: lamp.attributes.power?.value?.toString(),
      commandedTimes,
    },
    isStale: device.stale === true || device.presenceInfo !== present || things.some(({ stale }) => stale),
    confirmedTime: device.confirmedTime,
    attributes: Object.entries(device.attributes).map(([name, { value, updateTime }]) => ({
      name,
      value: String(value),
      updateTime,
    })),
    alerts,
    receipts,
    changes: changes
      .flat()
      // An alert writes in the commit that makes it fire: at the same time, the alert's change counts as the newer one.
      .sort((a, b) => b.updateTime - a.updateTime || Number(isByAlert(b)) - Number(isByAlert(a))),
  };
}

const isByAlert = ({ cause }: ChangeView) => cause.by === "alert";

/** Homes by name, each with its devices. A thing names its home; of two equal names the first counts. */
export function homesOf(things: readonly Thing[]): readonly HomeView[] {
  const sorted = things.toSorted((a, b) => compare(a.homeName, b.homeName) || compare(a.name, b.name));
  return [...Map.groupBy(sorted, ({ homeName }) => homeName).values()].flatMap((group) => {
    const ofKind = (kind: Thing["kind"]) => group.filter((thing) => thing.kind === kind);
    const [home, ...namesakes] = ofKind("home");
    const others = namesakes.map((namesake) => ({ home: namesake, thermostats: [], alarms: [], others: [] }));
    const devices = otherKinds.flatMap(ofKind);
    return [{ home, thermostats: ofKind("thermostat"), alarms: ofKind("alarm"), others: devices }, ...others];
  });
}

const compare = (one: string | null, other: string | null) => (one ?? "").localeCompare(other ?? "");
