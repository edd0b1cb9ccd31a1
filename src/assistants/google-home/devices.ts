import type { ThingKind } from "../../home/thing.ts";
import { type CurrentThing, isReachable } from "../current-thing.ts";
import { ambientTemperature, energyStorage, hygrometer, sensorState, thermometer } from "./sensors.ts";
import { brightness, fanSpeed, onOff, thermostatFan } from "./switches.ts";
import { temperatureSetting } from "./temperature-setting.ts";
import { type GoogleTrait, type GoogleType, type States, traitPrefix, typePrefix } from "./trait.ts";

/** A device as Google knows it. A thermostat with a fan is two of them. */
export interface GoogleDevice {
  readonly id: string;
  readonly thing: CurrentThing;
  readonly type: GoogleType;
  readonly traits: readonly GoogleTrait[];
  /** What is added to the thing's name. */
  readonly nameSuffix: string;
}

const fanPart = ":fan";

const wholeTraits = [
  temperatureSetting,
  onOff,
  brightness,
  fanSpeed,
  sensorState,
  thermometer,
  hygrometer,
  energyStorage,
];

/** Without the trait that Google requires of its type, a thing is at least a thermometer. */
const thermometerTraits = [ambientTemperature, energyStorage];

/** The devices of a thing. None for what Google itself has told us, or has no type for. */
export function googleDevices(thing: CurrentThing): readonly GoogleDevice[] {
  if (thing.isGoogles) return [];
  const isThermostat = thing.kind === "thermostat";
  const whole = isThermostat ? wholeTraits.filter((trait) => trait !== fanSpeed) : wholeTraits;
  const device =
    deviceOf(thing, "", types[thing.kind], whole) ?? deviceOf(thing, "", ["THERMOSTAT"], thermometerTraits);
  const fan = isThermostat ? deviceOf(thing, fanPart, types.fan, [thermostatFan, fanSpeed]) : undefined;
  return [device, fan].filter((one) => one !== undefined);
}

/** A device of the first type whose required trait the thing has. */
function deviceOf(
  thing: CurrentThing,
  part: "" | typeof fanPart,
  possible: readonly GoogleType[],
  possibleTraits: readonly GoogleTrait[],
): GoogleDevice | undefined {
  const traits = possibleTraits.filter((trait) => trait.attributes(thing) !== undefined);
  const type = possible.find((one) => isOfType(one, thing) && traits.some(({ name }) => name === requiredTraits[one]));
  if (!type) return undefined;
  return { id: `${thing.thingId}${part}`, thing, type, traits, nameSuffix: part === "" ? "" : " fan" };
}

/** The thing of a device's id. */
export function thingIdOf(deviceId: string): string {
  return deviceId.endsWith(fanPart) ? deviceId.slice(0, -fanPart.length) : deviceId;
}

/** The types of each kind, the best first. */
const types: Readonly<Record<ThingKind, readonly GoogleType[]>> = {
  thermostat: ["THERMOSTAT"],
  alarm: ["SMOKE_DETECTOR", "CARBON_MONOXIDE_DETECTOR"],
  fan: ["FAN", "SWITCH"],
  light: ["LIGHT"],
  switch: ["SWITCH"],
  sensor: ["SENSOR", "SWITCH"],
  home: [],
  other: ["SWITCH", "SENSOR"],
};

/** The trait that Google requires of a device of the type. */
const requiredTraits: Readonly<Record<GoogleType, string>> = {
  THERMOSTAT: temperatureSetting.name,
  SMOKE_DETECTOR: sensorState.name,
  CARBON_MONOXIDE_DETECTOR: sensorState.name,
  FAN: fanSpeed.name,
  LIGHT: onOff.name,
  SWITCH: onOff.name,
  SENSOR: sensorState.name,
};

function isOfType(type: GoogleType, { traits }: CurrentThing): boolean {
  return type !== "SMOKE_DETECTOR" || traits.smoke !== undefined;
}

/** The device in the answer to SYNC. */
export function syncEntry({ id, thing, type, traits, nameSuffix }: GoogleDevice): object {
  const { name, room, maker, model } = thing;
  const canNotify = traits.includes(sensorState);
  return {
    id,
    type: `${typePrefix}${type}`,
    traits: traits.map((trait) => `${traitPrefix}${trait.name}`),
    name: { name: `${name || room || typeNames[type]}${nameSuffix}` },
    willReportState: true,
    ...(canNotify && { notificationSupportedByAgent: true }),
    ...(room && { roomHint: room }),
    attributes: Object.assign({}, ...traits.map((trait) => trait.attributes(thing))),
    ...((maker || model) && { deviceInfo: { ...(maker && { manufacturer: maker }), ...(model && { model }) } }),
  };
}

/** Names for things that have none. */
const typeNames: Readonly<Record<GoogleType, string>> = {
  THERMOSTAT: "Thermostat",
  SMOKE_DETECTOR: "Smoke alarm",
  CARBON_MONOXIDE_DETECTOR: "Carbon monoxide alarm",
  FAN: "Fan",
  LIGHT: "Light",
  SWITCH: "Switch",
  SENSOR: "Sensor",
};

const offlineStates: States = { online: false };

/**
 * The states of a device, complete for every trait. A device that is not reachable, or of which a trait's state is
 * unknown, is offline and shows no state. An alarm is told whatever else is unknown: then the other traits are left out.
 */
export function statesOf({ thing, traits }: Pick<GoogleDevice, "thing" | "traits">): States {
  if (!isReachable(thing)) return offlineStates;
  const states = traits.map((trait) => trait.states(thing));
  const tellsAlarm = states[traits.indexOf(sensorState)] !== undefined;
  return states.includes(undefined) && !tellsAlarm ? offlineStates : Object.assign({ online: true }, ...states);
}
