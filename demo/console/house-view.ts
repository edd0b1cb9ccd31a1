import type { Alert, Command, PastChange } from "../../sdk/src/index.ts";
import { type AttributePlace, parseAttributeName, placeOf } from "../../src/virtual-device/attribute-names.ts";
import type { House } from "../house.ts";

/** Everything that the page shows, as any client reads it from /v3. */
export interface HouseView {
  readonly structures: readonly StructureView[];
  readonly lamp: { readonly deviceId: number; readonly name: string; readonly power: string | undefined };
  /** The values may be out of date: the ecosystem's stream is down, or was silent for too long. */
  readonly isStale: boolean;
  readonly confirmedTime: number | undefined;
  readonly attributes: readonly AttributeView[];
  readonly alerts: readonly Alert[];
  /** Newest first. */
  readonly commands: readonly Command[];
  /** Newest first. */
  readonly changes: readonly ChangeView[];
}

export interface StructureView {
  readonly x: number;
  readonly fields: Fields;
  readonly emergency: boolean;
  readonly thermostats: readonly DeviceView[];
  readonly alarms: readonly DeviceView[];
}

/** A thermostat or an alarm: its indexes X and Y, and its values by field name. */
export interface DeviceView {
  readonly x: number;
  readonly y: number;
  readonly fields: Fields;
  readonly command: Command | undefined;
}

export type Fields = Readonly<Record<string, string>>;

export interface AttributeView {
  readonly name: string;
  readonly value: string;
  readonly updateTime: number;
}

export interface ChangeView extends PastChange {
  readonly deviceId: number;
}

/** `presenceInfo` of a device whose stream is live. */
const present = 1;
const historyMs = 30 * 60_000;
/** Older receipts are not shown: they say nothing about the last press of the button. */
const receiptMs = 10 * 60_000;
const structureIndexes = [1, 2];

export async function readHouse({ deviceId, lampId, keys }: House, nowMs: number): Promise<HouseView> {
  const { byClient } = keys;
  const changesOf = async (id: number): Promise<readonly ChangeView[]> => {
    const changes = await Array.fromAsync(byClient.getHistory(id, { from: nowMs - historyMs }));
    return changes.map((change) => ({ deviceId: id, ...change }));
  };
  const [device, lamp, alerts, commands, ...changes] = await Promise.all([
    byClient.getDevice(deviceId),
    byClient.getDevice(lampId),
    byClient.alerts.list({ deviceId }),
    byClient.getCommands(deviceId),
    changesOf(deviceId),
    changesOf(lampId),
  ]);
  const attributes = Object.entries(device.attributes).map(([name, { value, updateTime }]) => ({
    name,
    value: String(value),
    updateTime,
  }));
  return {
    structures: structuresOf(attributes, commands, nowMs),
    lamp: { deviceId: lampId, name: String(lamp.deviceName), power: textOf(lamp.attributes.power?.value) },
    isStale: device.stale === true || device.presenceInfo !== present,
    confirmedTime: device.confirmedTime,
    attributes,
    alerts,
    commands,
    changes: changes
      .flat()
      // An alert writes in the commit that makes it fire: at the same time, the alert's change counts as the newer one.
      .sort((a, b) => b.updateTime - a.updateTime || Number(isByAlert(b)) - Number(isByAlert(a))),
  };
}

const textOf = (value: string | number | null | undefined) => (value === null ? undefined : value?.toString());
const isByAlert = ({ cause }: ChangeView) => cause.by === "alert";

function structuresOf(
  attributes: readonly AttributeView[],
  commands: readonly Command[],
  nowMs: number,
): readonly StructureView[] {
  const placed = attributes.map(({ name, value }) => ({ name, value, place: placeOfName(name) }));
  const fieldsOf = (isWanted: (place: AttributePlace) => boolean): Fields =>
    Object.fromEntries(
      placed.filter(({ place }) => place && isWanted(place)).map(({ place, value }) => [place!.field, value]),
    );
  const devices = (x: number, kind: "thermostat" | "alarm"): readonly DeviceView[] => {
    const slots = placed.flatMap(({ place }) => (place?.kind === kind && place.x === x ? [place.y] : []));
    return [...new Set(slots)].map((y) => ({
      x,
      y,
      fields: fieldsOf((place) => place.kind === kind && place.x === x && place.y === y),
      command: commands.find(({ name, requestedTime }) => {
        const place = placeOfName(name);
        return place?.kind === kind && place.x === x && place.y === y && nowMs - requestedTime < receiptMs;
      }),
    }));
  };
  return structureIndexes.flatMap((x) => {
    const fields = fieldsOf((place) => place.kind === "structure" && place.x === x);
    if (fields.structureId === undefined) return [];
    const summary = fieldsOf((place) => place.kind === "summary" && place.x === x);
    return [
      {
        x,
        fields,
        emergency: summary.emergenciesAll === "true",
        thermostats: devices(x, "thermostat"),
        alarms: devices(x, "alarm"),
      },
    ];
  });
}

function placeOfName(name: string): AttributePlace | undefined {
  const known = parseAttributeName(name);
  return known && placeOf(known.number);
}

/** The user's name for the structure or device, and the attribute's name within it. */
export function labelOf({ structures, lamp }: HouseView, { deviceId, name }: ChangeView): string {
  if (deviceId === lamp.deviceId) return `${lamp.name} · ${name}`;
  const place = placeOfName(name);
  if (!place || place.kind === "account") return name;
  const structure = structures.find(({ x }) => x === place.x);
  if (place.kind === "structure" || place.kind === "summary") {
    return `${structure?.fields.name ?? "Structure"} · ${name.replace(/^.*?\]\.(a\.)?/, "")}`;
  }
  const devices = place.kind === "thermostat" ? structure?.thermostats : structure?.alarms;
  const device = devices?.find(({ y }) => y === place.y);
  return `${device?.fields.name ?? place.kind} · ${name.replace(/^.*\]\./, "")}`;
}
