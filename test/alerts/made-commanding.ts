import type { Commanding } from "../../src/alerts/alerts.ts";
import { thingControl } from "../../src/federation/commands/thing-control.ts";
import type { Thing } from "../../src/home/thing.ts";
import type { DeviceId, UserId } from "../../src/model/ids.ts";
import { alertCommanding } from "../../src/service/alert-commanding.ts";
import type { OpenStore } from "../../src/store/seam.ts";
import { type Home, linkOf, node } from "../contracts/store/home.ts";
import { madeThingAlerts, reportOf } from "./made-thing-alerts.ts";

/** A lamp that is off, unless the test says otherwise. */
export function lampThing(fields: Partial<Thing> & { readonly isOn?: boolean } = {}): Thing {
  const { isOn = false, ...thing } = fields;
  const described = { structureId: null, name: "Lamp", room: null, maker: null, model: null, isOnline: true };
  const shown: Omit<Thing, "traits"> = { kind: "light", ...described, ...thing };
  const onOff = { available: shown.isOnline, state: { on: isOn }, capabilities: { readOnly: false } };
  return { ...shown, traits: { onOff } };
}

export const switchOn = { trait: "onOff", command: "set", params: { on: true } } as const;

/** A user with a smoke alarm, whose alerts command things through the gate that clients use. */
export async function madeCommanding(store: OpenStore, { onLimitReached = (_: string): void => undefined } = {}) {
  let wakes = 0;
  const control = thingControl({
    store,
    connectors: new Map(),
    stateOf: () => "live",
    isStale: async () => false,
    stored: () => {
      wakes += 1;
    },
  });
  const commanding: Commanding = alertCommanding(() => control);
  const home = await madeThingAlerts(store, { commanding, onLimitReached });
  const { userId, account, showThings } = home;
  await linkAccount(store, home, userId, account);
  return {
    ...home,
    control,
    /** How often the sender was told that commands are durable. */
    wakes: () => wakes,
    showLamps: (lamps: Readonly<Record<string, Thing>>) =>
      showThings(Object.entries(lamps).map(([thingId, thing]) => reportOf(thingId, thing))),
    /** The receipts of a thing as `state code`, newest first. */
    receipts: async (thingId: string) =>
      (await store.read((tx) => tx.thingCommands.ofThing(userId, account, thingId, 9))).map(
        ({ state, error, alertId }) => ({ state, code: error && JSON.parse(error).code, alertId }),
      ),
  };
}

async function linkAccount(store: OpenStore, home: Home, userId: UserId, account: DeviceId): Promise<void> {
  await store.transaction(async (tx) => {
    const link = { ...linkOf({ ...home, devices: [account] }, node("a")), state: "live" as const };
    await tx.links.add({ ...link, userId });
  });
}
