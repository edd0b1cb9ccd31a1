import type { LargeStrings } from "./adaptor.ts";
import type { Attribute } from "./devices.ts";
import { AmbiguousName, UnexpectedAnswer, UnknownName } from "./errors.ts";

/** The kinds of devices in a linked account, as attribute names spell them. */
export type HomeDeviceKind = "thermostats" | "smokeCoAlarms";

/** A home of a linked account. */
export interface HomeStructure {
  /** The X of its attribute names; assigned by the service, and arbitrary. */
  readonly index: number;
  /** Its id in the ecosystem. */
  readonly id: string;
  readonly name: string;
  /** The name of one of its attributes: `away` → `d.structures[1].a.away`. */
  attribute(field: "away" | "name" | "structure_id"): string;
}

/** A thermostat or an alarm of a linked account. */
export interface HomeDevice {
  readonly kind: HomeDeviceKind;
  readonly structure: HomeStructure;
  /** The Y of its attribute names. */
  readonly index: number;
  /** Its id in the ecosystem. */
  readonly id: string;
  readonly name: string;
  /** The name of one of its attributes: `has_fan` → `d.structures[1].d.thermostats[2].has_fan`. */
  attribute(field: string): string;
}

/** Narrows a search by name, because several devices may have the same one. */
export interface DeviceSearch {
  readonly kind?: HomeDeviceKind | undefined;
  /** The friendly name of its structure. */
  readonly structure?: string | undefined;
}

/** The friendly names in a linked account at the time when it was read. */
export class HomeNames {
  readonly structures: readonly HomeStructure[];
  readonly devices: readonly HomeDevice[];

  /** The index map lacks the devices' own indexes: the `device_id` attributes show those. */
  constructor({ labels, identifiers }: LargeStrings, attributes: Readonly<Record<string, Attribute>>) {
    this.structures = Object.entries(labels).map(([name, id]) => structureOf(name, id, identifiers[id]?.[0]));
    const indexes = deviceIndexes(attributes);
    this.devices = Object.entries(identifiers)
      .filter(([, places]) => places.length === 4)
      .flatMap(([id, [, kind, name = "", structureId]]): HomeDevice[] => {
        const structure = this.structures.find((item) => item.id === structureId);
        const index = indexes.get(id);
        // The device was removed between the two reads.
        if (!structure || index === undefined) return [];
        return [deviceOf(kind as HomeDeviceKind, structure, index, id, name)];
      });
  }

  /** The home of that name. Throws `UnknownName`. */
  structure(name: string): HomeStructure {
    const found = this.structures.find((item) => item.name === name);
    if (!found) throw new UnknownName(`No structure is called "${name}". There is ${listNames(this.structures)}.`);
    return found;
  }

  /** The thermostat or alarm of that name. Throws `UnknownName`, or `AmbiguousName` when several have it. */
  device(name: string, { kind, structure }: DeviceSearch = {}): HomeDevice {
    const inStructure = structure === undefined ? undefined : this.structure(structure);
    const candidates = this.devices.filter(
      (item) => (kind ?? item.kind) === item.kind && (inStructure ?? item.structure) === item.structure,
    );
    const [found, ...others] = candidates.filter((item) => item.name === name);
    if (!found) throw new UnknownName(`No device is called "${name}". There is ${listNames(candidates)}.`);
    if (others.length > 0) {
      throw new AmbiguousName(`${others.length + 1} devices are called "${name}": say of which kind or structure.`);
    }
    return found;
  }
}

function structureOf(name: string, id: string, indexText: string | undefined): HomeStructure {
  const index = Number(indexText);
  if (!Number.isSafeInteger(index)) throw new UnexpectedAnswer(`The structure "${name}" has no index.`);
  return { index, id, name, attribute: (field) => `d.structures[${index}].a.${field}` };
}

function deviceOf(kind: HomeDeviceKind, structure: HomeStructure, index: number, id: string, name: string): HomeDevice {
  const prefix = `d.structures[${structure.index}].d.${kind}[${index}]`;
  return { kind, structure, index, id, name, attribute: (field) => `${prefix}.${field}` };
}

function deviceIndexes(attributes: Readonly<Record<string, Attribute>>): ReadonlyMap<string, number> {
  const indexes = new Map<string, number>();
  for (const [name, { value }] of Object.entries(attributes)) {
    const [, index] = /^d\.structures\[\d\]\.d\.\w+\[(\d+)\]\.device_id$/.exec(name) ?? [];
    if (index !== undefined && value !== null) indexes.set(String(value), Number(index));
  }
  return indexes;
}

function listNames(items: readonly { readonly name: string }[]): string {
  return items.map(({ name }) => `"${name}"`).join(", ") || "none";
}
