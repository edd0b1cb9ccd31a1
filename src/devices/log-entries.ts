import type { FieldChange, FieldValue } from "../home/stored-thing.ts";
import type { Cause } from "../model/cause.ts";
import type { DeviceId, TriggerId, UserId } from "../model/ids.ts";
import type { AttributeKey } from "../store/tables/attributes.ts";
import type { FanRequestRow } from "../store/tables/fan-requests.ts";
import type { LogEntry } from "../store/tables/log.ts";
import type { ThingCommandRow } from "../store/tables/thing-commands.ts";
import type { ThingChange } from "./thing-writes.ts";

/** The body of an `attribute` entry: the cause, and each changed attribute with its new value. */
export interface AttributeBody {
  readonly cause: Cause;
  readonly changes: readonly (readonly [key: AttributeKey, value: string | null])[];
  /** The things that changed in the same commit. */
  readonly things?: readonly LoggedThing[];
}

/** A thing in the log: what happened to it, and each changed field as `trait.field` with its new value. */
export interface LoggedThing {
  readonly thingId: string;
  readonly what: ThingChange["what"];
  readonly fields?: Readonly<Record<string, FieldValue>>;
  /** The fields among them whose alarm has become a warning. Left out when there are none. */
  readonly eased?: readonly string[];
}

/** The body of a `thing` entry: a commit that changed things and no attribute, or an unlinked account. */
export interface ThingBody {
  /** Left out when the account was unlinked. */
  readonly cause?: Cause;
  readonly things: readonly LoggedThing[];
}

export function attributeEntry(
  userId: UserId,
  deviceId: DeviceId,
  timeMs: number,
  cause: Cause,
  changes: readonly { readonly key: AttributeKey; readonly value: string | null }[],
  things: readonly ThingChange[] = [],
): LogEntry {
  const body: AttributeBody = {
    cause,
    changes: changes.map(({ key, value }) => [key, value]),
    ...(things.length > 0 && { things: things.map(loggedThing) }),
  };
  return { userId, deviceId, kind: "attribute", timeMs, body: JSON.stringify(body) };
}

export function thingEntry(
  userId: UserId,
  deviceId: DeviceId,
  timeMs: number,
  things: readonly ThingChange[],
  cause?: Cause,
): LogEntry {
  const body: ThingBody = { ...(cause && { cause }), things: things.map(loggedThing) };
  return { userId, deviceId, kind: "thing", timeMs, body: JSON.stringify(body) };
}

export function loggedThing({ thingId, what, fields }: ThingChange): LoggedThing {
  if (fields.length === 0) return { thingId, what };
  const eased = fields.filter(({ isEased }) => isEased).map(nameOf);
  return {
    thingId,
    what,
    fields: Object.fromEntries(fields.map((one) => [nameOf(one), one.value])),
    ...(eased.length > 0 && { eased }),
  };
}

function nameOf({ trait, field }: FieldChange): string {
  return `${trait}.${field}`;
}

/** A device was added or removed, or its name or room changed; the attributes of an added device follow in entries of their own. */
export function deviceEntry(
  userId: UserId,
  deviceId: DeviceId,
  timeMs: number,
  what: "added" | "changed" | "removed",
): LogEntry {
  return { userId, deviceId, kind: "device", timeMs, body: JSON.stringify({ what }) };
}

/** A firing: what is delivered, and what explains it later. */
interface Firing {
  readonly alert: number;
  readonly action: string;
  /** The value that made the alert fire. */
  readonly value: string | null;
  readonly address: string;
  readonly message: string;
  /** The writes of this firing; empty when the action is not to write, or when a limit stopped it. */
  readonly writes: readonly { readonly deviceId: DeviceId; readonly attributeName: string; readonly value: string }[];
  /** The commands of this firing with their receipts; left out when there are none. */
  readonly commands?: readonly {
    readonly thingId: string;
    readonly commandId: string;
    readonly state: ThingCommandRow["state"];
  }[];
  /** Why the alert did not do everything that its definition says. */
  readonly note?: string;
}

/** The body of an `alert` entry: an alert on an attribute fired. */
export interface AlertBody extends Firing {
  /** As the alert's owner spelled it. */
  readonly attributeName: string;
}

/**
 * The body of a `thingAlert` entry: an alert on a thing fired. Its kind differs from `alert`, because clients that did
 * not ask for things must not get it, and nodes of the version before would send it to them.
 */
export interface ThingAlertBody extends Firing {
  readonly thingId: string;
  readonly field: string;
}

export function alertEntry(
  userId: UserId,
  deviceId: DeviceId,
  timeMs: number,
  body: AlertBody | ThingAlertBody,
): LogEntry {
  const kind = "thingId" in body ? "thingAlert" : "alert";
  return { userId, deviceId, kind, timeMs, body: JSON.stringify(body) };
}

export function readAttributeBody(entry: LogEntry): AttributeBody {
  return JSON.parse(entry.body) as AttributeBody;
}

/** The things that a commit changed. */
export function loggedThings(entry: LogEntry): readonly LoggedThing[] {
  return (JSON.parse(entry.body) as Partial<AttributeBody> & Partial<ThingBody>).things ?? [];
}

/** The body of a `link` entry: the link's new state, and why. */
export interface LinkBody {
  readonly ecosystem: string;
  readonly state: "live" | "waiting" | "needs_reauth";
  readonly reason: string;
}

export function linkEntry(userId: UserId, deviceId: DeviceId, timeMs: number, body: LinkBody): LogEntry {
  const { ecosystem, state, reason } = body;
  return { userId, deviceId, kind: "link", timeMs, body: JSON.stringify({ ecosystem, state, reason }) };
}

/** The body of a `linkSession` entry: a session on our link pages has ended or expired. */
export interface LinkSessionBody {
  readonly linkSessionId: string;
  readonly ecosystem: string;
  readonly mode: "link" | "renew";
  readonly status: "linked" | "declined" | "failed" | "expired";
  readonly problem?: object;
}

/** `deviceId`: null unless the session has linked an account. */
export function linkSessionEntry(
  userId: UserId,
  deviceId: DeviceId | null,
  timeMs: number,
  body: LinkSessionBody,
): LogEntry {
  return { userId, deviceId, kind: "linkSession", timeMs, body: JSON.stringify(body) };
}

/** The body of a `command` entry: a fan request in its new state. */
export type CommandBody = Pick<FanRequestRow, "id" | "attribute" | "value" | "state" | "text" | "requestedMs">;

export function commandEntry(command: FanRequestRow, timeMs: number): LogEntry {
  const { userId, deviceId, id, attribute, value, state, text, requestedMs } = command;
  const body: CommandBody = { id, attribute, value, state, text, requestedMs };
  return { userId, deviceId, kind: "command", timeMs, body: JSON.stringify(body) };
}

/** The body of a `thingCommand` entry: a command to a thing in its new state. */
export interface ThingCommandBody {
  readonly id: number;
  readonly thingId: string;
  /** Trait, command and parameters. */
  readonly command: object;
  readonly state: ThingCommandRow["state"];
  readonly error: object | null;
  readonly requestedMs: number;
  /** The client that sent the command. Event streams and webhooks leave it out. */
  readonly clientId: string | null;
  /** What an own device should show: its attributes with their values. Only when the command is sent. */
  readonly writes?: Readonly<Record<string, string>>;
  /** The alert that sent it; left out for a client's command. */
  readonly alert?: TriggerId;
}

export function thingCommandEntry(row: ThingCommandRow, timeMs: number): LogEntry {
  const { userId, deviceId, id, thingId, command, state, error, requestedMs, clientId, alertId } = row;
  const body: ThingCommandBody = {
    id,
    thingId,
    command: JSON.parse(command),
    state,
    error: error === null ? null : JSON.parse(error),
    requestedMs,
    clientId,
    ...(alertId !== null && { alert: alertId }),
    ...(row.dueMs !== null && row.plan !== null && state === "sending" && { writes: JSON.parse(row.plan).writes }),
  };
  return { userId, deviceId, kind: "thingCommand", timeMs, body: JSON.stringify(body) };
}
