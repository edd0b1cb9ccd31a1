import type { CurrentThing } from "../current-thing.ts";
import { alarmContact } from "./interfaces/alarm-contact.ts";
import { brightness } from "./interfaces/brightness.ts";
import { fanSpeed } from "./interfaces/fan-speed.ts";
import { fanTimerToggle } from "./interfaces/fan-timer.ts";
import type { AlexaInterface } from "./interfaces/interface.ts";
import { fanPower, power } from "./interfaces/power.ts";
import { temperatureSensor } from "./interfaces/temperature.ts";
import { thermostatController } from "./interfaces/thermostat.ts";

/** How alarms are offered to Alexa: not at all, or as contact sensors. */
export const alarmOptions = ["none", "contact"] as const;

export type AlarmOption = (typeof alarmOptions)[number];

/** What Alexa calls an endpoint: a thing, or the fan of a thermostat. */
export interface Endpoint {
  readonly endpointId: string;
  readonly thing: CurrentThing;
  readonly isFanPart: boolean;
  /** Those that the thing has; never empty. */
  readonly interfaces: readonly AlexaInterface[];
}

/** The endpoints of a thing; none when Alexa has no interface for it. */
export function endpointsOf(thing: CurrentThing, alarms: AlarmOption): readonly Endpoint[] {
  const { traits } = thing;
  const endpoint = (endpointId: string, isFanPart: boolean, interfaces: readonly AlexaInterface[]) => {
    const offered = interfaces.filter((one) => one.offer(thing) !== undefined);
    return offered.length > 0 ? [{ endpointId, thing, isFanPart, interfaces: offered }] : [];
  };
  if (thing.kind === "alarm") {
    return alarms === "contact" ? endpoint(thing.thingId, false, [alarmContact, temperatureSensor]) : [];
  }
  if (!traits.thermostat) {
    const switched = traits.onOff ? power : fanPower;
    return endpoint(thing.thingId, false, [switched, brightness, fanSpeed, fanTimerToggle, temperatureSensor]);
  }
  return [
    ...endpoint(thing.thingId, false, [thermostatController, power, temperatureSensor, fanTimerToggle]),
    ...endpoint(`${thing.thingId}${fanSuffix}`, true, [fanPower, fanSpeed]),
  ];
}

const fanSuffix = ":fan";

/** The thing to which an endpoint id belongs. */
export function thingIdOf(endpointId: string): string {
  return endpointId.endsWith(fanSuffix) ? endpointId.slice(0, -fanSuffix.length) : endpointId;
}

/** All ids that endpoints of a thing may have, or may have had. */
export function possibleEndpointIds(thingId: string): readonly string[] {
  return [thingId, `${thingId}${fanSuffix}`];
}
