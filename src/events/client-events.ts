import type {
  AttributeBody,
  CommandBody,
  LoggedThing,
  ThingAlertBody,
  ThingBody,
  ThingCommandBody,
} from "../devices/log-entries.ts";
import { wireName, wireValue } from "../devices/wire-attribute.ts";
import type { Cause } from "../model/cause.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Logger } from "../runtime/runtime.ts";
import type { LogEntry, LogKind } from "../store/tables/log.ts";
import type { LogPosition } from "../store/tables/log-position.ts";
import { type NameFor, namesFor } from "./attribute-filter.ts";
import { writeEventId } from "./event-id.ts";

/** An event about a device, as clients receive it. */
export interface ClientEvent {
  readonly id: string;
  readonly name:
    | "attribute"
    | "thing"
    | "thingCommand"
    | "alert"
    | "link"
    | "linkSession"
    | "command"
    | "device"
    | "change";
  /** `deviceId`: null only for a link session that has linked nothing, and for a change that concerns no device. */
  readonly data: { readonly deviceId: DeviceId | null } & Readonly<Record<string, unknown>>;
}

/** A client's filter, with the permissions of its scopes. */
export interface ReaderFilter extends EventFilter {
  /** Whether the reader may receive firings of alerts; of alerts on things only with `hearsThings`. True when left out. */
  readonly hearsAlerts?: boolean;
}

/** A client's filter. An empty list means everything. */
export interface EventFilter {
  readonly deviceIds: readonly DeviceId[];
  /** In any published spelling, which the events then use. They restrict attribute events only. */
  readonly attributes: readonly string[];
  /** Whether the reader receives `thing` and `thingCommand` events, and firings of alerts on things. False when left out. */
  readonly hearsThings?: boolean;
  /** They restrict these events only. */
  readonly thingIds?: readonly string[];
  /** Whether the reader receives the ends of link sessions; its token has the scope `links`. False when left out. */
  readonly hearsLinkSessions?: boolean;
}

export type PlacedEntry = LogEntry & { readonly position: LogPosition };

/**
 * The events of one log entry that pass the filter. `sentChanges`: how many of its changes to skip, because they were
 * sent before. An entry's changed things count after its changed attributes.
 */
export type EventsOf = (entry: PlacedEntry, epoch: string, sentChanges?: number) => readonly ClientEvent[];

/** Reports a log entry that can't be parsed. */
export type ReportUnreadable = (entry: PlacedEntry) => void;

export function unreadableReporter(report: Logger): ReportUnreadable {
  return ({ userId, deviceId, kind, position }) =>
    report.error(
      { userId, deviceId, kind, position },
      "an entry of the log can't be read; it is not sent to any client",
    );
}

/** Compiles a filter. An entry that can't be parsed is reported and left out: it must not stop the stream. */
export function compileFilter(filter: ReaderFilter, unreadable: ReportUnreadable): EventsOf {
  const { deviceIds, attributes, hearsAlerts = true, hearsThings = false, thingIds = [] } = filter;
  const { hearsLinkSessions = false } = filter;
  const devices = deviceIds.length === 0 ? undefined : new Set(deviceIds);
  const nameFor = namesFor(attributes);
  const namedThings = new Set(thingIds);
  const readably = (entry: PlacedEntry, read: () => readonly ClientEvent[]) => {
    try {
      return read();
    } catch {
      unreadable(entry);
      return [];
    }
  };
  const isNamed = (thingId: string) => namedThings.size === 0 || namedThings.has(thingId);
  return (entry, epoch, sentChanges = 0) => {
    const { deviceId } = entry;
    if (entry.kind === "linkSession") {
      const isHeard = hearsLinkSessions && (devices === undefined || (deviceId !== null && devices.has(deviceId)));
      return isHeard ? readably(entry, () => sessionEvents(entry, epoch)) : [];
    }
    if (deviceId === null || devices?.has(deviceId) === false) return [];
    if ((entry.kind === "alert" || entry.kind === "thingAlert") && !hearsAlerts) return [];
    if (isAboutThings(entry.kind) && !hearsThings) return [];
    return readably(entry, () => {
      if (entry.kind !== "attribute" && entry.kind !== "thing") return otherEvents(entry, epoch, deviceId, isNamed);
      return changeEvents(entry, epoch, deviceId, { nameFor, hearsThings, isNamed }, sentChanges);
    });
  };
}

/** The end of a link session. */
function sessionEvents(entry: PlacedEntry, epoch: string): readonly ClientEvent[] {
  const { deviceId, position, timeMs, body } = entry;
  const id = writeEventId({ epoch, position });
  return [{ id, name: "linkSession", data: { deviceId, ...JSON.parse(body), time: timeMs } }];
}

/** Whether only readers that ask for things get entries of this kind. */
export function isAboutThings(kind: LogKind): boolean {
  return kind === "thing" || kind === "thingCommand" || kind === "thingAlert";
}

function otherEvents(
  entry: PlacedEntry,
  epoch: string,
  deviceId: DeviceId,
  isNamed: (thingId: string) => boolean,
): readonly ClientEvent[] {
  const data = dataOf(entry, isNamed);
  if (!data) return [];
  const id = writeEventId({ epoch, position: entry.position });
  return [{ id, name: data.name, data: { deviceId, ...data.fields, time: entry.timeMs } }];
}

interface ChangeFilter {
  readonly nameFor: NameFor;
  readonly hearsThings: boolean;
  readonly isNamed: (thingId: string) => boolean;
}

function changeEvents(
  entry: PlacedEntry,
  epoch: string,
  deviceId: DeviceId,
  { nameFor, hearsThings, isNamed }: ChangeFilter,
  sentChanges: number,
): readonly ClientEvent[] {
  const body = JSON.parse(entry.body) as Partial<AttributeBody> & Partial<ThingBody>;
  const { cause, things = [] } = body;
  const changes = entry.kind === "attribute" ? body.changes : [];
  if (!changes) throw new TypeError("an entry about attributes has none");
  const count = changes.length + (hearsThings ? things.length : 0);
  const events: ClientEvent[] = [];
  for (let i = sentChanges; i < count; i++) {
    const change = changes[i];
    const named = change
      ? attributeData(deviceId, change, nameFor, entry.timeMs, cause)
      : thingData(deviceId, things[i - changes.length]!, isNamed, entry.timeMs, cause);
    if (!named) continue;
    // The id after the last change stands for the whole entry.
    const id = writeEventId({ epoch, position: entry.position, sentChanges: i + 1 < count ? i + 1 : undefined });
    events.push({ id, ...named });
  }
  return events;
}

function attributeData(
  deviceId: DeviceId,
  [key, value]: AttributeBody["changes"][number],
  nameFor: NameFor,
  updateTime: number,
  cause: Cause | undefined,
): Omit<ClientEvent, "id"> | undefined {
  const name = nameFor(key);
  if (name === undefined) return undefined;
  return { name: "attribute", data: { deviceId, name, value: wireValue(key, value), updateTime, cause } };
}

function thingData(
  deviceId: DeviceId,
  { thingId, what, fields = {} }: LoggedThing,
  isNamed: (thingId: string) => boolean,
  updateTime: number,
  cause: Cause | undefined,
): Omit<ClientEvent, "id"> | undefined {
  if (!isNamed(thingId)) return undefined;
  const values = Object.fromEntries(Object.entries(fields).map(([name, value]) => [name, { value }]));
  return { name: "thing", data: { deviceId, thingId, what, fields: values, updateTime, cause } };
}

function thingCommandData(entry: LogEntry, isNamed: (thingId: string) => boolean) {
  const { id, thingId, command, state, error, requestedMs, alert, writes } = JSON.parse(entry.body) as ThingCommandBody;
  if (!isNamed(thingId)) return undefined;
  const more = { ...(writes && { writes }), ...(alert !== undefined && { cause: { by: "alert", alert } }) };
  const fields = { commandId: `c${id}`, thingId, ...command, state, error, requestedTime: requestedMs, ...more };
  return { name: "thingCommand" as const, fields };
}

function dataOf(
  entry: LogEntry,
  isNamed: (thingId: string) => boolean,
): { readonly name: ClientEvent["name"]; readonly fields: object } | undefined {
  switch (entry.kind) {
    case "thingCommand":
      return thingCommandData(entry, isNamed);
    case "thingAlert": {
      const fields = JSON.parse(entry.body) as ThingAlertBody;
      return isNamed(fields.thingId) ? { name: "alert", fields } : undefined;
    }
    case "link":
    case "alert":
    case "device":
      return { name: entry.kind, fields: JSON.parse(entry.body) };
    case "command": {
      const { id, attribute, value, state, text, requestedMs } = JSON.parse(entry.body) as CommandBody;
      const fields = { commandId: id, name: wireName(attribute), value, state, text, requestedTime: requestedMs };
      return { name: "command", fields };
    }
    default:
      return undefined;
  }
}
