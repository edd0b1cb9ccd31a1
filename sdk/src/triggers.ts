import { InvalidArgument } from "./errors.ts";
import { checkMembers } from "./known-members.ts";

/** A value that an alert writes to a device of the same user. */
export interface TriggerTarget {
  readonly deviceId: number;
  readonly attributeName: string;
  /** "" erases. */
  readonly value: string;
}

interface TriggerRest {
  /** `attribute` writes to the targets; any other text is sent to event streams and webhooks. */
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
  /** True by default. */
  readonly enable?: boolean;
  /** The interface's format, `<device id>,<attribute>:"<value>"`, or a list, which the SDK converts to it. */
  readonly targetDeviceAttributes?: string | readonly TriggerTarget[];
}

/** An alert with the names of Android: `deviceId` and `attrName`. */
export interface TriggerByAttrName extends TriggerRest {
  readonly deviceId: number;
  readonly attrName: string;
}

/** An alert with the names of iOS: `initWithDeviceId` and `attributeName`. */
export interface TriggerByAttributeName extends TriggerRest {
  readonly initWithDeviceId: number;
  readonly attributeName: string;
}

/** An alert with the names of the platform's web call: `devId` and `attrName`. */
export interface TriggerByDevId extends TriggerRest {
  readonly devId: number;
  readonly attrName: string;
}

/** An alert on one attribute of one device, with the names of either platform or of the web call. */
export type TriggerDefinition = TriggerByAttrName | TriggerByAttributeName | TriggerByDevId;

/** A stored alert. */
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
 * The parameters of the platform call for a definition with any of the names.
 * @internal
 */
export function triggerParameters(definition: TriggerDefinition): Readonly<Record<string, string>> {
  checkMembers("addTrigger", definition, members);
  const fields = definition as Partial<TriggerByAttrName & TriggerByAttributeName & TriggerByDevId> & TriggerRest;
  const { deviceId, initWithDeviceId, devId: webDeviceId, attributeName } = fields;
  const devId = singleValue({ deviceId, initWithDeviceId, devId: webDeviceId });
  const attrName = singleValue({ attrName: fields.attrName, attributeName });
  const targets = fields.targetDeviceAttributes ?? "";
  return {
    devId: String(devId),
    attrName,
    action: fields.action ?? "attribute",
    operation: fields.operation,
    stringThreshold: fields.stringThreshold ?? "",
    threshold: fields.threshold === undefined ? "" : String(fields.threshold),
    address: fields.address ?? "",
    msg: fields.msg ?? "",
    autoDisarm: String(fields.autoDisarm ?? false),
    autoDelete: String(fields.autoDelete ?? false),
    autoDisable: String(fields.autoDisable ?? false),
    enable: String(fields.enable ?? true),
    targetDeviceAttributes: typeof targets === "string" ? targets : targets.map(writeTarget).join(";"),
  };
}

/** The format escapes a quote with a backslash but has no escape for a backslash, so `\"` can't be expressed. */
function writeTarget({ deviceId, attributeName, value }: TriggerTarget): string {
  if (attributeName.includes(":") || value.includes('\\"') || value.endsWith("\\")) {
    throw new InvalidArgument("An alert made by a platform call can't write this; alerts of /v3 can.");
  }
  return `${deviceId},${attributeName}:"${value.replaceAll('"', '\\"')}"`;
}

/** The value of a field that has several names. */
function singleValue<Value>(byName: Readonly<Record<string, Value | undefined>>): Value {
  const [name, ...others] = Object.keys(byName);
  const values = new Set(Object.values(byName).filter((value) => value !== undefined && value !== ""));
  const [value] = values;
  if (value === undefined) throw new InvalidArgument(`The alert needs ${name} (or ${others.join(" or ")}).`);
  if (values.size > 1)
    throw new InvalidArgument(`${Object.keys(byName).join(" and ")} are names of one thing, and differ.`);
  return value;
}
