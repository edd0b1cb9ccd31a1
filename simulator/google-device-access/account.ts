import { randomBytes } from "node:crypto";

export type Fields = Readonly<Record<string, unknown>>;

export interface Device {
  readonly name: string;
  readonly type: string;
  /** Each trait with its fields. */
  traits: Readonly<Record<string, Fields>>;
  parentRelations: readonly { readonly parent: string; readonly displayName: string }[];
  /** The setpoints that return with their mode. */
  remembered: { readonly heatCelsius: number; readonly coolCelsius: number };
}

export interface Structure {
  readonly name: string;
  customName: string;
  readonly rooms: Map<string, string>;
}

/** An event of an account, before it becomes a message. */
export type AccountEvent = Readonly<Record<string, unknown>>;

export interface AccountParts {
  readonly projectId: string;
  /** The id of an account, a structure, a room or a device. */
  readonly newId: () => string;
  readonly nowMs: () => number;
  readonly publish: (account: Account, event: AccountEvent) => void;
}

/** A person's account: homes, devices, and what was shared with the project. */
export class Account {
  readonly userId: string;
  readonly person: string;
  readonly structures = new Map<string, Structure>();
  readonly devices = new Map<string, Device>();
  /** Names of devices that their owner does not share. */
  readonly withheld = new Set<string>();
  /** Google sends no events before the devices were listed once. */
  isListed = false;
  readonly #parts: AccountParts;

  constructor(person: string, parts: AccountParts) {
    this.person = person;
    this.#parts = parts;
    this.userId = `AVPH${parts.newId()}`;
  }

  addStructure(customName: string): Structure {
    const name = `enterprises/${this.#parts.projectId}/structures/${this.#parts.newId()}`;
    const structure = { name, customName, rooms: new Map<string, string>() };
    this.structures.set(name, structure);
    this.relate("CREATED", "", name);
    return structure;
  }

  addRoom(structure: Structure, customName: string): string {
    const name = `${structure.name}/rooms/${this.#parts.newId()}`;
    structure.rooms.set(name, customName);
    this.relate("CREATED", structure.name, name);
    return name;
  }

  addDevice(room: string, type: string, traits: Readonly<Record<string, Fields>>): Device {
    const name = `enterprises/${this.#parts.projectId}/devices/${this.#parts.newId()}`;
    const device: Device = {
      name,
      type,
      traits,
      parentRelations: [{ parent: room, displayName: this.#roomName(room) }],
      remembered: { heatCelsius: 20, coolCelsius: 24 },
    };
    this.devices.set(name, device);
    this.relate("CREATED", room, name);
    return device;
  }

  removeDevice(name: string): void {
    if (this.devices.delete(name)) this.relate("DELETED", "", name);
  }

  renameRoom(room: string, customName: string): void {
    for (const { rooms } of this.structures.values()) if (rooms.has(room)) rooms.set(room, customName);
    for (const device of this.devices.values()) {
      const isInside = device.parentRelations.some(({ parent }) => parent === room);
      if (!isInside) continue;
      device.parentRelations = [{ parent: room, displayName: customName }];
      this.relate("UPDATED", room, device.name);
    }
  }

  /** The owner shares a device, or no longer. */
  share(name: string, isShared: boolean): void {
    if (isShared) this.withheld.delete(name);
    else this.withheld.add(name);
    this.relate(isShared ? "CREATED" : "DELETED", "", name);
  }

  /** Devices that the project sees. */
  shared(): readonly Device[] {
    return [...this.devices.values()].filter(({ name }) => !this.withheld.has(name));
  }

  /** Changes fields of traits. `told`: what the event says; the changed fields unless the caller says otherwise. */
  change(name: string, traits: Readonly<Record<string, Fields>>, eventTraits = traits): void {
    const device = this.devices.get(name);
    if (!device) return;
    const merged = Object.entries(traits).map(([trait, fields]) => [trait, { ...device.traits[trait], ...fields }]);
    device.traits = { ...device.traits, ...Object.fromEntries(merged) };
    this.tell(name, eventTraits);
  }

  /** Replaces whole traits, so that fields can disappear. */
  replace(name: string, traits: Readonly<Record<string, Fields>>): void {
    const device = this.devices.get(name);
    if (!device) return;
    device.traits = { ...device.traits, ...traits };
    this.tell(name, traits);
  }

  /** Sends an event about traits, whether they have changed or not. */
  tell(name: string, traits: Readonly<Record<string, Fields>>): void {
    if (this.withheld.has(name)) return;
    this.#send({ resourceUpdate: { name, traits }, resourceGroup: [name] });
  }

  relate(type: "CREATED" | "DELETED" | "UPDATED", subject: string, object: string): void {
    this.#send({ relationUpdate: { type, subject, object } });
  }

  #send(content: AccountEvent): void {
    if (!this.isListed) return;
    const timestamp = new Date(this.#parts.nowMs()).toISOString();
    this.#parts.publish(this, { eventId: randomId(), timestamp, userId: this.userId, ...content });
  }

  #roomName(room: string): string {
    for (const { rooms } of this.structures.values()) if (rooms.has(room)) return rooms.get(room)!;
    return "";
  }
}

/** How a device is shown to people. */
export function titleOf({ type, traits, parentRelations }: Device): string {
  const { customName } = traits["sdm.devices.traits.Info"] ?? {};
  const kind = type.replace("sdm.devices.types.", "").toLowerCase();
  const room = parentRelations[0]?.displayName ?? "no room";
  return typeof customName === "string" && customName !== ""
    ? `${customName}, ${kind} in ${room}`
    : `${kind} in ${room}`;
}

export function randomId(): string {
  return randomBytes(24).toString("base64url");
}
