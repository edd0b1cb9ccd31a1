import { InvalidArgument } from "./errors.ts";

/** What an alert writes, and where: to a device of the same user. */
export interface TriggerTarget {
  readonly deviceId: number;
  readonly attributeName: string;
  /** "" erases. */
  readonly value: string;
}

interface TriggerRest {
  /** `attribute` writes to the targets; any other word is told to those who listen for events. */
  readonly action?: string;
  /** A `regex` must match the whole value: `away` doesn't match `auto-away`, `away|auto-away` does. */
  readonly operation: "regex" | "equals" | ">" | ">=" | "<" | "<=" | "==";
  /** What `regex` and `equals` compare with. */
  readonly stringThreshold?: string;
  /** What the other operations compare with. */
  readonly threshold?: number;
  readonly address?: string;
  readonly msg?: string;
  /** Fire once, and not again until the condition has been false. */
  readonly autoDisarm?: boolean;
  readonly autoDelete?: boolean;
  readonly autoDisable?: boolean;
  /** True unless said otherwise. */
  readonly enable?: boolean;
  /** As the interface writes it, `<device id>,<attribute>:"<value>"`, or as a list that the SDK writes so. */
  readonly targetDeviceAttributes?: string | readonly TriggerTarget[];
}

/** An alert under the names that Android has: `deviceId` and `attrName`. */
export interface TriggerByAttrName extends TriggerRest {
  readonly deviceId: number;
  readonly attrName: string;
}

/** An alert under the names that iOS has: `initWithDeviceId` and `attributeName`. */
export interface TriggerByAttributeName extends TriggerRest {
  readonly initWithDeviceId: number;
  readonly attributeName: string;
}

/** An alert on one attribute of one device, under the names of either platform. */
export type TriggerDefinition = TriggerByAttrName | TriggerByAttributeName;

/** An alert as the service keeps it. */
export interface Trigger {
  readonly triggerId: number;
  readonly deviceId: number;
  readonly attrName: string;
  readonly action: string;
  readonly operation: string;
  readonly stringThreshold: string;
  readonly threshold: number | undefined;
  readonly address: string;
  readonly msg: string;
  readonly autoDisarm: boolean;
  /** Whether it has fired and its condition has not been false since. */
  readonly disarmed: boolean;
  readonly autoDelete: boolean;
  readonly autoDisable: boolean;
  readonly enable: boolean;
  readonly targets: readonly TriggerTarget[];
}

/**
 * The parameters of the platform call, from a definition in either spelling.
 * @internal
 */
export function triggerParameters(definition: TriggerDefinition): Readonly<Record<string, string>> {
  const given = definition as Partial<TriggerByAttrName & TriggerByAttributeName> & TriggerRest;
  const devId = one("deviceId", given.deviceId, "initWithDeviceId", given.initWithDeviceId);
  const attrName = one("attrName", given.attrName, "attributeName", given.attributeName);
  const targets = given.targetDeviceAttributes ?? "";
  return {
    devId: String(devId),
    attrName,
    action: given.action ?? "attribute",
    operation: given.operation,
    stringThreshold: given.stringThreshold ?? "",
    threshold: given.threshold === undefined ? "" : String(given.threshold),
    address: given.address ?? "",
    msg: given.msg ?? "",
    autoDisarm: String(given.autoDisarm ?? false),
    autoDelete: String(given.autoDelete ?? false),
    autoDisable: String(given.autoDisable ?? false),
    enable: String(given.enable ?? true),
    targetDeviceAttributes: typeof targets === "string" ? targets : targets.map(writeTarget).join(";"),
  };
}

/** In quotes a value may hold anything, quotes themselves behind a backslash; so a backslash can't stand before one. */
function writeTarget({ deviceId, attributeName, value }: TriggerTarget): string {
  if (attributeName.includes(":") || value.includes('\\"') || value.endsWith("\\")) {
    throw new InvalidArgument("An alert made by a platform call can't write this; alerts of /v3 can.");
  }
  return `${deviceId},${attributeName}:"${value.replaceAll('"', '\\"')}"`;
}

function one<Value>(name: string, value: Value | undefined, otherName: string, other: Value | undefined): Value {
  if (value !== undefined && other !== undefined && value !== other) {
    throw new InvalidArgument(`${name} and ${otherName} are two names of one thing, and differ.`);
  }
  const given = value ?? other;
  if (given === undefined || given === "") throw new InvalidArgument(`The alert needs ${name} (or ${otherName}).`);
  return given;
}
