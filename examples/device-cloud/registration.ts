import type { Breezeway } from "@breezeway/sdk";
import type { Lamp } from "./lamp.ts";

export const lampType = "Lamp";

/** How a lamp's attributes become a thing that clients can switch. `breezeway device-type templates` shows more maps. */
const lampMap = {
  kind: "light",
  traits: { onOff: { on: { attribute: "power", words: { true: "on", false: "off" }, writable: true } } },
};

/** The cloud's lamps by their device ids in Breezeway. */
export type RegisteredLamps = ReadonlyMap<number, Lamp>;

/** Declares the type, and adds the lamps that the user does not have yet. */
export async function register(
  breezeway: Breezeway,
  userId: number,
  lamps: readonly Lamp[],
  tell: (sentence: string) => void,
): Promise<RegisteredLamps> {
  await breezeway.deviceTypes.set(lampType, lampMap);
  let registered = await find(breezeway, userId, lamps);
  // The first key stays the same over restarts: if this process is killed before the answer arrives, the next one sends
  // the same request and adds nothing twice. For 24 hours Breezeway also answers so for lamps that were removed since
  // then. Those are added with a new key, which the SDK chooses.
  for (const hasFixedKey of [true, false]) {
    const found = new Set(registered.values());
    const missing = lamps.filter((lamp) => !found.has(lamp));
    if (missing.length === 0) break;
    const numbers = missing.map((lamp) => lamps.indexOf(lamp) + 1).join("-");
    await add(breezeway, userId, missing, hasFixedKey ? `lamps-of-${userId}-${numbers}` : undefined);
    registered = await find(breezeway, userId, lamps);
    tell(`added ${registered.size - found.size} lamps for user ${userId}`);
  }
  return registered;
}

async function add(
  breezeway: Breezeway,
  userId: number,
  lamps: readonly Lamp[],
  idempotencyKey: string | undefined,
): Promise<void> {
  const devices = lamps.map(({ name, room, state }) => ({
    ...{ userId, deviceTypeName: lampType, deviceName: name, room },
    attributes: { ...state },
  }));
  for await (const answer of breezeway.devices.batch(devices, { idempotencyKey })) {
    if ("error" in answer) {
      throw new Error(`Breezeway refused ${devices[answer.line - 1]?.deviceName}: ${answer.error_description}`);
    }
  }
}

async function find(breezeway: Breezeway, userId: number, lamps: readonly Lamp[]): Promise<RegisteredLamps> {
  const devices = await breezeway.getDevices({ deviceTypeName: lampType });
  const registered = new Map<number, Lamp>();
  for (const device of devices) {
    const lamp = lamps.find(({ name }) => name === device.deviceName);
    if (lamp && device.userId === userId) registered.set(device.deviceId, lamp);
  }
  return registered;
}
