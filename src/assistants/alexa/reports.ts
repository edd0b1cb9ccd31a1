import type { AssistantMessage, DueReply, DueReport, DueThing } from "../assistant.ts";
import { discoveredHome } from "./discovery.ts";
import { type AlarmOption, type Endpoint, endpointsOf, possibleEndpointIds } from "./endpoint.ts";
import type { AlexaBody } from "./gateway.ts";
import { type AlexaEvent, addOrUpdateReport, changeReport, deleteReport } from "./messages.ts";
import { commandOutcome, withoutOutcome } from "./outcome.ts";
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

/** Things whose states go into one message: it is posted within its time limit, and repeated whole after a failure. */
const thingsPerMessage = 25;
/** A thing has up to two endpoints, and Alexa takes 300 in one message. */
const thingsPerRemoval = 100;

/**
 * The messages that are due: urgent states first, then the outcomes of commands, for which somebody waits, then endpoints
 * that were added, changed or removed, then the other states. An endpoint is added before its state is told.
 */
export function reportMessages({ things, replies }: DueReport, parts: ReportParts): readonly AssistantMessage[] {
  const due = withEndpoints(things, parts.alarms);
  const urgent = due.filter(({ isUrgent }) => isUrgent);
  const others = due.filter(({ isUrgent }) => !isUrgent);
  return [
    ...additions(urgent, parts),
    ...states(urgent, parts),
    ...replies.map((one) => outcome(one, parts)),
    ...additions(others, parts),
    ...removals(due, parts),
    ...states(others, parts),
  ];
}

/** A thing to be reported, with its endpoints as they are, or as they were before it was gone. */
interface DueEndpoints extends DueThing {
  readonly endpoints: readonly Endpoint[];
}

/** When all things of a home are due, those beyond Alexa's limit are left out. */
function withEndpoints(things: readonly DueThing[], alarms: AlarmOption): readonly DueEndpoints[] {
  const { endpoints } = discoveredHome(
    things.filter(isPresent).flatMap(({ current }) => current ?? []),
    alarms,
  );
  const offered = new Set(endpoints.map(({ endpointId }) => endpointId));
  return things.map((due) => {
    const its = due.current ? endpointsOf(due.current, alarms) : [];
    return { ...due, endpoints: isPresent(due) ? its.filter(({ endpointId }) => offered.has(endpointId)) : its };
  });
}

function isPresent({ current }: DueThing): boolean {
  return current !== undefined && current.goneMs === null;
}

function additions(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const told = things.filter((one) => one.wantsSync && isPresent(one) && one.endpoints.length > 0);
  if (told.length === 0) return [];
  const event = addOrUpdateReport(
    newMessageId(),
    told.flatMap(({ endpoints }) => endpoints),
  );
  return [message([event], told, { state: false, sync: true })];
}

function removals(things: readonly DueEndpoints[], { newMessageId }: ReportParts): readonly AssistantMessage[] {
  const told = things.filter((one) => one.wantsSync && !isPresent(one));
  return chunksOf(told, thingsPerRemoval).flatMap((some) => {
    const ids = some.flatMap(({ thingId, current, endpoints }) =>
      current ? endpoints.map(({ endpointId }) => endpointId) : possibleEndpointIds(thingId),
    );
    if (ids.length === 0) return [];
    return [message([deleteReport(newMessageId(), ids)], some, { state: true, sync: true })];
  });
}

function states(things: readonly DueEndpoints[], parts: ReportParts): readonly AssistantMessage[] {
  const told = things
    .filter(({ wantsState }) => wantsState)
    .map((thing) => ({ thing, events: changeReports(thing, parts) }))
    .filter(({ events }) => events.length > 0);
  return chunksOf(told, thingsPerMessage).map((some) =>
    message(
      some.flatMap(({ events }) => events),
      some.map(({ thing }) => thing),
      { state: true, sync: false },
    ),
  );
}

function chunksOf<Item>(items: readonly Item[], size: number): readonly (readonly Item[])[] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, i) => items.slice(i * size, (i + 1) * size));
}

/** Of a thing that was added or changed the whole state is told. */
function changeReports({ endpoints, sinceMs, wantsSync }: DueEndpoints, { nowMs, newMessageId }: ReportParts) {
  const hasChanged = ({ changedMs }: TimedProperty) => wantsSync || changedMs >= sinceMs;
  return endpoints.flatMap((endpoint) => {
    const answered = { messageId: newMessageId(), endpointId: endpoint.endpointId };
    return changeReport(answered, propertiesOf(endpoint, nowMs), hasChanged) ?? [];
  });
}

function outcome(
  { thingId, reply, receipt, current }: DueReply,
  { alarms, nowMs, newMessageId }: ReportParts,
): AssistantMessage {
  const answered = { messageId: newMessageId(), ...(JSON.parse(reply) as StoredReply) };
  const event = receipt
    ? commandOutcome(answered, receipt, current, alarms, nowMs)
    : withoutOutcome(answered, current !== undefined);
  return { ...message([event], [{ thingId }], { state: false, sync: false }), replies: [reply] };
}

function message(
  events: readonly AlexaEvent[],
  things: readonly { readonly thingId: string }[],
  tells: AssistantMessage["tells"],
): AssistantMessage {
  const body: AlexaBody = { events };
  return { type: events[0]!.event.header.name, thingIds: things.map(({ thingId }) => thingId), tells, body };
}
