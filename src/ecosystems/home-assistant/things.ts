import type { Traits } from "../../home/catalogue.ts";
import type { Thing } from "../../home/thing.ts";
import { noConditions } from "../../home/traits/alarm-states.ts";
import { textOf } from "../kit/document-values.ts";
import { alarmTrait, type ReportedConditions } from "./domains/alarm.ts";
import { batteryTrait } from "./domains/battery.ts";
import { climateTraits } from "./domains/climate.ts";
import { absorbedFanTraits, fanTraits } from "./domains/fan.ts";
import { lightTraits, switchTraits } from "./domains/light.ts";
import { humidityTrait, temperatureTrait } from "./domains/measured.ts";
import type { TemperatureUnit } from "./domains/values.ts";
import type { EntityState, EntityView } from "./entity-states.ts";
import type { AlarmHalf, Group } from "./grouping.ts";
import { type Entity, joinNames, type Registries } from "./registries.ts";
import { alarmConditions, type Role } from "./roles.ts";

export interface ThingContext extends Pick<Registries, "devices" | "areas"> {
  readonly structureId: string;
  readonly unit: TemperatureUnit;
  readonly tellsFanSwitching: boolean;
  readonly view: (entityId: string) => EntityView;
}

type Conditions = Readonly<Record<AlarmHalf, ReportedConditions>>;

/**
 * The thing of a group. A trait of an entity that has not told anything is left out, so that values which are stored
 * from before stay. An entity that is not fresh shows its last values as not available, and so does every entity of a
 * device that is disconnected. An alarm that says that it is broken shows its values too, as not available.
 */
export function thingOf(group: Group, context: ThingContext): Thing {
  const { devices, areas, structureId } = context;
  const { primary, kind } = group;
  const device = primary.deviceId === null ? undefined : devices.get(primary.deviceId);
  const area = primary.areaId ?? device?.areaId ?? null;
  const isDisconnected = saysDisconnected(group, context);
  const conditions = {
    smoke: conditionsOf("smoke", group, context),
    carbonMonoxide: conditionsOf("carbonMonoxide", group, context),
  };
  const isBroken = conditions.smoke.fault === true || conditions.carbonMonoxide.fault === true;
  return {
    kind,
    structureId,
    name: nameOf(group, context),
    room: area === null ? null : (areas.get(area) ?? null),
    maker: device?.maker ?? null,
    model: device?.model ?? null,
    integration: primary.integration,
    isOnline: !isDisconnected && !isBroken && isReachable(group, context),
    traits: traitsOf(group, context, conditions, isDisconnected),
  };
}

/** The name that Home Assistant shows. The only thing of a device has the device's name, unless a person named it. */
function nameOf({ primary, soleOf }: Group, { devices, view }: ThingContext): string | null {
  const deviceName = soleOf === null || primary.name !== null ? undefined : devices.get(soleOf)?.name;
  if (deviceName) return deviceName;
  const { attributes, lastState } = view(primary.entityId);
  // The name of a restored state may be only a part.
  const present = attributes.restored === true ? null : textOf(attributes.friendly_name);
  return present || registeredName(primary, devices) || textOf(lastState?.attributes.friendly_name) || primary.entityId;
}

/** The whole name of an entity without a state. */
function registeredName({ name, originalName, isNamePart, deviceId }: Entity, devices: Registries["devices"]) {
  const own = name ?? originalName;
  return isNamePart ? joinNames(devices.get(deviceId ?? "")?.name ?? null, own) : own;
}

/**
 * Whether the main entity is reached. An alarm is reached only while both of its sensors tell their states of now: where
 * only words of the states are shown, the last "clear" would look like the present one.
 */
function isReachable({ primary, parts: { smoke, carbonMonoxide } }: Group, { view }: ThingContext): boolean {
  const dangers = [smoke, carbonMonoxide].filter((entity) => entity !== undefined);
  return view(primary.entityId).isReachable && dangers.every(({ entityId }) => view(entityId).isFresh);
}

/**
 * Whether the device says that it is disconnected: it knows better than its entities, whose last states may remain.
 * False when nothing is known of its connection.
 */
function saysDisconnected({ parts }: Group, { view }: ThingContext): boolean {
  const connectivity = parts.connectivity && view(parts.connectivity.entityId);
  return connectivity?.isFresh === true && connectivity.lastState?.state === "off";
}

/** What the device says of one half of an alarm. One entity that is on is enough; null when none has told anything. */
function conditionsOf(half: AlarmHalf, group: Group, { view }: ThingContext): ReportedConditions {
  if (group.conditions.length === 0) return noConditions;
  const reported: Partial<Record<keyof ReportedConditions, boolean | null>> = {};
  for (const condition of alarmConditions) {
    const states = group.conditions
      .filter((one) => one.condition === condition && (one.half ?? half) === half)
      .map(({ entity }) => view(entity.entityId).lastState?.state);
    reported[condition] = states.includes("on") ? true : states.includes("off") ? false : null;
  }
  return reported as ReportedConditions;
}

function traitsOf(
  { parts }: Group,
  { view, unit, tellsFanSwitching }: ThingContext,
  conditions: Conditions,
  isDisconnected: boolean,
): Traits {
  const stateOf = (role: Role): readonly [EntityState, boolean] | undefined => {
    const entity: Entity | undefined = parts[role];
    const seen = entity && view(entity.entityId);
    return seen?.lastState && [seen.lastState, seen.isFresh && !isDisconnected];
  };
  const [climate, fan, light, plug] = (["climate", "fan", "light", "switch"] as const).map(stateOf);
  const [smoke, carbonMonoxide] = [stateOf("smoke"), stateOf("carbonMonoxide")];
  const [temperature, humidity] = [stateOf("temperature"), stateOf("humidity")];
  const [low, level] = [stateOf("batteryLow"), stateOf("batteryLevel")];
  const battery = batteryTrait(low?.[0], level?.[0], (low?.[1] ?? true) && (level?.[1] ?? true));
  return {
    ...(temperature && { temperature: temperatureTrait(...temperature, unit) }),
    ...(humidity && { humidity: humidityTrait(...humidity) }),
    ...(fan && (parts.climate ? absorbedFanTraits : fanTraits)(...fan, tellsFanSwitching)),
    ...(light && lightTraits(...light)),
    ...(plug && switchTraits(...plug)),
    // A thermostat's own temperature, humidity and fan replace those of other entities of its device.
    ...(climate && climateTraits(...climate, unit)),
    ...(smoke && { smoke: alarmTrait(...smoke, conditions.smoke) }),
    ...(carbonMonoxide && { carbonMonoxide: alarmTrait(...carbonMonoxide, conditions.carbonMonoxide) }),
    ...(battery && { battery }),
  };
}
