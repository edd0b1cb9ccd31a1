import type { CallOptions, WriteOptions } from "./transport.ts";
import type { V3 } from "./v3.ts";

/** How the attributes of a device type become a thing (docs/interface.md, Own devices as things). */
export type TraitMap = Readonly<Record<string, unknown>>;

/** A device type of the company with its trait map. */
export interface DeviceType {
  readonly deviceTypeName: string;
  readonly map: TraitMap;
  /** When the map was set (milliseconds). */
  readonly changedTime: number;
}

/** The trait maps of a company's own device types. Only enterprise clients may call. */
export class DeviceTypes {
  readonly #v3: () => V3;

  /** @internal */
  constructor(v3: () => V3) {
    this.#v3 = v3;
  }

  /** Sets or replaces the map of a type. Every device of the type is then a thing. */
  set(deviceTypeName: string, map: TraitMap, options: WriteOptions = {}): Promise<DeviceType> {
    return this.#v3().call<DeviceType>("PUT", pathOf(deviceTypeName), { ...options, json: map });
  }

  get(deviceTypeName: string, { signal }: CallOptions = {}): Promise<DeviceType> {
    return this.#v3().call<DeviceType>("GET", pathOf(deviceTypeName), { signal });
  }

  /** The types that have a map, by name. */
  async list({ signal }: CallOptions = {}): Promise<readonly DeviceType[]> {
    return (await this.#v3().call<{ deviceTypes: DeviceType[] }>("GET", "/device-types", { signal })).deviceTypes;
  }

  /** Removes the map. Devices of the type stay, and are no longer things. */
  async remove(deviceTypeName: string, options: WriteOptions = {}): Promise<void> {
    await this.#v3().call("DELETE", pathOf(deviceTypeName), options);
  }
}

function pathOf(deviceTypeName: string): string {
  return `/device-types/${encodeURIComponent(deviceTypeName)}`;
}
