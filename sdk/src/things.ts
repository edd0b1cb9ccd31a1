import type { Cause } from "./devices.ts";

/** The kind of a thing. */
export type ThingKind = "thermostat" | "alarm" | "fan" | "light" | "switch" | "sensor" | "home" | "other";

/** A field of a trait. */
export interface ThingField {
  /** Temperatures are Celsius, times are milliseconds. Null: the ecosystem did not tell the value. */
  readonly value: string | number | boolean | null;
  /** Time of the last change in milliseconds. */
  readonly updateTime: number;
}

/** What a trait of a thing can do. Null: the ecosystem did not tell it. */
export type ThingCapability = string | number | boolean | readonly string[] | null;

/** Any trait of a thing, for code that goes through all of them. */
export interface ThingTrait {
  readonly capabilities: Readonly<Record<string, ThingCapability>>;
  /**
   * The fields by name; with `since`, only those that changed. `available` false: the device does not answer, and the
   * other values are the last known ones. `available` null: the ecosystem does not tell.
   */
  readonly state: Readonly<Record<string, ThingField>>;
}

/** A trait of the catalogue, with the names of its fields and capabilities. */
export type NamedTrait<Field extends string, Capability extends string> = {
  readonly capabilities: { readonly [Name in Capability]?: ThingCapability };
  readonly state: { readonly [Name in Field | "available"]?: ThingField };
};

/** The traits of a thing, as the trait catalogue describes them. A thing has those that its ecosystem tells of. */
export interface ThingTraits {
  readonly onOff?: NamedTrait<"on", "readOnly">;
  readonly brightness?: NamedTrait<"percent", never>;
  readonly temperature?: NamedTrait<"celsius", "unit">;
  readonly humidity?: NamedTrait<"percent", never>;
  readonly thermostat?: NamedTrait<ThermostatField, ThermostatCapability>;
  readonly fanTimer?: NamedTrait<"active" | "untilMs" | "untilText", "supported" | "maxMinutes">;
  readonly fan?: NamedTrait<"mode" | "percent", "modes" | "percentStep">;
  readonly smoke?: NamedTrait<AlarmField, "graded">;
  readonly carbonMonoxide?: NamedTrait<AlarmField, "graded">;
  readonly battery?: NamedTrait<"state" | "percent", never>;
  readonly indicator?: NamedTrait<"color", never>;
  readonly presence?: NamedTrait<"state" | "word", never>;
}

type AlarmField = "state" | "word" | "testing" | "fault" | "endOfLife" | "muted";

type ThermostatField =
  | "mode"
  | "baseMode"
  | "heatCelsius"
  | "coolCelsius"
  | "targetCelsius"
  | "ecoHeatCelsius"
  | "ecoCoolCelsius"
  | "preset"
  | "action";

type ThermostatCapability =
  | "modes"
  | "presets"
  | "dual"
  | "minHeatCelsius"
  | "maxHeatCelsius"
  | "minCoolCelsius"
  | "maxCoolCelsius"
  | "stepCelsius"
  | "unit"
  | "minGapCelsius"
  | "single";

/** A thing of a linked account: a device that a person would point at, or a home. */
export interface Thing {
  /** Stays the same after relinking, and after unlinking and linking again. */
  readonly thingId: string;
  /** The thing's owner. Only with an enterprise token. */
  readonly userId?: number;
  /** The virtual device of the linked account that reports it. */
  readonly deviceId: number;
  readonly kind: ThingKind;
  readonly name: string | null;
  readonly room: string | null;
  readonly homeName: string | null;
  readonly maker: string | null;
  readonly model: string | null;
  /** The ecosystem that reports it. */
  readonly source: string;
  /** Whether the values may be out of date: the link is not live, or the thing is gone. */
  readonly stale: boolean;
  /** When the ecosystem last confirmed the whole account, in milliseconds. Undefined if nothing is known to confirm it. */
  readonly confirmedTime: number | undefined;
  /** Since when the thing is gone, in milliseconds. Undefined while it is there. */
  readonly goneTime: number | undefined;
  readonly traits: ThingTraits;
}

/** A change in a thing's past. */
export interface PastThingChange {
  /** `state`: only fields changed. `changed`: its description or its capabilities too. */
  readonly what: "added" | "changed" | "state" | "gone";
  /** The changed fields by trait and name, such as `smoke.state`. */
  readonly fields: Readonly<Record<string, Pick<ThingField, "value">>>;
  /** When it was committed, in milliseconds. */
  readonly updateTime: number;
  /** Missing when the account was unlinked. */
  readonly cause?: Cause;
}
