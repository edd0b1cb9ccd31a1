import { isJsonProblem } from "../home/json-check.ts";
import type { TraitMap } from "../home/trait-map.ts";
import { readTraitMapText } from "../home/trait-map-reading.ts";
import type { TenantId } from "../model/ids.ts";
import type { Transaction } from "../store/seam.ts";
import type { DeviceTypeMapRow } from "../store/tables/device-type-maps.ts";

/** What identifies a version of a map. */
export interface MapVersion {
  readonly tenantId: TenantId;
  readonly typeId: number;
  readonly mapChangedMs: number;
}

export interface VersionedMap {
  readonly map: TraitMap;
  readonly changedMs: number;
}

/** More types than most deployments have; each parsed map takes a few kilobytes. */
const mapsHeld = 2_000;

/**
 * LRU cache of parsed trait maps. A caller reads with its device when the map was changed last, so that a map that
 * another node has changed is never used.
 */
export class TraitMaps {
  readonly #held = new Map<string, VersionedMap>();

  /** The map of this version, or a later one if it was changed meanwhile; undefined when it was removed. */
  async of(tx: Pick<Transaction, "deviceTypeMaps">, version: MapVersion): Promise<VersionedMap | undefined> {
    const { tenantId, typeId, mapChangedMs } = version;
    const key = `${tenantId}/${typeId}`;
    const held = this.#held.get(key);
    if (held?.changedMs === mapChangedMs) {
      this.#keep(key, held);
      return held;
    }
    const row = await tx.deviceTypeMaps.find(tenantId, typeId);
    return row && this.read(row);
  }

  /** Parses a stored map, unless it is held. A map that this version can't read counts as none. */
  read({ tenantId, typeId, map: text, changedMs }: DeviceTypeMapRow): VersionedMap | undefined {
    const key = `${tenantId}/${typeId}`;
    const held = this.#held.get(key);
    if (held?.changedMs === changedMs) return held;
    const map = readTraitMapText(text);
    if (isJsonProblem(map)) return undefined;
    const parsed = { map, changedMs };
    this.#keep(key, parsed);
    return parsed;
  }

  /** After a map was removed, its successor could have the same time; after a restore, any map could. */
  forgetAll(): void {
    this.#held.clear();
  }

  #keep(key: string, parsed: VersionedMap): void {
    this.#held.delete(key);
    this.#held.set(key, parsed);
    if (this.#held.size <= mapsHeld) return;
    for (const oldest of this.#held.keys()) {
      this.#held.delete(oldest);
      return;
    }
  }
}
