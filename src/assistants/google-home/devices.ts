import type { ThingKind } from "../../home/thing.ts";
import { type CurrentThing, isReachable } from "../current-thing.ts";
import { energyStorage, hygrometer, sensorState, thermometer } from "./sensors.ts";
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

/** Traits that say something only beside others. */
const accessories: readonly GoogleTrait[] = [energyStorage];

/** The devices of a thing. None for what Google itself has told us, or has no type for. */
export function googleDevices(thing: CurrentThing): readonly GoogleDevice[] {
  if (thing.isGoogles) return [];
  const type = typeOf(thing);
  const offered = (traits: readonly GoogleTrait[]) => traits.filter((trait) => trait.attributes(thing) !== undefined);
  const isThermostat = thing.kind === "thermostat";
  const traits = offered(isThermostat ? wholeTraits.filter((trait) => trait !== fanSpeed) : wholeTraits);
  const isShown = type !== undefined && traits.some((trait) => !accessories.includes(trait));
  const fanTraits = isThermostat ? offered([thermostatFan, fanSpeed]) : [];
  return [
    ...(isShown ? [{ id: thing.thingId, thing, type, traits, nameSuffix: "" }] : []),
    ...(fanTraits.length > 0
      ? [{ id: `${thing.thingId}${fanPart}`, thing, type: "FAN" as const, traits: fanTraits, nameSuffix: " fan" }]
      : []),
  ];
}

/** The thing of a device's id. */
export function thingIdOf(deviceId: string): string {
  return deviceId.endsWith(fanPart) ? deviceId.slice(0, -fanPart.length) : deviceId;
}

const types: Readonly<Record<ThingKind, GoogleType | undefined>> = {
  thermostat: "THERMOSTAT",
  alarm: "SMOKE_DETECTOR",
  fan: "FAN",
  light: "LIGHT",
  switch: "SWITCH",
  sensor: "SENSOR",
  home: undefined,
  other: "SWITCH",
};

function typeOf({ kind, traits }: CurrentThing): GoogleType | undefined {
  if (kind === "alarm" && !traits.smoke) return traits.carbonMonoxide && "CARBON_MONOXIDE_DETECTOR";
  return kind === "other" && !traits.onOff ? "SENSOR" : types[kind];
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
