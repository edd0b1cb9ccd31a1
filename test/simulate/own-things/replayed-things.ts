import type { CommittedTransaction, LogLine, StoredRow } from "../checks/history.ts";
import { type ReadMap, readStoredMap } from "./read-map.ts";

/** An own device at one point of the history. */
export interface OwnVersion {
  /** The transaction that led to it. */
  readonly seq: number;
  readonly map: ReadMap | undefined;
  readonly mapChangedMs: number;
  readonly texts: ReadonlyMap<string | number, string | null>;
  /** When each attribute was written. */
  readonly times: ReadonlyMap<string | number, number>;
  readonly lastMs: number;
}

export interface ReplayedOwnDevice {
  readonly id: number;
  readonly userId: number;
  readonly typeId: number;
  /** In the order of the history; the last one is the present. */
  readonly versions: OwnVersion[];
  /** The time of the device's last write when the log last said that it is silent. */
  silentMs: number | undefined;
  /**
   * Maps from before a change that the log has not told of this device yet. A transaction that began before the change
   * may still use one of them.
   */
  formerMaps: Pick<OwnVersion, "map" | "mapChangedMs">[];
}

interface AttributeBody {
  readonly changes: readonly (readonly [string | number, string | null])[];
}

/** The own devices and the maps of their types, replayed transaction by transaction and line by line. */
export class ReplayedThings {
  readonly devices = new Map<number, ReplayedOwnDevice>();
  readonly #maps = new Map<number, { readonly map: ReadMap; readonly changedMs: number }>();

  /** Takes what a transaction says of devices and maps, except for the values of attributes. */
  begin({ seq, writes }: CommittedTransaction): void {
    for (const { table, key, before, after } of writes) {
      if (table === "devices" && !before && after && (after.typeId as number) > 1) this.#add(seq, after);
      if (table !== "deviceTypeMaps") continue;
      if (after) {
        this.#maps.set(key as number, {
          map: readStoredMap(after.map as string),
          changedMs: after.changedMs as number,
        });
      } else this.#maps.delete(key as number);
      for (const device of this.devices.values()) {
        if (device.typeId !== key) continue;
        device.formerMaps.push(present(device));
        device.versions.push({ ...present(device), seq, ...this.#mapOf(device.typeId) });
      }
    }
  }

  /** Takes an entry about attributes; returns the device, if it is an own one, and its attributes that were written. */
  take(
    seq: number,
    line: LogLine,
  ): { readonly device: ReplayedOwnDevice; readonly written: ReadonlySet<string | number> } | undefined {
    const device = line.kind === "attribute" ? this.devices.get(line.deviceId!) : undefined;
    if (!device) return undefined;
    const { changes } = JSON.parse(line.body) as AttributeBody;
    const last = present(device);
    device.versions.push({
      ...last,
      seq,
      texts: new Map([...last.texts, ...changes]),
      times: new Map([...last.times, ...changes.map(([name]) => [name, line.timeMs] as const)]),
      lastMs: line.timeMs,
    });
    return { device, written: new Set(changes.map(([name]) => name)) };
  }

  #add(seq: number, { id, userId, typeId }: StoredRow): void {
    const type = typeId as number;
    const version: OwnVersion = { seq, ...this.#mapOf(type), texts: new Map(), times: new Map(), lastMs: 0 };
    const device = {
      id: id as number,
      userId: userId as number,
      typeId: type,
      versions: [version],
      silentMs: undefined,
      formerMaps: [],
    };
    this.devices.set(device.id, device);
  }

  #mapOf(typeId: number): Pick<OwnVersion, "map" | "mapChangedMs"> {
    const found = this.#maps.get(typeId);
    return { map: found?.map, mapChangedMs: found?.changedMs ?? 0 };
  }
}

/** The device as a transaction may see it now: through the present map, or through one that was just replaced. */
export function visible(device: ReplayedOwnDevice): readonly OwnVersion[] {
  const now = present(device);
  return [now, ...device.formerMaps.map(({ map, mapChangedMs }) => ({ ...now, map, mapChangedMs }))];
}

export function present({ versions }: ReplayedOwnDevice): OwnVersion {
  return versions.at(-1)!;
}
