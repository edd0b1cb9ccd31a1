import type { SimulatorOptions } from "../simulator/simulator.ts";
import type { Parts } from "../src/service/parts.ts";
import { attributeName, thermostatAttribute } from "../src/virtual-device/attribute-names.ts";
import { addClient, addGrant } from "./granted-client.ts";
import { type House, type LinkedAccounts, type LinkedDevice, linkedAccounts } from "./linked-accounts.ts";
import { prepare } from "./prepared-folder.ts";

/** Devices with the same number of attributes, each with its own user and access token. */
export interface DevicesOfSize {
  readonly attributes: number;
  readonly devices: readonly { readonly path: string; readonly accessToken: string }[];
}

export interface ReadableDevices {
  readonly accounts: LinkedAccounts;
  readonly small: DevicesOfSize;
  readonly full: DevicesOfSize;
}

const smallHouse: House = { structures: [{ thermostats: 4, alarms: 2 }] };
/** Every slot of the model is taken. */
const fullStructure = { thermostats: 20, alarms: 18 };
const fullHouse: House = { structures: [fullStructure, fullStructure] };

/** Linked accounts of two sizes, with a path and a token to read each. The caller must dispose of the accounts. */
export async function readableDevices(countOfSize: number, options: SimulatorOptions = {}): Promise<ReadableDevices> {
  const houseAt = (index: number) => (index < countOfSize ? smallHouse : fullHouse);
  await using finishing = new AsyncDisposableStack();
  const accounts = finishing.use(await linkedAccounts(2 * countOfSize, houseAt, options));
  const devices = await prepare(accounts.folder, async (parts) => {
    for (const [index, device] of accounts.devices.entries()) await fillRequestWrites(parts, device, houseAt(index));
    const client = await addClient(parts, accounts.tenantId);
    return parts.store.transaction(async (tx) => {
      const readable: { path: string; accessToken: string }[] = [];
      for (const { userId, deviceId } of accounts.devices) {
        const { accessToken } = await addGrant(tx, client, userId);
        readable.push({ path: `/v3/devices/${deviceId}`, accessToken });
      }
      return readable;
    });
  });
  finishing.move();
  return {
    accounts,
    small: { attributes: 52, devices: devices.slice(0, countOfSize) },
    full: { attributes: 519, devices: devices.slice(countOfSize) },
  };
}

/** Writes an invalid fan request to each thermostat, so that its requestWrite attribute has a value too. */
async function fillRequestWrites({ devices }: Parts, { userId, deviceId }: LinkedDevice, { structures }: House) {
  const writes = structures.flatMap(({ thermostats }, structure) =>
    Array.from({ length: thermostats }, (_, thermostat) => ({
      name: attributeName(thermostatAttribute(structure + 1, thermostat + 1, "requestWrite")),
      value: "perhaps",
    })),
  );
  await devices.write({ kind: "user", userId }, deviceId, writes);
}
