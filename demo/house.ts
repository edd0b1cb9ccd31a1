import type { Simulator } from "../simulator/simulator.ts";
import { ConfigurationError } from "../src/config/config.ts";
import { attributeName, structureAttribute } from "../src/model/attribute-names.ts";
import type { DeviceId } from "../src/model/ids.ts";
import type { Service } from "../src/service/service.ts";
import { failedTo, type Keys } from "./keys.ts";

/** What the demo shows: a simulated home, the device that mirrors it, and a lamp. */
export interface House {
  /** Of the simulator. */
  readonly accountId: string;
  readonly deviceId: DeviceId;
  readonly lampId: DeviceId;
  readonly keys: Keys;
}

export const structureName = "Maple Street";
const lampName = "Hall lamp";
const defaultSeed = "7";

/** Makes what is missing of the house, its link, its lamp and the alerts between them. */
export async function moveIn(service: Service, simulator: Simulator, keys: Keys, seed?: string): Promise<House> {
  const deviceId = (await linkedDevice(service, simulator, keys)) ?? (await link(simulator, keys, seed));
  const lampId = await lampOf(service, keys);
  const house = { accountId: simulator.accountIds()[0]!, deviceId, lampId, keys };
  // Once for each link: alerts that somebody has removed since stay so.
  const prepared = `demo_prepared_${deviceId}`;
  const { store } = service.parts;
  if ((await store.read((tx) => tx.settings.get(prepared))) === undefined) {
    await prepareLamp(house);
    await store.transaction((tx) => tx.settings.getOrKeep(prepared, "yes"));
  }
  return house;
}

/** A house that is there already has its own seed. */
export async function checkSeed({ parts: { store } }: Service, seed = ""): Promise<void> {
  const kept = await store.transaction((tx) => tx.settings.getOrKeep("demo_seed", seed || defaultSeed));
  if (seed === "" || seed === kept) return;
  throw new ConfigurationError([
    `--seed ${seed}: the house in this folder was made with seed ${kept}. Delete the folder, or choose another with --data`,
  ]);
}

/** The link of an earlier start; none when the simulated house is a new one, whose token it can't know. */
async function linkedDevice({ parts }: Service, simulator: Simulator, { userId }: Keys): Promise<DeviceId | undefined> {
  if (simulator.accountIds().length === 0) return undefined;
  return (await parts.devices.list(userId)).find(({ isVirtual }) => isVirtual)?.id;
}

/** Gives the house's token to the adaptor; a link that is there already gets the new token. */
async function link(simulator: Simulator, keys: Keys, seed = defaultSeed): Promise<DeviceId> {
  const [known] = simulator.accountIds();
  const structures = [{ name: structureName, thermostats: 2, alarms: 3 }];
  const token =
    known === undefined ? simulator.addAccount({ seed: seedOf(seed), structures }).token : simulator.issueToken(known);
  const linked = await keys
    .byUser()
    .updateFederatedToken("nest", token)
    .catch(failedTo("The demo house could not be linked"));
  return linked.deviceId as DeviceId;
}

/** As the simulator's other callers write one. */
const seedOf = (seed: string) => (/^\d{1,15}$/.test(seed) ? Number(seed) : seed);

async function lampOf({ parts }: Service, { userId }: Keys): Promise<DeviceId> {
  const known = (await parts.devices.list(userId)).find(({ isVirtual, name }) => !isVirtual && name === lampName);
  if (known) return known.id;
  const lamp = { user: String(userId), name: lampName, type: "Lamp" };
  return ((await parts.administration.run("device add", lamp)) as { deviceId: DeviceId }).deviceId;
}

/** The pair of alerts that the interface describes: somebody home, the lamp goes on; nobody home, it goes off. */
async function prepareLamp({ deviceId, lampId, keys }: House): Promise<void> {
  const known = await keys.byClient.alerts.list({ deviceId });
  for (const [pattern, power] of [
    ["home", "on"],
    ["(auto-)?away", "off"],
  ] as const) {
    if (known.some(({ stringThreshold }) => stringThreshold === pattern)) continue;
    await keys.byUser().addTrigger({
      deviceId,
      action: "attribute",
      attrName: attributeName(structureAttribute(1, "away")),
      operation: "regex",
      stringThreshold: pattern,
      address: "",
      msg: "",
      autoDisarm: true,
      autoDelete: false,
      autoDisable: false,
      enable: true,
      targetDeviceAttributes: `${lampId},power:"${power}"`,
    });
  }
  await keys.byClient.setDeviceAttribute(lampId, "power", "on");
}
