import type { Attributes, Instance } from "./instance.ts";
import { Refused } from "./refused.ts";

export interface ServiceCall {
  readonly domain: string;
  readonly service: string;
  readonly data: Attributes;
  readonly contextId: string;
}

type Service = (instance: Instance, entityId: string, call: ServiceCall) => void;

/**
 * Carries out a service call for each entity. As in the real instance, an entity that does not exist is skipped, and
 * the call still succeeds.
 */
export function callService(instance: Instance, entityIds: readonly string[], call: ServiceCall): void {
  const service = services[`${call.domain}.${call.service}`];
  if (!service) throw new Refused("not_found", `Service ${call.domain}.${call.service} not found.`);
  for (const entityId of entityIds) {
    const isPresent = instance.states.get(entityId)?.state !== "unavailable" && instance.states.has(entityId);
    if (!isPresent || !entityId.startsWith(`${call.domain}.`)) continue;
    requireFeature(instance, entityId, `${call.domain}.${call.service}`);
    service(instance, entityId, call);
  }
}

/** Bits of `supported_features`. A service needs one of its bits. */
const neededFeatures: Readonly<Record<string, number>> = {
  "climate.set_temperature": 1 | 2,
  "climate.set_fan_mode": 8,
  "climate.set_preset_mode": 16,
  "fan.set_percentage": 1,
  "fan.set_preset_mode": 1 | 8,
  "fan.turn_off": 16,
  "fan.turn_on": 32,
};

function requireFeature(instance: Instance, entityId: string, action: string): void {
  const needed = neededFeatures[action];
  if (needed === undefined || hasFeature(instance, entityId, needed)) return;
  // Before 2024.8 fans had no bits for switching, and every fan could be switched.
  const [year, month] = instance.version.split(".").map(Number) as [number, number];
  if (action.startsWith("fan.turn_") && year * 12 + month < 2024 * 12 + 8) return;
  throw invalid(`Entity ${entityId} does not support action ${action}`);
}

function hasFeature({ states }: Instance, entityId: string, bits: number): boolean {
  return (Number(states.get(entityId)!.attributes.supported_features ?? 0) & bits) !== 0;
}

function invalid(problem: string): Refused {
  return new Refused("service_validation_error", `Validation error: ${problem}`);
}

/** The names of all services by domain, as `get_services` lists them. */
export function serviceNames(): Record<string, Record<string, object>> {
  const byDomain: Record<string, Record<string, object>> = {};
  for (const name of Object.keys(services)) {
    const [domain, service] = name.split(".") as [string, string];
    byDomain[domain] = { ...byDomain[domain], [service]: { fields: {} } };
  }
  return byDomain;
}

const services: Readonly<Record<string, Service>> = {
  "climate.set_temperature": setTemperature,
  "climate.set_hvac_mode": (instance, entityId, { data, contextId }) => {
    setMode(instance, entityId, listed(instance, entityId, "hvac_modes", data.hvac_mode), contextId);
  },
  "climate.set_fan_mode": (instance, entityId, { data, contextId }) => {
    const fan_mode = listed(instance, entityId, "fan_modes", data.fan_mode);
    instance.change(entityId, undefined, { fan_mode }, contextId);
  },
  "climate.set_preset_mode": (instance, entityId, { data, contextId }) => {
    const preset_mode = listed(instance, entityId, "preset_modes", data.preset_mode);
    instance.change(entityId, undefined, { preset_mode }, contextId);
  },
  "fan.turn_on": switching("on"),
  "fan.turn_off": switching("off"),
  "fan.set_percentage": (instance, entityId, { data, contextId }) => {
    const percentage = Number(data.percentage);
    instance.change(entityId, percentage > 0 ? "on" : "off", { percentage }, contextId);
  },
  "fan.set_preset_mode": (instance, entityId, { data, contextId }) => {
    const preset_mode = listed(instance, entityId, "preset_modes", data.preset_mode);
    instance.change(entityId, "on", { preset_mode }, contextId);
  },
  "light.turn_on": (instance, entityId, { data, contextId }) => {
    const percent = data.brightness_pct;
    const modes = instance.states.get(entityId)!.attributes.supported_color_modes;
    // As in the real instance, a light that can't be dimmed is switched on, and its brightness is ignored.
    const canDim = Array.isArray(modes) && modes.some((mode) => mode !== "onoff" && mode !== "unknown");
    const brightness = canDim && typeof percent === "number" ? { brightness: Math.round((percent * 255) / 100) } : {};
    instance.change(entityId, "on", brightness, contextId);
  },
  "light.turn_off": (instance, entityId, { contextId }) => {
    instance.change(entityId, "off", { brightness: null }, contextId);
  },
  "switch.turn_on": switching("on"),
  "switch.turn_off": switching("off"),
};

function switching(state: "on" | "off"): Service {
  return (instance, entityId, { contextId }) => instance.change(entityId, state, {}, contextId);
}

function listed(instance: Instance, entityId: string, list: string, value: unknown): string {
  const allowed = instance.states.get(entityId)?.attributes[list];
  if (Array.isArray(allowed) && allowed.includes(value)) return String(value);
  throw new Refused("service_validation_error", `${value} is not valid. Valid ones are: ${allowed}`);
}

function setTemperature(instance: Instance, entityId: string, { data, contextId }: ServiceCall): void {
  const attributes = instance.states.get(entityId)!.attributes;
  const targets: Record<string, unknown> = {};
  for (const name of ["temperature", "target_temp_low", "target_temp_high"]) {
    const value = data[name];
    if (typeof value !== "number") continue;
    if (!hasFeature(instance, entityId, name === "temperature" ? 1 : 2)) {
      throw invalid(`Set temperature action was used with the parameter ${name}, which ${entityId} does not support`);
    }
    const [min, max] = [Number(attributes.min_temp), Number(attributes.max_temp)];
    if (value < min || value > max) {
      const range = `between ${min} and ${max}`;
      throw new Refused("service_validation_error", `Provided temperature ${value} is not valid. Choose ${range}.`);
    }
    targets[name] = value;
  }
  instance.change(entityId, undefined, targets, contextId);
  settleAction(instance, entityId, contextId);
}

function setMode(instance: Instance, entityId: string, mode: string, contextId: string): void {
  instance.change(entityId, mode, {}, contextId);
  settleAction(instance, entityId, contextId);
}

/** The equipment follows a moment later, in an event of its own with the same context. */
function settleAction(instance: Instance, entityId: string, contextId: string): void {
  setImmediate(() => {
    const entity = instance.states.get(entityId);
    if (!entity) return;
    const { current_temperature: current, temperature: target } = entity.attributes;
    const isCold = typeof current === "number" && typeof target === "number" && current < target;
    const action = entity.state === "off" ? "off" : entity.state === "heat" && isCold ? "heating" : "idle";
    if (entity.attributes.hvac_action !== action)
      instance.change(entityId, undefined, { hvac_action: action }, contextId);
  });
}
