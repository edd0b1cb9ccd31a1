import { type AttributePlace, attributeName, parseAttributeName, placeOf } from "../../model/attribute-names.ts";
import { BadParameter, NotFound } from "../../model/errors.ts";

/** The type of the devices that mirror a linked account. */
export const virtualTypeName = "EcosystemAccount";

/** A device as /v3 answers it. */
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

/** An attribute by the words of the home: `Maple Street › Hallway › is_online`. */
export interface FriendlyName {
  /** Where it stands: the structure, and the device in it. Empty for what is said of the account, or of a plain device. */
  readonly place: readonly string[];
  /** The rest of the name on the wire. */
  readonly field: string;
  /** What the name on the wire begins with. */
  readonly wirePlace: string;
}

/** Turns names on the wire into words, by the names that the home's own attributes give. */
export function friendlyNames({ attributes }: Pick<ShownDevice, "attributes">): (wireName: string) => FriendlyName {
  const called = (name: string, otherwise: string) => String(attributes[name]?.value ?? otherwise);
  return (wireName) => {
    const known = parseAttributeName(wireName);
    if (!known) return { place: [], field: wireName, wirePlace: "" };
    const place = placeOf(known.number);
    const wirePlace = prefixOf(place);
    const field = attributeName(known.number).slice(wirePlace === "" ? 0 : wirePlace.length + 1);
    if (place.kind === "account") return { place: [], field, wirePlace };
    const structure = called(`d.structures[${place.x}].a.name`, `structure ${place.x}`);
    if (place.kind === "structure" || place.kind === "summary") return { place: [structure], field, wirePlace };
    const what = place.kind === "thermostat" ? "thermostat" : "alarm";
    return { place: [structure, called(`${wirePlace}.name`, `${what} ${place.y}`)], field, wirePlace };
  };
}

export function inWords({ place, field }: FriendlyName): string {
  return [...place, field].join(" › ");
}

/**
 * The attributes that somebody means: by a name on the wire, or by words of the home that follow each other, separated
 * by `/`: `Hallway/is_online`, `away`, `Kitchen` for all of it.
 */
export function meantBy(device: Pick<ShownDevice, "attributes">, text: string): readonly string[] {
  if (device.attributes[text] || parseAttributeName(text)) return [text];
  const friendly = friendlyNames(device);
  const words = text.split(/\s*[/›>]\s*/).map((word) => word.toLowerCase());
  return Object.keys(device.attributes).filter((name) => {
    const { place, field } = friendly(name);
    let at = 0;
    for (const part of [...place, field]) if (isCalled(part, words[at])) at++;
    return at === words.length;
  });
}

/** A name may go on behind what is said: the ecosystem calls things "Hallway (144A)". */
export function isCalled(name: string, word: string | undefined): boolean {
  const [whole, wanted] = [name.toLowerCase(), word?.toLowerCase()];
  return wanted !== undefined && wanted !== "" && (whole === wanted || whole.startsWith(`${wanted} `));
}

/** The same for who may mean one alone. */
export function theOneMeant(device: ShownDevice, text: string): string {
  const found = meantBy(device, text);
  const [first, second] = found;
  if (!first) throw new NotFound(nothingLike(device, text));
  if (second) {
    const some = found.slice(0, 5).map((name) => `  ${name}`);
    throw new BadParameter("name", `"${text}" may mean ${found.length} attributes. Name one:\n${some.join("\n")}`);
  }
  return first;
}

export function nothingLike({ deviceId }: Pick<ShownDevice, "deviceId">, text: string): string {
  return `Device ${deviceId} has nothing called "${text}". See all with: breezeway device get ${deviceId}`;
}

function prefixOf(place: AttributePlace): string {
  switch (place.kind) {
    case "account":
      return "";
    case "summary":
      return `o.structures[${place.x}]`;
    case "structure":
      return `d.structures[${place.x}].a`;
    case "thermostat":
      return `d.structures[${place.x}].d.thermostats[${place.y}]`;
    case "alarm":
      return `d.structures[${place.x}].d.smokeCoAlarms[${place.y}]`;
  }
}
