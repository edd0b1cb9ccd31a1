import type { Trait } from "./trait.ts";
import { type Battery, battery } from "./traits/battery.ts";
import { type Brightness, brightness } from "./traits/brightness.ts";
import { type CarbonMonoxide, carbonMonoxide } from "./traits/carbon-monoxide.ts";
import { type Fan, fan } from "./traits/fan.ts";
import { type FanTimer, fanTimer } from "./traits/fan-timer.ts";
import { type Humidity, humidity } from "./traits/humidity.ts";
import { type Indicator, indicator } from "./traits/indicator.ts";
import { type OnOff, onOff } from "./traits/on-off.ts";
import { type Presence, presence } from "./traits/presence.ts";
import { type Smoke, smoke } from "./traits/smoke.ts";
import { type Temperature, temperature } from "./traits/temperature.ts";
import { type Thermostat, thermostat } from "./traits/thermostat.ts";

/** The traits of a thing; a thing has those that its ecosystem or its device type reports. */
export interface Traits {
  readonly onOff?: OnOff;
  readonly brightness?: Brightness;
  readonly temperature?: Temperature;
  readonly humidity?: Humidity;
  readonly thermostat?: Thermostat;
  readonly fanTimer?: FanTimer;
  readonly fan?: Fan;
  readonly smoke?: Smoke;
  readonly carbonMonoxide?: CarbonMonoxide;
  readonly battery?: Battery;
  readonly indicator?: Indicator;
  readonly presence?: Presence;
}

export type TraitName = keyof Traits;

/** Every trait, in the order in which things show them. */
export const traits: Readonly<Record<TraitName, Trait>> = {
  onOff,
  brightness,
  temperature,
  humidity,
  thermostat,
  fanTimer,
  fan,
  smoke,
  carbonMonoxide,
  battery,
  indicator,
  presence,
};

export const traitNames = Object.keys(traits) as readonly TraitName[];
