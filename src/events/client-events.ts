import type { AttributeBody, CommandBody } from "../devices/log-entries.ts";
import { wireName, wireValue } from "../devices/wire-attribute.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Report } from "../runtime/runtime.ts";
import type { LogEntry, LogPosition } from "../store/tables/log.ts";
import { type NameFor, namesFor } from "./attribute-filter.ts";
import { writeEventId } from "./event-id.ts";

/** An event about a device, as clients receive it. */
export interface ClientEvent {
  readonly id: string;
  readonly name: "attribute" | "alert" | "link" | "command" | "device";
  readonly data: { readonly deviceId: DeviceId } & Readonly<Record<string, unknown>>;
}

/** A client's filter, with the permissions of its scopes. */
export interface ReaderFilter extends EventFilter {
  /** Whether the reader may receive firings of alerts. True when left out. */
  readonly hearsAlerts?: boolean;
}

/** A client's filter. An empty list means everything. */
export interface EventFilter {
  readonly deviceIds: readonly DeviceId[];
  /** In any published spelling, which the events then use. They restrict attribute events only. */
  readonly attributes: readonly string[];
}

export type PlacedEntry = LogEntry & { readonly position: LogPosition };

/**
 * The events of one log entry that pass the filter. `sentChanges`: how many of its changes to skip, because they were
 * sent before.
 */
export type EventsOf = (entry: PlacedEntry, epoch: string, sentChanges?: number) => readonly ClientEvent[];

/** Reports a log entry that can't be parsed. */
export type ReportUnreadable = (entry: PlacedEntry) => void;

export function unreadableReporter(report: Report): ReportUnreadable {
  return ({ userId, deviceId, kind, position }) =>
    report.error(
      { userId, deviceId, kind, position },
      "an entry of the log can't be read; it is not sent to any client",
    );
}

/** Compiles a filter. An entry that can't be parsed is reported and left out: it must not stop the stream. */
export function compileFilter(filter: ReaderFilter, unreadable: ReportUnreadable): EventsOf {
  const { deviceIds, attributes, hearsAlerts = true } = filter;
  const devices = deviceIds.length === 0 ? undefined : new Set(deviceIds);
  const nameFor = namesFor(attributes);
  return (entry, epoch, sentChanges = 0) => {
    const { deviceId } = entry;
    if (deviceId === null || devices?.has(deviceId) === false) return [];
    if (entry.kind === "alert" && !hearsAlerts) return [];
    try {
      if (entry.kind === "attribute") return attributeEvents(entry, epoch, deviceId, nameFor, sentChanges);
      return otherEvents(entry, epoch, deviceId);
    } catch {
      unreadable(entry);
      return [];
    }
  };
}

function otherEvents(entry: PlacedEntry, epoch: string, deviceId: DeviceId): readonly ClientEvent[] {
  const data = dataOf(entry);
  if (!data) return [];
  const id = writeEventId({ epoch, position: entry.position });
  return [{ id, name: data.name, data: { deviceId, ...data.fields, time: entry.timeMs } }];
}

function attributeEvents(
  entry: PlacedEntry,
  epoch: string,
  deviceId: DeviceId,
  nameFor: NameFor,
  sentChanges: number,
): readonly ClientEvent[] {
  const { cause, changes } = JSON.parse(entry.body) as AttributeBody;
  const events: ClientEvent[] = [];
  for (let i = sentChanges; i < changes.length; i++) {
    const [key, value] = changes[i]!;
    const name = nameFor(key);
    if (name === undefined) continue;
    // The id after the last change stands for the whole entry.
    const id = writeEventId({
      epoch,
      position: entry.position,
      sentChanges: i + 1 < changes.length ? i + 1 : undefined,
    });
    const data = { deviceId, name, value: wireValue(key, value), updateTime: entry.timeMs, cause };
    events.push({ id, name: "attribute", data });
  }
  return events;
}

function dataOf(entry: LogEntry): { readonly name: ClientEvent["name"]; readonly fields: object } | undefined {
  switch (entry.kind) {
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
