import type { AttributeChange } from "../devices/commit.ts";
import { traits } from "../home/catalogue.ts";
import { readMapped } from "../home/mapped-value.ts";
import { attributeSource, type TraitMap } from "../home/trait-map.ts";
import type { Store, Transaction } from "../store/seam.ts";
import type { DeviceRow } from "../store/tables/devices.ts";
import type { OwnThings, OwnThingTables } from "./own-things.ts";

/**
 * Whether a write makes an alarm of an own device anything but clear. Such a commit goes before all others. Repeating
 * a state is not urgent: a client could otherwise hold up everyone by writing it again and again.
 */
export async function startsAlarm(
  store: Store<Pick<Transaction, "attributes"> & OwnThingTables>,
  ownThings: OwnThings,
  { userId, id }: Pick<DeviceRow, "userId" | "id">,
  changes: readonly AttributeChange[],
): Promise<boolean> {
  return store.read(async (tx) => {
    const device = await tx.mappedDevices.within({ kind: "user", userId }, id);
    const mapped = device && (await ownThings.maps.of(tx, device));
    const danger = mapped ? changes.filter((change) => isDanger(mapped.map, change)) : [];
    if (danger.length === 0) return false;
    const keys = danger.map(({ key }) => key);
    const present = new Map((await tx.attributes.some(userId, id, keys)).map(({ key, value }) => [key, value]));
    return danger.some(({ key, value }) => (present.get(key) ?? null) !== value);
  });
}

function isDanger(map: TraitMap, { key, value }: AttributeChange): boolean {
  return (["smoke", "carbonMonoxide"] as const).some((trait) => {
    const source = attributeSource(map, trait, "state");
    return source?.attribute === key && readMapped(source.format, traits[trait].fields.state!.value, value) !== "clear";
  });
}
