/** What a lamp shows: the attribute that the trait map names, in the device's own words. */
export interface LampState {
  readonly power: "on" | "off";
}

/** A simulated lamp. In a real device cloud this class talks to a lamp over the company's own protocol. */
export class Lamp {
  readonly name: string;
  readonly room: string;
  #isOn = false;

  constructor(name: string, room: string) {
    this.name = name;
    this.room = room;
  }

  get state(): LampState {
    return { power: this.#isOn ? "on" : "off" };
  }

  /** Carries out what a command writes. Returns false if a lamp can't do that. */
  apply(writes: Readonly<Record<string, string>>): boolean {
    const { power, ...others } = writes;
    if ((power !== "on" && power !== "off") || Object.keys(others).length > 0) return false;
    this.#isOn = power === "on";
    return true;
  }
}

const rooms = ["Hall", "Kitchen", "Living room", "Bedroom", "Attic"];

/** Two lamps for each room. Their names are unique, because the cloud finds its lamps by them. */
export function tenLamps(): readonly Lamp[] {
  return rooms.flatMap((room) => [new Lamp(`${room} ceiling`, room), new Lamp(`${room} wall`, room)]);
}
