import fc from "fast-check";

/** What is sent to Alexa's skill: a directive to one of the endpoints, by its place in the list. */
export interface AskedDirective {
  readonly name: string;
  readonly instance?: string | undefined;
  readonly payload: unknown;
  readonly to: Target;
  readonly token: "good" | "read-only" | "expired" | "foreign";
  readonly correlationToken?: string | undefined;
  readonly version: unknown;
}

/** A device by its place among those that the assistant knows, or an id that it does not have. */
export type Target = number | string;

const anyTarget: fc.Arbitrary<Target> = fc.oneof(
  { weight: 12, arbitrary: fc.nat(1_000) },
  { weight: 1, arbitrary: fc.constantFrom("t_0000000000000000000000", "t_someone-else:fan", "", "a b", "[0].x", "é") },
);

const anyDegrees = fc.oneof(
  fc.integer({ min: 5, max: 35 }),
  fc.integer({ min: -400, max: 400 }),
  fc.constantFrom(20.55, 1e9, "20", null),
);
const anyTemperature = fc.record({
  value: anyDegrees,
  scale: fc.constantFrom("CELSIUS", "CELSIUS", "FAHRENHEIT", "KELVIN", "REAUMUR"),
});
const anyPercent = fc.oneof(fc.integer({ min: 0, max: 100 }), fc.constantFrom(-10, 0.5, 200, "50", null));
const anyDifference = fc.oneof(fc.integer({ min: -100, max: 100 }), fc.constantFrom(0.5, 1_000, "1", undefined));

type Asked = readonly [name: string, payload: fc.Arbitrary<unknown>, instance?: string];

const none = fc.constant({});
const directives: readonly Asked[] = [
  ["Alexa ReportState", none],
  ["Alexa ReportState", none],
  ["Alexa.Discovery Discover", none],
  ["Alexa.PowerController TurnOn", none],
  ["Alexa.PowerController TurnOff", none],
  ["Alexa.ToggleController TurnOn", none, "Fan.Timer"],
  ["Alexa.ToggleController TurnOff", none, "Fan.Timer"],
  ["Alexa.RangeController SetRangeValue", fc.record({ rangeValue: anyPercent }), "Fan.Speed"],
  [
    "Alexa.RangeController AdjustRangeValue",
    fc.record({ rangeValueDelta: anyDifference, rangeValueDeltaDefault: fc.boolean() }),
    "Fan.Speed",
  ],
  ["Alexa.BrightnessController SetBrightness", fc.record({ brightness: anyPercent })],
  ["Alexa.BrightnessController AdjustBrightness", fc.record({ brightnessDelta: anyDifference })],
  ["Alexa.ThermostatController SetTargetTemperature", fc.record({ targetSetpoint: anyTemperature })],
  [
    "Alexa.ThermostatController SetTargetTemperature",
    fc.record({ lowerSetpoint: anyTemperature, upperSetpoint: anyTemperature }),
  ],
  [
    "Alexa.ThermostatController SetTargetTemperature",
    fc.record(
      { targetSetpoint: anyTemperature, lowerSetpoint: anyTemperature, schedule: fc.constant({}) },
      { requiredKeys: [] },
    ),
  ],
  ["Alexa.ThermostatController AdjustTargetTemperature", fc.record({ targetSetpointDelta: anyTemperature })],
  [
    "Alexa.ThermostatController SetThermostatMode",
    fc.record({
      thermostatMode: fc.record({ value: fc.constantFrom("HEAT", "COOL", "AUTO", "ECO", "OFF", "DRY", 7) }),
    }),
  ],
  ["Alexa.LockController Lock", none],
  ["Alexa.PowerController toString", none],
];

export const anyDirective: fc.Arbitrary<AskedDirective> = fc
  .constantFrom(...directives)
  .chain(([name, payload, instance]) =>
    fc.record({
      name: fc.constant(name),
      instance: fc.oneof({ weight: 9, arbitrary: fc.constant(instance) }, fc.constantFrom(undefined, "Other")),
      payload: fc.oneof({ weight: 12, arbitrary: payload }, fc.jsonValue()),
      to: anyTarget,
      token: fc.constantFrom("good", "good", "good", "good", "good", "good", "good", "read-only", "expired", "foreign"),
      correlationToken: fc.option(fc.string({ minLength: 1, maxLength: 200, size: "max" }), {
        nil: undefined,
        freq: 9,
      }),
      version: fc.oneof({ weight: 20, arbitrary: fc.constant("3") }, fc.constantFrom("2", 3, undefined)),
    }),
  );

/** A command of Google with its parameters. */
export interface AskedStep {
  readonly command: string;
  readonly params: unknown;
}

const commands: readonly Asked[] = [
  ["OnOff", fc.record({ on: fc.oneof({ weight: 9, arbitrary: fc.boolean() }, fc.constant("on")) })],
  ["BrightnessAbsolute", fc.record({ brightness: anyPercent })],
  ["BrightnessRelative", fc.record({ brightnessRelativePercent: anyDifference })],
  ["BrightnessRelative", fc.record({ brightnessRelativeWeight: fc.integer({ min: -5, max: 5 }) })],
  ["SetFanSpeed", fc.record({ fanSpeedPercent: anyPercent })],
  ["SetFanSpeedRelative", fc.record({ fanSpeedRelativeWeight: anyDifference })],
  ["ThermostatTemperatureSetpoint", fc.record({ thermostatTemperatureSetpoint: anyDegrees })],
  [
    "ThermostatTemperatureSetRange",
    fc.record({ thermostatTemperatureSetpointHigh: anyDegrees, thermostatTemperatureSetpointLow: anyDegrees }),
  ],
  [
    "ThermostatSetMode",
    fc.record({
      thermostatMode: fc.constantFrom("off", "heat", "cool", "heatcool", "on", "eco", "dry", "purifier", 3),
    }),
  ],
  ["TemperatureRelative", fc.record({ thermostatTemperatureRelativeDegree: anyDegrees })],
  ["TemperatureRelative", fc.record({ thermostatTemperatureRelativeWeight: fc.integer({ min: -5, max: 5 }) })],
  ["LockUnlock", fc.record({ lock: fc.boolean() })],
  ["toString", none],
];

const anyStep: fc.Arbitrary<AskedStep> = fc
  .constantFrom(...commands)
  .chain(([command, params]) =>
    fc.record({ command: fc.constant(command), params: fc.oneof({ weight: 12, arbitrary: params }, fc.constant({})) }),
  );

/** An intent of Google: what is executed, or what is asked about. */
export type AskedIntent =
  | { readonly intent: "SYNC" }
  | { readonly intent: "QUERY"; readonly to: readonly Target[] }
  | {
      readonly intent: "EXECUTE";
      readonly isReadOnly: boolean;
      readonly groups: readonly { readonly to: readonly Target[]; readonly steps: readonly AskedStep[] }[];
    };

const anyTargets = fc.array(anyTarget, { minLength: 1, maxLength: 4 });

export const anyIntent: fc.Arbitrary<AskedIntent> = fc.oneof(
  { weight: 1, arbitrary: fc.constant({ intent: "SYNC" as const }) },
  { weight: 3, arbitrary: fc.record({ intent: fc.constant("QUERY" as const), to: anyTargets }) },
  {
    weight: 8,
    arbitrary: fc.record({
      intent: fc.constant("EXECUTE" as const),
      isReadOnly: fc.constantFrom(false, false, false, false, true),
      groups: fc.array(fc.record({ to: anyTargets, steps: fc.array(anyStep, { minLength: 1, maxLength: 3 }) }), {
        minLength: 1,
        maxLength: 2,
      }),
    }),
  },
);
