/**
 * The 519 attributes of a virtual device (docs/interface.md, The virtual device): their numbers, names and kinds of
 * value. Databases store the numbers, so neither the order of the tables below nor their lengths may ever change.
 */
export type AttributeNumber = number;

export type ValueKind = "integer" | "boolean" | "text" | "date-time";

export type SummaryField = (typeof summaryTable)[number]["field"];
export type StructureField = (typeof structureTable)[number]["field"];
export type ThermostatField = (typeof thermostatTable)[number]["field"];
export type AlarmField = (typeof alarmTable)[number]["field"];

/** What an attribute describes; x and y are the indexes X and Y of the interface and count from 1. */
export type AttributePosition =
  | { readonly kind: "account"; readonly field: "totalStructures" }
  | { readonly kind: "summary"; readonly x: number; readonly field: SummaryField }
  | { readonly kind: "structure"; readonly x: number; readonly field: StructureField }
  | { readonly kind: "thermostat"; readonly x: number; readonly y: number; readonly field: ThermostatField }
  | { readonly kind: "alarm"; readonly x: number; readonly y: number; readonly field: AlarmField };

/** An attribute as a client named it; the answer repeats the client's spelling. */
export interface NamedAttribute {
  readonly number: AttributeNumber;
  readonly spelling: string;
}

export const structureLimit = 2;
export const thermostatLimit = 20;
export const alarmLimit = 18;

const summaryTable = [
  { field: "totalThermostats", wireName: "totals.thermostats", valueKind: "integer" },
  {
    field: "totalAlarms",
    wireName: "totals.smokeCOAlarms",
    otherSpelling: "totals.smokeCoAlarms",
    valueKind: "integer",
  },
  { field: "warningsAll", wireName: "warnings.all", valueKind: "boolean" },
  { field: "warningsSmoke", wireName: "warnings.smoke", valueKind: "boolean" },
  { field: "warningsCo", wireName: "warnings.CO", valueKind: "boolean" },
  { field: "emergenciesAll", wireName: "emergencies.all", valueKind: "boolean" },
  { field: "emergenciesSmoke", wireName: "emergencies.smoke", valueKind: "boolean" },
  { field: "emergenciesCo", wireName: "emergencies.CO", valueKind: "boolean" },
] as const;

const structureTable = [
  { field: "away", wireName: "away", valueKind: "text" },
  { field: "name", wireName: "name", valueKind: "text" },
  { field: "structureId", wireName: "structure_id", valueKind: "text" },
] as const;

const thermostatTable = [
  { field: "name", wireName: "name", valueKind: "text" },
  { field: "deviceId", wireName: "device_id", valueKind: "text" },
  { field: "isOnline", wireName: "is_online", valueKind: "boolean" },
  { field: "hasFan", wireName: "has_fan", valueKind: "boolean" },
  { field: "fanTimerActive", wireName: "fan_timer_active", valueKind: "boolean" },
  { field: "requestWrite", wireName: "fan_timer_active.requestWrite", valueKind: "text" },
  { field: "fanTimerTimeout", wireName: "fan_timer_timeout", valueKind: "date-time" },
] as const;

const alarmTable = [
  { field: "name", wireName: "name", valueKind: "text" },
  { field: "deviceId", wireName: "device_id", valueKind: "text" },
  { field: "isOnline", wireName: "is_online", valueKind: "boolean" },
  { field: "coAlarmState", wireName: "co_alarm_state", valueKind: "text" },
  { field: "smokeAlarmState", wireName: "smoke_alarm_state", valueKind: "text" },
  { field: "uiColorState", wireName: "ui_color_state", valueKind: "text" },
] as const;

const structureOffset = summaryTable.length;
const thermostatOffset = structureOffset + structureTable.length;
const alarmOffset = thermostatOffset + thermostatLimit * thermostatTable.length;
const blockLength = alarmOffset + alarmLimit * alarmTable.length;

const summaryOrder = orderOf<SummaryField>(summaryTable);
const structureOrder = orderOf<StructureField>(structureTable);
/** The place of each field among the attributes of a thermostat, counted from `thermostatStart`. */
export const thermostatOrder = orderOf<ThermostatField>(thermostatTable);
/** The same for an alarm, counted from `alarmStart`. */
export const alarmOrder = orderOf<AlarmField>(alarmTable);

export const totalStructures: AttributeNumber = 0;

export function structureSummary(x: number, field: SummaryField): AttributeNumber {
  return blockOf(x) + summaryOrder[field];
}

export function structureAttribute(x: number, field: StructureField): AttributeNumber {
  return blockOf(x) + structureOffset + structureOrder[field];
}

export function thermostatAttribute(x: number, y: number, field: ThermostatField): AttributeNumber {
  return thermostatStart(x, y) + thermostatOrder[field];
}

export function alarmAttribute(x: number, y: number, field: AlarmField): AttributeNumber {
  return alarmStart(x, y) + alarmOrder[field];
}

/** The number of a thermostat's first attribute. */
export function thermostatStart(x: number, y: number): AttributeNumber {
  return blockOf(x) + thermostatOffset + (y - 1) * thermostatTable.length;
}

/** The number of an alarm's first attribute. */
export function alarmStart(x: number, y: number): AttributeNumber {
  return blockOf(x) + alarmOffset + (y - 1) * alarmTable.length;
}

interface AttributeEntry {
  readonly position: AttributePosition;
  readonly valueKind: ValueKind;
  /** Every accepted name of this attribute; the first is the name on the wire. */
  readonly spellings: readonly string[];
}

const entries: readonly AttributeEntry[] = listAttributes();
const named: ReadonlyMap<string, NamedAttribute> = new Map(
  entries.flatMap(({ spellings }, number) => spellings.map((spelling) => [spelling, { number, spelling }])),
);

export const attributeCount = 519;

/** The name on the wire. */
export function attributeName(number: AttributeNumber): string {
  return entryOf(number).spellings[0]!;
}

/**
 * Reads a name that a client sent. Every way in (/v3, streams, webhooks, alerts, platform calls) uses this function, so
 * that all of them accept the same spellings. Undefined when a virtual device has no such attribute.
 */
export function parseAttributeName(text: string): NamedAttribute | undefined {
  return named.get(text);
}

/** Every name that a client may use for the attribute; the first is the name on the wire. */
export function attributeSpellings(number: AttributeNumber): readonly string[] {
  return entryOf(number).spellings;
}

export function positionOf(number: AttributeNumber): AttributePosition {
  return entryOf(number).position;
}

export function valueKind(number: AttributeNumber): ValueKind {
  return entryOf(number).valueKind;
}

/** A client may write the fan requests and nothing else. */
export function isWritable(number: AttributeNumber): boolean {
  const position = positionOf(number);
  return position.kind === "thermostat" && position.field === "requestWrite";
}

function entryOf(number: AttributeNumber): AttributeEntry {
  const entry = entries[number];
  if (entry === undefined) throw new RangeError(`A virtual device has no attribute number ${number}.`);
  return entry;
}

function blockOf(x: number): AttributeNumber {
  return 1 + (x - 1) * blockLength;
}

function orderOf<Field extends string>(table: readonly { readonly field: Field }[]): Readonly<Record<Field, number>> {
  return Object.fromEntries(table.map(({ field }, index) => [field, index])) as Record<Field, number>;
}

/** All attributes by number: each entry is stored at the number that the functions above compute. */
function listAttributes(): AttributeEntry[] {
  const list: AttributeEntry[] = [];
  list[totalStructures] = {
    position: { kind: "account", field: "totalStructures" },
    valueKind: "integer",
    spellings: ["o.totalStructures"],
  };
  for (let x = 1; x <= structureLimit; x++) {
    for (const row of summaryTable) {
      const { field, wireName, valueKind } = row;
      const wireNames = "otherSpelling" in row ? [wireName, row.otherSpelling] : [wireName];
      const spellings = wireNames.map((name) => `o.structures[${x}].${name}`);
      list[structureSummary(x, field)] = { position: { kind: "summary", x, field }, valueKind, spellings };
    }
    for (const { field, wireName, valueKind } of structureTable) {
      const spellings = [`d.structures[${x}].a.${wireName}`];
      list[structureAttribute(x, field)] = { position: { kind: "structure", x, field }, valueKind, spellings };
    }
    for (let y = 1; y <= thermostatLimit; y++) {
      for (const { field, wireName, valueKind } of thermostatTable) {
        const spellings = ["thermostats", "thermostat"].map((word) => `d.structures[${x}].d.${word}[${y}].${wireName}`);
        list[thermostatAttribute(x, y, field)] = {
          position: { kind: "thermostat", x, y, field },
          valueKind,
          spellings,
        };
      }
    }
    for (let y = 1; y <= alarmLimit; y++) {
      for (const { field, wireName, valueKind } of alarmTable) {
        const words = ["smokeCoAlarms", "smokeCOAlarms"];
        const spellings = words.map((word) => `d.structures[${x}].d.${word}[${y}].${wireName}`);
        list[alarmAttribute(x, y, field)] = { position: { kind: "alarm", x, y, field }, valueKind, spellings };
      }
    }
  }
  return list;
}
