import { InvalidArgument } from "./errors.ts";
import { checkMembers } from "./known-members.ts";

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

/** An alert under the names of the platform's web call: `devId` and `attrName`. */
export interface TriggerByDevId extends TriggerRest {
  readonly devId: number;
  readonly attrName: string;
}

/** An alert on one attribute of one device, under the names of either platform or of the web call. */
export type TriggerDefinition = TriggerByAttrName | TriggerByAttributeName | TriggerByDevId;

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

const members: readonly string[] = [
  ...["deviceId", "initWithDeviceId", "devId", "attrName", "attributeName", "action", "operation"],
  ...["stringThreshold", "threshold", "address", "msg", "autoDisarm", "autoDelete", "autoDisable", "enable"],
  "targetDeviceAttributes",
];

/**
 * The parameters of the platform call, from a definition in any of the spellings.
 * @internal
 */
export function triggerParameters(definition: TriggerDefinition): Readonly<Record<string, string>> {
  checkMembers("addTrigger", definition, members);
  const given = definition as Partial<TriggerByAttrName & TriggerByAttributeName & TriggerByDevId> & TriggerRest;
  const { deviceId, initWithDeviceId, devId: webDeviceId, attributeName } = given;
  const devId = one({ deviceId, initWithDeviceId, devId: webDeviceId });
  const attrName = one({ attrName: given.attrName, attributeName });
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

/** The value of a thing that has several names. */
function one<Value>(byName: Readonly<Record<string, Value | undefined>>): Value {
  const [name, ...others] = Object.keys(byName);
  const values = new Set(Object.values(byName).filter((value) => value !== undefined && value !== ""));
  const [value] = values;
  if (value === undefined) throw new InvalidArgument(`The alert needs ${name} (or ${others.join(" or ")}).`);
  if (values.size > 1)
    throw new InvalidArgument(`${Object.keys(byName).join(" and ")} are names of one thing, and differ.`);
  return value;
}
