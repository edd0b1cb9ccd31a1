import type { AttributeBody, CommandBody } from "../devices/log-entries.ts";
import { shownName, shownValue } from "../devices/shown-attribute.ts";
import type { DeviceId } from "../model/ids.ts";
import type { Report } from "../runtime/runtime.ts";
import type { LogEntry, LogPosition } from "../store/tables/log.ts";
import { type NameFor, namesFor } from "./attribute-filter.ts";
import { writeEventId } from "./event-id.ts";

/** Something that happened to a device, as clients hear of it. */
export interface ClientEvent {
  readonly id: string;
  readonly name: "attribute" | "alert" | "link" | "command" | "device";
  readonly data: { readonly deviceId: DeviceId } & Readonly<Record<string, unknown>>;
}

/** What a reader wants to hear of, and may. */
export interface ReaderFilter extends EventFilter {
  /** Whether it may hear of alerts that fire. True when left out. */
  readonly hearsAlerts?: boolean;
}

/** What a reader wants to hear of, among what it may. Nothing named means everything. */
export interface EventFilter {
  readonly deviceIds: readonly DeviceId[];
  /** In any published spelling, which the events then use; they narrow the attribute events and no others. */
  readonly attributes: readonly string[];
}

export type PlacedEntry = LogEntry & { readonly position: LogPosition };

/** The events of one entry of the log that pass the filter, beyond the first so many of its changes. */
export type EventsOf = (entry: PlacedEntry, epoch: string, told?: number) => readonly ClientEvent[];

/** Reports an entry of the log that can't be read. */
export type ReportUnreadable = (entry: PlacedEntry) => void;

export function unreadableIn(report: Report): ReportUnreadable {
  return ({ userId, deviceId, kind, position }) =>
    report.error({ userId, deviceId, kind, position }, "an entry of the log can't be read, and no client hears of it");
}

/** Compiles a filter. An entry that can't be read is reported and left out: it must not stop the stream of all others. */
export function eventsThrough(filter: ReaderFilter, unreadable: ReportUnreadable): EventsOf {
  const { deviceIds, attributes, hearsAlerts = true } = filter;
  const devices = deviceIds.length === 0 ? undefined : new Set(deviceIds);
  const nameFor = namesFor(attributes);
  return (entry, epoch, told = 0) => {
    const { deviceId } = entry;
    if (deviceId === null || devices?.has(deviceId) === false) return [];
    if (entry.kind === "alert" && !hearsAlerts) return [];
    try {
      if (entry.kind === "attribute") return attributeEvents(entry, epoch, deviceId, nameFor, told);
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
  told: number,
): readonly ClientEvent[] {
  const { cause, changes } = JSON.parse(entry.body) as AttributeBody;
  const events: ClientEvent[] = [];
  for (let i = told; i < changes.length; i++) {
    const [key, value] = changes[i]!;
    const name = nameFor(key);
    if (name === undefined) continue;
    // After the last of them nothing of this entry is left to tell.
    const id = writeEventId({ epoch, position: entry.position, told: i + 1 < changes.length ? i + 1 : undefined });
    const data = { deviceId, name, value: shownValue(key, value), updateTime: entry.timeMs, cause };
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
      const fields = { commandId: id, name: shownName(attribute), value, state, text, requestedTime: requestedMs };
      return { name: "command", fields };
    }
    default:
      return undefined;
  }
}
