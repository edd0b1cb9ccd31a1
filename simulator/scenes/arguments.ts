import type { AccountDocument, DeviceKind, Listing, Structure } from "../home/account-document.ts";
import { entryOf } from "../home/element.ts";
import type { Home, RemovedDevice } from "../home/home.ts";
import type { Json, JsonObject } from "../home/json.ts";
import { badArgument, impossible } from "../refusal.ts";

/** The argument that names a device of each kind. */
export const deviceWords: Readonly<Record<DeviceKind, "thermostat" | "alarm">> = {
  thermostats: "thermostat",
  smoke_co_alarms: "alarm",
};

export const structureArgument = {
  structure: "number (1 is the first) or id of the structure; the first when left out",
};
export const thermostatArguments = {
  structure: "number or id of the structure in which thermostats are counted; the whole account when left out",
  thermostat: "number (1 is the first) or id of the thermostat; the first when left out",
};
export const alarmArguments = {
  structure: "number or id of the structure in which alarms are counted; the whole account when left out",
  alarm: "number (1 is the first) or id of the alarm; the first when left out",
};

export function structuresOf(home: Home): readonly Structure[] {
  return Object.values(home.document.structures ?? {});
}

/** The structure of an argument; the first one when the argument is left out. */
export function chooseStructure(
  document: AccountDocument,
  wanted: Json | undefined,
  argument = "structure",
): Structure {
  const structures = document.structures ?? {};
  const id = chooseId(Object.keys(structures), wanted, argument);
  return structures[id]!;
}

export type ChosenDevice<Kind extends DeviceKind> = RemovedDevice & {
  readonly kind: Kind;
  readonly device: NonNullable<NonNullable<AccountDocument["devices"]>[Kind]>[string];
};

/** The device of an argument: by id, or by its number in one structure or in the whole account. */
export function chooseDevice<Kind extends DeviceKind>(
  document: AccountDocument,
  kind: Kind,
  args: JsonObject,
): ChosenDevice<Kind> {
  const word = deviceWords[kind];
  const structure = args.structure === undefined ? undefined : chooseStructure(document, args.structure);
  const ids = deviceIds(document, kind, structure);
  const listing: Listing<unknown> = document.devices?.[kind] ?? {};
  const known = typeof args[word] === "string" && structure === undefined ? Object.keys(listing) : ids;
  const id = chooseId(known, args[word], word);
  return { kind, device: listing[id]! } as unknown as ChosenDevice<Kind>;
}

/** The ids of existing devices, in the order in which the structures list them. */
export function deviceIds(document: AccountDocument, kind: DeviceKind, structure?: Structure): string[] {
  const structures = structure === undefined ? Object.values(document.structures ?? {}) : [structure];
  const listed = structures.flatMap((structure) => structure[kind] ?? []);
  return listed.filter((id) => entryOf<unknown>(document.devices?.[kind], id) !== undefined);
}

export function readName(args: JsonObject): string | undefined {
  const name = args.name;
  if (name === undefined) return undefined;
  if (typeof name !== "string" || name.length > 1000)
    throw badArgument("name must be a text of at most 1000 characters.");
  return name;
}

export function readCount(args: JsonObject, argument: string, defaultValue: number, max: number): number {
  const count = args[argument] ?? defaultValue;
  if (typeof count !== "number" || !Number.isInteger(count) || count < 0 || count > max) {
    throw badArgument(`${argument} must be a whole number from 0 to ${max}.`);
  }
  return count;
}

function chooseId(ids: readonly string[], wanted: Json | undefined, argument: string): string {
  if (wanted === undefined) {
    if (ids[0] === undefined) throw impossible(`There is no ${argument} to choose.`);
    return ids[0];
  }
  const id = typeof wanted === "number" ? ids[wanted - 1] : ids.find((known) => known === wanted);
  if (id !== undefined) return id;
  const choice = ids.length === 0 ? "There is none" : `Send a number from 1 to ${ids.length} or the id of one`;
  throw badArgument(`There is no such ${argument}. ${choice}.`);
}
