import type { AssistantMessage, DueReply, DueReport, DueThing } from "../assistant.ts";
import { discoveredHome } from "./discovery.ts";
import { type AlarmOption, type Endpoint, endpointsOf, possibleEndpointIds } from "./endpoint.ts";
import { type AlexaEvent, addOrUpdateReport, changeReport, deleteReport } from "./messages.ts";
import { commandOutcome } from "./outcome.ts";
import { propertiesOf, type TimedProperty } from "./properties.ts";

export interface ReportParts {
  readonly alarms: AlarmOption;
  readonly nowMs: number;
  readonly newMessageId: () => string;
}

/** What the late answer to a directive repeats of it. */
export interface StoredReply {
  readonly correlationToken?: string;
  readonly endpointId: string;
}

/**
 * The messages that are due: alarms first, then the outcomes of commands, for which somebody waits, then endpoints that
 * were added, changed or removed, then states. An endpoint is added before its state is told.
 */
export function reportMessages(due: DueReport, parts: ReportParts): readonly AssistantMessage[] {
  const offered = due.isWhole ? offeredIds(due, parts.alarms) : undefined;
  const things = due.things.map((one): DueEndpoints => {
    const endpoints = one.current ? endpointsOf(one.current, parts.alarms) : [];
    const told = offered ? endpoints.filter(({ endpointId }) => offered.has(endpointId)) : endpoints;
    return { ...one, endpoints: told, isAll: due.isWhole };
  });
  const urgent = things.filter(({ rises }) => rises.length > 0);
  const others = things.filter(({ rises }) => rises.length === 0);
  return [
    ...additions(urgent, parts),
    ...urgent.flatMap((one) => states(one, parts)),
    ...due.replies.map((one) => outcome(one, parts)),
    ...additions(others, parts),
    ...removals(others, parts),
    ...others.flatMap((one) => states(one, parts)),
  ];
}

/** A thing to be reported, with its endpoints as they are or were. */
interface DueEndpoints extends DueThing {
  readonly endpoints: readonly Endpoint[];
  /** Everything is to be told of it. */
  readonly isAll: boolean;
}

/** The endpoints that fit into the limit of a home. */
function offeredIds({ things }: DueReport, alarms: AlarmOption): ReadonlySet<string> {
  const { endpoints } = discoveredHome(
    things.flatMap(({ current }) => current ?? []),
    alarms,
  );
  return new Set(endpoints.map(({ endpointId }) => endpointId));
}

function isPresent({ current }: DueThing): boolean {
  return current !== undefined && current.goneMs === null;
}

function additions(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const told = things.filter((one) => (one.wantsSync || one.isAll) && isPresent(one) && one.endpoints.length > 0);
  if (told.length === 0) return [];
  const endpoints = told.flatMap((one) => one.endpoints);
  return [message(addOrUpdateReport(newMessageId(), endpoints), told, { state: false, sync: true })];
}

function removals(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const told = things.filter((one) => one.wantsSync && !isPresent(one));
  const ids = told.flatMap(({ thingId, current, endpoints }) =>
    current ? endpoints.map(({ endpointId }) => endpointId) : possibleEndpointIds(thingId),
  );
  return ids.length === 0 ? [] : [message(deleteReport(newMessageId(), ids), told, { state: true, sync: true })];
}

/** The thing's state is told when the last of its endpoints was reported. */
function states(thing: DueEndpoints, { nowMs, newMessageId }: ReportParts): readonly AssistantMessage[] {
  const { wantsState, isAll, sinceMs, endpoints } = thing;
  if (!wantsState) return [];
  const hasChanged = ({ changedMs }: TimedProperty) => isAll || changedMs >= sinceMs;
  const events = endpoints.flatMap((endpoint) => {
    const answered = { messageId: newMessageId(), endpointId: endpoint.endpointId };
    return changeReport(answered, propertiesOf(endpoint, nowMs), hasChanged) ?? [];
  });
  return events.map((event, index) => message(event, [thing], { state: index === events.length - 1, sync: false }));
}

function outcome(
  { reply, receipt, current }: DueReply,
  { alarms, nowMs, newMessageId }: ReportParts,
): AssistantMessage {
  const answered = { messageId: newMessageId(), ...(JSON.parse(reply) as StoredReply) };
  const event = commandOutcome(answered, receipt, current, alarms, nowMs);
  return { ...message(event, [receipt], { state: false, sync: false }), replies: [reply] };
}

function message(
  event: AlexaEvent,
  things: readonly { readonly thingId: string }[],
  tells: AssistantMessage["tells"],
): AssistantMessage {
  return { type: event.event.header.name, thingIds: things.map(({ thingId }) => thingId), tells, body: event };
}
