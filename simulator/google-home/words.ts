import type { ReceivedCall } from "./home-graph-answers.ts";
import { hasTrait, type SyncedDevice } from "./wishes.ts";

export function kindWord({ type }: SyncedDevice): string {
  const word = type.replace("action.devices.types.", "").replaceAll("_", " ").toLowerCase();
  return word.charAt(0).toUpperCase() + word.slice(1);
}

/** What a person can ask of a device. */
export function abilities(device: SyncedDevice): readonly string[] {
  const { attributes } = device;
  const has = (trait: string) => hasTrait(device, trait);
  return [
    ...(has("OnOff") ? [attributes.queryOnlyOnOff ? "tells on or off" : "on and off"] : []),
    ...(has("Brightness") ? ["brightness"] : []),
    ...(has("FanSpeed") ? ["speed"] : []),
    ...(has("TemperatureSetting") && !attributes.queryOnlyTemperatureSetting ? ["target temperature", "mode"] : []),
    ...(has("TemperatureSetting") || has("TemperatureControl") ? ["tells the temperature"] : []),
    ...(has("HumiditySetting") ? ["tells the humidity"] : []),
    ...(has("SensorState") ? ["tells smoke and carbon monoxide", "sends notifications"] : []),
    ...(has("EnergyStorage") ? ["tells the battery"] : []),
  ];
}

export type DeviceState = Readonly<Record<string, unknown>>;

/** The state of a device, without whether it is online. */
export function stateWords(state: DeviceState): string {
  const degrees = (value: unknown) => (typeof value === "number" ? `${Math.round(value * 10) / 10} °C` : "");
  const ambient = state.thermostatTemperatureAmbient ?? state.temperatureAmbientCelsius;
  const low = state.thermostatTemperatureSetpointLow;
  const words = [
    degrees(ambient),
    state.thermostatMode === undefined ? "" : `mode ${state.thermostatMode}`,
    state.thermostatTemperatureSetpoint === undefined ? "" : `target ${degrees(state.thermostatTemperatureSetpoint)}`,
    low === undefined ? "" : `from ${degrees(low)} to ${degrees(state.thermostatTemperatureSetpointHigh)}`,
    typeof state.on === "boolean" ? (state.on ? "on" : "off") : "",
    typeof state.brightness === "number" ? `brightness ${state.brightness} %` : "",
    typeof state.currentFanSpeedPercent === "number" ? `speed ${state.currentFanSpeedPercent} %` : "",
    typeof state.humidityAmbientPercent === "number" ? `humidity ${state.humidityAmbientPercent} %` : "",
    ...sensorWords(state),
    typeof state.descriptiveCapacityRemaining === "string"
      ? `battery ${state.descriptiveCapacityRemaining.toLowerCase()}`
      : "",
  ];
  return words.filter((word) => word !== "").join(", ") || "no value known";
}

function sensorWords({ currentSensorStateData: data }: DeviceState): readonly string[] {
  if (!Array.isArray(data)) return [];
  // "no smoke detected" names what it is about; "high" and "unknown" do not.
  return data.map(({ name, currentSensorState: word }) =>
    word.includes("detected") ? word : `${sensors[name] ?? name} ${word}`,
  );
}

const sensors: Readonly<Record<string, string>> = { SmokeLevel: "smoke", CarbonMonoxideLevel: "carbon monoxide" };

/** Google's error codes in words; the code itself stands beside them. */
export function errorWords(code: string): string {
  return `${errors[code] ?? "That did not work."} (${code})`;
}

const errors: Readonly<Record<string, string>> = {
  deviceNotFound: "The device is not there any more.",
  deviceOffline: "The device is offline.",
  functionNotSupported: "The device can't do that.",
  hardError: "The device did not do it.",
  inAutoMode: "It is in the mode auto.",
  inAwayMode: "Nobody is home, so it is not done.",
  inEcoMode: "It is in the mode eco.",
  inHeatOrCool: "It heats or cools between two temperatures, so one target is not enough.",
  inOffMode: "It is off.",
  offline: "The device is not reachable.",
  relinkRequired: "The account must be linked again.",
  transientError: "It did not work this time.",
  valueOutOfRange: "The value is out of range.",
};

/** What a call of Home Graph tells. `nameOf` gives the name of a device. */
export function callWords({ method, body }: ReceivedCall, nameOf: (id: string) => string): string {
  if (method === "requestSync") return "Asks Google to read the list of devices again";
  if (method !== "reportStateAndNotification") return `Calls ${method}`;
  const { states = {}, notifications = {} } = body?.payload?.devices ?? {};
  const alarms = Object.keys(notifications).map((id) => `Notification of ${nameOf(id)}`);
  const stateWordsOfDevices = Object.entries<DeviceState>(states).map(
    ([id, state]) => `${nameOf(id)}: ${state.online === true ? stateWords(state) : "offline"}`,
  );
  return [...alarms, ...stateWordsOfDevices].join(" · ");
}
