import assert from "node:assert/strict";
import type { Json } from "../google-world.ts";

/** Google's codes that this service answers with. */
const errorCodes = [
  ...["authFailure", "deviceBusy", "deviceNotFound", "functionNotSupported", "hardError", "inAutoMode", "inAwayMode"],
  ...["inDryMode", "inEcoMode", "inFanOnlyMode", "inHeatOrCool", "inOffMode", "notSupported", "offline"],
  ...["rangeTooClose", "relinkRequired", "transientError", "valueOutOfRange"],
];

/** The trait that Google requires of a device of each type. */
const requiredTraits: Readonly<Record<string, string>> = {
  THERMOSTAT: "TemperatureSetting",
  SMOKE_DETECTOR: "SensorState",
  CARBON_MONOXIDE_DETECTOR: "SensorState",
  SENSOR: "SensorState",
  FAN: "FanSpeed",
  LIGHT: "OnOff",
  SWITCH: "OnOff",
};

/** The list of devices: each once, named, with types, traits and attributes of its own. */
export function assertListed(devices: readonly Json[]): void {
  const ids = devices.map(({ id }) => id);
  assert.deepEqual(ids, [...new Set(ids)], "each device is listed once");
  for (const { id, type, traits, name, attributes, willReportState } of devices) {
    assert.match(type, /^action\.devices\.types\.[A-Z_]+$/, id);
    const required = requiredTraits[type.replace("action.devices.types.", "")];
    assert.ok(required && traits.includes(`action.devices.traits.${required}`), `${type} has ${traits}`);
    assert.ok(traits.length > 0 && new Set(traits).size === traits.length, id);
    assert.ok(typeof name.name === "string" && name.name !== "", id);
    assert.ok(typeof attributes === "object" && willReportState === true, id);
  }
}

/** The entry of one device in the answer to QUERY. */
export function assertQueried(entry: Json): void {
  const { status, online, errorCode, ...states } = entry;
  assert.ok(["SUCCESS", "OFFLINE", "ERROR"].includes(status), status);
  assert.equal(online, status === "SUCCESS");
  if (status === "SUCCESS") assert.equal(errorCode, undefined);
  else {
    assert.ok(errorCodes.includes(errorCode), errorCode);
    assert.deepEqual(states, {}, "an offline device shows no state");
  }
}

/** The results of EXECUTE: one for each device that was named, in the same order. */
export function assertExecuted(results: readonly Json[], asked: readonly string[]): void {
  assert.deepEqual(
    results.map(({ ids }) => ids),
    asked.map((id) => [id]),
  );
  for (const { status, errorCode, states } of results) {
    assert.ok(["SUCCESS", "PENDING", "OFFLINE", "ERROR"].includes(status), status);
    const isFailed = status === "OFFLINE" || status === "ERROR";
    assert.equal(errorCode !== undefined, isFailed);
    if (isFailed) assert.ok(errorCodes.includes(errorCode), errorCode);
    if (status !== "SUCCESS") assert.equal(states, undefined);
  }
}
