import {
  type AlarmField,
  type AttributeNumber,
  type AttributePosition,
  alarmLimit,
  attributeCount,
  attributeName,
  attributeSpellings,
  isWritable,
  positionOf,
  type StructureField,
  type SummaryField,
  structureLimit,
  type ThermostatField,
  thermostatLimit,
  type ValueKind,
  valueKind,
} from "./attribute-names.ts";

/** The 519 attributes as a reader looks for them: 25 kinds in 5 groups. The reference and the documents show this. */
export interface AttributeGroup {
  readonly title: string;
  /** The values of X and Y in the names of this group. */
  readonly indexes: string;
  /** Other published spellings that the service understands in the names of this group, with X and Y. */
  readonly otherSpellings: readonly string[];
  readonly attributes: readonly CataloguedAttribute[];
  /** How many names of the 519 belong to the group. */
  readonly count: number;
}

/** One kind of attribute: all names that differ in X and Y alone. */
export interface CataloguedAttribute {
  /** The name on the wire, with X and Y in the place of the indexes. */
  readonly pattern: string;
  readonly isWritable: boolean;
  readonly valueKind: ValueKind;
  readonly values: string;
  readonly meaning: string;
}

interface Words {
  readonly values: string;
  readonly meaning: string;
}

const trueOrFalse = "`true`, `false`";
const anyText = "any text";
const alarmState = "`ok`, `warning`, `emergency`; a word that the ecosystem adds is passed on";

const accountWords: Readonly<Record<"totalStructures", Words>> = {
  totalStructures: { values: "1, 2; blank without a structure", meaning: "number of structures" },
};

const summaryWords: Readonly<Record<SummaryField, Words>> = {
  totalThermostats: { values: `0 to ${thermostatLimit}`, meaning: "number of thermostats in the structure" },
  totalAlarms: { values: `0 to ${alarmLimit}`, meaning: "number of alarms in the structure" },
  warningsAll: { values: trueOrFalse, meaning: "an alarm warns of smoke or CO" },
  warningsSmoke: { values: trueOrFalse, meaning: "an alarm warns of smoke" },
  warningsCo: { values: trueOrFalse, meaning: "an alarm warns of CO" },
  emergenciesAll: { values: trueOrFalse, meaning: "an alarm reports an emergency: smoke or CO" },
  emergenciesSmoke: { values: trueOrFalse, meaning: "an alarm reports a smoke emergency" },
  emergenciesCo: { values: trueOrFalse, meaning: "an alarm reports a CO emergency" },
};

const structureWords: Readonly<Record<StructureField, Words>> = {
  away: { values: "`home`, `away`, `auto-away`, `unknown`", meaning: "whether people are at home" },
  name: { values: anyText, meaning: "the structure's friendly name" },
  structureId: { values: anyText, meaning: "the structure's id in the ecosystem" },
};

const thermostatWords: Readonly<Record<ThermostatField, Words>> = {
  name: { values: anyText, meaning: "the thermostat's friendly name" },
  deviceId: { values: anyText, meaning: "the thermostat's id in the ecosystem" },
  isOnline: { values: trueOrFalse, meaning: "the thermostat is online" },
  hasFan: { values: trueOrFalse, meaning: "the thermostat has a fan" },
  fanTimerActive: { values: trueOrFalse, meaning: "the fan timer runs" },
  requestWrite: {
    values: "write `true` or `false`; reads blank, the written value, or `error: <errormsg>, <badvalue>, <timestamp>`",
    meaning: "the fan request and its error",
  },
  fanTimerTimeout: {
    values: "ISO 8601, as `2026-03-01T09:30:00.000Z`",
    meaning: "when the fan timer reaches 0",
  },
};

const alarmWords: Readonly<Record<AlarmField, Words>> = {
  name: { values: anyText, meaning: "the alarm's friendly name" },
  deviceId: { values: anyText, meaning: "the alarm's id in the ecosystem" },
  isOnline: { values: trueOrFalse, meaning: "the alarm is online" },
  coAlarmState: { values: alarmState, meaning: "the state of the CO sensor" },
  smokeAlarmState: { values: alarmState, meaning: "the state of the smoke sensor" },
  uiColorState: { values: "`gray`, `green`, `yellow`, `red`", meaning: "the colour that the alarm shows" },
};

const onlyX = `X is 1 to ${structureLimit}`;
const groupTable: readonly {
  readonly kind: AttributePosition["kind"];
  readonly title: string;
  readonly indexes: string;
}[] = [
  { kind: "account", title: "The account", indexes: "" },
  { kind: "summary", title: "Totals and alarms of a structure", indexes: onlyX },
  { kind: "structure", title: "A structure", indexes: onlyX },
  { kind: "thermostat", title: "A thermostat", indexes: `${onlyX}, Y is 1 to ${thermostatLimit}` },
  { kind: "alarm", title: "A smoke and CO alarm", indexes: `${onlyX}, Y is 1 to ${alarmLimit}` },
];

export function attributeCatalogue(): readonly AttributeGroup[] {
  const numbers = Array.from({ length: attributeCount }, (_, number) => number);
  return groupTable.map(({ kind, title, indexes }) => {
    const own = numbers.filter((number) => positionOf(number).kind === kind);
    const byPattern = Map.groupBy(own, (number) => withoutIndexes(attributeName(number)));
    const attributes = [...byPattern].map(([pattern, [first]]) => catalogued(pattern, first!));
    const otherSpellings = new Set(own.flatMap((number) => attributeSpellings(number).slice(1)).map(withoutField));
    return { title, indexes, otherSpellings: [...otherSpellings], attributes, count: own.length };
  });
}

/** All names on the wire, in the order of their numbers. */
export function attributeNames(): readonly string[] {
  return Array.from({ length: attributeCount }, (_, number) => attributeName(number));
}

/** The type as an answer of /v3 carries it. */
export const valueKindNames: Readonly<Record<ValueKind, string>> = {
  integer: "integer",
  boolean: "boolean string",
  text: "string",
  "date-time": "date-time string",
};

function catalogued(pattern: string, first: AttributeNumber): CataloguedAttribute {
  return {
    pattern,
    isWritable: isWritable(first),
    valueKind: valueKind(first),
    ...wordsFor(positionOf(first)),
  };
}

function wordsFor(position: AttributePosition): Words {
  switch (position.kind) {
    case "account":
      return accountWords[position.field];
    case "summary":
      return summaryWords[position.field];
    case "structure":
      return structureWords[position.field];
    case "thermostat":
      return thermostatWords[position.field];
    case "alarm":
      return alarmWords[position.field];
  }
}

/** All fields of a device share one alternative spelling, so it is listed once. */
function withoutField(name: string): string {
  return withoutIndexes(name).replace(/(?<=\[Y\]\.).*/, "…");
}

function withoutIndexes(name: string): string {
  return name.replace(/structures\[\d+\]/, "structures[X]").replace(/(\.d\.\w+)\[\d+\]/, "$1[Y]");
}
