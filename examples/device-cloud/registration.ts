import { isDeepStrictEqual } from "node:util";
import type { Breezeway } from "@breezeway/sdk";
import type { Lamp } from "./lamp.ts";

const lampType = "Lamp";

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
  await declareType(breezeway);
  const found = await find(breezeway, userId, lamps);
  if (found.size === lamps.length) return found;
  // This key stays the same over restarts: if the process is killed before the answer arrives, the next process sends the
  // same request and adds nothing twice.
  const missing = missingOf(lamps, found);
  const numbers = missing.map((lamp) => lamps.indexOf(lamp) + 1).join("-");
  await add(breezeway, userId, missing, `lamps-of-${userId}-${numbers}`);
  let registered = await find(breezeway, userId, lamps);
  // For 24 hours a key gets the same answer, also if the lamps were removed meanwhile. The SDK chooses a new key then.
  const removed = missingOf(lamps, registered);
  if (removed.length > 0) {
    await add(breezeway, userId, removed);
    registered = await find(breezeway, userId, lamps);
  }
  tell(`added ${missing.length} lamps for user ${userId}`);
  return registered;
}

/** Setting a map gives all fields of its things a new time. So the cloud sets it only if it differs. */
async function declareType({ deviceTypes }: Breezeway): Promise<void> {
  const known = (await deviceTypes.list()).find(({ deviceTypeName }) => deviceTypeName === lampType);
  if (!isDeepStrictEqual(known?.map, lampMap)) await deviceTypes.set(lampType, lampMap);
}

function missingOf(lamps: readonly Lamp[], registered: RegisteredLamps): readonly Lamp[] {
  const found = new Set(registered.values());
  return lamps.filter((lamp) => !found.has(lamp));
}

async function add(
  breezeway: Breezeway,
  userId: number,
  lamps: readonly Lamp[],
  idempotencyKey?: string,
): Promise<void> {
  const devices = lamps.map(({ name, room, state }) => ({
    ...{ userId, deviceTypeName: lampType, deviceName: name, room },
    attributes: { ...state },
  }));
  for await (const answer of breezeway.devices.batch(devices, { idempotencyKey })) {
    if (answer.status !== 201) {
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
