import { BadParameter, NotFound } from "../../model/errors.ts";
import {
  type AttributePosition,
  attributeName,
  parseAttributeName,
  positionOf,
} from "../../virtual-device/attribute-names.ts";

/** A device in an answer of /v3. */
export interface ShownDevice {
  readonly deviceId: number;
  readonly deviceName: string;
  readonly deviceTypeName: string;
  readonly presenceInfo: number;
  readonly stale: boolean;
  readonly confirmedTime?: number;
  readonly attributes: Readonly<Record<string, ShownAttribute>>;
}

export interface ShownAttribute {
  readonly value: string | number | null;
  readonly updateTime: number;
}

/** An attribute by the names of the home: `Maple Street › Hallway › is_online`. */
export interface FriendlyName {
  /** The structure, and the device in it. Empty for attributes of the account, or of an ordinary device. */
  readonly place: readonly string[];
  /** The rest of the attribute name. */
  readonly field: string;
  /** The prefix of the attribute name. */
  readonly namePrefix: string;
}

/** Translates attribute names into friendly names, using the names in the device's own attributes. */
export function friendlyNames({ attributes }: Pick<ShownDevice, "attributes">): (wireName: string) => FriendlyName {
  const called = (name: string, otherwise: string) => String(attributes[name]?.value ?? otherwise);
  return (wireName) => {
    const known = parseAttributeName(wireName);
    if (!known) return { place: [], field: wireName, namePrefix: "" };
    const position = positionOf(known.number);
    const namePrefix = prefixOf(position);
    const field = attributeName(known.number).slice(namePrefix === "" ? 0 : namePrefix.length + 1);
    if (position.kind === "account") return { place: [], field, namePrefix };
    const structure = called(`d.structures[${position.x}].a.name`, `structure ${position.x}`);
    if (position.kind === "structure" || position.kind === "summary") return { place: [structure], field, namePrefix };
    const what = position.kind === "thermostat" ? "thermostat" : "alarm";
    return { place: [structure, called(`${namePrefix}.name`, `${what} ${position.y}`)], field, namePrefix };
  };
}

export function inWords({ place, field }: FriendlyName): string {
  return [...place, field].join(" › ");
}

/**
 * The attributes that a text refers to: an attribute name, or consecutive friendly names, separated by `/`:
 * `Hallway/is_online`, `away`, `Kitchen` for all attributes of it.
 */
export function attributesMatching(device: Pick<ShownDevice, "attributes">, text: string): readonly string[] {
  if (device.attributes[text] || parseAttributeName(text)) return [text];
  const friendly = friendlyNames(device);
  const words = text.split(/\s*[/›>]\s*/).map((word) => word.toLowerCase());
  return Object.keys(device.attributes).filter((name) => {
    const { place, field } = friendly(name);
    let at = 0;
    for (const part of [...place, field]) if (matchesName(part, words[at])) at++;
    return at === words.length;
  });
}

/** Whether a name is the word, or begins with it: the ecosystem calls things "Hallway (144A)". */
export function matchesName(name: string, word: string | undefined): boolean {
  const [fullName, prefix] = [name.toLowerCase(), word?.toLowerCase()];
  return prefix !== undefined && prefix !== "" && (fullName === prefix || fullName.startsWith(`${prefix} `));
}

/** The only attribute that a text refers to; throws if there are none or several. */
export function attributeMatching(device: ShownDevice, text: string): string {
  const found = attributesMatching(device, text);
  const [first, second] = found;
  if (!first) throw new NotFound(noAttributeMessage(device, text));
  if (second) {
    const some = found.slice(0, 5).map((name) => `  ${name}`);
    throw new BadParameter("name", `"${text}" may mean ${found.length} attributes. Name one:\n${some.join("\n")}`);
  }
  return first;
}

export function noAttributeMessage({ deviceId }: Pick<ShownDevice, "deviceId">, text: string): string {
  return `Device ${deviceId} has nothing called "${text}". See all with: breezeway device get ${deviceId}`;
}

function prefixOf(position: AttributePosition): string {
  switch (position.kind) {
    case "account":
      return "";
    case "summary":
      return `o.structures[${position.x}]`;
    case "structure":
      return `d.structures[${position.x}].a`;
    case "thermostat":
      return `d.structures[${position.x}].d.thermostats[${position.y}]`;
    case "alarm":
      return `d.structures[${position.x}].d.smokeCoAlarms[${position.y}]`;
  }
}
