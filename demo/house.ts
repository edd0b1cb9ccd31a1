import { ConfigurationError } from "../src/config/config.ts";
import type { DeviceId } from "../src/model/ids.ts";
import type { Service } from "../src/service/service.ts";
import { type DemoAccess, failedTo } from "./access.ts";
import type { DemoEcosystem, LampRule } from "./ecosystems/ecosystem.ts";
import { declareLamp, lampType } from "./lamp-cloud.ts";

/** A simulated home, the virtual device that mirrors it, and a lamp. */
export interface House {
  readonly deviceId: DeviceId;
  readonly lampId: DeviceId;
  readonly access: DemoAccess;
}

export const structureName = "Maple Street";
const lampName = "Hall lamp";
const lampRoom = "Hall";
const defaultSeed = "7";

/** Creates the house, its link, its lamp and the alerts between them where they are missing. */
export async function prepareHouse(
  service: Service,
  ecosystem: DemoEcosystem,
  access: DemoAccess,
  seed: string,
): Promise<House> {
  const deviceId = (await linkedDevice(service, ecosystem, access)) ?? (await link(service, ecosystem, access, seed));
  await declareLamp(access.byClient).catch(failedTo("The type of the lamp could not be declared"));
  const lampId = await lampOf(access);
  const house = { deviceId, lampId, access };
  // Once for each link: alerts that the user has removed are not created again.
  const prepared = `demo_prepared_${deviceId}`;
  const { store } = service.parts;
  if ((await store.read((tx) => tx.settings.get(prepared))) === undefined) {
    await prepareLamp(house, ecosystem.lamp);
    await store.transaction((tx) => tx.settings.getOrKeep(prepared, "yes"));
  }
  return house;
}

/** The seed of the house. Refuses a seed that differs from that of the existing house. */
export async function checkSeed({ parts: { store } }: Service, seed = ""): Promise<string> {
  const stored = await store.transaction((tx) => tx.settings.getOrKeep("demo_seed", seed || defaultSeed));
  if (seed === "" || seed === stored) return stored;
  throw new ConfigurationError([
    `--seed ${seed}: the house in this folder was made with seed ${stored}. Delete the folder, or choose another with --data`,
  ]);
}

/** The device that an earlier start linked; undefined if the link must be made or renewed. */
async function linkedDevice(
  { parts }: Service,
  { hasHouse }: DemoEcosystem,
  { userId }: DemoAccess,
): Promise<DeviceId | undefined> {
  if (!hasHouse) return undefined;
  return (await parts.devices.list(userId)).find(({ isVirtual }) => isVirtual)?.id;
}

/** Links the house; an existing link gets the token. */
async function link({ parts }: Service, ecosystem: DemoEcosystem, access: DemoAccess, seed: string): Promise<DeviceId> {
  const issued = ecosystem.issueToken(seed);
  if ("credential" in issued) {
    const { federation, devices } = parts;
    const isLinked = (await devices.list(access.userId)).some(({ isVirtual }) => isVirtual);
    const act = isLinked ? federation.relink : federation.link;
    return act(access.userId, ecosystem.configuration.name, issued.credential);
  }
  const { token, ...options } = issued;
  const linked = await access
    .byUser()
    .updateFederatedToken(ecosystem.configuration.name, token, options)
    .catch(failedTo("The demo house could not be linked"));
  return linked.deviceId as DeviceId;
}

async function lampOf({ byClient, userId }: DemoAccess): Promise<DeviceId> {
  const lamps = await byClient.getDevices({ deviceTypeName: lampType });
  const known = lamps.find((lamp) => lamp.userId === userId && lamp.deviceName === lampName);
  if (known) return known.deviceId as DeviceId;
  const lamp = { userId, deviceTypeName: lampType, deviceName: lampName, room: lampRoom };
  return (await byClient.devices.add(lamp)).deviceId as DeviceId;
}

/** Adds two alerts: one switches the lamp on, the other off. */
async function prepareLamp({ deviceId, lampId, access }: House, rule: LampRule): Promise<void> {
  const known = await access.byClient.alerts.list({ deviceId });
  for (const [pattern, power] of [
    [rule.on, "on"],
    [rule.off, "off"],
  ] as const) {
    if (known.some(({ stringThreshold }) => stringThreshold === pattern)) continue;
    await access.byUser().addTrigger({
      deviceId,
      action: "attribute",
      attrName: rule.attribute,
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
  await access.byClient.setDeviceAttribute(lampId, "power", rule.first);
}
