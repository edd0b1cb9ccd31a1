import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { commandError } from "../../../src/assistants/alexa/errors.ts";
import { errorResponse } from "../../../src/assistants/alexa/messages.ts";
import { type CommandError, commandErrorText } from "../../../src/home/command-errors.ts";
import { checked } from "./checked.ts";

/** Every error of a command: `trait`, the error, and what Alexa is told. */
const cases: readonly (readonly [string, CommandError, string, object?])[] = [
  ["onOff", { code: "unknownThing" }, "Alexa NO_SUCH_ENDPOINT"],
  ["fan", { code: "notSupported", command: "fan.setMode", reason: "no" }, "Alexa INVALID_DIRECTIVE"],
  ["fan", { code: "badValue", parameter: "percent", problem: "must be a number" }, "Alexa INVALID_VALUE"],
  [
    "thermostat",
    { code: "outOfRange", parameter: "celsius", min: 9, max: 32, unit: "celsius" },
    "Alexa TEMPERATURE_VALUE_OUT_OF_RANGE",
    {
      validRange: {
        minimumValue: { value: 9, scale: "CELSIUS" },
        maximumValue: { value: 32, scale: "CELSIUS" },
      },
    },
  ],
  [
    "thermostat",
    { code: "outOfRange", parameter: "celsius", min: null, max: 32, unit: "celsius" },
    "Alexa TEMPERATURE_VALUE_OUT_OF_RANGE",
    { validRange: { maximumValue: { value: 32, scale: "CELSIUS" } } },
  ],
  [
    "brightness",
    { code: "outOfRange", parameter: "percent", min: 1, max: 100, unit: "percent" },
    "Alexa VALUE_OUT_OF_RANGE",
    { validRange: { minimumValue: 1, maximumValue: 100 } },
  ],
  [
    "thermostat",
    { code: "rangeTooClose", gap: 1.5 },
    "Alexa.ThermostatController REQUESTED_SETPOINTS_TOO_CLOSE",
    { minimumTemperatureDelta: { value: 1.5, scale: "CELSIUS" } },
  ],
  [
    "thermostat",
    { code: "rangeTooClose", gap: 101 },
    "Alexa.ThermostatController REQUESTED_SETPOINTS_TOO_CLOSE",
    { minimumTemperatureDelta: { value: 100, scale: "CELSIUS" } },
  ],
  [
    "thermostat",
    { code: "modeNotSupported", mode: "cool", modes: ["heat"] },
    "Alexa.ThermostatController UNSUPPORTED_THERMOSTAT_MODE",
  ],
  ["fan", { code: "modeNotSupported", mode: "on", modes: ["low"] }, "Alexa INVALID_VALUE"],
  ["thermostat", { code: "notInMode", mode: "off" }, "Alexa.ThermostatController THERMOSTAT_IS_OFF"],
  [
    "thermostat",
    { code: "notInMode", mode: "eco" },
    "Alexa NOT_SUPPORTED_IN_CURRENT_MODE",
    { currentDeviceMode: "OTHER" },
  ],
  ["thermostat", { code: "offline" }, "Alexa ENDPOINT_UNREACHABLE"],
  ["thermostat", { code: "stale" }, "Alexa ENDPOINT_UNREACHABLE"],
  ["fanTimer", { code: "notHome" }, "Alexa.ThermostatController UNWILLING_TO_SET_VALUE"],
  ["thermostat", { code: "needsReauth" }, "Alexa CLOUD_CONTROL_DISABLED"],
  ["onOff", { code: "busy" }, "Alexa ENDPOINT_BUSY"],
  ["onOff", { code: "rateLimited", retryAfterMs: 1_000 }, "Alexa RATE_LIMIT_EXCEEDED"],
  ["onOff", { code: "forbidden" }, "Alexa INSUFFICIENT_PERMISSIONS"],
  ["thermostat", { code: "refused", text: "locked" }, "Alexa.ThermostatController UNWILLING_TO_SET_VALUE"],
  ["onOff", { code: "refused", text: "locked" }, "Alexa INTERNAL_ERROR"],
  ["onOff", { code: "noAnswer" }, "Alexa ENDPOINT_UNREACHABLE"],
  ["onOff", { code: "notSent" }, "Alexa BRIDGE_UNREACHABLE"],
  ["onOff", { code: "superseded" }, "Alexa ALREADY_IN_OPERATION"],
];

describe("an error of a command", () => {
  for (const [trait, error, expected, details = {}] of cases) {
    it(`has Alexa's own type: ${trait} ${JSON.stringify(error)}`, () => {
      const answered = { messageId: "m", correlationToken: "c", endpointId: "e" };
      const { event } = checked(errorResponse(answered, commandError(error, trait)));
      const { type, message, ...more } = event.payload;
      assert.equal(`${event.header.namespace} ${type}`, expected);
      assert.equal(message, commandErrorText(error));
      assert.deepEqual(more, details);
      assert.equal(event.header.correlationToken, "c");
      assert.deepEqual(event.endpoint, { endpointId: "e" });
    });
  }
});
